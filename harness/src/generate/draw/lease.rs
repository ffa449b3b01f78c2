//! Leases: creating a sandbox, giving it back, pausing and resuming it.

use super::{
    super::dice::Dice,
    answers::{broken_json, cut, data, late, no_result, refusal, status},
    plan::Parts,
};
use fake_server::{
    script::{
        SHAPE, default_truth,
        model::{Attempts, Behaviour, Cancel, CancelPoint, Effect, Job, SandboxTruth},
    },
    wire::{Call, Op},
};
use serde_json::{Map, json};

/// Statuses that leave open what became of the call, such after which another try may help, and such after which none
/// does.
const UNKNOWN: &[u16] = &[500, 502, 503, 504];
const TRANSIENT: &[u16] = &[408, 425, 429, 500, 502, 503, 504];
const PERMANENT: &[u16] = &[400, 401, 403, 404, 405, 409, 413, 422, 451];

/// Numbers that are no status.
const NONE: &[u16] = &[600, 799, 999];

/// States of a sandbox that a look may show.
const STATES: &[&str] = &[
    "creating",
    "running",
    "pausing",
    "paused",
    "resuming",
    "error",
    "failed",
    "destroying",
    "destroyed",
    "RUNNING",
    "",
    "warming-up",
];

/// Those that no change passes through.
const LASTING: &[&str] = &["running", "paused", "error", "failed", "destroyed"];

/// Ids that are none.
const IDS: &[&str] = &[
    "", ".", "..", "a/b", "../x", "sb?x=1", "sb#1", "sb 1", "sb%2f1",
];

pub(super) fn parts(dice: &mut Dice<'_>, op: Op) -> Parts {
    let mut extra = Map::new();
    let mut job = Job::default();
    if op == Op::Acquire {
        extra.insert("shape".to_owned(), json!(SHAPE));
        if dice.percent(30) {
            let policy = json!({
                "attempts": dice.between(1, 3),
                "min_delay_ms": dice.one_of(&[0_u64, 20, 60]),
            });
            extra.insert("policy".to_owned(), policy);
        }
    }
    job.extra = extra;
    let sandbox = SandboxTruth {
        state: state(dice, op).to_owned(),
        lag: u32::try_from(dice.weighted(&[(5, 0_u64), (3, 1), (2, 2), (1, 4)])).unwrap_or(0),
        files: Vec::new(),
    };
    let mut faults = Vec::new();
    match op {
        Op::Acquire => acquire(dice, &mut faults),
        Op::Release => release(dice, &mut faults),
        _ => change(dice, op, &mut faults),
    }
    let for_ever = faults
        .iter()
        .any(|(call, attempts, _)| *call == Call::GetSandbox && *attempts == Attempts::Every);
    if for_ever || dice.percent(20) {
        // A state that never comes is looked for as long as there is time. Enough of it for the slowest to see one that
        // only lags: eight looks, four a second.
        job.timeout_ms = Some(dice.between(3_000, 4_000));
    } else if dice.percent(6) {
        let on = first_call(op);
        let at = dice.one_of(&[CancelPoint::Sent, CancelPoint::Answered]);
        if at == CancelPoint::Sent {
            // What happens to a call that nobody waits for any more.
            faults.retain(|(call, ..)| *call != on);
            faults.push((on, Attempts::Nth(1), too_late(dice)));
        }
        job.cancel = Some(Cancel {
            on,
            attempt: 1,
            at,
            plus_ms: dice.between(10, 60),
        });
    }
    Parts {
        op,
        job,
        sandbox,
        truth: default_truth(op),
        faults,
    }
}

/// An answer that comes after everybody has left.
fn too_late(dice: &mut Dice<'_>) -> Behaviour {
    Behaviour {
        delay_ms: Some(900),
        effect: Some(dice.one_of(&[Effect::Done, Effect::None])),
        ..Behaviour::default()
    }
}

const fn first_call(op: Op) -> Call {
    match op {
        Op::Acquire => Call::CreateSandbox,
        Op::Release => Call::DeleteSandbox,
        Op::Pause => Call::Pause,
        _ => Call::Resume,
    }
}

