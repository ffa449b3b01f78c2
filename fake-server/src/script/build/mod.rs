//! From raw tables to a plan: every rule that one value alone cannot break.

mod answer;
mod attempts;
mod expect;
mod fault;
mod files;
mod job;
mod steps;
mod together;
mod truth;

pub use files::filling;
pub use job::SHAPE;
pub(super) use job::default_command;
pub use truth::default as default_truth;

use super::{
    fault_kinds,
    mistakes::Gather,
    model::{Plan, SandboxTruth},
    raw::RawFile,
    read::At,
    scenario::Random,
    suggest,
};
use crate::wire::{Op, call::Capability};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::{collections::BTreeSet, ops::Range};

/// What a file may refer to.
pub(super) struct Around<'a> {
    /// The instance's id.
    pub(super) id: String,
    /// Ids it may cite; `None`: any.
    pub(super) requirements: Option<&'a [&'a str]>,
    /// Reads a file beside the scenario.
    pub(super) files: &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
}

/// Milliseconds until a trial gives up, unless said.
pub(super) const DEADLINE_MS: u64 = 10_000;

/// The plan of one instance (its seed is 0, its random cuts are open). It is good only when nothing was noted.
pub(super) fn plan(
    raw: &RawFile,
    around: &mut Around<'_>,
    gather: &mut Gather,
) -> (Plan, Vec<Random>) {
    let op = raw.op.as_ref().map_or(Op::Execute, |op| op.value.0);
    let mut needs: BTreeSet<Capability> = raw
        .needs
        .iter()
        .flat_map(|needs| &needs.value)
        .map(|need| need.value.0)
        .collect();
    let truth = truth::build(raw.process.as_ref(), op, gather);
    let job = job::build(raw, op, truth.as_ref(), &mut needs, gather);
    let (faults, random) = fault::build(raw, op, truth.as_ref(), &mut needs, around, gather);
    let expect = expect::build(raw.expect.as_ref(), truth.as_ref(), gather);
    let plan = Plan {
        id: around.id.clone(),
        title: title(raw, gather),
        requirements: requirements(raw, around, gather),
        fault_kinds: kinds(raw, gather),
        why: raw
            .why
            .as_ref()
            .map(|why| why.value.trim().to_owned())
            .unwrap_or_default(),
        op,
        needs: needs.into_iter().collect(),
        deadline_ms: positive(
            raw.deadline.as_ref().map(|at| (at.value.0, &at.span)),
            gather,
        )
        .unwrap_or(DEADLINE_MS),
        job,
        sandbox: sandbox(raw, op, gather),
        truth: truth.unwrap_or_else(|| truth::default(op)),
        faults,
        expect,
        seed: 0,
    };
    (plan, random)
}

fn title(raw: &RawFile, gather: &mut Gather) -> String {
    let Some(title) = &raw.title else {
        return String::new();
    };
    let text = title.value.trim();
    if text.is_empty() || text.contains('\n') {
        gather
            .at(&title.span, "a title is one line of text")
            .help("what a reader of a report should see; the reasons stand in `why`");
    }
    text.to_owned()
}

fn requirements(raw: &RawFile, around: &Around<'_>, gather: &mut Gather) -> Vec<String> {
    let Some(cited) = &raw.requirements else {
        return Vec::new();
    };
    if cited.value.is_empty() {
        gather
            .at(&cited.span, "a scenario is about at least one requirement")
            .help("requirements = [\"area/name\"]; `list` shows them");
    }
    each_once(&cited.value, gather);
    if let Some(known) = around.requirements {
        for id in cited
            .value
            .iter()
            .filter(|id| !known.contains(&id.value.as_str()))
        {
            gather
                .at(
                    &id.span,
                    format!("there is no requirement `{}`", suggest::short(&id.value)),
                )
                .help(known_requirement(&id.value, known));
        }
    }
    cited.value.iter().map(|id| id.value.clone()).collect()
}

