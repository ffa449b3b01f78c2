//! A run: many trials side by side, judged, in a fixed order, told to a sink.
//!
//! [`run`] gives out plans and gathers results; [`drawn`] does so with plans that are made on the way; `trial` plays
//! one; `memory` plays them without sockets; `pace` lets them begin; `delivery` knows what the client has handed over.
//! Everything decided here is decided in `Desk`, which does no IO.

mod delivery;
mod drawn;
mod late;
mod memory;
mod pace;
mod single;
mod trial;

pub use drawn::{Draw, drawn};
pub use single::{play, play_in_memory};

use crate::{
    case::Case,
    client::Client,
    events::{RunEvent, Sink},
    judge::CheckStatus,
    observed::Reply,
    standing::{KnownFailures, Standing},
    summary::{Judged, RunInfo, Stopped, Summary},
};
use fake_server::{
    net::Transport,
    script::model::{Fault, Plan},
    wire::Call,
};
use pace::Pace;
use std::{
    collections::VecDeque,
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{sync::mpsc, task::JoinSet};
use trial::{Kept, Ran};

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Trials at a time.
    pub jobs: usize,
    /// Judged trials whose servers stay, so that later calls are seen; the oldest end first. Each holds a port.
    pub keep: usize,
    /// Deadlines are multiplied by this.
    pub timeout_multiplier: f64,
    /// Stop at the first case that is not as expected.
    pub fail_fast: bool,
    /// In memory instead of over sockets; only the built-in client can.
    pub in_memory: bool,
    /// The number of the first trial. Where the same client plays several runs, none of its jobs shares an id with
    /// another.
    pub first_trial: usize,
}

/// Trials at a time unless said: far more than cores, because trials wait for back-offs and deadlines.
pub const DEFAULT_JOBS: usize = 64;

/// What workers tell.
enum Message {
    Started(usize),
    Ended(usize, Box<Ran>),
}

/// Judges a client by every plan, until all are done, `interrupted` resolves, or the first failure with fail-fast.
/// Results are in the order of `plans`, whatever the order in which they ended.
///
/// When an adapter's program dies, it takes every job with it that it had, guilty or not. Those are played again,
/// fewer at a time, at last alone: what dies alone has nobody else to blame. A few faults that did not reach the
/// client are tried once more as well, alone: on a busy machine a client may be late for them.
pub async fn run(
    plans: &[Arc<Plan>],
    client: &Arc<Client>,
    known: &KnownFailures,
    info: &RunInfo,
    settings: &Settings,
    interrupted: impl Future<Output = ()>,
    sink: &mut dyn Sink,
) -> (Vec<Judged>, Summary) {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long the run took is told, never judged"
    )]
    let began = Instant::now();
    sink.event(&RunEvent::Started(info.clone()));
    let mut desk = Desk {
        known,
        strict: info.strict,
        fail_fast: settings.fail_fast,
        results: vec![None; plans.len()],
    };
    let mut kept: VecDeque<(usize, Kept)> = VecDeque::new();
    let mut interrupted = pin!(interrupted);
    // Company makes a client late. Where its clock matters it gets little of it, in the second round. In memory clocks
    // stand still while anybody is busy.
    let (mut later, mut due): (Vec<usize>, Vec<usize>) = (0..plans.len())
        .partition(|&index| !settings.in_memory && settings.jobs > FEW && is_timed(&plans[index]));
    let mut unmet: Vec<usize> = Vec::new();
    let mut stopped = None;
    for jobs in rounds(settings.jobs) {
        due.append(&mut later);
        if jobs == 1 && unmet.len() <= FEW {
            due.append(&mut unmet);
        }
        due.sort_unstable();
        let work = Work::new(Plans::Listed(
            due.drain(..)
                .map(|index| (index, Arc::clone(&plans[index])))
                .collect(),
        ));
        let mut workers = JoinSet::new();
        let mut messages = start(&mut workers, &work, client, settings, jobs);
        stopped = loop {
            let message = tokio::select! {
                biased;
                message = messages.recv() => message,
                () = &mut interrupted => break Some(Stopped::Interrupted),
            };
            match message {
                None => break None,
                Some(Message::Started(index)) => {
                    let id = plans[index].id.clone();
                    sink.event(&RunEvent::CaseStarted { index, id });
                }
                Some(Message::Ended(index, ran)) if jobs > 1 && died(&ran.case) => {
                    later.push(index);
                }
                Some(Message::Ended(index, ran)) => {
                    let Ran {
                        case,
                        took,
                        kept: server,
                    } = *ran;
                    let tried_again = desk.results[index].is_some();
                    // Only the last trial of a case counts, late calls included.
                    kept.retain(|(earlier, _)| *earlier != index);
                    kept.extend(server.map(|server| (index, server)));
                    let (judged, go_on) = desk.take(index, case, took);
                    let is_unmet = jobs > 1 && judged.standing == Standing::NotExercised;
                    if is_unmet {
                        unmet.push(index);
                    }
                    sink.event(&if tried_again {
                        RunEvent::CaseRevised { index, judged }
                    } else {
                        RunEvent::CaseFinished { index, judged }
                    });
                    if !go_on && !is_unmet {
                        break Some(Stopped::FailFast);
                    }
                    if kept.len() > settings.keep
                        && let Some((index, server)) = kept.pop_front()
                        && let Some(case) = server.end(client).await
                    {
                        let judged = desk.revise(index, case);
                        sink.event(&RunEvent::CaseRevised { index, judged });
                    }
                }
            }
        };
        work.stop.store(true, Ordering::Relaxed);
        workers.abort_all();
        if stopped.is_some() {
            break;
        }
    }
    for (index, server) in kept {
        if let Some(case) = server.end(client).await {
            let judged = desk.revise(index, case);
            sink.event(&RunEvent::CaseRevised { index, judged });
        }
    }
    let judged: Vec<Judged> = desk.results.into_iter().flatten().collect();
    // Stopping at what was the last case anyway is no stopping.
    let stopped = stopped.filter(|why| *why == Stopped::Interrupted || judged.len() < plans.len());
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let summary = Summary::new(&judged, info, stopped, took_ms);
    sink.event(&RunEvent::Finished {
        judged: judged.clone(),
        summary: summary.clone(),
    });
    (judged, summary)
}

