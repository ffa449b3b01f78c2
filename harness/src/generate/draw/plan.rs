//! A whole plan.

use super::{
    super::{Profile, dice::Dice},
    calls,
    connects::connects,
    exec, files, lease,
    truth::truth,
};
use fake_server::{
    script::filling,
    script::model::{
        Attempts, Behaviour, Cancel, CancelPoint, Content, CutPoint, Expect, Fault, Job, Plan,
        SandboxTruth, Span, Step, Truth, TruthExit,
    },
    wire::{Blob, Call, Op, limits},
};
use serde_json::{Value, json};

/// Milliseconds until a trial gives up, as of a scenario that says nothing.
const DEADLINE_MS: u64 = 10_000;

/// How often each op is drawn, of a hundred.
const OPS: &[(u64, Op)] = &[
    (40, Op::Follow),
    (28, Op::Execute),
    (8, Op::Connect),
    (3, Op::Terminal),
    (6, Op::Acquire),
    (2, Op::Release),
    (2, Op::Pause),
    (2, Op::Resume),
    (2, Op::Exec),
    (3, Op::ExecStream),
    (2, Op::Upload),
    (2, Op::Download),
];

/// What the op decides of a plan.
pub(super) struct Parts {
    pub(super) op: Op,
    pub(super) job: Job,
    pub(super) sandbox: SandboxTruth,
    pub(super) truth: Truth,
    /// In the order of time, as far as that is known.
    pub(super) faults: Vec<(Call, Attempts, Behaviour)>,
}

/// A sandbox that simply runs.
pub(super) fn running() -> SandboxTruth {
    SandboxTruth {
        state: "running".to_owned(),
        lag: 0,
        files: Vec::new(),
    }
}

pub(in super::super) fn plan(dice: &mut Dice<'_>, profile: Profile, op: Option<Op>) -> Plan {
    let drawn = dice.weighted(OPS);
    let parts = match op.unwrap_or(drawn) {
        op @ (Op::Acquire | Op::Release | Op::Pause | Op::Resume) => lease::parts(dice, op),
        op @ (Op::Exec | Op::ExecStream) => exec::parts(dice, profile, op),
        op @ (Op::Upload | Op::Download) => files::parts(dice, profile, op),
        op => streamed(dice, profile, op),
    };
    let mut plan = Plan {
        id: "generated/plan".to_owned(),
        title: "A generated schedule".to_owned(),
        requirements: vec![about(parts.op).to_owned()],
        fault_kinds: Vec::new(),
        why: "Drawn at random: nobody wrote a scenario for this.".to_owned(),
        op: parts.op,
        needs: Vec::new(),
        deadline_ms: DEADLINE_MS,
        job: parts.job,
        sandbox: parts.sandbox,
        truth: parts.truth,
        faults: (1..)
            .zip(parts.faults)
            .map(|(number, (call, attempts, behaviour))| Fault {
                number,
                on: Some(call),
                attempts,
                when_after: None,
                on_connection: None,
                bait: false,
                behaviour,
            })
            .collect(),
        expect: Expect::default(),
        seed: 0,
    };
    plan.needs = plan.implied_needs();
    plan
}

/// What follows a process: `follow`, `execute`, `terminal` and `connect`.
fn streamed(dice: &mut Dice<'_>, profile: Profile, op: Op) -> Parts {
    let starts = matches!(op, Op::Execute | Op::Terminal);
    let mut truth = truth(dice, profile, op);
    let mut job = job(dice, op, &truth);
    let connects = connects(dice, profile, op, &truth, job.after);
    let mut faults = if starts {
        calls::faults(dice, op)
    } else {
        Vec::new()
    };
    let attempts = numbered(&connects.answers);
    if connects.stalls {
        let last = attempts.last().copied().unwrap_or(1);
        stop(dice, &mut job, &connects.answers, last);
        if dice.percent(50) && !tells_the_exit(&connects.answers) {
            truth.exit = TruthExit::Never;
        }
    }
    if op == Op::Terminal && connects.answers.first().is_some_and(is_early) {
        // What is joined or left out of the typing is the client's choice, so the server would not know when the first
        // connect comes.
        job.extra.remove("input");
    }
    let count = connects.answers.len();
    let answers = attempts.into_iter().zip(connects.answers);
    faults.extend(answers.enumerate().map(|(index, (nth, behaviour))| {
        let attempts = if index + 1 == count && connects.for_ever {
            Attempts::From(nth)
        } else {
            Attempts::Nth(nth)
        };
        (Call::Connect, attempts, behaviour)
    }));
    // As the calls are made in time; what cannot be known better stands last.
    faults.sort_by_key(|(call, ..)| *call == Call::DeleteProcess);
    Parts {
        op,
        job,
        sandbox: running(),
        truth,
        faults,
    }
}

