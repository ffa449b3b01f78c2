//! Connects that bring no stream: a status, or no answer at all.

use super::super::dice::Dice;
use fake_server::{
    script::model::{Behaviour, Content, Cut, CutPoint, End, Redirect, Span, Step},
    wire::Op,
};
use serde_json::json;

/// Values of Retry-After that lengthen nothing; one is beyond every deadline.
const RETRY_AFTER: &[&str] = &[
    "0",
    "-1",
    "9999999999",
    "0.0",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "soon",
    "",
];

/// A failure that a right client tries again.
pub(super) fn transient(dice: &mut Dice<'_>, op: Op) -> Behaviour {
    if dice.percent(45) {
        return unanswered(dice, op);
    }
    let status = dice.weighted(&[
        (5, 500_u16),
        (5, 502),
        (5, 503),
        (5, 504),
        (5, 429),
        (1, 501),
        (1, 505),
        (1, 599),
    ]);
    let mut behaviour = answered(dice, status);
    if dice.percent(25) {
        let value = dice.one_of(RETRY_AFTER).to_owned();
        behaviour
            .headers
            .push(("retry-after".to_owned(), vec![value]));
    }
    behaviour
}

/// A connection that ends without an answer.
pub(super) fn unanswered(dice: &mut Dice<'_>, op: Op) -> Behaviour {
    // Who gives up at a closed port proves nothing over sockets, and a raw stream may give up at once.
    if op != Op::Connect && dice.percent(12) {
        return Behaviour {
            refuse: true,
            ..Behaviour::default()
        };
    }
    Behaviour {
        cut: Some(Cut {
            at: dice.one_of(&[CutPoint::Accept, CutPoint::HeadRead, CutPoint::BodyRead]),
            reset: dice.percent(50),
        }),
        ..Behaviour::default()
    }
}

/// An answer that ends the call.
pub(super) fn permanent(dice: &mut Dice<'_>) -> Behaviour {
    if dice.percent(12) {
        return Behaviour {
            content: Content::Redirect(dice.weighted(&[
                (4, Redirect::OtherOrigin),
                (2, Redirect::SameOrigin),
                (1, Redirect::Loop),
            ])),
            ..Behaviour::default()
        };
    }
    let status = dice.weighted(&[
        (4, 400_u16),
        (4, 401),
        (4, 403),
        (5, 404),
        (3, 409),
        (2, 422),
        (1, 418),
        (1, 451),
        (10, 410),
    ]);
    answered(dice, status)
}

/// A success that is none: no stream, or something else in its place.
pub(super) fn odd_success(dice: &mut Dice<'_>) -> Behaviour {
    let mut behaviour = match dice.below(4) {
        0 => Behaviour {
            status: Some(204),
            content: Content::Text(String::new()),
            ..Behaviour::default()
        },
        1 => Behaviour {
            status: Some(dice.one_of(&[201, 202, 206])),
            ..Behaviour::default()
        },
        2 => Behaviour {
            status: Some(200),
            headers: vec![("content-type".to_owned(), vec!["text/html".to_owned()])],
            content: Content::Text("<html>\n<body>Sign in {canary}</body>\n</html>\n".to_owned()),
            ..Behaviour::default()
        },
        _ => Behaviour {
            status: Some(200),
            headers: vec![(
                "content-type".to_owned(),
                vec!["application/json".to_owned()],
            )],
            content: Content::Json(json!({ "status": "success", "data": { "exit_code": 0 } })),
            ..Behaviour::default()
        },
    };
    if dice.percent(10) {
        behaviour.delay_ms = Some(dice.between(1, 20));
    }
    behaviour
}

/// A status with one body or another. None of them may be read as frames, or be repeated to anybody.
fn answered(dice: &mut Dice<'_>, status: u16) -> Behaviour {
    let content = match dice.below(10) {
        0..=4 => Content::Faithful,
        5 => Content::Text(String::new()),
        6 => Content::Text("<html>{canary}</html>\n".to_owned()),
        7 => Content::Json(json!({ "status": "error", "message": "{canary}", "code": status })),
        8 => Content::Text("{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n".to_owned()),
        _ => Content::Stream(vec![Step::Send(Span::Rest), Step::End(End::Chunk)]),
    };
    Behaviour {
        status: Some(status),
        content,
        ..Behaviour::default()
    }
}
