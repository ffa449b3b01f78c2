//! What is left at the end, against what the client said: nothing is left over that its result does not admit.
//!
//! [`Account`] is the ledger of a trial (`fake_server::ledger`) with a word on each thing that is left. It is told in
//! every story and accuses of what no other rule has told: a cleanup that went to another process, a sandbox that an op
//! made which gets none. Sandboxes of the lease ops are their own rules' business.

use super::{
    Place,
    acceptor::{Proof, created_id, proof, success},
    answer::{Answer, Ending, body},
    findings::{Findings, Wrong},
    lease::is_lease,
    walk::Walk,
    words,
};
use crate::{
    contract::Level,
    observed::{JobResult, Observed, Reply},
};
use fake_server::{
    ledger::{Answered, Kind, Ledger, Thing},
    script::model::Plan,
    wire::{Call, Op},
    wirelog::{Exchange, WireLog},
};
use serde::{Deserialize, Serialize};

/// What a trial's requests made, and what they ended of what was there before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Account {
    /// In the order in which things were made.
    pub entries: Vec<Entry>,
}

/// A thing, and whether the client admits that it is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The thing.
    #[serde(flatten)]
    pub thing: Thing,
    /// For a thing that a request made and that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted: Option<Admission>,
}

/// Why a thing may be left, if it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// The result names it.
    Named,
    /// The result is an error of a kind that says so.
    Error(String),
    /// The op succeeded, and this is the caller's.
    Succeeded,
    /// The create's answer did not tell it, and the client went on with another: its result has no place to say so.
    Unknowable,
    /// The server told the client that nothing was made.
    Refused,
    /// The server told the client that it is gone.
    ToldGone,
    /// There is no result.
    NoResult,
    /// The result does not admit it.
    No,
}

impl Account {
    /// The account of a trial.
    #[must_use]
    pub fn of(plan: &Plan, log: &WireLog, observed: &Observed) -> Self {
        let ledger = Ledger::of(log);
        let told = ledger.made().chain(ledger.taken());
        let entries = told.map(|thing| Entry {
            admitted: thing
                .is_left()
                .then(|| made_by(thing, log))
                .flatten()
                .map(|maker| admission(thing, maker, plan, log, observed)),
            thing: thing.clone(),
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// What is left of what requests made.
    pub fn left(&self) -> impl Iterator<Item = (&Thing, &Admission)> {
        self.entries.iter().filter_map(|entry| {
            let admitted = entry.admitted.as_ref()?;
            Some((&entry.thing, admitted))
        })
    }

    /// What was there from the beginning and was ended.
    pub fn taken(&self) -> impl Iterator<Item = &Thing> {
        let things = self.entries.iter().map(|entry| &entry.thing);
        things.filter(|thing| thing.made_by.is_none())
    }
}

impl Admission {
    /// In a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Named => "the result names it".to_owned(),
            Self::Error(kind) => format!("the result says `{}`", words::short(kind)),
            Self::Succeeded => "the op succeeded, so it is the caller's".to_owned(),
            Self::Unknowable => "the client could not know of it, and went on".to_owned(),
            Self::Refused => "the client was told that nothing was made".to_owned(),
            Self::ToldGone => "the client was told that it is gone".to_owned(),
            Self::NoResult => "there is no result to admit it".to_owned(),
            Self::No => "the result does not admit it".to_owned(),
        }
    }
}

/// Accuses of what is left over, unless another rule has told it already.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let Reply::Result(result) = &walk.observed.reply else {
        return;
    };
    let account = Account::of(walk.plan, walk.log, walk.observed);
    for (thing, admitted) in account.left() {
        let (areas, candidates): (&[&str], &[&'static str]) = match thing.kind {
            Kind::Sandbox if is_lease(walk.plan.op) => continue,
            Kind::Sandbox => (&["lease/"], &["lease/no-leak"]),
            Kind::Process => (
                &["cleanup/", "create/"],
                &["cleanup/on-every-failure", "cleanup/confirmed"],
            ),
        };
        let is_told = findings.violations.iter().any(|violation| {
            let id = violation.requirement.as_str();
            violation.level == Level::Must && areas.iter().any(|area| id.starts_with(area))
        });
        if *admitted == Admission::No && !is_told {
            findings.add(
                Wrong::new(
                    candidates,
                    Place::End,
                    format!(
                        "no {} is left over that the result does not admit",
                        thing.kind
                    ),
                    format!("{thing}; the result is {}", told(result)),
                )
                .always(),
            );
        }
    }
}

