//! The ledger: which sandboxes and processes a trial had, which request made each, which ended it, and which are left.
//!
//! Pure: it follows from a wire log alone, so that it is the same for a saved trial as for the one that was played. What
//! of it a client has admitted is for whoever judges the client's result to say.

use crate::{
    wire::Call,
    wirelog::{AnswerEnd, LedgerEntry, Sent, WireLog},
};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// Everything that existed at some time, in the order in which it was made, processes behind their sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    /// The things.
    pub things: Vec<Thing>,
}

/// A sandbox or a process, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// Its state at the end, in the protocol's words.
    pub state: String,
    /// The request that made it; `None` if it was there from the beginning.
    pub made_by: Option<Act>,
    /// What became of it.
    pub fate: Fate,
}

/// What can be left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A sandbox.
    Sandbox,
    /// A managed process.
    Process,
}

/// What became of a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is there, and nobody has asked it to go.
    Left,
    /// A process whose leader exited by itself and whose descendants run on.
    LeftDescendants,
    /// It ended by itself: a process exited, a sandbox failed.
    Itself,
    /// This request ended it (a delete of it or of its sandbox, or a signal), or asked what was left of it to go.
    By(Act),
}

/// A request, as the ledger tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// Index into [`WireLog::exchanges`].
    pub exchange: usize,
    /// The call; `None` where the log does not hold the request.
    pub call: Option<Call>,
    /// The nth such call of the trial, from 1.
    pub attempt: u32,
    /// What the client could read of the answer.
    pub answer: Answered,
}

/// How far a client was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// No head left the server.
    Never,
    /// A head with this status left, and the body ended short of its framing or has not ended.
    Cut(u16),
    /// The answer with this status left whole.
    Whole(u16),
}

impl Ledger {
    /// The ledger of what a log has seen.
    #[must_use]
    pub fn of(log: &WireLog) -> Self {
        let things = log.ledger.iter().map(|entry| Thing::of(entry, log));
        Self {
            things: things.collect(),
        }
    }

    /// What a request made.
    pub fn made(&self) -> impl Iterator<Item = &Thing> {
        self.things.iter().filter(|thing| thing.made_by.is_some())
    }

    /// What a request made and is there at the end, with all or a part of its tree.
    pub fn left(&self) -> impl Iterator<Item = &Thing> {
        self.made().filter(|thing| thing.is_left())
    }

    /// What was there from the beginning and was ended by a request.
    pub fn taken(&self) -> impl Iterator<Item = &Thing> {
        self.things
            .iter()
            .filter(|thing| thing.made_by.is_none() && matches!(thing.fate, Fate::By(_)))
    }
}

impl Thing {
    fn of(entry: &LedgerEntry, log: &WireLog) -> Self {
        let kind = match entry.kind.as_str() {
            "sandbox" => Kind::Sandbox,
            _ => Kind::Process,
        };
        Self {
            kind,
            id: entry.id.clone(),
            state: entry.state.clone(),
            made_by: entry.made_by.map(|exchange| Act::of(exchange, log)),
            fate: fate(kind, entry, log),
        }
    }

    /// Whether it is there, or a part of its tree is.
    #[must_use]
    pub const fn is_left(&self) -> bool {
        matches!(self.fate, Fate::Left | Fate::LeftDescendants)
    }
}

fn fate(kind: Kind, entry: &LedgerEntry, log: &WireLog) -> Fate {
    if let Some(exchange) = entry.deleted_by {
        return Fate::By(Act::of(exchange, log));
    }
    let over: &[&str] = match kind {
        Kind::Sandbox => &["destroying", "destroyed", "failed"],
        Kind::Process => &["exited", "failed"],
    };
    if entry.descendants {
        Fate::LeftDescendants
    } else if over.contains(&entry.state.as_str()) {
        Fate::Itself
    } else {
        Fate::Left
    }
}

impl Act {
    fn of(exchange: usize, log: &WireLog) -> Self {
        let Some(told) = log.exchanges.get(exchange) else {
            return Self {
                exchange,
                call: None,
                attempt: 0,
                answer: Answered::Never,
            };
        };
        let status = told.answer.iter().find_map(|sent| match sent {
            Sent::Head { status, .. } => Some(*status),
            _ => None,
        });
        let whole = told.answer.iter().any(|sent| {
            matches!(
                sent,
                Sent::End {
                    how: AnswerEnd::Complete | AnswerEnd::CloseDelimited,
                    ..
                }
            )
        });
        Self {
            exchange,
            call: told.call,
            attempt: told.attempt,
            answer: match status {
                None => Answered::Never,
                Some(status) if whole => Answered::Whole(status),
                Some(status) => Answered::Cut(status),
            },
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::Process => "process",
        })
    }
}

