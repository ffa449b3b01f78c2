//! What goes wrong with the calls around the stream: create, stdin/close and delete.

use super::{
    super::dice::Dice,
    answers::{cut, data, status},
};
use fake_server::{
    script::model::{Attempts, Behaviour, Content, Effect},
    wire::{Call, Op},
};
use serde_json::json;

/// Ids that are none. One that is would name a process that the world does not know.
const IDS: &[&str] = &[
    "",
    ".",
    "..",
    "a/b",
    "../x",
    "p?after=9",
    "p#1",
    "p 1",
    "p%2f1",
    "pé",
    "p\n1",
];

/// Faults of the other calls of an `execute` or a `terminal`.
pub(super) fn faults(dice: &mut Dice<'_>, op: Op) -> Vec<(Call, Attempts, Behaviour)> {
    let mut faults = Vec::new();
    if dice.percent(9) {
        faults.push((Call::CreateProcess, Attempts::Nth(1), create(dice)));
    }
    if dice.percent(9) {
        let call = if op == Op::Terminal {
            dice.one_of(&[Call::Input, Call::ResizeProcess])
        } else {
            Call::StdinClose
        };
        faults.push((call, Attempts::Nth(1), written(dice)));
    }
    if dice.percent(25) {
        faults.push((Call::DeleteProcess, Attempts::Every, delete(dice)));
    }
    faults
}

fn create(dice: &mut Dice<'_>) -> Behaviour {
    match dice.below(10) {
        0 | 1 => Behaviour {
            delay_ms: Some(dice.between(1, 30)),
            ..Behaviour::default()
        },
        2 => status(dice.one_of(&[400, 401, 403, 404, 409, 413, 422])),
        3 | 4 => Behaviour {
            effect: Some(dice.one_of(&[Effect::Done, Effect::None])),
            ..status(dice.one_of(&[500, 502, 503, 504, 429]))
        },
        5 | 6 => Behaviour {
            effect: dice.percent(50).then_some(Effect::Done),
            ..cut(dice)
        },
        7 => data(&[("process_id", json!(dice.one_of(IDS)))], &[]),
        8 => data(&[], &[dice.one_of(&["process_id", "state", "pid"])]),
        _ => Behaviour {
            status: Some(201),
            content: Content::Text(
                dice.one_of(&[
                    "",
                    "<html>created</html>",
                    "[]",
                    "{\"status\":\"success\"}",
                    "{\"status\":\"success\",\"data\":{\"process_id\":null}}",
                    "{\"status\":\"success\",\"data\":{\"process_id\":\"pr",
                    "{\"status\":\"fail\",\"data\":{\"process_id\":\"proc_1\"}}",
                ])
                .to_owned(),
            ),
            ..Behaviour::default()
        },
    }
}

/// What closing or writing standard input gets.
fn written(dice: &mut Dice<'_>) -> Behaviour {
    match dice.below(10) {
        0..=3 => status(409),
        4 => status(dice.one_of(&[400, 403, 404, 429])),
        5 | 6 => status(dice.one_of(&[500, 502, 503])),
        7 => cut(dice),
        8 => Behaviour {
            status: Some(204),
            content: Content::Text(String::new()),
            ..Behaviour::default()
        },
        _ => Behaviour {
            delay_ms: Some(dice.between(1, 30)),
            ..Behaviour::default()
        },
    }
}

fn delete(dice: &mut Dice<'_>) -> Behaviour {
    if dice.percent(2) {
        // No answer within the time that a clean-up may take. Rare: a spawned client waits for it.
        return Behaviour {
            hold_ms: Some(60_000),
            ..Behaviour::default()
        };
    }
    match dice.below(13) {
        0 | 1 => status(404),
        2 => status(dice.one_of(&[500, 502, 503, 429, 409, 400])),
        3 => Behaviour {
            content: Content::Text(String::new()),
            ..status(dice.one_of(&[202, 204]))
        },
        4 | 5 => cut(dice),
        6 => data(&[("tree_exited", json!(false))], &[]),
        7 => data(&[], &["tree_exited"]),
        8 => data(&[("tree_exited", json!("true"))], &[]),
        9 => Behaviour {
            content: Content::Json(json!({
                "status": "error",
                "message": "upstream said: 404 page not found, tree_exited",
            })),
            ..status(dice.one_of(&[500, 502, 429, 400]))
        },
        10 => Behaviour {
            status: Some(200),
            content: Content::Text(
                dice.one_of(&[
                    "",
                    "{\"status\":\"fail\",\"data\":{\"tree_exited\":true}}",
                    "{\"tree_exited\":true}",
                    "{\"status\":\"success\",\"data\":null}",
                    "tree_exited: true",
                ])
                .to_owned(),
            ),
            ..Behaviour::default()
        },
        _ => Behaviour {
            delay_ms: Some(dice.between(1, 30)),
            ..Behaviour::default()
        },
    }
}
