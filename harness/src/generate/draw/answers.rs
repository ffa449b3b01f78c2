//! Answers that calls of every kind may get.

use super::super::dice::Dice;
use fake_server::script::model::{Behaviour, Content, Cut, CutPoint, End, Step};
use serde_json::{Map, Value, json};

/// A status with the usual body of it.
pub(super) fn status(status: u16) -> Behaviour {
    Behaviour {
        status: Some(status),
        ..Behaviour::default()
    }
}

/// No answer: the connection ends before it, by FIN or RST.
pub(super) fn cut(dice: &mut Dice<'_>) -> Behaviour {
    Behaviour {
        cut: Some(Cut {
            at: dice.one_of(&[CutPoint::HeadRead, CutPoint::BodyRead]),
            reset: dice.percent(50),
        }),
        ..Behaviour::default()
    }
}

/// The faithful answer with other fields.
pub(super) fn data(with: &[(&str, Value)], without: &[&str]) -> Behaviour {
    let with: Map<String, Value> = with
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    Behaviour {
        content: Content::Data {
            with,
            without: without.iter().map(|key| (*key).to_owned()).collect(),
        },
        ..Behaviour::default()
    }
}

/// A success by its status alone: a body that is none.
pub(super) fn no_result(dice: &mut Dice<'_>, status: u16) -> Behaviour {
    let content = match dice.below(8) {
        0 => Content::Text(String::new()),
        1 => Content::Text("<html>welcome</html>\n".to_owned()),
        2 => Content::Text("[]".to_owned()),
        3 => Content::Json(json!({ "status": "fail", "data": { "message": "{canary}" } })),
        4 => Content::Json(json!({ "status": "error", "message": "{canary}", "code": 500 })),
        5 => Content::Json(json!({ "status": "success", "data": {} })),
        6 => Content::Text("{\"status\":\"success\",\"data\":null}".to_owned()),
        _ => Content::Text("{\"status\":\"success\",\"data\":{\"".to_owned()),
    };
    Behaviour {
        status: Some(status),
        content,
        ..Behaviour::default()
    }
}

/// A JSON answer that breaks off inside.
pub(super) fn broken_json(dice: &mut Dice<'_>, begin: &str) -> Behaviour {
    let end = dice.one_of(&[End::Fin, End::Reset, End::TruncatedChunk, End::BadChunk]);
    Behaviour {
        headers: vec![(
            "content-type".to_owned(),
            vec!["application/json".to_owned()],
        )],
        content: Content::Stream(vec![
            Step::Raw {
                bytes: begin.into(),
                is: None,
            },
            Step::End(end),
        ]),
        ..Behaviour::default()
    }
}

/// A refusal that quotes what must not come through.
pub(super) fn refusal(dice: &mut Dice<'_>, statuses: &[u16]) -> Behaviour {
    let code = dice.one_of(statuses);
    let content = match dice.below(8) {
        0 => Content::Text(String::new()),
        1 => Content::Text("<html>{canary} 502 Bad Gateway</html>\n".to_owned()),
        2 => Content::Json(json!({ "status": "error", "message": "ECONNRESET {canary}" })),
        3 => Content::Text("{\"status\":\"success\",\"data\":{}}".to_owned()),
        4 => Content::Json(json!({
            "status": "fail",
            "code": "ECONNRESET",
            "data": { "code": "ECONNRESET", "status": 503, "message": "{canary}" },
        })),
        5 => Content::Json(json!({
            "status": "error",
            "message": "upstream said: 404 page not found, destroyed",
        })),
        _ => Content::Faithful,
    };
    Behaviour {
        content,
        ..status(code)
    }
}

/// A late answer.
pub(super) fn late(dice: &mut Dice<'_>) -> Behaviour {
    Behaviour {
        delay_ms: Some(dice.between(1, 30)),
        ..Behaviour::default()
    }
}
