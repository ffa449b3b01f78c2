//! What may stand between frames and must change nothing.

use super::frames::{Script, fields};
use fake_server::script::model::{FrameRef, Step};
use serde_json::json;

/// Lines without anything on them.
const BLANK: &[&str] = &["\n", "\r\n", " \n", "\t\n", "\n\n\n"];

/// A step that delivers nothing.
pub(super) fn step(script: &mut Script<'_, '_>) -> Step {
    #[derive(Clone, Copy)]
    enum Kind {
        Heartbeat,
        Again,
        Foreign,
        Blank,
        Pause,
        Loop,
        BusyHeartbeat,
    }
    let kind = script.dice.weighted(&[
        (35, Kind::Heartbeat),
        (22, Kind::Again),
        (8, Kind::Foreign),
        (14, Kind::Blank),
        (12, Kind::Pause),
        (4, Kind::Loop),
        (5, Kind::BusyHeartbeat),
    ]);
    let has_old = script.at >= script.truth.first_seq && !script.truth.frames.is_empty();
    match kind {
        Kind::Again if has_old => Step::SendOne(old(script)),
        // The same number with other bytes: still old.
        Kind::Foreign if has_old => Step::Edited {
            frame: old(script),
            with: fields(&[("data_base64", json!("Zm9yZWlnbgo="))]),
            without: Vec::new(),
        },
        Kind::Blank => Step::Raw {
            bytes: script.dice.one_of(BLANK).into(),
            is: None,
        },
        Kind::Pause => Step::Pause {
            ms: script.dice.between(1, 12),
        },
        Kind::Loop => Step::Loop {
            count: script.dice.between(2, 5),
            steps: vec![Step::Heartbeat(1), Step::Pause { ms: 1 }],
        },
        Kind::BusyHeartbeat => Step::Frame {
            fields: fields(&[
                ("type", json!("heartbeat")),
                ("seq", json!(script.at.saturating_add(7))),
                ("data_base64", json!("eA==")),
            ]),
            is: None,
        },
        Kind::Heartbeat | Kind::Again | Kind::Foreign => Step::Heartbeat(script.dice.between(1, 3)),
    }
}

fn old(script: &mut Script<'_, '_>) -> FrameRef {
    FrameRef::Seq(script.dice.between(script.truth.first_seq, script.at))
}
