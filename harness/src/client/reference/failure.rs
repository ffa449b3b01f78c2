//! What can go wrong, in the client's own words. No text of the provider, no key, no environment and no
//! stdin ever enters a message: only kinds, numbers and phases.

use crate::observed::ErrorReport;
use std::{error::Error as _, fmt, io};

/// The kinds of the adapter protocol that this client reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unsupported,
    ConnectionFailed,
    StreamEnded,
    OutputEvicted,
    SequenceGap,
    SequenceInvalid,
    OutputInvalid,
    FrameInvalid,
    FrameTooLarge,
    UnknownEvent,
    ExitStatusMissing,
    StreamError,
    HttpError,
    InvalidResponse,
    StateFailed,
    CreationUnconfirmed,
    CleanupUnconfirmed,
    Transport,
    Other,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::ConnectionFailed => "connection-failed",
            Self::StreamEnded => "stream-ended",
            Self::OutputEvicted => "output-evicted",
            Self::SequenceGap => "sequence-gap",
            Self::SequenceInvalid => "sequence-invalid",
            Self::OutputInvalid => "output-invalid",
            Self::FrameInvalid => "frame-invalid",
            Self::FrameTooLarge => "frame-too-large",
            Self::UnknownEvent => "unknown-event",
            Self::ExitStatusMissing => "exit-status-missing",
            Self::StreamError => "stream-error",
            Self::HttpError => "http-error",
            Self::InvalidResponse => "invalid-response",
            Self::StateFailed => "state-failed",
            Self::CreationUnconfirmed => "creation-unconfirmed",
            Self::CleanupUnconfirmed => "cleanup-unconfirmed",
            Self::Transport => "transport",
            Self::Other => "other",
        }
    }
}

/// A failed job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) http_status: Option<u16>,
    pub(super) errno: Option<&'static str>,
    /// Whether another try may mend it, where that is told.
    pub(super) transient: Option<bool>,
    pub(super) cause: Option<Box<Self>>,
}

impl Failure {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            http_status: None,
            errno: None,
            transient: None,
            cause: None,
        }
    }

    /// A status that settles the matter.
    pub(super) fn status(kind: Kind, doing: &str, status: u16) -> Self {
        Self {
            http_status: Some(status),
            ..Self::new(kind, format!("{doing} was answered with status {status}"))
        }
    }

    /// A connection that could not be made or broke.
    pub(super) fn broken(kind: Kind, doing: &str, broken: &Broken) -> Self {
        Self {
            errno: broken.errno,
            ..Self::new(kind, format!("{doing} failed: {broken}"))
        }
    }

    /// The same with the failure that came first.
    pub(super) fn because(self, cause: Self) -> Self {
        Self {
            cause: Some(Box::new(cause)),
            ..self
        }
    }

    /// As the adapter protocol reports it.
    pub(super) fn report(&self) -> ErrorReport {
        ErrorReport {
            kind: self.kind.name().to_owned(),
            message: self.message.clone(),
            http_status: self.http_status,
            errno: self.errno.map(str::to_owned),
            transient: self.transient,
            cause: self.cause.as_ref().map(|cause| Box::new(cause.report())),
        }
    }
}

/// Where an exchange broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The connection could not be made.
    Connecting,
    /// No answer came.
    Asking,
    /// The body broke off, or its framing is wrong.
    Body,
    /// The body carries a content coding that nobody asked for.
    Coded,
    /// The body is longer than any such answer has reason to be.
    TooLong,
}

/// An exchange that broke below HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) phase: Phase,
    pub(super) errno: Option<&'static str>,
}

impl Broken {
    pub(super) const fn new(phase: Phase) -> Self {
        Self { phase, errno: None }
    }

    pub(super) fn io(phase: Phase, error: &io::Error) -> Self {
        Self {
            phase,
            errno: errno(error.kind()),
        }
    }

    /// From hyper's error, whose own text may quote what the peer sent and is therefore left alone.
    pub(super) fn hyper(phase: Phase, error: &hyper::Error) -> Self {
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(cause) = cause.downcast_ref::<io::Error>() {
                return Self::io(phase, cause);
            }
            source = cause.source();
        }
        Self::new(phase)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.phase {
            Phase::Connecting => "no connection could be made",
            Phase::Asking => "the connection broke before an answer",
            Phase::Body => "the answer's body broke off",
            Phase::Coded => "the answer's body is coded, which was not asked for",
            Phase::TooLong => "the answer's body is too long",
        })?;
        match self.errno {
            Some(errno) => write!(f, " ({errno})"),
            None => Ok(()),
        }
    }
}

/// The name of an errno. From the kind, so that a connection in memory tells the same as a socket.
const fn errno(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::ConnectionRefused => "ECONNREFUSED",
        io::ErrorKind::ConnectionReset => "ECONNRESET",
        io::ErrorKind::ConnectionAborted => "ECONNABORTED",
        io::ErrorKind::BrokenPipe => "EPIPE",
        io::ErrorKind::TimedOut => "ETIMEDOUT",
        io::ErrorKind::HostUnreachable => "EHOSTUNREACH",
        io::ErrorKind::NetworkUnreachable => "ENETUNREACH",
        io::ErrorKind::NotConnected => "ENOTCONN",
        _ => return None,
    })
}
