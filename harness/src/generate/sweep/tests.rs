//! What a sweep plans.

use super::*;
use crate::contract::oracle::default_promises;
use fake_server::script::{
    model::{Break, BreakPlace, Chunks, End},
    parse,
};

const HEAD: &str = r#"
title = "A short stream"
requirements = ["data/exact"]
fault-kinds = []
why = "The example of a test."
op = "follow"

[process]
output = [{ stdout = "one\n" }, { stderr = "two\n" }]
exit = { code = 0 }
"#;

fn plan(rest: &str) -> Plan {
    let text = format!("{HEAD}{rest}");
    parse("t.toml", "test/short", &text, None)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 1)
}

fn sweep(rest: &str) -> Sweep {
    let plan = plan(rest);
    Sweep::new(&plan, &default_promises(&plan)).unwrap()
}

fn only(by: By, at: At) -> Wanted {
    Wanted {
        by: BTreeSet::from([by]),
        at,
        shapes: BTreeSet::from([Shape::Own]),
    }
}

fn fin(attempt: u32, at: u64) -> Cut {
    Cut {
        attempt,
        by: By::Fin,
        at,
        shape: Shape::Own,
    }
}

#[test]
fn every_byte_is_cut_in_every_way_and_shape() {
    let sweep = sweep("");
    let [stream] = &sweep.streams[..] else {
        panic!("one stream")
    };
    let wire = stream.layout.bytes.len();
    let lines = stream.payload;
    assert!(stream.layout.bytes.ends_with(b"\n\r\n0\r\n\r\n"));
    let cuts = sweep.cuts(&Wanted::default());
    let of = |by: By, shape: Shape| -> Vec<u64> {
        cuts.iter()
            .filter(|cut| cut.by == by && cut.shape == shape)
            .map(|cut| cut.at)
            .collect()
    };
    let all = |to: usize| (0..to as u64).collect::<Vec<_>>();
    for shape in Shape::OF_CUTS {
        for by in [By::Fin, By::Rst, By::Silence] {
            assert_eq!(of(by, *shape), all(wire), "{by:?} {shape:?}");
        }
        assert_eq!(of(By::NoZeroChunk, *shape), all(lines + 1));
        assert_eq!(of(By::Clean, *shape), all(lines));
    }
    assert_eq!(of(By::Split, Shape::Own), all(wire)[1..]);
    for shape in &Shape::ALL[1..] {
        assert_eq!(of(By::Whole, *shape), [0]);
    }
    let names: BTreeSet<String> = cuts.iter().map(|cut| sweep.plan(cut).id).collect();
    assert_eq!(names.len(), cuts.len());
}

#[test]
fn edges_are_some_of_the_bytes_and_every_line_has_its_own() {
    let sweep = sweep("");
    let bytes = sweep.cuts(&only(By::Fin, At::Bytes));
    let edges = sweep.cuts(&only(By::Fin, At::Edges));
    assert!(edges.iter().all(|cut| bytes.contains(cut)));
    // Before the size, after it, before the CR LF, after it; three lines, and the zero chunk.
    assert_eq!(edges.len(), 3 * 3 + 1);
    let lines = sweep.cuts(&only(By::Clean, At::Edges));
    // The beginning; before and after each LF, the last of which is the whole stream.
    assert_eq!(lines.len(), 1 + 3 * 2 - 1);
}

#[test]
fn a_healthy_stream_gets_a_fault_and_a_scripted_one_keeps_its_own() {
    let healthy = sweep("");
    let plan = healthy.plan(&fin(1, 7));
    let [fault] = &plan.faults[..] else {
        panic!("{:?}", plan.faults)
    };
    assert_eq!(fault.attempts, Attempts::Nth(1));
    let at = Break {
        at: BreakPlace::Wire(7),
        by: End::Fin,
    };
    assert_eq!(fault.behaviour.break_at, Some(at));

    let scripted = sweep(
        "[[fault]]\non = \"connect\"\nstream = [{ send = 1 }, { end = \"reset\" }]\nchunks = \"one\"\n",
    );
    assert_eq!(scripted.streams.len(), 2, "the drop and the resumption");
    let first = scripted.plan(&fin(1, 7));
    assert_eq!(first.faults.len(), 1);
    assert_eq!(first.faults[0].behaviour.break_at, Some(at));
    assert_eq!(first.faults[0].behaviour.chunks, Chunks::One);
    let second = scripted.plan(&fin(2, 7));
    assert_eq!(second.faults[0], scripted.base().faults[0]);
    assert_eq!(second.faults[1].attempts, Attempts::Nth(2));
    assert_eq!(second.faults[1].behaviour.break_at, Some(at));
}

