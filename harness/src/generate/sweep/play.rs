//! Playing a sweep: thousands of trials through the ordinary runner, some at a time, of which only what went wrong is kept.

use super::{Cut, Outcome, Sweep};
use crate::{
    client::Client,
    events::{RunEvent, Sink},
    observed::Observed,
    run::{Settings, run},
    standing::KnownFailures,
    summary::{Judged, RunInfo, Stopped},
};
use fake_server::script::model::Plan;
use std::{future::Future, pin::pin, sync::Arc, time::Instant};

/// Cuts that are planned, played and counted at a time: far more than are in flight at once, so that the few that end
/// last are waited for seldom; few enough that their wire logs fit in memory.
const BATCH: usize = 2_048;

/// Plays the case unbroken. The result is what every cut is compared with; `None` where it was interrupted.
pub async fn unbroken(
    plan: &Plan,
    client: &Arc<Client>,
    info: &RunInfo,
    settings: &Settings,
    interrupted: impl Future<Output = ()>,
) -> Option<Judged> {
    let plans = [Arc::new(plan.clone())];
    let known = KnownFailures::default();
    let (judged, _) = run(
        &plans,
        client,
        &known,
        info,
        settings,
        interrupted,
        &mut crate::events::Deaf,
    )
    .await;
    judged.into_iter().next()
}

/// Plays every cut. `sink` hears of each case as it ends, and of no run.
#[expect(
    clippy::too_many_arguments,
    reason = "what a run takes, and what is swept"
)]
pub async fn play(
    sweep: &Sweep,
    cuts: &[Cut],
    unbroken: &Observed,
    client: &Arc<Client>,
    info: &RunInfo,
    settings: &Settings,
    interrupted: impl Future<Output = ()>,
    sink: &mut dyn Sink,
) -> Outcome {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long the sweep took is told, never judged"
    )]
    let began = Instant::now();
    let mut interrupted = pin!(interrupted);
    let mut outcome = Outcome::default();
    let mut settings = settings.clone();
    let known = KnownFailures::default();
    let mut left = cuts.len();
    for batch in cuts.chunks(BATCH) {
        let mut due: Vec<Cut> = Vec::with_capacity(batch.len());
        for cut in batch {
            match sweep.applies(cut) {
                Ok(()) => due.push(*cut),
                Err(why) => outcome.rule_out(cut, why),
            }
        }
        left -= batch.len() - due.len();
        let plans: Vec<Arc<Plan>> = due.iter().map(|cut| Arc::new(sweep.plan(cut))).collect();
        // No two jobs of an adapter share an id.
        settings.first_trial += BATCH;
        let mut heard = Cases { sink: &mut *sink };
        let (judged, summary) = run(
            &plans,
            client,
            &known,
            info,
            &settings,
            interrupted.as_mut(),
            &mut heard,
        )
        .await;
        left -= judged.len();
        // Results are in the order of the plans; of a run that was stopped some are missing.
        let mut planned = due.iter().zip(&plans);
        for one in &judged {
            if let Some((cut, _)) = planned.find(|(_, plan)| plan.id == one.case.plan.id) {
                outcome.take(sweep, cut, one, unbroken, info.strict);
            }
        }
        outcome.stopped = summary.stopped;
        if outcome.stopped.is_some() {
            break;
        }
    }
    outcome.not_played = left;
    outcome.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if outcome.not_played == 0 && outcome.stopped == Some(Stopped::FailFast) {
        outcome.stopped = None;
    }
    outcome
}

/// Passes on what is about cases.
struct Cases<'a> {
    sink: &'a mut dyn Sink,
}

impl Sink for Cases<'_> {
    fn event(&mut self, event: &RunEvent) {
        if !matches!(event, RunEvent::Started(_) | RunEvent::Finished { .. }) {
            self.sink.event(event);
        }
    }
}
