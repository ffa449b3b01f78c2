//! How large a plan is, for people: what they would have to read and write.

use fake_server::{
    script::model::{
        Attempts, Behaviour, Break, BreakPlace, Cancel, Chunks, Content, End, Expect, Job, Plan,
        Segments, Span, Step, Truth, TruthExit, TruthFrame,
    },
    wire::{Op, ProcessKind, StreamName, limits},
};
use serde_json::Value;

/// The size of a plan. Ordered: fewer faults before fewer steps before fewer frames before simpler values. There is no
/// endless way down, since each part is a natural number; so shrinking ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// Faults.
    pub faults: u64,
    /// Steps of all streams, rounds of a loop each counted.
    pub steps: u64,
    /// Frames of the truth.
    pub frames: u64,
    /// Everything else that is not as it would be unless said, weighted.
    pub detail: u64,
}

impl Measure {
    /// The size of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let behaviours = || plan.faults.iter().map(|fault| &fault.behaviour);
        let streams = || {
            behaviours().filter_map(|behaviour| match &behaviour.content {
                Content::Stream(steps) => Some(steps.as_slice()),
                _ => None,
            })
        };
        let guards = plan.faults.iter().map(|fault| {
            let attempts = match fault.attempts {
                Attempts::Nth(n) | Attempts::From(n) | Attempts::Range(n, _) => u64::from(n),
                Attempts::Every => 1,
            };
            attempts
                + 20 * u64::from(fault.when_after.is_some())
                + 20 * u64::from(fault.on_connection.is_some())
                + 3 * u64::from(fault.bait)
        });
        let parts = [
            guards.fold(0, u64::saturating_add),
            behaviours().map(behaviour).fold(0, u64::saturating_add),
            job(&plan.job, plan.op),
            truth(&plan.truth, plan.op),
            expect(&plan.expect),
            5 * plan.needs.len() as u64,
            200 * u64::from(!matches!(plan.op, Op::Follow | Op::Connect)),
            10 * u64::from(plan.deadline_ms != DEADLINE_MS),
            5 * u64::from(plan.sandbox.lag).min(50),
            20 * u64::from(plan.sandbox.state != "running"),
        ];
        Self {
            faults: plan.faults.len() as u64,
            steps: streams().flatten().map(count).fold(0, u64::saturating_add),
            frames: plan.truth.frames.len() as u64,
            detail: parts.into_iter().fold(0, u64::saturating_add),
        }
    }
}

/// Milliseconds until a trial gives up, of a plan that says nothing.
pub(super) const DEADLINE_MS: u64 = 10_000;

/// What the nth frame holds in a file that is about something else: the least that can be told apart.
pub(super) fn usual_text(index: usize) -> String {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match WORDS.get(index) {
        Some(word) => format!("{word}\n"),
        None => format!("line {}\n", index + 1),
    }
}

/// Statuses from the simplest on.
pub(super) const STATUSES: [u16; 2] = [502, 500];

/// Steps, rounds of a loop each counted.
fn count(step: &Step) -> u64 {
    match step {
        Step::Loop {
            count: rounds,
            steps,
        } => {
            let round = steps.iter().map(count).fold(0, u64::saturating_add);
            rounds.saturating_mul(round).saturating_add(1)
        }
        Step::Trickle { step, .. } | Step::Every { step, .. } => count(step).saturating_add(1),
        _ => 1,
    }
}

/// Numbers weigh what they are, up to a bound that keeps sums far from the end of 64 bits.
fn number(n: u64) -> u64 {
    n.min(1 << 40)
}

/// A time: less is simpler, and 0 is best.
fn time(ms: u64) -> u64 {
    if ms == 0 { 0 } else { 5 + number(ms) }
}

/// Bytes: fewer are simpler, letters and line ends simpler than others.
pub(super) fn bytes(bytes: &[u8]) -> u64 {
    let odd = |byte: &u8| match byte {
        b'a' => 0,
        b'b'..=b'z' | b'\n' => 1,
        b' '..=b'~' => 2,
        _ => 3,
    };
    let odd: u64 = bytes.iter().map(odd).sum();
    10 + 8 * bytes.len() as u64 + odd
}