#[test]
fn one_answer_of_many_is_cut_alone() {
    let sweep = sweep(
        "[[fault]]\non = \"connect\"\nattempt = \"1..2\"\nstream = [{ heartbeat = 1 }, { end = \"fin\" }]\n",
    );
    let plan = sweep.plan(&fin(2, 3));
    assert_eq!(plan.faults[0], sweep.base().faults[0]);
    assert_eq!(plan.faults[1].attempts, Attempts::Nth(2));
    assert_eq!(
        plan.faults[1].behaviour.content,
        plan.faults[0].behaviour.content
    );
}

#[test]
fn a_right_client_recovers_from_every_cut_and_meets_it() {
    let sweep = sweep("");
    for cut in sweep.cuts(&Wanted::default()) {
        let plan = sweep.plan(&cut);
        let expected = expected(&plan, &sweep.promises);
        let lenient = ["error:frame-invalid".to_owned(), "exited".to_owned()];
        let ends_well = expected.outcomes == ["exited"]
            || (cut.by == By::Clean && expected.outcomes == lenient)
            || cut.by == By::Silence;
        assert!(ends_well, "{cut}: {:?}", expected.outcomes);
        assert_eq!(expected.faults[0].attempts, [1], "{cut}");
    }
}

#[test]
fn silence_is_for_clients_that_notice_it_and_for_all_once_the_exit_was_said() {
    let plan = plan("");
    let mut promises = default_promises(&plan);
    let wanted = only(By::Silence, At::Bytes);
    let deaf = Sweep::new(&plan, &promises).unwrap();
    let exit = deaf.streams[0]
        .layout
        .bytes
        .windows(2)
        .rposition(|pair| pair == b"}\n")
        .expect("the exit line");
    for cut in deaf.cuts(&wanted) {
        // Whoever reads lines knows the exit by its LF.
        let is_said = cut.at as usize >= exit + 2;
        assert_eq!(deaf.applies(&cut).is_ok(), is_said, "{cut}");
    }
    promises.profile.silence_limit_ms = Some(15_000);
    let hears = Sweep::new(&plan, &promises).unwrap();
    for cut in hears.cuts(&wanted) {
        assert_eq!(hears.applies(&cut), Ok(()));
        let plan = hears.plan(&cut);
        assert!(plan.deadline_ms > hears.base().deadline_ms + 15_000);
        assert_eq!(expected(&plan, &promises).outcomes, ["exited"], "{cut}");
    }
}

#[test]
fn what_has_no_stream_says_why() {
    let refuse = |rest: &str| {
        let plan = plan(rest);
        Sweep::new(&plan, &default_promises(&plan))
            .unwrap_err()
            .to_string()
    };
    for (rest, why) in [
        (
            "[[fault]]\non = \"connect\"\nstatus = 404\n",
            "a right client is never served a stream",
        ),
        (
            "[[fault]]\non = \"connect\"\nencoding = { coding = \"gzip\" }\n",
            "connect 1 is left out: its body has a content coding",
        ),
        (
            "[[fault]]\non = \"connect\"\nattempt = \"every\"\nstream = [{ line = '{canary}' }, { end = \"fin\" }]\n",
            "it holds placeholders, whose length differs",
        ),
    ] {
        assert!(refuse(rest).contains(why), "{}", refuse(rest));
    }
}

#[test]
fn a_split_parts_one_write_before_its_byte() {
    let sweep = sweep("");
    let layout = &sweep.streams[0].layout;
    let first = layout.writes[0];
    assert_eq!(split(layout, 3)[..2], [3, ONE_SEGMENT]);
    // Where a write ends anyway, nothing needs to be parted.
    assert_eq!(split(layout, first as u64), [ONE_SEGMENT; 4]);
    assert_eq!(
        split(layout, first as u64 + 2)[..3],
        [ONE_SEGMENT, 2, ONE_SEGMENT]
    );
}

#[test]
fn a_byte_is_named_by_its_frame() {
    let sweep = sweep("");
    let stream = &sweep.streams[0];
    let place = |by: By, at: usize| {
        let cut = Cut {
            attempt: 1,
            by,
            at: at as u64,
            shape: Shape::Own,
        };
        let picture = picture(stream, &cut);
        picture
            .place
            .split_once(", ")
            .expect("a place")
            .1
            .to_owned()
    };
    let text = String::from_utf8_lossy(&stream.layout.bytes).into_owned();
    let find = |part: &str| text.find(part).expect("a part");
    assert_eq!(place(By::Fin, 0), "before the chunk with frame 1");
    assert_eq!(
        place(By::Fin, 1),
        "inside the size of the chunk with frame 1"
    );
    assert_eq!(
        place(By::Fin, find("b25lCg") + 2),
        "inside the base64 of frame 1"
    );
    assert_eq!(place(By::Fin, find("\n\r\n")), "before the LF of frame 1");
    assert_eq!(
        place(By::Fin, find("\n\r\n") + 2),
        "between CR and LF that ends the chunk with frame 1"
    );
    assert_eq!(place(By::Fin, text.len() - 2), "inside the zero chunk");
    let lines = find("\n\r\n") + 1 - "43\r\n".len();
    assert_eq!(place(By::Clean, lines), "before frame 2");
}
