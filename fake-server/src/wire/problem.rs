//! What a server refuses, and how it says so.

use super::envelope;
use serde_json::Value;
use thiserror::Error;

/// Why a call is refused. Each has a status and a stable code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// 400: what is wrong, field by field.
    #[error("{}", in_words(.0))]
    Invalid(Vec<(String, String)>),
    /// 401: no key, or not this server's.
    #[error("missing or wrong api key: send it as x-api-key")]
    Unauthorized,
    /// 404: it is not there, or not yours; the answer is the same on purpose.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// 405: the path exists, the method does not.
    #[error("method not allowed here: use {0}")]
    WrongMethod(&'static str),
    /// 408: a long poll is over and what it waited for has not happened.
    #[error("the process has not exited within {0} ms")]
    WaitExpired(u64),
    /// 409: the state does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// 410: the journal no longer has what was asked for.
    #[error("output after {after} was evicted: the oldest kept frame is {oldest}")]
    Evicted {
        /// The request's cursor.
        after: u64,
        /// Oldest seq that is kept.
        oldest: u64,
    },
    /// 413: more than one request may carry.
    #[error("{what} is too large: at most {limit} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Bytes.
        limit: usize,
    },
}

impl Problem {
    /// One field that is wrong.
    #[must_use]
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![(field.to_owned(), message.into())])
    }

    /// Its HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Invalid(_) => 400,
            Self::Unauthorized => 401,
            Self::NotFound(_) => 404,
            Self::WrongMethod(_) => 405,
            Self::WaitExpired(_) => 408,
            Self::Conflict(_) => 409,
            Self::Evicted { .. } => 410,
            Self::TooLarge { .. } => 413,
        }
    }

    /// Its stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "validation",
            Self::Unauthorized => "unauthorized",
            Self::NotFound(_) => "not_found",
            Self::WrongMethod(_) => "method_not_allowed",
            Self::WaitExpired(_) => "wait_expired",
            Self::Conflict(_) => "conflict",
            Self::Evicted { .. } => "output_offset_expired",
            Self::TooLarge { .. } => "too_large",
        }
    }

    /// Its fail envelope.
    #[must_use]
    pub fn envelope(&self) -> Value {
        let fields = match self {
            Self::Invalid(fields) => fields.as_slice(),
            _ => &[],
        };
        let mut body = envelope::fail(self.code(), &self.to_string(), fields);
        if let Self::Evicted { oldest, .. } = self {
            body["data"]["oldest_available_seq"] = (*oldest).into();
        }
        body
    }
}

fn in_words(fields: &[(String, String)]) -> String {
    fields
        .iter()
        .map(|(field, message)| format!("{field}: {message}"))
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eviction_tells_where_to_go_on() {
        let body = Problem::Evicted {
            after: 3,
            oldest: 9,
        }
        .envelope();
        assert_eq!(body["data"]["oldest_available_seq"], 9);
        assert_eq!(body["data"]["code"], "output_offset_expired");
    }

    #[test]
    fn every_wrong_field_is_named() {
        let problem = Problem::Invalid(vec![
            ("shape".into(), "is missing".into()),
            ("name".into(), "is too long".into()),
        ]);
        let body = problem.envelope();
        assert_eq!(body["data"]["shape"], "is missing");
        assert_eq!(
            body["data"]["message"],
            "shape: is missing; name: is too long"
        );
    }
}