fn truth(truth: &Truth, op: Op) -> u64 {
    let usual = ProcessKind::Pipe;
    let exit = match &truth.exit {
        TruthExit::Never => 30,
        TruthExit::Status {
            code,
            signal,
            pause_ms,
        } => {
            let code = match code {
                Some(0) => 0,
                Some(code) => 2 + number(code.unsigned_abs()) + u64::from(*code < 0),
                None => 1,
            };
            code + signal.as_ref().map_or(0, |name| 5 + name.len() as u64) + time(*pause_ms)
        }
    };
    let journal = if truth.journal_bytes == limits::JOURNAL_BYTES {
        0
    } else {
        20 + truth.journal_bytes.min(limits::JOURNAL_BYTES * 4)
    };
    let frames = truth.frames.iter().enumerate();
    let parts = [
        20 * u64::from(truth.kind != usual && op != Op::Terminal),
        if truth.first_seq == 1 {
            0
        } else {
            20 + number(truth.first_seq)
        },
        10 * u64::from(truth.live),
        if truth.heartbeat_ms == limits::HEARTBEAT_MS {
            0
        } else {
            10
        },
        journal,
        if truth.children == 0 {
            0
        } else {
            5 + u64::from(truth.children)
        },
        exit,
        frames
            .map(|(index, one)| frame(index, one))
            .fold(0, u64::saturating_add),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

fn frame(index: usize, frame: &TruthFrame) -> u64 {
    let data = if *frame.data == *usual_text(index).as_bytes() {
        0
    } else {
        bytes(&frame.data)
    };
    data + 5 * u64::from(frame.stream == StreamName::Stderr) + time(frame.pause_ms)
}

fn job(job: &Job, op: Op) -> u64 {
    let usual: &[&str] = match op {
        Op::Execute | Op::Exec | Op::ExecStream => &["run.sh"],
        _ => &[],
    };
    let parts = [
        if job.command == usual {
            0
        } else {
            10 + job.command.len() as u64
        },
        10 * u64::from(job.cwd.is_some()),
        10 * job.env.len() as u64,
        job.stdin.as_ref().map_or(0, |stdin| bytes(stdin)),
        if job.after == 0 {
            0
        } else {
            10 + number(job.after)
        },
        job.timeout_ms.map_or(0, |ms| 40 + number(ms)),
        job.cancel.as_ref().map_or(0, cancel),
        20 * job.extra.len() as u64,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

fn cancel(cancel: &Cancel) -> u64 {
    40 + u64::from(cancel.attempt) + time(cancel.plus_ms)
}

fn expect(expect: &Expect) -> u64 {
    if *expect == Expect::default() {
        0
    } else {
        100 + 50 * expect.any_of.len() as u64
    }
}

fn behaviour(behaviour: &Behaviour) -> u64 {
    // All of them by name: a part that comes to the format has to be weighed.
    let Behaviour {
        delay_ms,
        refuse,
        cut,
        hold_ms,
        http10,
        content_length,
        transfer_encoding_also,
        encoding,
        status,
        reason,
        headers,
        content,
        effect,
        segments,
        chunks,
        break_at,
    } = behaviour;
    let segments = match segments {
        Segments::Frame => 0,
        Segments::All => 5,
        Segments::Byte => 6,
        Segments::Sizes(sizes) => 10 + sizes.len() as u64,
    };
    let chunks = match chunks {
        Chunks::Frame => 0,
        Chunks::One | Chunks::Step => 5,
        Chunks::Sizes(sizes) => 10 + sizes.len() as u64,
    };
    let headers = headers.iter().map(|(_, values)| 10 + values.len() as u64);
    let encoding = encoding.map_or(0, |encoding| {
        20 + u64::from(!encoding.flush_frames)
            + encoding.cut.map_or(0, |cut| 1 + number(cut))
            + number(encoding.extra)
            + u64::from(encoding.lie)
    });
    let known = |status| STATUSES.iter().position(|known| *known == status);
    let parts = [
        delay_ms.map_or(0, |ms| 5 + number(ms)),
        10 * u64::from(*refuse),
        cut.map_or(0, |cut| 8 + cut.at as u64 + u64::from(cut.reset)),
        hold_ms.map_or(0, |ms| 30 + number(ms)),
        10 * u64::from(*http10),
        content_length.map_or(0, |more| 10 + number(more.unsigned_abs())),
        10 * u64::from(*transfer_encoding_also),
        encoding,
        status.map_or(0, |status| {
            known(status).map_or(6, |place| 4 + place as u64)
        }),
        10 * u64::from(reason.is_some()),
        headers.sum(),
        5 * u64::from(effect.is_some()),
        segments,
        chunks,
        break_at.map_or(0, self::break_at),
        self::content(content),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

fn break_at(broken: Break) -> u64 {
    let at = match broken.at {
        BreakPlace::Payload(byte) => number(byte),
        BreakPlace::Wire(byte) => 1 + number(byte),
    };
    10 + at + end(broken.by)
}

/// Ends from the simplest on.
fn end(end: End) -> u64 {
    ENDS.iter()
        .position(|known| *known == end)
        .unwrap_or(ENDS.len()) as u64
        * 2
}

fn content(content: &Content) -> u64 {
    match content {
        Content::Faithful => 0,
        Content::Data { with, without } => {
            5 + 5 * without.len() as u64 + with.values().map(value).sum::<u64>()
        }
        Content::Text(text) => bytes(text.as_bytes()),
        Content::Json(json) => 20 + value(json),
        Content::Bytes(body) => 20 + bytes(body),
        Content::Endless(_) => 50,
        Content::Stream(steps) => steps.iter().map(step).fold(5, u64::saturating_add),
        Content::Redirect(_) => 20,
    }
}

/// A value of JSON: the shorter the better, text the worst.
pub(super) fn value(json: &Value) -> u64 {
    match json {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(n) => 5 + n.as_u64().map_or(1 << 41, number),
        Value::String(text) => 6 + text.len() as u64,
        Value::Array(items) => 7 + items.iter().map(value).sum::<u64>(),
        Value::Object(fields) => 8 + fields.values().map(|field| 2 + value(field)).sum::<u64>(),
    }
}

/// Ends from the simplest on: a clean one leaves a client no freedom, so it shows the most.
pub(super) const ENDS: [End; 7] = [
    End::Chunk,
    End::Fin,
    End::Reset,
    End::TruncatedChunk,
    End::BadChunk,
    End::ResetNow,
    End::Hold,
];

/// What a step weighs beyond being one.
fn step(one: &Step) -> u64 {
    match one {
        Step::Send(Span::UpTo(_) | Span::Rest) => 0,
        Step::SendOne(_) => 1,
        Step::Send(Span::Range(from, to)) => 2 + number(to.saturating_sub(*from)),
        Step::Part { bytes, .. } => 5 + *bytes as u64,
        Step::Edited { with, without, .. } => {
            8 + 5 * without.len() as u64 + with.values().map(|field| 3 + value(field)).sum::<u64>()
        }
        Step::Frame { fields, is } => {
            let fields: u64 = fields.values().map(|field| 4 + value(field)).sum();
            15 + fields + u64::from(is.is_some())
        }
        Step::Raw { bytes: raw, is } => 15 + bytes(raw) + u64::from(is.is_some()),
        Step::Heartbeat(count) => number(*count),
        Step::Exit { code, signal } => {
            3 + code.map_or(0, |code| 1 + number(code.unsigned_abs())) + u64::from(signal.is_some())
        }
        Step::Error { code, oldest } => {
            4 + code.len() as u64 + oldest.as_ref().map_or(0, |oldest| 3 + value(oldest))
        }
        Step::Pause { ms } => time(*ms),
        Step::Trickle {
            bytes,
            every_ms,
            step: inner,
        } => 20 + number(*every_ms) + *bytes as u64 + step(inner),
        Step::Every {
            every_ms,
            step: inner,
        } => 20 + number(*every_ms) + step(inner),
        Step::Loop { count, steps } => {
            20 + number(*count) + steps.iter().map(step).fold(0, u64::saturating_add)
        }
        Step::Until(_) => 10,
        Step::End(end) => self::end(*end),
        Step::Journal { .. } => 20,
    }
}
