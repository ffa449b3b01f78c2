//! Answers that bring everything and the exit, with whatever may follow an exit and means nothing.

use super::{
    super::dice::Dice,
    frames::{Script, fields, spaced},
    framing::any_end,
    noise,
};
use fake_server::script::model::{End, FrameRef, Span, Step};
use serde_json::json;

/// Lines after the exit.
const AFTER_EXIT: &[&[u8]] = &[
    b"x\n",
    b"{\"type\":\"exit\",\"exit_code\":99,\"signal\":null}\n",
    b"{\"type\":\"error\",\"error\":\"late\"}\n",
    b"{\"type\":\"data\",\"seq\":1000000,\"stream\":\"stdout\",\"data_base64\":\"eA==\"}\n",
    b"{\"type\":\"log\"}\n",
    b"{\"type\":\"exit\"",
    b"\xff\xff\n",
];

/// All that is left, and the exit.
pub(super) fn steps(script: &mut Script<'_, '_>) {
    if script.dice.percent(35) {
        script.push(Step::Send(Span::Rest));
    } else {
        script.forward(script.last());
        script.catch_up();
        if script.dice.percent(10) {
            // A whole line but for its LF, and then the end: silence would leave it open for ever.
            let bytes = script.line(FrameRef::Exit).len().saturating_sub(1);
            script.push(Step::Part {
                frame: FrameRef::Exit,
                bytes,
            });
            let end = any_end(script.dice);
            script.end(end);
            return;
        }
        exit(script);
    }
    if script.dice.percent(35) {
        let step = match script.dice.below(5) {
            0 | 1 => noise::step(script),
            _ => Step::Raw {
                bytes: script.dice.one_of(AFTER_EXIT).into(),
                is: None,
            },
        };
        script.push(step);
    }
    let end = end(script.dice);
    script.end(end);
}

/// The true exit, as it is or in other bytes that mean the same.
fn exit(script: &mut Script<'_, '_>) {
    let frame = FrameRef::Exit;
    let step = match script.dice.below(10) {
        0 => spaced(script, frame),
        1 => Step::Edited {
            frame,
            with: fields(&[("seq", json!(1)), ("note", json!("\u{2028}"))]),
            without: Vec::new(),
        },
        _ => Step::SendOne(frame),
    };
    script.push(step);
}

/// How an answer ends that has said everything: in any way at all, silence included.
fn end(dice: &mut Dice<'_>) -> End {
    if dice.percent(25) {
        End::Hold
    } else {
        any_end(dice)
    }
}
