//! `audit`: does the suite catch what it claims to?

use super::{
    Failure,
    args::AuditArgs,
    block_on, files, or_interrupted,
    output::{page, say},
};
use crate::{
    audit::{Options, audit as play},
    client::reference::Bug,
    contract::registry,
    exit::Exit,
    report::audit::table,
    select::{Pattern, select},
};
use fake_server::script::model::Plan;
use std::{num::NonZero, sync::Arc, thread};

pub(super) fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let suite = files::load(args.source.scenarios.as_deref(), &[])?;
    let plans: Vec<Arc<Plan>> = suite
        .iter()
        .flat_map(|entry| entry.scenario.plans(args.seed))
        .map(Arc::new)
        .collect();
    let patterns: Vec<Pattern> = args
        .patterns
        .iter()
        .map(|text| Pattern::new(text))
        .collect();
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
    let bugs: Vec<Bug> = Bug::ALL
        .iter()
        .copied()
        .filter(|bug| chosen.contains(&bug.name()) || chosen.contains(&bug.caught_by()))
        .collect();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let options = Options {
        jobs: args.jobs.map_or(cores, usize::from),
        full: args.full,
        sockets: args.sockets,
        seed: args.seed,
    };
    let audit = block_on(or_interrupted(async {
        Ok(play(&plans, &bugs, |id| chosen.contains(&id), &options).await)
    }))??;
    if args.json {
        let json = serde_json::to_string_pretty(&audit)
            .map_err(|error| Failure::new(Exit::Harness, format!("the audit as JSON: {error}")))?;
        say(&format!("{json}\n"));
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