/// A requirement that every trial of the op puts to the test, whatever else it does: a plan is about something.
const fn about(op: Op) -> &'static str {
    match op {
        Op::Connect => "raw/after-param",
        Op::Acquire => "lease/create-once",
        Op::Release => "lease/released",
        Op::Pause | Op::Resume => "lease/async-state",
        Op::Exec | Op::ExecStream => "exec/once",
        Op::Upload | Op::Download => "files/exact",
        _ => "stream/authenticated",
    }
}

fn job(dice: &mut Dice<'_>, op: Op, truth: &Truth) -> Job {
    let mut job = Job::default();
    if op == Op::Terminal {
        terminal(dice, &mut job);
        return job;
    }
    if op == Op::Execute {
        job.command = vec!["run.sh".to_owned()];
        if dice.percent(15) {
            job.stdin = Some(dice.one_of(&["input\n", "é\0\u{2028}"]).into());
        }
        return job;
    }
    let last = truth.first_seq - 1 + truth.frames.len() as u64;
    if truth.first_seq > 1 || dice.percent(12) {
        job.after = truth.first_seq - 1;
        if dice.percent(40) {
            job.after = dice.between(job.after, last);
        }
    }
    job
}

/// A size, and what is typed with new sizes between.
fn terminal(dice: &mut Dice<'_>, job: &mut Job) {
    const SIZES: &[(u64, u64)] = &[(80, 24), (120, 30), (30, 120), (1, 1)];
    let (cols, rows) = dice.one_of(SIZES);
    job.extra.insert("cols".to_owned(), json!(cols));
    job.extra.insert("rows".to_owned(), json!(rows));
    let input: Vec<Value> = (0..dice.below(4))
        .map(|_| {
            if dice.percent(35) {
                let (cols, rows) = dice.one_of(SIZES);
                return json!({ "cols": cols, "rows": rows });
            }
            let typed = if dice.percent(4) {
                // More than one request may carry.
                Blob(filling(limits::INPUT_BYTES + 1 + dice.length(0, 5_000)))
            } else {
                dice.one_of(&["ls\n", "exit\n", "é\0\u{2028}", "\x03"])
                    .into()
            };
            json!({ "data_base64": typed.to_base64() })
        })
        .collect();
    if !input.is_empty() {
        job.extra.insert("input".to_owned(), Value::Array(input));
    }
}

/// Whether a connection ends before its request.
fn is_early(one: &Behaviour) -> bool {
    one.refuse || one.cut.is_some_and(|cut| cut.at == CutPoint::Accept)
}

/// Which attempt each answer meets. A connection that ends before its request is there is not counted, so what comes
/// next meets the same attempt; unless a file could not say both of one attempt.
fn numbered(answers: &[Behaviour]) -> Vec<u32> {
    let silent = |one: &Behaviour| one.cut.is_some() || one.hold_ms.is_some();
    let mut nth = 1;
    let mut attempts = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).and_then(|before| answers.get(before))
            && (!is_early(before) || silent(answer) || answer.refuse)
        {
            nth += 1;
        }
        attempts.push(nth);
    }
    attempts
}

/// Gives the job a deadline, or a cancel at the stream that stands still.
fn stop(dice: &mut Dice<'_>, job: &mut Job, answers: &[Behaviour], nth: u32) {
    let holds = answers.last().is_some_and(|last| last.hold_ms.is_some());
    if dice.percent(35) {
        job.cancel = Some(Cancel {
            on: Call::Connect,
            attempt: nth,
            at: CancelPoint::Sent,
            plus_ms: if holds { 0 } else { dice.between(60, 150) },
        });
    } else {
        // Every earlier connect with its back-off, and room for a busy machine.
        job.timeout_ms = Some(500 + 600 * answers.len() as u64);
    }
}

/// Whether any answer names the exit, so that the truth must have one.
fn tells_the_exit(answers: &[Behaviour]) -> bool {
    fn step_tells(step: &Step) -> bool {
        use fake_server::script::model::FrameRef::Exit;
        match step {
            Step::SendOne(frame) | Step::Part { frame, .. } | Step::Edited { frame, .. } => {
                *frame == Exit
            }
            Step::Raw { is, .. } | Step::Frame { is, .. } => *is == Some(Exit),
            Step::Send(Span::Rest) => true,
            _ => false,
        }
    }
    answers.iter().any(
        |answer| matches!(&answer.content, Content::Stream(steps) if steps.iter().any(step_tells)),
    )
}