/// Trials at a time between many and one, so that one crash among many cases does not make all of them play alone.
const FEW: usize = 8;

/// Trials at a time in each round.
fn rounds(jobs: usize) -> impl Iterator<Item = usize> {
    [jobs.max(1), FEW, 1]
        .into_iter()
        .enumerate()
        .filter(move |&(round, now)| round == 0 || now < jobs)
        .map(|(_, now)| now)
}

/// Whether the case asks how the client deals with time: a deadline or a cancel of its own, or a clean-up that goes
/// wrong, for that has a deadline too.
fn is_timed(plan: &Plan) -> bool {
    let disturbs_cleanup = |fault: &Fault| fault.on == Some(Call::DeleteProcess);
    plan.job.timeout_ms.is_some()
        || plan.job.cancel.is_some()
        || plan.faults.iter().any(disturbs_cleanup)
}

/// Whether the client's program ended while it had this case.
fn died(case: &Case) -> bool {
    case.trial
        .as_ref()
        .is_some_and(|trial| matches!(trial.observed.reply, Reply::AdapterDied(_)))
}

/// The plans of a round, and which is next.
struct Work {
    plans: Plans,
    next: AtomicUsize,
    stop: AtomicBool,
}

/// Where plans come from.
enum Plans {
    /// They are there.
    Listed(Vec<(usize, Arc<Plan>)>),
    /// They are made when their turn comes, by whoever plays them.
    Drawn(Box<dyn Fn(usize) -> Turn + Send + Sync>),
}

/// The nth turn of a round.
enum Turn {
    /// This plan, under its number.
    Play(usize, Arc<Plan>),
    /// Nothing to play here; the next turn may have something.
    Skip,
    /// The round is over.
    Over,
}

impl Work {
    fn new(plans: Plans) -> Arc<Self> {
        Arc::new(Self {
            plans,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        })
    }