fn told(result: &JobResult) -> String {
    match &result.error {
        Some(error) => format!("error {}", words::short(&error.kind)),
        None => format!("`{}`", words::short(&result.outcome)),
    }
}

fn made_by<'l>(thing: &Thing, log: &'l WireLog) -> Option<&'l Exchange> {
    log.exchanges.get(thing.made_by.as_ref()?.exchange)
}

fn admission(
    thing: &Thing,
    maker: &Exchange,
    plan: &Plan,
    log: &WireLog,
    observed: &Observed,
) -> Admission {
    let Reply::Result(result) = &observed.reply else {
        return Admission::NoResult;
    };
    if result.sandbox_id.as_deref() == Some(thing.id.as_str()) {
        return Admission::Named;
    }
    let answer = thing.made_by.as_ref().map(|act| act.answer);
    // The name under which the client knows it: that of the answer, which a scenario may have changed.
    let named = match thing.kind {
        Kind::Process => created_id(maker),
        Kind::Sandbox => sandbox_named(maker),
    };
    let known = matches!(answer, Some(Answered::Whole(200..=299))) && named.is_some();
    match &result.error {
        Some(error) if admits(&error.kind, thing.kind, known) => {
            return Admission::Error(error.kind.clone());
        }
        None if makes(plan.op, thing.kind) && is_success(&result.outcome) => {
            if !known {
                return Admission::Unknowable;
            }
            // A sandbox is the caller's by its name alone.
            if thing.kind == Kind::Process {
                return Admission::Succeeded;
            }
        }
        _ => {}
    }
    if matches!(
        answer,
        Some(Answered::Whole(300..=499) | Answered::Cut(300..=499))
    ) {
        return Admission::Refused;
    }
    let id = named.as_deref().unwrap_or(&thing.id);
    if log
        .exchanges
        .iter()
        .any(|exchange| told_gone(exchange, id, plan, observed))
    {
        return Admission::ToldGone;
    }
    Admission::No
}

/// Whether the op is asked to make such a thing.
const fn makes(op: Op, kind: Kind) -> bool {
    match kind {
        Kind::Process => matches!(op, Op::Execute | Op::Terminal),
        Kind::Sandbox => matches!(op, Op::Acquire),
    }
}

fn is_success(outcome: &str) -> bool {
    matches!(outcome, "exited" | "ok")
}

/// Whether an error of this kind lets its reader know that something may be left. A kind that no pattern classifies
/// passes where the creation is in doubt.
fn admits(kind: &str, thing: Kind, known: bool) -> bool {
    match kind {
        "cleanup-unconfirmed" | "creation-unconfirmed" => true,
        "other" => !known,
        // Whoever makes a sandbox and cannot know whether it did reports the create's failure.
        _ => thing == Kind::Sandbox && !known,
    }
}

/// Whether this is a delete that told the client that this is gone.
fn told_gone(exchange: &Exchange, id: &str, plan: &Plan, observed: &Observed) -> bool {
    if exchange.request.path.last().map(String::as_str) != Some(id) {
        return false;
    }
    let answer = || Answer::of(exchange, &plan.truth, observed.ended_us);
    match exchange.call {
        Some(Call::DeleteProcess) => proof(exchange, &answer()) != Proof::No,
        Some(Call::DeleteSandbox) => match answer() {
            Answer {
                status: Some(404), ..
            } => true,
            answer => {
                matches!(answer.status, Some(200..=299))
                    && (answer.ending != Ending::Clean || sandbox_named(exchange).is_some())
            }
        },
        _ => false,
    }
}

/// The sandbox's id in an answer about one.
fn sandbox_named(exchange: &Exchange) -> Option<String> {
    let data = success(&body(exchange))?;
    Some(data.get("id")?.as_str()?.to_owned())
}