fn known_requirement(id: &str, known: &[&str]) -> String {
    let (area, name) = id.split_once('/').unwrap_or(("", id));
    // The right name in the wrong area is the commonest slip, then a slip in the name.
    let same_name = known.iter().copied().find(|known| {
        known
            .split_once('/')
            .is_some_and(|(_, known)| known == name)
    });
    if let Some(near) = same_name.or_else(|| suggest::nearest(id, known.iter().copied())) {
        return format!("did you mean `{near}`?");
    }
    let prefix = format!("{area}/");
    let in_area: Vec<_> = known
        .iter()
        .copied()
        .filter(|known| known.starts_with(&prefix))
        .collect();
    if in_area.is_empty() {
        let areas: BTreeSet<_> = known
            .iter()
            .filter_map(|id| Some(id.split_once('/')?.0))
            .collect();
        let areas: Vec<_> = areas.into_iter().collect();
        format!("an id is area/name; areas are {}", suggest::listed(&areas))
    } else {
        format!("in this area: {}", suggest::listed(&in_area))
    }
}

fn kinds(raw: &RawFile, gather: &mut Gather) -> Vec<String> {
    let Some(cited) = &raw.fault_kinds else {
        return Vec::new();
    };
    each_once(&cited.value, gather);
    for id in &cited.value {
        if fault_kinds::find(&id.value).is_some() {
            continue;
        }
        let wanted = id.value.replace('-', "_");
        let by_name = fault_kinds::all()
            .find(|kind| kind.name == wanted || kind.id.eq_ignore_ascii_case(&wanted));
        let group = fault_kinds::GROUPS
            .iter()
            .find(|group| id.value.starts_with(group.prefix));
        let help = match (by_name, group) {
            (Some(kind), _) => format!("did you mean `{}` ({})?", kind.id, kind.name),
            (None, Some(group)) => format!(
                "{} has {}01 to {}{:02}",
                group.title,
                group.prefix,
                group.prefix,
                group.kinds.len()
            ),
            (None, None) => {
                match suggest::nearest(&wanted, fault_kinds::all().map(|kind| kind.name)) {
                    Some(near) => fault_kinds::all()
                        .find(|kind| kind.name == near)
                        .map(|kind| format!("did you mean `{}` ({})?", kind.id, kind.name))
                        .unwrap_or_default(),
                    None => {
                        let groups: Vec<_> = fault_kinds::GROUPS
                            .iter()
                            .map(|group| group.prefix)
                            .collect();
                        format!(
                            "an id is two characters and a number, as in `CT03`; groups are {}",
                            suggest::listed(&groups)
                        )
                    }
                }
            }
        };
        gather
            .at(
                &id.span,
                format!("there is no fault kind `{}`", suggest::short(&id.value)),
            )
            .help(help);
    }
    cited.value.iter().map(|id| id.value.clone()).collect()
}

/// The state that a sandbox is in when the trial begins, unless said.
pub(super) const fn default_state(op: Op) -> &'static str {
    match op {
        Op::Resume => "paused",
        _ => "running",
    }
}

fn sandbox(raw: &RawFile, op: Op, gather: &mut Gather) -> SandboxTruth {
    let files = files::build(raw, gather);
    let raw = raw.sandbox.as_ref().map(|sandbox| &sandbox.value);
    let state = raw
        .and_then(|raw| raw.state.as_ref())
        .map_or_else(|| default_state(op), |state| state.value.0.0);
    SandboxTruth {
        state: state.to_owned(),
        lag: raw
            .and_then(|raw| raw.lag.as_ref())
            .map_or(0, |lag| lag.value),
        files,
    }
}

/// Notes a value that a list holds twice.
fn each_once(list: &[At<String>], gather: &mut Gather) {
    for (index, item) in list.iter().enumerate() {
        if let Some(first) = list[..index].iter().find(|first| first.value == item.value) {
            gather
                .at(
                    &item.span,
                    format!("`{}` is here twice", suggest::short(&item.value)),
                )
                .context(&first.span, "first here")
                .help("each once");
        }
    }
}

/// A number that may not be 0.
fn positive(value: Option<(u64, &Range<usize>)>, gather: &mut Gather) -> Option<u64> {
    let (number, span) = value?;
    if number == 0 {
        gather
            .at(span, "this cannot be 0")
            .help("say 1 or more, or leave it out");
        return None;
    }
    Some(number)
}

/// The bytes of a base64 text.
fn base64(at: &At<String>, gather: &mut Gather) -> Option<Vec<u8>> {
    match STANDARD.decode(&at.value) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            gather
                .at(&at.span, format!("this is not base64: {}", error.to_string().to_lowercase()))
                .help("standard, padded base64; to send bad base64 use { line = '{\"type\":\"data\", ..}' }");
            None
        }
    }
}
