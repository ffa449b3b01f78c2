//! Judging a client by generated schedules: any number of plans that nobody wrote, the failures sorted and kept.
//!
//! [`fuzz`] plays what [`crate::generate::case`] draws, saved regressions first, many at a time; `found` sorts what
//! failed by what went wrong; [`saved`] keeps it in a folder, so that nothing is lost and everything is tried first
//! the next time; [`smallest`] makes a scenario file of it that a person can read.

pub mod found;
pub mod saved;
pub mod smallest;

use crate::{
    case::Case,
    client::Client,
    exit::Exit,
    generate::{Profile, case, settle_for},
    judge::CheckStatus,
    run::{Draw, Settings, drawn},
    shard::Shard,
    standing::KnownFailures,
    summary::Judged,
};
use fake_server::script::model::{Cut, CutPoint, Plan};
use found::{Groups, Signature};
use std::{future::Future, ops::Range, sync::Arc};

/// Which plans are played, and how.
#[derive(Clone)]
pub struct Options {
    /// Everything random follows from it.
    pub seed: u64,
    /// Which cases of the seed.
    pub cases: Range<u64>,
    /// Which of those are played.
    pub shard: Shard,
    /// How far they go.
    pub profile: Profile,
    /// Shoulds count too.
    pub strict: bool,
    /// How trials are run.
    pub settings: Settings,
    /// Whether it is time to draw no more cases.
    pub enough: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Options {
    /// The number of the nth case that is played, from 0; `None` if there are not so many.
    fn number(&self, nth: u64) -> Option<u64> {
        self.shard
            .nth_from(self.cases.start, nth)
            .filter(|number| self.cases.contains(number))
    }
}

/// Where a failing plan comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The nth case of the seed.
    Case(u64),
    /// The nth of the plans that were tried first, from 0.
    Regression(usize),
}

/// A case that failed, or that could not be judged.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How.
    pub status: CheckStatus,
    /// Where its plan comes from.
    pub origin: Origin,
    /// What went wrong, in short.
    pub signature: Signature,
    /// How many failed so before this one.
    pub earlier: usize,
    /// The case.
    pub judged: Judged,
}

/// What happens on the way.
#[derive(Debug)]
pub enum Event<'a> {
    /// A case was judged; how, and how many there are so far.
    Judged(CheckStatus, &'a Counts),
    /// It failed. Comes before its `Judged`.
    Failed(&'a Failure),
}

/// Cases by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were judged.
    pub cases: u64,
    /// Everything held.
    pub passed: u64,
    /// Something that counts was broken.
    pub failed: u64,
    /// The client does not claim what the case needs.
    pub not_applicable: u64,
    /// A fault did not reach the client, not even alone.
    pub not_exercised: u64,
    /// The adapter broke its protocol or died.
    pub adapter_errors: u64,
    /// The harness failed.
    pub harness_errors: u64,
}

impl Counts {
    const fn add(&mut self, status: CheckStatus) {
        self.cases += 1;
        match status {
            CheckStatus::Pass => self.passed += 1,
            CheckStatus::Fail => self.failed += 1,
            CheckStatus::NotApplicable => self.not_applicable += 1,
            CheckStatus::NotExercised => self.not_exercised += 1,
            CheckStatus::AdapterError => self.adapter_errors += 1,
            CheckStatus::HarnessError => self.harness_errors += 1,
        }
    }
}

/// What came of it all.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In numbers.
    pub counts: Counts,
    /// What failed, by what went wrong.
    pub groups: Groups,
    /// It was stopped before the last case.
    pub interrupted: bool,
}

impl Outcome {
    /// The exit that follows: as for a run, and never success when nothing was judged.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let counts = &self.counts;
        let mut exit = Exit::AsExpected;
        if counts.passed + counts.failed == 0 || counts.not_exercised + counts.adapter_errors > 0 {
            exit = exit.and(Exit::Incomplete);
        }
        if counts.failed > 0 {
            exit = exit.and(Exit::Failed);
        }
        if counts.harness_errors > 0 {
            exit = exit.and(Exit::Harness);
        }
        if self.interrupted {
            exit = exit.and(Exit::Interrupted);
        }
        exit
    }
}

/// Plays `first` and then the cases of the options, until all are done, it is enough, or `stopped` resolves.
pub async fn fuzz(
    first: Vec<Plan>,
    client: &Arc<Client>,
    options: &Options,
    stopped: impl Future<Output = ()>,
    mut on: impl FnMut(Event<'_>),
) -> Outcome {
    let known = KnownFailures::default();
    let strict = options.strict;
    let earlier = first.len();
    let mut counts = Counts::default();
    let mut groups = Groups::default();
    let done = drawn(
        draw(first, client, options),
        client,
        &options.settings,
        stopped,
        |index, case| {
            let status = case.status(strict);
            counts.add(status);
            if !matches!(status, CheckStatus::Pass | CheckStatus::NotApplicable) {
                let origin = if index < earlier {
                    Origin::Regression(index)
                } else {
                    Origin::Case(options.number((index - earlier) as u64).unwrap_or(u64::MAX))
                };
                let signature = Signature::of(&case, strict);
                let failure = Failure {
                    status,
                    earlier: groups.add(signature.clone(), origin.clone()),
                    origin,
                    signature,
                    judged: judged(case, &known, strict),
                };
                on(Event::Failed(&failure));
            }
            on(Event::Judged(status, &counts));
        },
    )
    .await;
    Outcome {
        counts,
        groups,
        interrupted: !done,
    }
}

fn judged(case: Case, known: &KnownFailures, strict: bool) -> Judged {
    Judged {
        standing: known.standing(&case, strict),
        case: Arc::new(case),
        took_ms: 0,
    }
}

/// The plans in the order in which they are played.
fn draw(first: Vec<Plan>, client: &Arc<Client>, options: &Options) -> Draw {
    let client = Arc::clone(client);
    let Options {
        seed,
        profile,
        enough,
        settings: Settings { in_memory, .. },
        ..
    } = options.clone();
    let options = options.clone();
    Arc::new(move |index| {
        let mut plan = match first.get(index) {
            Some(plan) => plan.clone(),
            None => {
                let number = options.number((index - first.len()) as u64)?;
                if enough() {
                    return None;
                }
                case(seed, number, profile)
            }
        };
        if !in_memory {
            spare_the_port(&mut plan, client.promises().profile.reconnect_delay_ms);
        }
        // What the usual client never meets is bait, and what this one never meets as well.
        let usual: Vec<bool> = plan.faults.iter().map(|fault| fault.bait).collect();
        settle_for(&mut plan, client.promises());
        for (fault, bait) in plan.faults.iter_mut().zip(usual) {
            fault.bait |= bait;
        }
        Some(plan)
    })
}

/// Over sockets a port refuses for 0.4 s, since refused connections cannot be counted. A client that waits much less
/// would use up its whole budget in that time: its connection is reset as soon as it is accepted instead.
fn spare_the_port(plan: &mut Plan, reconnect_delay_ms: u64) {
    const REFUSED_MS: u64 = 400;
    if reconnect_delay_ms >= REFUSED_MS / 2 {
        return;
    }
    for fault in &mut plan.faults {
        if std::mem::take(&mut fault.behaviour.refuse) {
            fault.behaviour.cut = Some(Cut {
                at: CutPoint::Accept,
                reset: true,
            });
        }
    }
}
