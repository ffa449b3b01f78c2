//! What a trial must show before a pass is earned: a row a requirement. Where a requirement has two rows, either is
//! enough. What is not listed (ops without rules of their own yet) needs a trial without a breach.

use super::sights::Sight::{
    self, ALine, AnError, AnotherLease, Cancelled, Classified, Connect, Create, Deadline, Delete,
    Destroy, EndOfStream, Events, Exited, HandedOver, LeaseCall, LiveOutput, NoLease,
    PredictedConnects, PutAgain, Quiet, Redirect, Request, Retry, SecondConnect, Stdin,
    StoppedByCaller, TheCall, TheOneCreate, TwoTries, Unconfirmed, WaitForExit,
};
use Beside::{Anything, NoBreach, RightRequests};

/// Which breaches may stand beside the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Any: the thing itself is all there is to see, whatever came before or after.
    Anything,
    /// Those that lie in the client's words alone: its requests were those of a right client.
    RightRequests,
    /// None after which the client's way is its own.
    NoBreach,
}

/// A way to show that a requirement was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    requirement: &'static str,
    /// What must have been there.
    pub(super) shows: Sight,
    /// What may stand beside it.
    pub(super) beside: Beside,
}

/// The ways to show that a requirement was kept, the usual one first.
pub(super) fn ways(requirement: &str) -> &'static [Way] {
    let first = WAYS.iter().position(|way| way.requirement == requirement);
    let Some(first) = first else { return REST };
    let rest = &WAYS[first..];
    let count = rest
        .iter()
        .take_while(|way| way.requirement == requirement)
        .count();
    &rest[..count]
}

/// Rules under which a breach of this one may be told instead, because the scenario is about both and one breach is told
/// once. Where such a breach was found, this rule was not kept either, or nobody knows.
pub(super) fn siblings(requirement: &str) -> &'static [&'static str] {
    match requirement {
        // A wait that is too short after a Retry-After.
        "stream/retry-delay" => &["stream/retry-after"],
        "stream/retry-after" => &["stream/retry-delay"],
        // The key at another origin.
        "stream/authenticated" => &["secrets/no-redirect"],
        "secrets/no-redirect" => &["stream/authenticated"],
        // A connect after the exit.
        "stream/exit-ends-it" => &["stream/one-reader"],
        // A cleanup that was not tried, or not confirmed, in its own time.
        "cleanup/confirmed" => &["cleanup/own-deadline", "cleanup/on-every-failure"],
        "cleanup/on-every-failure" => &["cleanup/own-deadline"],
        "cleanup/own-deadline" => &["cleanup/confirmed", "cleanup/on-every-failure"],
        _ => &[],
    }
}

const REST: &[Way] = &[way("", Request, NoBreach)];

const fn way(requirement: &'static str, shows: Sight, beside: Beside) -> Way {
    Way {
        requirement,
        shows,
        beside,
    }
}

