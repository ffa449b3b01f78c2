//! `sweep`: one passing scenario, its streams cut at every byte in every way.

use super::{
    Failure,
    args::SweepArgs,
    block_on, interrupted, or_interrupted,
    output::{complain, page, say},
    progress::Progress,
    run::{affordable, choose, ready_client, replay_words, tell_notes},
};
use crate::{
    client::Client,
    events::{RunEvent, Sink as _},
    exit::Exit,
    generate::sweep::{At, By, Cut, Shape, Sweep, Wanted, play, unbroken},
    report::{
        story::story,
        sweep::{object, report},
        text::{count, harmless, thousands},
    },
    run::{DEFAULT_JOBS, Settings},
    select::select,
    standing::Standing,
    summary::{Judged, RunInfo, Stopped, Summary},
};
use fake_server::script::model::Plan;
use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::Arc,
};

pub(super) fn sweep(args: &SweepArgs) -> Result<Exit, Failure> {
    let chosen = choose(
        std::slice::from_ref(&args.id),
        args.source.scenarios.as_deref(),
    )?;
    let plans: Vec<Plan> = chosen.suite.plans(args.pace.seed).collect();
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
    let selected: Vec<&Plan> = select(&chosen.patterns, &ids)?
        .into_iter()
        .map(|at| &plans[at])
        .collect();
    block_on(swept(args, &selected, chosen.files))?
}

async fn swept(
    args: &SweepArgs,
    plans: &[&Plan],
    files: BTreeMap<String, String>,
) -> Result<Exit, Failure> {
    let client =
        or_interrupted(ready_client(args.client.as_deref(), args.wrong.as_deref())).await?;
    let done = all(args, plans, files, &client).await;
    let notes = client.take_notes().await;
    if done.as_ref().is_ok_and(|exit| *exit != Exit::Interrupted) {
        tell_notes(&notes);
    }
    if let Some(client) = Arc::into_inner(client) {
        client.shutdown().await;
    }
    done
}

async fn all(
    args: &SweepArgs,
    plans: &[&Plan],
    files: BTreeMap<String, String>,
    client: &Arc<Client>,
) -> Result<Exit, Failure> {
    // Everything is looked at before anything is played: a case that can't be swept is a slip of whoever asked for it.
    let mut sweeps = Vec::new();
    for plan in plans {
        let sweep = Sweep::new(plan, client.promises()).map_err(Failure::usage)?;
        let cuts = cuts(args, &sweep)?;
        sweeps.push((sweep, cuts));
    }
    let (jobs, keep) = affordable(args.jobs.map_or(DEFAULT_JOBS, usize::from));
    let mut settings = Settings {
        jobs,
        keep,
        timeout_multiplier: args.pace.timeout_multiplier,
        fail_fast: args.fail_fast,
        in_memory: args.in_memory,
        first_trial: 0,
    };
    let mut info = RunInfo {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        digest: String::new(),
        client: client.info(),
        program: super::called::program(),
        seed: args.pace.seed,
        strict: args.strict,
        transport: if args.in_memory { "memory" } else { "sockets" },
        shard: None,
        cases: 0,
        replay_arguments: replay_words(
            args.client.as_deref(),
            args.wrong.as_deref(),
            args.in_memory,
            args.strict,
            args.source.scenarios.as_deref(),
        ),
        files,
    };
    let mut progress = Progress::new(1);
    progress.event(&RunEvent::Started(RunInfo {
        cases: sweeps.iter().map(|(_, cuts)| cuts.len()).sum(),
        ..info.clone()
    }));
    let mut interrupted = pin!(interrupted());
    let mut exit = Exit::AsExpected;
    for (sweep, cuts) in &sweeps {
        info.cases = cuts.len();
        let whole = unbroken(sweep.base(), client, &info, &settings, interrupted.as_mut()).await;
        let Some(whole) = whole else {
            return Ok(exit.and(Exit::Interrupted));
        };
        settings.first_trial += 1;
        if whole.standing != Standing::Passed {
            exit = exit.and(not_passing(&whole, &info));
            continue;
        }
        let Some(trial) = &whole.case.trial else {
            continue;
        };
        let outcome = play(
            sweep,
            cuts,
            &trial.observed,
            client,
            &info,
            &settings,
            interrupted.as_mut(),
            &mut progress,
        )
        .await;
        settings.first_trial += 2 * cuts.len();
        progress.clear();
        if args.json {
            say(&format!("{}\n", object(sweep, &outcome, &info)));
        } else {
            say(&report(sweep, &outcome, &info, &page(), args.verbose));
        }
        exit = exit.and(outcome.exit());
        if outcome.stopped.is_some() {
            break;
        }
    }
    Ok(exit)
}

/// The cuts that were asked for.
fn cuts(args: &SweepArgs, sweep: &Sweep) -> Result<Vec<Cut>, Failure> {
    if !args.cut.is_empty() {
        return args
            .cut
            .iter()
            .map(|cut| {
                if sweep.has(cut) {
                    Ok(*cut)
                } else {
                    Err(Failure::usage(format!(
                        "{} has no cut `{cut}`: {}",
                        sweep.base().id,
                        extent(sweep)
                    )))
                }
            })
            .collect();
    }
    let or_default = |given: &[Shape], usual: &[Shape]| -> BTreeSet<Shape> {
        if given.is_empty() { usual } else { given }
            .iter()
            .copied()
            .collect()
    };
    let by = if args.by.is_empty() {
        By::ALL
    } else {
        &args.by
    };
    let wanted = Wanted {
        by: by.iter().copied().collect(),
        at: if args.at == "edges" {
            At::Edges
        } else {
            At::Bytes
        },
        shapes: or_default(&args.segments, Shape::OF_CUTS),
    };
    let cuts = sweep.cuts(&wanted);
    if cuts.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no such cut: {}",
            sweep.base().id,
            extent(sweep)
        )));
    }
    if cuts.len() > args.most {
        return Err(Failure::usage(format!(
            "{} would be cut {} times, and --most allows {}: --at edges, --by and --segments make it fewer",
            sweep.base().id,
            thousands(cuts.len() as u64),
            thousands(args.most as u64)
        )));
    }
    Ok(cuts)
}

fn extent(sweep: &Sweep) -> String {
    let streams: Vec<String> = sweep
        .streams
        .iter()
        .map(|stream| {
            format!(
                "connect {} has {} on the wire, {} of them lines",
                stream.attempt,
                count(stream.layout.bytes.len(), "byte", "bytes"),
                stream.payload
            )
        })
        .collect();
    streams.join("; ")
}

/// A case that does not pass unbroken: its story, and what that means.
fn not_passing(whole: &Judged, info: &RunInfo) -> Exit {
    let summary = Summary::new(std::slice::from_ref(whole), info, None::<Stopped>, 0);
    let reason = whole
        .case
        .verdict
        .checks
        .iter()
        .find(|check| !check.reason.is_empty())
        .map_or_else(String::new, |check| {
            format!(" ({})", harmless(&check.reason))
        });
    let id = whole.case.id();
    let words = match whole.standing {
        Standing::NotApplicable => format!("{id} does not apply to this client{reason}"),
        _ => format!("{id} does not pass unbroken: a sweep of it would say nothing"),
    };
    complain(&format!("error: {words}"));
    if whole.standing != Standing::NotApplicable {
        // The unbroken case is replayed by `run`.
        say(&story(whole, &[], info, &page(), false));
    }
    summary.exit()
}
