//! `audit`: does the suite catch what it claims to?

use super::{
    Failure,
    args::AuditArgs,
    block_on, files, or_interrupted,
    output::{page, say},
};
use crate::{
    audit::{Options, audit as play, generated},
    client::reference::Bug,
    contract::registry,
    exit::Exit,
    generate::Profile,
    report::{audit::table, generated as report},
    select::{Pattern, select},
};
use fake_server::script::model::Plan;
use std::{num::NonZero, sync::Arc, thread};

pub(super) fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let (chosen, bugs) = chosen(&args.patterns)?;
    if args.generated {
        return by_generated(args, &bugs);
    }
    let suite = files::load(args.source.scenarios.as_deref(), &[])?;
    let plans: Vec<Arc<Plan>> = suite.plans(args.seed).map(Arc::new).collect();
    let options = Options {
        jobs: jobs(args),
        full: args.full,
        sockets: args.sockets,
        seed: args.seed,
    };
    let audit = block_on(or_interrupted(async {
        Ok(play(&plans, &bugs, |id| chosen.contains(&id), &options).await)
    }))??;
    if args.json {
        say_json(&audit)?;
    } else {
        say(&table(&audit, &page()));
    }
    Ok(if !audit.broken.is_empty() {
        Exit::Harness
    } else if audit.is_sound() {
        Exit::AsExpected
    } else {
        Exit::Failed
    })
}

/// Names that were asked for, of bugs and of requirements, and the bugs that they mean.
fn chosen(patterns: &[String]) -> Result<(Vec<&'static str>, Vec<Bug>), Failure> {
    let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text)).collect();
    // A pattern that means neither a bug nor a requirement is a slip.
    let names: Vec<&str> = Bug::ALL
        .iter()
        .map(|bug| bug.name())
        .chain(registry().iter().map(|known| known.id))
        .collect();
    let chosen: Vec<&str> = select(&patterns, &names)?
        .into_iter()
        .map(|at| names[at])
        .collect();
    let bugs = Bug::ALL
        .iter()
        .copied()
        .filter(|bug| chosen.contains(&bug.name()) || chosen.contains(&bug.caught_by()))
        .collect();
    Ok((chosen, bugs))
}

fn jobs(args: &AuditArgs) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    args.jobs.map_or(cores, usize::from)
}

/// Tells each wrong client as it is done: those that are not caught take a while.
fn by_generated(args: &AuditArgs, bugs: &[Bug]) -> Result<Exit, Failure> {
    let options = generated::Options {
        jobs: jobs(args),
        seed: args.seed,
        cases: args.cases,
        profile: Profile::default(),
    };
    let page = page();
    let mut rows = report::Rows::default();
    let all = block_on(or_interrupted(async {
        let told = |one: &generated::Wrong| {
            if !args.json {
                say(&rows.row(one, &page));
            }
        };
        Ok(generated::generated(bugs, &options, told).await)
    }))??;
    if args.json {
        say_json(&all)?;
    } else {
        say(&report::ending(&all, &page));
    }
    Ok(if !all.broken.is_empty() {
        Exit::Harness
    } else if all.is_sound() {
        Exit::AsExpected
    } else {
        Exit::Failed
    })
}

fn say_json(told: &impl serde::Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(told)
        .map_err(|error| Failure::new(Exit::Harness, format!("the audit as JSON: {error}")))?;
    say(&format!("{json}\n"));
    Ok(())
}
