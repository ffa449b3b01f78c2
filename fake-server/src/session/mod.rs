//! One trial's server without its sockets: which call a request is, which fault meets it, what the
//! world says, and what therefore leaves. Time is an argument, in milliseconds since the trial began.
//!
//! # How the shell drives it
//! * `Session::new(plan: Arc<Plan>, names: Names)`, one a trial.
//! * A connection was accepted: `on_accept() -> Option<(fault number, Cut)>`; `Some` ends it unread.
//! * A request's head is there: `arrive(&Request, ConnectionUse, now_ms) -> Arrival`, in order, one exchange of
//!   the wire log each. `Arrival::cut` ends the connection before the body is read.
//! * Its body is there: `answer(&Arrival, &Request, now_ms) -> Decision`. Effects on the world happen here.
//!   (`handle` does both, for whoever has the whole request at once.)
//! * `Act::Wait`: `resume(Waiting, now_ms) -> Act` at its time or when `changes()` gives another number.
//! * The answer has left whole, or the connection is gone: `ended(&Arrival)`; then, and once at the start,
//!   `pending_refusal() -> Option<RefusalDue>`; when that refusal is over `refused(fault number)`, and ask again.
//! * A faithful stream with `follows`: when `changes()` differs, `exit_line(&Follow, now_ms) -> Option<Vec<u8>>`; `Some`
//!   is the last line (the process was ended by force), then the zero chunk.
//! * At the end: `ledger(now_ms) -> Vec<LedgerEntry>`.

mod decision;
mod route;

pub use decision::{
    Act, Answer, Arrival, Decision, Follow, RawAnswer, RawBody, RefusalDue, Waiting,
};
pub use route::{Endpoint, Route, Target, route, target};
