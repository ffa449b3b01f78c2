//! Which wrong clients no generated case can show, and why. What is said here and is caught all the same is a mistake of
//! this list, and the audit says so.

use crate::client::reference::Bug;

/// Why no generated case can show this bug; `None` where some should.
pub(super) fn out_of_reach(bug: Bug) -> Option<&'static str> {
    match bug {
        Bug::LinesUnlimited => Some(
            "no line is drawn that is longer than the limit of a right client (1 MiB), which would be most of what is sent",
        ),
        Bug::StderrHeldBack => Some(
            "the order across streams is judged only where a scenario serves nothing but the truth and asks for it",
        ),
        Bug::BackOffIgnoresCancel => Some(
            "a cancel is drawn where a stream stands still, not while a client waits to reconnect: how long it waits \
             is its own affair",
        ),
        _ => None,
    }
}
