//! A whole plan.

use super::{
    super::{Profile, dice::Dice},
    calls,
    connects::connects,
    truth::truth,
};
use fake_server::{
    script::model::{
        Attempts, Behaviour, Cancel, CancelPoint, Content, CutPoint, Expect, Fault, Job, Plan,
        SandboxTruth, Span, Step, Truth, TruthExit,
    },
    wire::{Call, Op, call::Capability},
};

/// Milliseconds until a trial gives up, as of a scenario that says nothing.
const DEADLINE_MS: u64 = 10_000;

pub(in super::super) fn plan(dice: &mut Dice<'_>, profile: Profile, op: Option<Op>) -> Plan {
    let drawn = dice.weighted(&[(50, Op::Follow), (36, Op::Execute), (14, Op::Connect)]);
    let op = match op {
        None => drawn,
        Some(op @ (Op::Execute | Op::Connect)) => op,
        Some(_) => Op::Follow,
    };
    let mut truth = truth(dice, profile, op);
    let mut job = job(dice, op, &truth);
    let connects = connects(dice, profile, op, &truth, job.after);
    let mut faults: Vec<(Call, Attempts, Behaviour)> = if op == Op::Execute {
        calls::faults(dice)
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
    let mut needs = Vec::new();
    if job.cancel.is_some() {
        needs.push(Capability::Cancel);
    }
    if job.timeout_ms.is_some() {
        needs.push(Capability::Timeout);
    }
    needs.sort_unstable();
    Plan {
        id: "generated/plan".to_owned(),
        title: "A generated schedule".to_owned(),
        requirements: vec![about(op).to_owned()],
        fault_kinds: Vec::new(),
        why: "Drawn at random: nobody wrote a scenario for this.".to_owned(),
        op,
        needs,
        deadline_ms: DEADLINE_MS,
        job,
        sandbox: SandboxTruth {
            state: "running".to_owned(),
            lag: 0,
            files: Vec::new(),
        },
        truth,
        faults: (1..)
            .zip(faults)
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
    }
}

/// A requirement that every trial of the op puts to the test, whatever else it does: a plan is about something.
const fn about(op: Op) -> &'static str {
    match op {
        Op::Connect => "raw/after-param",
        _ => "stream/authenticated",
    }
}

fn job(dice: &mut Dice<'_>, op: Op, truth: &Truth) -> Job {
    let mut job = Job::default();
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

/// Which attempt each answer meets. A connection that ends before its request is there is not counted, so what comes
/// next meets the same attempt; unless a file could not say both of one attempt.
fn numbered(answers: &[Behaviour]) -> Vec<u32> {
    let early =
        |one: &Behaviour| one.refuse || one.cut.is_some_and(|cut| cut.at == CutPoint::Accept);
    let silent = |one: &Behaviour| one.cut.is_some() || one.hold_ms.is_some();
    let mut nth = 1;
    let mut attempts = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).and_then(|before| answers.get(before))
            && (!early(before) || silent(answer) || answer.refuse)
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