/// Every row. `NoBreach` is the rule; what stands in its place says why.
#[rustfmt::skip]
const WAYS: &[Way] = &[
    // The first request says it all.
    way("stream/first-cursor", Connect, Anything),
    // What the client says at the end changes nothing of the cursors that it asked for; a hang-up before does.
    way("stream/resume-cursor", SecondConnect, RightRequests),
    // The key is on every request: on all that a right client makes, or at least on so many connects.
    way("stream/authenticated", Request, NoBreach),
    way("stream/authenticated", PredictedConnects, Anything),
    // A client with a budget of one connect has shown that it keeps to it by making one.
    way("stream/retry-transient", Retry, NoBreach),
    way("stream/retry-budget", Retry, NoBreach),
    way("stream/progress-renews", SecondConnect, NoBreach),
    // The wait is between the two, whatever else is wrong with them.
    way("stream/retry-delay", TwoTries, Anything),
    way("stream/retry-after", Retry, NoBreach),
    way("stream/permanent-status", Connect, NoBreach),
    way("stream/status-decides", Connect, NoBreach),
    way("stream/drop-is-not-the-end", Connect, NoBreach),
    way("stream/exit-ends-it", Connect, NoBreach),
    // Two readers need two connects, or a stream so quiet that an impatient client would open a second one.
    way("stream/one-reader", SecondConnect, NoBreach),
    way("stream/one-reader", Quiet, NoBreach),
    way("stream/closed-after", Request, NoBreach),
    way("stream/recover-exit", WaitForExit, NoBreach),
    way("stream/content-type", Connect, NoBreach),
    way("stream/content-coding", Connect, NoBreach),
    way("stream/framing", Connect, NoBreach),
    way("stream/silence", Quiet, NoBreach),

    // How lines, frames and numbers were read shows in all that the client asked and said.
    way("frames/any-segmentation", Connect, NoBreach),
    way("frames/lines", Connect, NoBreach),
    way("frames/last-line", Connect, NoBreach),
    way("frames/long-line", Connect, NoBreach),
    way("frames/invalid", Connect, NoBreach),
    way("frames/unknown-type", Connect, NoBreach),
    way("frames/extra-fields", Connect, NoBreach),
    way("frames/duplicate-keys", Connect, NoBreach),
    way("frames/heartbeat", Connect, NoBreach),
    way("frames/error-frame", Connect, NoBreach),
    way("sequence/valid", Connect, NoBreach),
    way("sequence/duplicate", Connect, NoBreach),
    way("sequence/gap", Connect, NoBreach),
    way("sequence/only-data", Connect, NoBreach),

    way("data/base64", Connect, NoBreach),
    // Where a client may refuse the stream, it has then shown nothing of its bytes.
    way("data/exact", HandedOver, NoBreach),
    way("data/split-characters", HandedOver, NoBreach),
    way("data/streams", Connect, NoBreach),
    // Not judged of a client that hands over nothing live, or text.
    way("data/order", LiveOutput, NoBreach),
    way("data/live", LiveOutput, NoBreach),
    way("exit/code", Connect, NoBreach),
    way("exit/signal", Connect, NoBreach),
    way("exit/missing", Connect, NoBreach),
    way("exit/first-counts", Connect, NoBreach),
    way("journal/410", Connect, NoBreach),
    way("journal/expired-frame", Connect, NoBreach),
    way("journal/boundary", Connect, NoBreach),

    // A second POST may come at any time, and after an unclear answer a connect; of a process that is known to be
    // there, one POST is all that the rule asks.
    way("create/once", Create, NoBreach),
    way("create/once", TheOneCreate, Anything),
    way("create/refused", Create, NoBreach),
    way("create/identifier", Create, NoBreach),
    way("stdin/closed-already", Stdin, NoBreach),
    way("stdin/exact", Stdin, NoBreach),
    way("stdin/terminal-size", Create, NoBreach),

    way("cleanup/on-every-failure", Delete, NoBreach),
    way("cleanup/confirmed", Delete, NoBreach),
    way("cleanup/cause-kept", Unconfirmed, NoBreach),
    way("cleanup/own-deadline", Delete, NoBreach),
    way("cleanup/not-on-success", Exited, NoBreach),

    way("time/deadline", Deadline, NoBreach),
    way("time/cancel", Cancelled, NoBreach),

    way("secrets/no-redirect", Redirect, NoBreach),
    // What is reported is all there is to look at; receipts prove that the secret text had arrived.
    way("secrets/key", Request, NoBreach),
    way("secrets/no-provider-text", Request, NoBreach),
    way("secrets/responses-unread", AnError, NoBreach),

    way("lease/create-once", LeaseCall, NoBreach),
    // What a failure tells shows only where there is one.
    way("lease/diagnostic", NoLease, NoBreach),
    way("lease/transient", Classified, NoBreach),
    // What is tried again was taken for transient.
    way("lease/transient", AnotherLease, NoBreach),
    way("lease/no-provider-text", NoLease, NoBreach),
    way("lease/cleanup", Destroy, NoBreach),
    way("lease/no-leak", LeaseCall, NoBreach),
    way("lease/async-state", LeaseCall, NoBreach),
    way("lease/identity", LeaseCall, NoBreach),
    way("lease/released", Destroy, NoBreach),
    way("exec/once", TheCall, NoBreach),
    way("exec/frames", TheCall, NoBreach),
    way("exec/frames-combined", TheCall, NoBreach),
    way("files/exact", TheCall, NoBreach),
    way("files/put-again", PutAgain, NoBreach),

    way("raw/after-param", Connect, Anything),
    way("raw/faithful", Events, NoBreach),
    way("raw/segmentation", Events, NoBreach),
    way("raw/lines", Events, NoBreach),
    way("raw/base64-visible", ALine("raw/base64-visible"), NoBreach),
    way("raw/invalid-visible", ALine("raw/invalid-visible"), NoBreach),
    way("raw/unknown-visible", ALine("raw/unknown-visible"), NoBreach),
    way("raw/exit-visible", Events, NoBreach),
    way("raw/error-frame-visible", ALine("raw/error-frame-visible"), NoBreach),
    // Only who stays until the server ends the stream has seen how it ends.
    way("raw/truncation-visible", EndOfStream, NoBreach),
    way("raw/no-hidden-retry", EndOfStream, NoBreach),
    way("raw/status-visible", AnError, NoBreach),
    way("raw/closed-on-drop", StoppedByCaller, NoBreach),
    way("raw/long-stream", Events, NoBreach),
    way("raw/combined", Events, NoBreach),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::registry;

    #[test]
    fn every_requirement_that_is_judged_has_its_rows_together() {
        let mut listed: Vec<&str> = WAYS.iter().map(|way| way.requirement).collect();
        listed.dedup();
        let known: Vec<&str> = registry().iter().map(|one| one.id).collect();
        for id in &known {
            let times = listed.iter().filter(|one| one == &id).count();
            assert_eq!(times, 1, "{id}");
            assert_eq!(ways(id)[0].requirement, *id);
        }
        assert_eq!(listed.len(), known.len());
        for id in &known {
            assert!(siblings(id).iter().all(|one| known.contains(one)), "{id}");
        }
    }
}
