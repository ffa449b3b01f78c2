//! How large a plan is, for people: what they would have to read and write.

mod answer;
mod truth;

use answer::{behaviour, count};
use fake_server::{
    script::model::{Attempts, Content, End, Plan},
    wire::Op,
};
use truth::{expect, job, truth};

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
                Attempts::Nth(n) => u64::from(n),
                Attempts::From(n) | Attempts::Range(n, _) => u64::from(n) + 2,
                Attempts::Every => 2,
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
            plan.sandbox
                .files
                .iter()
                .map(|file| 20 + bytes(&file.data))
                .fold(0, u64::saturating_add),
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
        b'x' => 0,
        b'a'..=b'z' | b'\n' => 1,
        b' '..=b'~' => 2,
        _ => 3,
    };
    let odd: u64 = bytes.iter().map(odd).sum();
    10 + 8 * bytes.len() as u64 + odd
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
