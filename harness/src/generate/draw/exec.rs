//! Commands that are answered with their result: buffered, and as a stream of frames without numbers.

use super::{
    super::{Profile, dice::Dice},
    answers::{broken_json, cut, data, late, no_result, refusal},
    framing::broken,
    plan::{Parts, running},
};
use fake_server::{
    script::{
        default_truth,
        model::{Attempts, Behaviour, Coding, Content, Encoding, End, Job, Step, TruthFrame},
    },
    wire::{Call, Op, StreamName},
};
use serde_json::json;

/// What is written, as text: the wire has nothing else here.
const TEXTS: &[&str] = &[
    "one\n",
    "careful\n",
    "é€🎉",
    "\u{2028}",
    "",
    "a\tb\r\n",
    "\"\\\"",
];

/// Codes that are none.
const CODES: &[&str] = &["\"0\"", "null", "false", "0.5", "[0]", "{}"];

pub(super) fn parts(dice: &mut Dice<'_>, profile: Profile, op: Op) -> Parts {
    let mut truth = default_truth(op);
    let most = match profile {
        Profile::Quick => 4,
        Profile::Deep => 12,
    };
    for seq in 1..=dice.between(0, most) {
        truth.frames.push(TruthFrame {
            seq,
            stream: dice.weighted(&[(7, StreamName::Stdout), (3, StreamName::Stderr)]),
            data: dice.one_of(TEXTS).into(),
            pause_ms: 0,
        });
    }
    let code = dice.weighted(&[(5, 0_i64), (3, 1), (2, 7), (1, 255)]);
    truth.exit = fake_server::script::model::TruthExit::Status {
        code: Some(code),
        signal: None,
        pause_ms: 0,
    };
    let mut job = Job {
        command: vec!["run.sh".to_owned()],
        ..Job::default()
    };
    if dice.percent(15) {
        job.stdin = Some("input\n".into());
    }
    let mut faults = Vec::new();
    if dice.percent(70) {
        let behaviour = if op == Op::ExecStream && dice.percent(70) {
            let lines = lines(&truth.frames);
            stream(dice, lines, code)
        } else {
            answer(dice, op)
        };
        faults.push((Call::Exec, Attempts::Every, behaviour));
    }
    Parts {
        op,
        job,
        sandbox: running(),
        truth,
        faults,
    }
}

fn answer(dice: &mut Dice<'_>, op: Op) -> Behaviour {
    match dice.below(8) {
        0 | 1 => refusal(dice, &[400, 401, 403, 404, 409, 413, 422]),
        2 | 3 => refusal(dice, &[429, 500, 502, 503, 504]),
        4 => cut(dice),
        5 => no_result(dice, 200),
        6 if op == Op::Exec => match dice.below(3) {
            0 => broken_json(
                dice,
                "{\"status\":\"success\",\"data\":{\"result\":{\"exit_code\":0",
            ),
            1 => data(&[], &["result"]),
            _ => data(
                &[("result", json!({ "stdout": "one\n", "stderr": "" }))],
                &[],
            ),
        },
        _ => late(dice),
    }
}

/// The true frames as lines.
fn lines(frames: &[TruthFrame]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| {
            let text = String::from_utf8_lossy(&frame.data).into_owned();
            format!("{}\n", json!({ frame.stream.name(): text }))
        })
        .collect()
}

/// A stream in other words, or with something wrong in it.
fn stream(dice: &mut Dice<'_>, mut lines: Vec<String>, code: i64) -> Behaviour {
    let exit = format!("{{\"exit_code\":{code}}}\n");
    let at = dice.length(0, lines.len());
    let mut end = End::Chunk;
    match dice.below(10) {
        0 => lines.insert(at, "{\"hb\":true}\n".to_owned()),
        1 => lines.insert(at, "\n".to_owned()),
        // The last words and the code share a frame.
        2 => match lines.pop() {
            Some(last) => {
                let shared = last.replacen('{', &format!("{{\"exit_code\":{code},"), 1);
                lines.push(shared);
            }
            None => lines.push(exit.clone()),
        },
        3 => {
            lines.truncate(at);
            end = if dice.percent(30) {
                End::Chunk
            } else {
                broken(dice)
            };
        }
        4 => lines.insert(
            at,
            dice.one_of(&["x\n", "[]\n", "{\"stdout\":\n", "7\n"])
                .to_owned(),
        ),
        5 => lines.insert(at, "{\"error\":\"{canary}\"}\n".to_owned()),
        6 => lines.push(format!("{{\"exit_code\":{}}}\n", dice.one_of(CODES))),
        7 => match lines.get_mut(at) {
            // A heartbeat that brings output as well.
            Some(line) => *line = line.replacen('{', "{\"hb\":true,", 1),
            None => lines.push("{\"hb\":true,\"future\":[1]}\n".to_owned()),
        },
        8 => {
            lines.push(exit.clone());
            end = broken(dice);
        }
        _ => {}
    }
    let finished = lines.iter().any(|line| line.contains("exit_code"));
    if !finished && end == End::Chunk && !dice.percent(8) {
        lines.push(exit);
    }
    let mut steps: Vec<Step> = lines
        .iter()
        .map(|line| Step::Raw {
            bytes: line.as_str().into(),
            is: None,
        })
        .collect();
    steps.push(Step::End(end));
    let encoding = (end == End::Chunk && dice.percent(5)).then(|| Encoding {
        coding: Coding::Gzip,
        flush_frames: dice.percent(50),
        cut: None,
        lie: false,
        extra: 0,
    });
    Behaviour {
        content: Content::Stream(steps),
        encoding,
        ..Behaviour::default()
    }
}
