//! The words of scenario files that stand for a value of the model.

use super::{
    model::{Coding, ConnectionUse, CutPoint, Effect, End, Redirect},
    read::Word,
};
use crate::wire::{Call, Op, ProcessKind, StreamName, call::Capability};

/// Words of a type that knows its names by itself.
macro_rules! named_words {
    ($($type:ty: $what:literal;)+) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;

            fn words() -> Vec<(&'static str, Self)> {
                Self::ALL.iter().map(|value| (value.name(), *value)).collect()
            }
        }
    )+};
}

named_words! {
    Op: "an op";
    Capability: "a capability";
    StreamName: "a stream";
    ProcessKind: "a kind of process";
}

macro_rules! words {
    ($($type:ty: $what:literal { $($word:literal => $value:expr,)+ })+) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;

            fn words() -> Vec<(&'static str, Self)> {
                vec![$(($word, $value),)+]
            }
        }
    )+};
}

words! {
    ConnectionUse: "a use of a connection" {
        "fresh" => Self::Fresh,
        "reused" => Self::Reused,
    }
    CutPoint: "a moment of a request" {
        "accept" => Self::Accept,
        "head-read" => Self::HeadRead,
        "body-read" => Self::BodyRead,
    }
    Effect: "an effect" {
        "done" => Self::Done,
        "none" => Self::None,
    }
    Redirect: "a redirect" {
        "other-origin" => Self::OtherOrigin,
        "same-origin" => Self::SameOrigin,
        "loop" => Self::Loop,
        "downgrade" => Self::Downgrade,
    }
    Coding: "a content coding" {
        "gzip" => Self::Gzip,
    }
    End: "an end" {
        "chunk" => Self::Chunk,
        "fin" => Self::Fin,
        "reset" => Self::Reset,
        "reset-now" => Self::ResetNow,
        "hold" => Self::Hold,
        "truncated-chunk" => Self::TruncatedChunk,
        "bad-chunk" => Self::BadChunk,
    }
}

/// What a fault meets: one call of the protocol, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct On(pub(super) Option<Call>);

impl Word for On {
    const WHAT: &'static str = "a call";

    fn words() -> Vec<(&'static str, Self)> {
        let calls = Call::ALL
            .iter()
            .map(|call| (call.name(), Self(Some(*call))));
        calls.chain([("any", Self(None))]).collect()
    }
}

impl Word for Call {
    const WHAT: &'static str = "a call";

    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.iter().map(|call| (call.name(), *call)).collect()
    }
}

/// When coded bytes are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    Frame,
    Never,
}

/// What a step waits for; `delivered` names a frame beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Acked,
    Delivered,
    Closed,
}

/// The only other version of HTTP that is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Http10;

/// Transfer-Encoding beside Content-Length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Also;

/// A state of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) &'static str);

/// An outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome(pub(super) &'static str);

/// A kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrorKind(pub(super) &'static str);

words! {
    Flush: "a way to flush" {
        "frame" => Self::Frame,
        "never" => Self::Never,
    }
    Wait: "something to wait for" {
        "acked" => Self::Acked,
        "delivered" => Self::Delivered,
        "closed" => Self::Closed,
    }
    Http10: "a version of HTTP to answer in" {
        "1.0" => Self,
    }
    Also: "a use of Transfer-Encoding" {
        "also" => Self,
    }
}

macro_rules! listed_words {
    ($($type:ident: $what:literal, $list:expr;)+) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;

            fn words() -> Vec<(&'static str, Self)> {
                $list.iter().map(|word| (*word, Self(*word))).collect()
            }
        }
    )+};
}

listed_words! {
    State: "a state of a sandbox", STATES;
    Outcome: "an outcome", OUTCOMES;
    ErrorKind: "a kind of error", ERROR_KINDS;
}

/// Every state of a sandbox (`docs/protocol.md`).
pub const STATES: &[&str] = &[
    "creating",
    "running",
    "pausing",
    "paused",
    "resuming",
    "forking",
    "error",
    "destroying",
    "destroyed",
    "failed",
];

/// Every outcome of the adapter protocol.
pub const OUTCOMES: &[&str] = &["exited", "ok", "ended", "error", "timed-out", "cancelled"];

/// Every error kind of the adapter protocol.
pub const ERROR_KINDS: &[&str] = &[
    "unsupported",
    "connection-failed",
    "stream-ended",
    "output-evicted",
    "sequence-gap",
    "sequence-invalid",
    "output-invalid",
    "frame-invalid",
    "frame-too-large",
    "unknown-event",
    "exit-status-missing",
    "stream-error",
    "http-error",
    "invalid-response",
    "creation-unconfirmed",
    "cleanup-unconfirmed",
    "state-failed",
    "transport",
    "other",
];