fn state(dice: &mut Dice<'_>, op: Op) -> &'static str {
    let usual = if op == Op::Resume {
        "paused"
    } else {
        "running"
    };
    if op == Op::Acquire || dice.percent(80) {
        return usual;
    }
    dice.one_of(&["running", "paused", "error", "failed", "destroyed"])
}

type Faults = Vec<(Call, Attempts, Behaviour)>;

fn acquire(dice: &mut Dice<'_>, faults: &mut Faults) {
    let attempts = attempts(dice);
    if dice.percent(62) {
        faults.push((Call::CreateSandbox, attempts, create(dice)));
    }
    if dice.percent(35) {
        looks(dice, false, faults);
    }
    if dice.percent(35) {
        faults.push((Call::DeleteSandbox, Attempts::Every, destroy(dice)));
    }
    if dice.percent(10) {
        faults.push((
            Call::ListSandboxes,
            Attempts::Every,
            refusal(dice, &[403, 404, 500, 502]),
        ));
    }
}

fn attempts(dice: &mut Dice<'_>) -> Attempts {
    dice.weighted(&[
        (6, Attempts::Nth(1)),
        (2, Attempts::Every),
        (1, Attempts::Range(1, 2)),
    ])
}

fn create(dice: &mut Dice<'_>) -> Behaviour {
    let effect = Some(dice.one_of(&[Effect::Done, Effect::None]));
    match dice.below(12) {
        0 | 1 => Behaviour {
            effect,
            ..refusal(dice, UNKNOWN)
        },
        2 => refusal(dice, TRANSIENT),
        3 | 4 if dice.percent(15) => Behaviour {
            effect: Some(Effect::None),
            ..refusal(dice, NONE)
        },
        3 | 4 => refusal(dice, PERMANENT),
        5 => Behaviour {
            effect,
            ..cut(dice)
        },
        6 => Behaviour {
            effect,
            ..broken_json(dice, "{\"status\":\"success\",\"data\":{\"id\":\"sb-cut")
        },
        7 => data(&[("id", json!(dice.one_of(IDS)))], &[]),
        8 => data(&[("status", json!(dice.one_of(STATES)))], &[]),
        9 => data(&[], &[dice.one_of(&["id", "status"])]),
        10 => Behaviour {
            effect,
            ..no_result(dice, 200)
        },
        _ => late(dice),
    }
}

/// What looks at the state get. One that lies of a change being under way contradicts what comes after it, and nobody
/// can say what is right then.
fn looks(dice: &mut Dice<'_>, changes: bool, faults: &mut Faults) {
    let states = if changes { LASTING } else { STATES };
    let attempts = dice.weighted(&[
        (4, Attempts::Nth(1)),
        (2, Attempts::Nth(2)),
        (1, Attempts::Range(1, 2)),
        (2, Attempts::Every),
    ]);
    let behaviour = match dice.below(8) {
        0 => refusal(dice, TRANSIENT),
        1 => refusal(dice, PERMANENT),
        2 => cut(dice),
        3 | 4 => data(&[("status", json!(dice.one_of(states)))], &[]),
        5 => data(&[("id", json!("sb-other"))], &[]),
        6 => data(&[], &[dice.one_of(&["id", "status"])]),
        _ => no_result(dice, 200),
    };
    faults.push((Call::GetSandbox, attempts, behaviour));
}

fn destroy(dice: &mut Dice<'_>) -> Behaviour {
    let effect = Some(dice.one_of(&[Effect::Done, Effect::None]));
    match dice.below(9) {
        0 | 1 => Behaviour {
            effect,
            ..refusal(dice, UNKNOWN)
        },
        2 => refusal(dice, &[400, 401, 403, 409, 429]),
        3 => status(404),
        4 => Behaviour {
            effect,
            ..cut(dice)
        },
        5 => Behaviour {
            effect,
            ..no_result(dice, 200)
        },
        6 => data(
            &[(
                "status",
                json!(dice.one_of(&["destroyed", "destroying", "running", "failed"])),
            )],
            &[],
        ),
        7 => data(&[("id", json!("sb-other"))], &[]),
        _ => late(dice),
    }
}

fn release(dice: &mut Dice<'_>, faults: &mut Faults) {
    if dice.percent(75) {
        let attempts = attempts(dice);
        faults.push((Call::DeleteSandbox, attempts, destroy(dice)));
    }
    if dice.percent(25) {
        looks(dice, false, faults);
    }
}

fn change(dice: &mut Dice<'_>, op: Op, faults: &mut Faults) {
    let call = first_call(op);
    if dice.percent(60) {
        let effect = Some(dice.one_of(&[Effect::Done, Effect::None]));
        let behaviour = match dice.below(9) {
            0 | 1 => Behaviour {
                effect,
                ..refusal(dice, UNKNOWN)
            },
            2 => refusal(dice, PERMANENT),
            3 => Behaviour {
                effect,
                ..status(409)
            },
            4 => Behaviour {
                effect,
                ..cut(dice)
            },
            // Accepted in other words: a change that was accepted and never comes is waited for without end.
            5 => Behaviour {
                effect: Some(Effect::Done),
                ..no_result(dice, 202)
            },
            6 => data(&[("status", json!(dice.one_of(STATES)))], &[]),
            7 => data(&[("id", json!("sb-other"))], &[]),
            _ => late(dice),
        };
        let attempts = attempts(dice);
        faults.push((call, attempts, behaviour));
    }
    if dice.percent(45) {
        looks(dice, true, faults);
    }
}
