//! A plan as the scenario file that a person would have written for it: short forms where the format
//! has them, text as text, and nothing that is so anyway.
//!
//! What is read back is the same plan, but for its id. [`can_say`] tells of a plan that no file
//! describes: the format has no null, no date and no text of the form `$name`.

mod expect;
mod fault;
mod job;
mod process;
mod steps;
mod text;

use super::{
    build::{self, DEADLINE_MS},
    model::{Plan, SandboxTruth},
    parse,
};
use crate::wire::Op;
use text::{Lines, duration, list, quoted};

/// What stands above the truth: what the file is called and about, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Where the JSON Schema lies, seen from the file; editors read it.
    pub schema: Option<String>,
    /// Comment lines above everything else, without their `#`: a seed, an origin.
    pub comments: Vec<String>,
    /// One line for people.
    pub title: String,
    /// Requirement ids that the file is about.
    pub requirements: Vec<String>,
    /// Ids of the fault taxonomy (`CT03`).
    pub fault_kinds: Vec<String>,
    /// Why a client gets this wrong and what it costs.
    pub why: String,
}

impl Header {
    /// What the plan itself says.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self {
            title: plan.title.clone(),
            requirements: plan.requirements.clone(),
            fault_kinds: plan.fault_kinds.clone(),
            why: plan.why.clone(),
            ..Self::default()
        }
    }
}

/// The plan as a scenario file. The header stands in place of the plan's own title, requirements,
/// fault kinds and reason.
#[must_use]
pub fn print(plan: &Plan, header: &Header) -> String {
    let mut file = Lines::default();
    if let Some(schema) = &header.schema {
        file.raw(&format!("#:schema {}", text::one_line(schema)));
    }
    for line in header.comments.iter().flat_map(|comment| comment.lines()) {
        file.raw(format!("# {}", text::one_line(line)).trim_end());
    }
    file.set("title", quoted(&text::one_line(&header.title)));
    file.set("requirements", words(&header.requirements));
    if !header.fault_kinds.is_empty() {
        file.set("fault-kinds", words(&header.fault_kinds));
    }
    if !header.why.trim().is_empty() {
        file.set("why", quoted(header.why.trim()));
    }
    if plan.op != Op::Execute {
        file.set("op", quoted(plan.op.name()));
    }
    let implied = plan.implied_needs();
    let needs: Vec<_> = plan
        .needs
        .iter()
        .filter(|need| !implied.contains(need))
        .map(|need| quoted(need.name()))
        .collect();
    if !needs.is_empty() {
        file.set("needs", list(needs));
    }
    if plan.deadline_ms != DEADLINE_MS {
        file.set("deadline", duration(plan.deadline_ms));
    }
    file.table("job", job::lines(plan));
    file.table("process", process::lines(&plan.truth, plan.op));
    file.table("sandbox", sandbox(&plan.sandbox, plan.op));
    for kept in &plan.sandbox.files {
        file.item("file", job::file(kept));
    }
    for fault in &plan.faults {
        file.item("fault", fault::lines(fault, &plan.faults));
    }
    expect::write(&plan.expect, &mut file);
    file.finish()
}

fn sandbox(truth: &SandboxTruth, op: Op) -> Lines {
    let mut lines = Lines::default();
    if truth.state != build::default_state(op) {
        lines.set("state", quoted(&truth.state));
    }
    if truth.lag != 0 {
        lines.set("lag", truth.lag.to_string());
    }
    lines
}

fn words(words: &[String]) -> String {
    list(words.iter().map(|word| quoted(word)).collect())
}

/// Whether a file can say this plan: whether what is printed reads back as the same, whatever its id
/// and its words for people.
#[must_use]
pub fn can_say(plan: &Plan) -> bool {
    let header = Header {
        title: "a plan".to_owned(),
        requirements: vec!["data/exact".to_owned()],
        ..Header::default()
    };
    let Ok(scenario) = parse("plan.toml", "plan", &print(plan, &header), None) else {
        return false;
    };
    let read = Plan {
        id: plan.id.clone(),
        title: plan.title.clone(),
        requirements: plan.requirements.clone(),
        fault_kinds: plan.fault_kinds.clone(),
        why: plan.why.clone(),
        ..scenario.plan(0, plan.seed)
    };
    read == *plan
}
