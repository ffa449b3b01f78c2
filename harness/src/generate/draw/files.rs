//! Files that are sent and fetched.

use super::{
    super::{Profile, dice::Dice},
    answers::{cut, data, late, no_result, refusal},
    framing::broken,
    plan::{Parts, running},
};
use fake_server::{
    script::{
        default_truth,
        model::{
            Attempts, Behaviour, Coding, Content, Effect, Encoding, End, Job, SandboxTruth, Step,
            TruthFile,
        },
    },
    wire::{Blob, Call, Op},
};
use serde_json::json;

/// Paths that have to be coded in a query.
const PATHS: &[&str] = &[
    "/data/file.bin",
    "/data/a file.txt",
    "/data/a+b.txt",
    "/data/a&path=/b.txt",
    "/data/100%25.txt",
    "/data/what?.txt",
    "/data/a#b.txt",
    "/data/ä€.txt",
];

pub(super) fn parts(dice: &mut Dice<'_>, profile: Profile, op: Op) -> Parts {
    let path = if dice.percent(70) {
        PATHS[0]
    } else {
        dice.one_of(PATHS)
    };
    let contents = Blob(contents(dice, profile));
    let mut job = Job::default();
    job.extra.insert("path".to_owned(), json!(path));
    let mut sandbox = running();
    let mut faults = Vec::new();
    if op == Op::Upload {
        job.extra
            .insert("data_base64".to_owned(), json!(contents.to_base64()));
        if dice.percent(65) {
            faults.push((Call::PutFile, Attempts::Every, stored(dice, contents.len())));
        }
    } else {
        let is_there = dice.percent(92);
        if dice.percent(70) {
            faults.push((Call::GetFile, Attempts::Every, fetched(dice, &contents)));
        }
        if is_there {
            sandbox = SandboxTruth {
                files: vec![TruthFile {
                    path: path.to_owned(),
                    data: contents,
                }],
                ..sandbox
            };
        }
    }
    Parts {
        op,
        job,
        sandbox,
        truth: default_truth(op),
        faults,
    }
}

fn contents(dice: &mut Dice<'_>, profile: Profile) -> Vec<u8> {
    let most = match profile {
        Profile::Quick => 60,
        Profile::Deep => 20_000,
    };
    match dice.below(5) {
        0 => Vec::new(),
        1 => b"one, two, three".to_vec(),
        2 => b"{\"status\":\"fail\",\"data\":{\"message\":\"a file may say so\"}}".to_vec(),
        _ => {
            let length = dice.length(1, most);
            dice.bytes(length)
        }
    }
}

fn stored(dice: &mut Dice<'_>, bytes: usize) -> Behaviour {
    let effect = Some(dice.one_of(&[Effect::Done, Effect::None]));
    match dice.below(8) {
        0 | 1 => refusal(dice, &[400, 401, 403, 404, 409, 413, 422]),
        2 => Behaviour {
            effect,
            ..refusal(dice, &[429, 500, 502, 503, 504])
        },
        3 => Behaviour {
            effect,
            ..cut(dice)
        },
        4 | 5 => Behaviour {
            effect: Some(Effect::None),
            ..no_result(dice, 200)
        },
        6 => data(&[("bytes", json!(bytes + 1))], &[]),
        _ => late(dice),
    }
}

fn fetched(dice: &mut Dice<'_>, contents: &Blob) -> Behaviour {
    let length = contents.len();
    match dice.below(10) {
        0 => refusal(dice, &[400, 401, 403, 404, 409, 410]),
        1 => refusal(dice, &[429, 500, 502, 503, 504]),
        2 => cut(dice),
        // An envelope or a page where the file belongs.
        3 => Behaviour {
            status: Some(200),
            content: Content::Json(json!({
                "status": "fail",
                "data": { "code": "not_found", "message": "{canary}" },
            })),
            ..Behaviour::default()
        },
        4 => Behaviour {
            status: Some(dice.one_of(&[204, 205, 206])),
            ..Behaviour::default()
        },
        // Coded without being asked. A short one: who refuses a long one for its head leaves no trace of having read it.
        5 if length <= 1_000 => Behaviour {
            encoding: Some(Encoding {
                coding: Coding::Gzip,
                flush_frames: dice.percent(50),
                cut: None,
                lie: false,
                extra: 0,
            }),
            ..Behaviour::default()
        },
        6 => Behaviour {
            content_length: Some(i64::try_from(length + dice.length(1, 1_000)).unwrap_or(1)),
            content: Content::Bytes(contents.clone()),
            ..Behaviour::default()
        },
        7 => late(dice),
        kind => {
            let at = dice.length(0, length);
            // Whole in pieces, or broken at any byte.
            let (end, shown) = if kind == 8 {
                (broken(dice), at)
            } else {
                (End::Chunk, length)
            };
            let cut = at.min(shown);
            let mut steps: Vec<Step> = [&contents[..cut], &contents[cut..shown]]
                .into_iter()
                .filter(|piece| !piece.is_empty())
                .map(|piece| Step::Raw {
                    bytes: piece.into(),
                    is: None,
                })
                .collect();
            steps.push(Step::End(end));
            Behaviour {
                content: Content::Stream(steps),
                ..Behaviour::default()
            }
        }
    }
}