impl Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.call {
            Some(call) => write!(f, "{call} {}", self.attempt)?,
            None => write!(f, "request {}", self.exchange + 1)?,
        }
        match self.answer {
            Answered::Never => f.write_str(", not answered"),
            Answered::Cut(status) => write!(f, ", answered {status} and cut short"),
            Answered::Whole(status) => write!(f, ", answered {status}"),
        }
    }
}

impl Display for Thing {
    /// "process proc_7 is running, made by create-process 1, answered 502".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.kind, self.id)?;
        match &self.fate {
            Fate::Left => write!(f, "is {}", self.state)?,
            Fate::LeftDescendants => f.write_str("has exited, its descendants run on")?,
            Fate::Itself => f.write_str(match self.kind {
                Kind::Sandbox => "failed",
                Kind::Process => "exited by itself",
            })?,
            Fate::By(act) => write!(f, "was ended by {act}")?,
        }
        match &self.made_by {
            Some(act) => write!(f, "; made by {act}"),
            None => f.write_str("; there from the beginning"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wirelog::{Exchange, Request};

    fn exchange(call: Call, answer: Vec<Sent>) -> Exchange {
        Exchange {
            connection: 1,
            number: 1,
            call: Some(call),
            attempt: 1,
            request: Request::default(),
            fault: None,
            answer,
            head_us: 0,
            last_sent_us: None,
            client_closed_us: None,
            open: false,
            segmented: None,
            broke_off: None,
        }
    }

    fn head(status: u16) -> Sent {
        Sent::Head {
            http10: false,
            status,
            reason: String::new(),
            headers: Vec::new(),
        }
    }

    fn end(how: AnswerEnd) -> Sent {
        Sent::End { how, acked: true }
    }

    fn entry(kind: &str, state: &str, made_by: Option<usize>, by: Option<usize>) -> LedgerEntry {
        LedgerEntry {
            kind: kind.to_owned(),
            id: "x".to_owned(),
            state: state.to_owned(),
            made_by,
            deleted_by: by,
            descendants: false,
        }
    }

    fn log() -> WireLog {
        let complete = || vec![head(201), end(AnswerEnd::Complete)];
        WireLog {
            exchanges: vec![
                exchange(Call::CreateSandbox, Vec::new()),
                exchange(Call::CreateProcess, complete()),
                exchange(Call::DeleteProcess, vec![head(200), end(AnswerEnd::Short)]),
            ],
            ledger: vec![
                entry("sandbox", "running", None, None),
                entry("sandbox", "paused", Some(0), None),
                entry("sandbox", "failed", Some(0), None),
                entry("process", "running", Some(1), None),
                entry("process", "exited", Some(1), None),
                LedgerEntry {
                    descendants: true,
                    ..entry("process", "exited", Some(1), None)
                },
                entry("process", "terminating", Some(1), Some(2)),
                entry("process", "exited", None, Some(2)),
                entry("process", "running", Some(99), None),
            ],
            ..WireLog::default()
        }
    }

    #[test]
    fn each_thing_is_told_with_what_made_and_what_ended_it() {
        let told: Vec<String> = Ledger::of(&log())
            .things
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "sandbox x is running; there from the beginning",
                "sandbox x is paused; made by create-sandbox 1, not answered",
                "sandbox x failed; made by create-sandbox 1, not answered",
                "process x is running; made by create-process 1, answered 201",
                "process x exited by itself; made by create-process 1, answered 201",
                "process x has exited, its descendants run on; made by create-process 1, answered 201",
                "process x was ended by delete-process 1, answered 200 and cut short; made by create-process 1, answered 201",
                "process x was ended by delete-process 1, answered 200 and cut short; there from the beginning",
                "process x is running; made by request 100, not answered",
            ]
        );
    }

    #[test]
    fn what_was_made_and_not_ended_is_left_and_nothing_else() {
        let ledger = Ledger::of(&log());
        let states: Vec<&str> = ledger.left().map(|thing| thing.state.as_str()).collect();
        assert_eq!(states, ["paused", "running", "exited", "running"]);
        assert_eq!(ledger.taken().count(), 1);
        assert_eq!(ledger.made().count(), 7);
    }
}
