//! What a live view hears, as it happens.

use crate::{
    script::model::Cut,
    wire::Call,
    wirelog::{Micros, Request, Sent, TrapRequest},
};
use serde::Serialize;
use std::sync::Arc;

/// Hears everything that crosses the wire. It is called from the connections' tasks and must not block.
pub type Observer = Arc<dyn Fn(&WireEvent) + Send + Sync>;

/// Something that happened on the wire. Times are microseconds since the trial began.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum WireEvent {
    /// A connection was accepted.
    Opened {
        /// When.
        at_us: Micros,
        /// Its number.
        connection: u32,
    },
    /// A fault ended a connection that was just accepted.
    CutAtAccept {
        /// When.
        at_us: Micros,
        /// Its number.
        connection: u32,
        /// The fault's number in the file.
        fault: usize,
        /// How.
        cut: Cut,
    },
    /// A connection is gone.
    Closed {
        /// When.
        at_us: Micros,
        /// Its number.
        connection: u32,
    },
    /// A request's head has arrived.
    Request {
        /// When.
        at_us: Micros,
        /// On which connection.
        connection: u32,
        /// Its place in the log.
        exchange: usize,
        /// The call, if it is one.
        call: Option<Call>,
        /// The nth such call.
        attempt: u32,
        /// Its head; the body is still to come.
        request: Request,
        /// The fault that meets it, by number in the file.
        fault: Option<usize>,
    },
    /// Something has left.
    Sent {
        /// When.
        at_us: Micros,
        /// In which exchange.
        exchange: usize,
        /// What. `acked` is not known yet.
        what: Sent,
    },
    /// The client left in the middle of an answer.
    Abandoned {
        /// When.
        at_us: Micros,
        /// Which.
        exchange: usize,
    },
    /// What came on a connection was no HTTP request.
    Unreadable {
        /// When.
        at_us: Micros,
        /// On which connection.
        connection: u32,
        /// What is wrong with it.
        error: String,
    },
    /// The port has stopped listening.
    Refusing {
        /// When.
        at_us: Micros,
        /// The fault's number in the file.
        fault: usize,
    },
    /// The port listens again.
    Listening {
        /// When.
        at_us: Micros,
        /// The fault's number in the file.
        fault: usize,
        /// Connections that were seen refused (in memory only).
        refused: u32,
    },
    /// A request reached the trap.
    Trapped(TrapRequest),
}
