//! Which wrong clients no generated case can show, and why. What is said here and is caught all the same is a mistake of
//! this list, and the audit says so.

use crate::{client::reference::Bug, contract::area_of};

/// Areas whose calls are not drawn.
const NOT_DRAWN: &[&str] = &["exec", "files", "lease"];

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
        _ if NOT_DRAWN.contains(&area_of(bug.caught_by())) => {
            Some("the calls of this area are not drawn")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::AREAS;

    #[test]
    fn areas_that_are_not_drawn_exist() {
        for area in NOT_DRAWN {
            assert!(AREAS.iter().any(|known| known.name == *area), "{area}");
        }
    }
}