    fn take(&self) -> Option<(usize, Arc<Plan>)> {
        while !self.stop.load(Ordering::Relaxed) {
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            match &self.plans {
                Plans::Listed(plans) => return plans.get(turn).cloned(),
                Plans::Drawn(draw) => match draw(turn) {
                    Turn::Play(number, plan) => return Some((number, plan)),
                    Turn::Skip => {}
                    Turn::Over => return None,
                },
            }
        }
        None
    }
}

/// Starts the workers of a round.
fn start(
    workers: &mut JoinSet<()>,
    work: &Arc<Work>,
    client: &Arc<Client>,
    settings: &Settings,
    jobs: usize,
) -> mpsc::UnboundedReceiver<Message> {
    let (tx, messages) = mpsc::unbounded_channel();
    if settings.in_memory {
        memory::spawn(workers, work, client, settings, &tx);
    } else {
        let pace = Arc::new(Pace::new(FEW));
        let jobs = match &work.plans {
            Plans::Listed(plans) => jobs.min(plans.len()),
            Plans::Drawn(_) => jobs,
        };
        for _ in 0..jobs {
            let (work, client, tx) = (Arc::clone(work), Arc::clone(client), tx.clone());
            let pace = Arc::clone(&pace);
            let settings = settings.clone();
            workers.spawn(async move { over_sockets(&work, &pace, &client, &settings, &tx).await });
        }
    }
    messages
}

async fn over_sockets(
    work: &Work,
    pace: &Pace,
    client: &Arc<Client>,
    settings: &Settings,
    tx: &mpsc::UnboundedSender<Message>,
) {
    let multiplier = settings.timeout_multiplier;
    loop {
        let _playing = pace.turn().await;
        let Some((index, plan)) = work.take() else {
            return;
        };
        let number = settings.first_trial + index;
        // A receiver that is gone has stopped the run.
        let _ = tx.send(Message::Started(index));
        let (its_plan, its_client) = (Arc::clone(&plan), Arc::clone(client));
        // A task of its own, so that a panic costs one case and not the run.
        let mut task = JoinSet::new();
        task.spawn(async move {
            trial::trial(number, its_plan, &its_client, Transport::Tcp, multiplier).await
        });
        let ran = match task.join_next().await {
            Some(Ok(ran)) => ran,
            Some(Err(error)) => broken(plan, &error.to_string()),
            None => return,
        };
        let _ = tx.send(Message::Ended(index, Box::new(ran)));
    }
}

/// A trial that the harness itself broke.
fn broken(plan: Arc<Plan>, how: &str) -> Ran {
    let reason = format!("the harness broke while this case was played: {how}");
    Ran {
        case: Case::unplayed(plan, CheckStatus::HarnessError, &reason),
        took: Duration::ZERO,
        kept: None,
    }
}

/// What results mean for the run.
struct Desk<'a> {
    known: &'a KnownFailures,
    strict: bool,
    fail_fast: bool,
    results: Vec<Option<Judged>>,
}

impl Desk<'_> {
    /// Takes a result; tells where it stands, and whether the run goes on.
    fn take(&mut self, index: usize, case: Case, took: Duration) -> (Judged, bool) {
        let standing = self.known.standing(&case, self.strict);
        let as_expected = matches!(
            standing,
            Standing::Passed | Standing::KnownFailure { .. } | Standing::NotApplicable
        );
        let judged = Judged {
            case: Arc::new(case),
            standing,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        self.results[index] = Some(judged.clone());
        (judged, as_expected || !self.fail_fast)
    }

    /// A later result of the same trial stands in the place of the first.
    fn revise(&mut self, index: usize, case: Case) -> Judged {
        let took = self.results[index]
            .as_ref()
            .map_or(0, |judged| judged.took_ms);
        self.take(index, case, Duration::from_millis(took)).0
    }
}

#[cfg(test)]
mod tests {
    use super::rounds;

    #[test]
    fn what_died_in_company_is_played_again_with_less_of_it() {
        let of = |jobs| rounds(jobs).collect::<Vec<_>>();
        assert_eq!(of(64), [64, 8, 1]);
        assert_eq!(of(4), [4, 1]);
        assert_eq!(of(1), [1]);
    }
}
