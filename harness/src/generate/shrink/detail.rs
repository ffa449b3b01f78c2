//! Simpler truths: output as in any other file, an exit with 0, defaults.

use super::{Edits, calls, edited, measure::usual_text, renumber, smaller};
use fake_server::{
    script::model::{Content, End, Plan, Step, Truth, TruthExit},
    wire::{Blob, Op, ProcessKind, StreamName, limits},
};

/// Bytes up to which each is tried alone.
const SHORT: usize = 24;

/// All of one kind at once, since most of a large plan has nothing to do with why it fails.
pub(super) fn everything(plan: &Plan) -> Edits<'_> {
    const CHANGES: [fn(&mut Plan); 4] = [texts, framing, ends, rest_of_truth];
    let all = std::iter::once_with(|| {
        edited(plan, |plan| {
            for change in CHANGES {
                change(plan);
            }
        })
    });
    // Alone, and all but each: what matters is often one of them.
    let but = (0..CHANGES.len()).map(|kept| {
        edited(plan, |plan| {
            for (index, change) in CHANGES.into_iter().enumerate() {
                if index != kept {
                    change(plan);
                }
            }
        })
    });
    let each = CHANGES.into_iter().map(|change| edited(plan, change));
    Box::new(all.chain(but).chain(each))
}

fn texts(plan: &mut Plan) {
    let stream = plan.truth.frames.first().map(|frame| frame.stream);
    let stream = match stream {
        Some(StreamName::Pty) => StreamName::Pty,
        _ => StreamName::Stdout,
    };
    for (index, frame) in plan.truth.frames.iter_mut().enumerate() {
        frame.data = Blob::from(usual_text(index).as_str());
        frame.stream = stream;
        frame.pause_ms = 0;
    }
}

fn framing(plan: &mut Plan) {
    for fault in &mut plan.faults {
        fault.behaviour = calls::plain(&fault.behaviour);
    }
}

fn ends(plan: &mut Plan) {
    for fault in &mut plan.faults {
        if let Content::Stream(steps) = &mut fault.behaviour.content
            && let Some(Step::End(end)) = steps.last_mut()
        {
            *end = End::Chunk;
        }
    }
}

fn rest_of_truth(plan: &mut Plan) {
    let frames = std::mem::take(&mut plan.truth.frames);
    plan.truth = Truth {
        frames,
        kind: plan.truth.kind,
        first_seq: plan.truth.first_seq,
        exit: TruthExit::Status {
            code: Some(0),
            signal: None,
            pause_ms: 0,
        },
        heartbeat_ms: limits::HEARTBEAT_MS,
        journal_bytes: limits::JOURNAL_BYTES,
        children: 0,
        live: false,
    };
    for frame in &mut plan.truth.frames {
        frame.pause_ms = 0;
    }
}

pub(super) fn simpler(plan: &Plan) -> Edits<'_> {
    let truths = truths(plan).into_iter();
    let first = std::iter::once_with(|| renumber::keep(plan, 1, |_| true));
    let frames = (0..plan.truth.frames.len()).flat_map(move |index| frame(plan, index));
    Box::new(first.chain(truths).chain(frames))
}

fn truths(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut with = |change: &dyn Fn(&mut Truth)| {
        plans.push(edited(plan, |plan| change(&mut plan.truth)));
    };
    if plan.op != Op::Terminal {
        with(&|truth| {
            truth.kind = ProcessKind::Pipe;
            for frame in &mut truth.frames {
                if frame.stream == StreamName::Pty {
                    frame.stream = StreamName::Stdout;
                }
            }
        });
    }
    with(&|truth| {
        truth.live = false;
        for frame in &mut truth.frames {
            frame.pause_ms = 0;
        }
        if let TruthExit::Status { pause_ms, .. } = &mut truth.exit {
            *pause_ms = 0;
        }
    });
    with(&|truth| truth.heartbeat_ms = limits::HEARTBEAT_MS);
    with(&|truth| truth.journal_bytes = limits::JOURNAL_BYTES);
    for bytes in smaller(plan.truth.journal_bytes, 1) {
        with(&|truth| truth.journal_bytes = bytes);
    }
    with(&|truth| truth.children = 0);
    with(&|truth| truth.children = 1);
    let exit = |code: Option<i64>, signal: Option<String>| TruthExit::Status {
        code,
        signal,
        pause_ms: 0,
    };
    with(&|truth| truth.exit = exit(Some(0), None));
    if let TruthExit::Status { code, signal, .. } = &plan.truth.exit {
        with(&|truth| truth.exit = exit(*code, signal.clone()));
        with(&|truth| truth.exit = exit(None, Some("SIGKILL".to_owned())));
        for simpler in smaller(code.map_or(0, i64::unsigned_abs), 1) {
            let simpler = i64::try_from(simpler).ok();
            with(&|truth| truth.exit = exit(simpler, None));
        }
        if code.is_some() {
            with(&|truth| truth.exit = exit(*code, None));
        }
    }
    plans
}

/// Simpler contents of one frame.
fn frame(plan: &Plan, index: usize) -> impl Iterator<Item = Plan> + Send + '_ {
    let frame = &plan.truth.frames[index];
    let usual = std::iter::once(usual_text(index).into_bytes());
    let data = usual
        .chain(shorter(&frame.data))
        .map(move |bytes| edited(plan, |plan| plan.truth.frames[index].data = Blob(bytes)));
    let stream = (frame.stream == StreamName::Stderr).then(|| {
        edited(plan, |plan| {
            plan.truth.frames[index].stream = StreamName::Stdout
        })
    });
    let pauses = smaller(frame.pause_ms, 0)
        .map(move |ms| edited(plan, |plan| plan.truth.frames[index].pause_ms = ms));
    data.chain(stream).chain(pauses)
}

/// Fewer bytes, then plainer ones.
pub(super) fn shorter(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + Send + '_ {
    let count = bytes.len();
    let halves = [bytes[..count / 2].to_vec(), bytes[count / 2..].to_vec()];
    let halves = halves.into_iter().filter(move |half| half.len() < count);
    let plain = std::iter::once(vec![b'x'; count]);
    let each = if count <= SHORT { count } else { 0 };
    let without = (0..each).map(|index| [&bytes[..index], &bytes[index + 1..]].concat());
    let plainer = (0..each).map(|index| {
        let mut bytes = bytes.to_vec();
        bytes[index] = b'x';
        bytes
    });
    // Long ones are cut at their end as well, where a half was too much.
    let trimmed = (SHORT < count).then(|| bytes[..count - count / 8].to_vec());
    halves
        .chain(plain)
        .chain(trimmed)
        .chain(without)
        .chain(plainer)
}
