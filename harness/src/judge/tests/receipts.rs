//! A check passes only if its fault has provably reached the client.

use super::{
    DROPPED, Trial, stream,
    trial::{right, status},
};
use crate::{judge::CheckStatus, observed::Reply};
use fake_server::wirelog::Sent;

fn unacknowledged(sent: &mut Sent) {
    match sent {
        Sent::Body { acked, .. } | Sent::Frames { acked, .. } | Sent::End { acked, .. } => {
            *acked = false
        }
        Sent::Head { .. } | Sent::Waited(_) => {}
    }
}

#[test]
fn a_client_that_never_connects_passes_nothing() {
    let verdict = Trial::of(DROPPED).error("stream-ended");
    assert_ne!(status(&verdict, "stream/closed-after"), CheckStatus::Pass);
    let control = Trial::of_plan(Trial::of(DROPPED).plan.control()).error("connection-failed");
    assert_ne!(status(&control, "stream/closed-after"), CheckStatus::Pass);
}

#[test]
fn a_dead_adapter_is_no_conformance_failure() {
    for reply in [
        Reply::AdapterDied("exit status 1".to_owned()),
        Reply::AdapterFault("{".to_owned()),
    ] {
        let verdict = Trial::of(DROPPED).connect(0).replies(reply);
        assert_eq!(verdict.violations, []);
        assert_eq!(
            status(&verdict, "stream/closed-after"),
            CheckStatus::AdapterError
        );
    }
    let verdict = Trial::of(DROPPED).replies(Reply::HarnessError("no port".to_owned()));
    assert_eq!(
        status(&verdict, "stream/closed-after"),
        CheckStatus::HarnessError
    );
}

#[test]
fn a_line_that_did_not_arrive_decides_nothing() {
    let text = stream("{ send = 1 }, { send = 3 }, { end = \"hold\" }");
    let trial = || Trial::of(&text).about(&["sequence/gap"]).connect(0);
    right(&trial().error("sequence-gap"));
    let verdict = trial()
        .but(|exchange| exchange.answer.iter_mut().for_each(unacknowledged))
        .error("sequence-gap");
    assert_eq!(status(&verdict, "sequence/gap"), CheckStatus::NotExercised);
}

#[test]
fn the_next_request_is_a_receipt() {
    let verdict = Trial::of(DROPPED)
        .connect(0)
        .but(|exchange| exchange.answer.iter_mut().for_each(unacknowledged))
        .connect(2)
        .exited(0, "one\ntwo\nthree\n");
    right(&verdict);
}

#[test]
fn cuts_that_arrived_together_were_no_cuts() {
    let text = DROPPED.replace("stream = [", "segments = \"byte\"\nstream = [");
    let with = |alone: u64| {
        Trial::of(&text)
            .connect(0)
            .but(|exchange| {
                exchange.segmented = Some(fake_server::wirelog::Segmented { writes: 100, alone });
            })
            .connect(2)
            .exited(0, "one\ntwo\nthree\n")
    };
    right(&with(95));
    assert_eq!(
        status(&with(50), "stream/closed-after"),
        CheckStatus::NotExercised
    );
}
