//! What an answer to a call about a sandbox says.

use crate::judge::{
    acceptor::{is_identifier, success},
    answer::{Answer, Ending, body},
};
use fake_server::{wire::Call, wirelog::Exchange, world::State};
use serde_json::{Map, Value};

/// What an answer says of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A whole success envelope.
    Sandbox {
        /// The answer's status.
        status: u16,
        /// Whose.
        id: Id,
        /// In which state.
        state: Option<State>,
    },
    /// A status that is no success.
    Refused(u16),
    /// A success status that proves nothing.
    Unproven {
        /// The answer's status.
        status: u16,
        /// Its body broke off.
        broken: bool,
    },
    /// No answer, and none will come.
    Broken,
    /// No answer yet, or not the whole of it.
    Open,
}

/// The id in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// One that may stand in a URL.
    Is(String),
    /// Something else in its place.
    Bad,
    /// None.
    Missing,
}

impl Said {
    /// Reads an answer: what a right client may take it for, the usual way first.
    pub(crate) fn of(exchange: &Exchange, answer: &Answer) -> Vec<Self> {
        match answer.status {
            None if matches!(answer.ending, Ending::Open | Ending::Left) => vec![Self::Open],
            None => vec![Self::Broken],
            Some(status @ 200..=299) => match answer.ending {
                Ending::Open | Ending::Left => vec![Self::Open],
                Ending::Unclean => vec![Self::Unproven {
                    status,
                    broken: true,
                }],
                Ending::Clean | Ending::CloseDelimited => Self::whole(exchange, answer, status),
            },
            Some(status) => vec![Self::Refused(status)],
        }
    }

    fn whole(exchange: &Exchange, answer: &Answer, status: u16) -> Vec<Self> {
        let unproven = Self::Unproven {
            status,
            broken: answer.coded() || answer.doubtful,
        };
        let Some(data) = success(&body(exchange)) else {
            return vec![unproven];
        };
        let id = id(&data);
        let named = data.get("status").and_then(Value::as_str);
        let said = Self::Sandbox {
            status,
            state: named.and_then(State::from_name),
            id: id.clone(),
        };
        // Nothing coded was asked for; contradicting lengths and a missing id may be refused.
        if answer.coded() {
            vec![unproven, said]
        } else if answer.doubtful
            || (id == Id::Missing && exchange.call != Some(Call::CreateSandbox))
        {
            vec![said, unproven]
        } else {
            vec![said]
        }
    }
}

fn id(data: &Map<String, Value>) -> Id {
    match data.get("id") {
        None => Id::Missing,
        Some(Value::String(id)) if is_identifier(id) => Id::Is(id.clone()),
        Some(_) => Id::Bad,
    }
}

/// The sandbox that a request is about.
pub(crate) fn target(exchange: &Exchange) -> Option<&str> {
    // What follows `/v1`, in segments.
    exchange.request.path.get(1).map(String::as_str)
}
