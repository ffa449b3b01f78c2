//! `check`: the scenarios themselves. They parse, their faults can be reached, the schema is current, and without its
//! faults each of them passes.

use super::{
    Failure,
    args::CheckArgs,
    block_on, interrupted,
    output::{page, say},
    run::choose,
};
use crate::{
    case::Case,
    client::{Client, reference::Reference},
    contract::oracle::{Reach, expected},
    events::Deaf,
    exit::Exit,
    judge::{Check, CheckStatus},
    observed::Reply,
    report::{
        story,
        text::{count, paint, wrap},
    },
    run::{DEFAULT_JOBS, Settings, run},
    select::select,
    standing::KnownFailures,
    suite::embedded_schema,
    summary::RunInfo,
};
use fake_server::script::model::Plan;
use std::sync::Arc;

/// Played with this seed; a control does not depend on it.
const SEED: u64 = 1;

pub(super) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let chosen = choose(&args.patterns, args.source.scenarios.as_deref())?;
    let plans: Vec<Plan> = chosen.suite.plans(SEED).collect();
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
    let selected: Vec<&Plan> = select(&chosen.patterns, &ids)?
        .into_iter()
        .map(|at| &plans[at])
        .collect();
    let mut mistakes = Vec::new();
    if let Some(words) = stale_schema() {
        mistakes.push(words);
    }
    let reference = Reference::conformant();
    for plan in &selected {
        mistakes.extend(unreachable_faults(plan, &reference));
    }
    let controls: Vec<Arc<Plan>> = selected
        .iter()
        .map(|plan| Arc::new(plan.control()))
        .collect();
    let scenarios: std::collections::BTreeSet<&str> = selected
        .iter()
        .map(|plan| plan.id.split('[').next().unwrap_or(&plan.id))
        .collect();
    let failed = block_on(play(controls, reference))?;
    let page = page();
    let mut text = String::new();
    for story in &failed {
        text.push_str(story);
    }
    for words in &mistakes {
        for line in wrap(words, page.width) {
            text.push_str(&format!("{}\n", paint(page.palette.bad, &line)));
        }
    }
    let counted = format!(
        "{} in {}",
        count(selected.len(), "case", "cases"),
        count(scenarios.len(), "scenario", "scenarios")
    );
    let wrong = mistakes.len() + failed.len();
    if wrong == 0 {
        let words = format!(
            "{counted}: all parse, every fault can be reached, every control passes, the schema is current"
        );
        for line in wrap(&words, page.width) {
            text.push_str(&format!("{}\n", paint(page.palette.good, &line)));
        }
        say(&text);
        Ok(Exit::AsExpected)
    } else {
        let words = format!("{counted}: {}", count(wrong, "mistake", "mistakes"));
        text.push_str(&format!("{}\n", paint(page.palette.bad, &words)));
        say(&text);
        Ok(Exit::Usage)
    }
}

fn stale_schema() -> Option<String> {
    let Some(committed) = embedded_schema() else {
        return Some("scenarios/scenario.schema.json is missing".to_owned());
    };
    let current = fake_server::script::schema();
    let committed: Option<serde_json::Value> = serde_json::from_str(committed).ok();
    (committed.as_ref() != Some(&current)).then(|| {
        "scenarios/scenario.schema.json is not what the types say: it must be generated again"
            .to_owned()
    })
}

/// Faults that a right client never meets, although they are no bait.
pub(super) fn unreachable_faults(plan: &Plan, reference: &Reference) -> Vec<String> {
    expected(plan, &reference.promises)
        .faults
        .into_iter()
        .filter(|fault| fault.reach == Reach::Never)
        .map(|fault| {
            format!(
                "{}: a right client never reaches fault {}: mark it `bait = true`, or mend the plan",
                plan.id, fault.number
            )
        })
        .collect()
}

/// Whether a control passes: the client came to a result, or rightly waits where nothing ends the call, and nothing was
/// found against it. What a requirement wants to see of a fault is not asked for here: a control has none.
fn is_healthy(control: &Case, reference: &Reference) -> bool {
    let ended = match control.trial.as_ref().map(|trial| &trial.observed.reply) {
        Some(Reply::Result(_)) => true,
        Some(Reply::Silent) => expected(&control.plan, &reference.promises)
            .outcomes
            .iter()
            .any(|outcome| outcome == "none"),
        _ => false,
    };
    let is_wrong = |check: &Check| {
        matches!(
            check.status,
            CheckStatus::Fail | CheckStatus::AdapterError | CheckStatus::HarnessError
        )
    };
    ended && !control.verdict.checks.iter().any(is_wrong)
}

/// Plays the controls in memory; the stories of those that do not pass.
async fn play(plans: Vec<Arc<Plan>>, reference: Reference) -> Vec<String> {
    let right = reference.clone();
    let client = Arc::new(Client::Reference(reference));
    let info = RunInfo {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        digest: String::new(),
        client: client.info(),
        seed: SEED,
        strict: true,
        transport: "memory",
        shard: None,
        cases: plans.len(),
        program: super::called::program(),
        replay_arguments: vec!["--in-memory".to_owned()],
        files: std::collections::BTreeMap::new(),
    };
    let settings = Settings {
        jobs: DEFAULT_JOBS,
        keep: usize::MAX,
        timeout_multiplier: 1.0,
        fail_fast: false,
        in_memory: true,
        first_trial: 0,
    };
    let known = KnownFailures::default();
    let (judged, _) = run(
        &plans,
        &client,
        &known,
        &info,
        &settings,
        interrupted(),
        &mut Deaf,
    )
    .await;
    let page = page();
    judged
        .iter()
        .filter(|one| !is_healthy(&one.case, &right))
        .map(|one| story::story(one, &[], &info, &page, false))
        .collect()
}
