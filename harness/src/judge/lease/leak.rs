//! What the server holds at the end, against what the client said.

use super::calls::Requests;
use crate::{
    judge::{
        Place,
        findings::{Findings, Wrong},
        walk::Walk,
        words,
    },
    observed::{JobResult, Reply},
};
use fake_server::{wire::Call, wirelog::LedgerEntry};

/// Every sandbox that this trial made is gone, or the result admits it: names it, or says of a create whose result nobody
/// knows that it failed.
pub(super) fn judge(walk: &Walk<'_>, requests: &Requests<'_, '_>, findings: &mut Findings<'_>) {
    let Reply::Result(result) = &walk.observed.reply else {
        return;
    };
    for entry in &walk.log.ledger {
        let Some(made_by) = lives(entry) else {
            continue;
        };
        let named = result.sandbox_id.as_deref() == Some(entry.id.as_str());
        if named || requests.told_gone.contains(&entry.id) {
            continue;
        }
        if requests.unknown.contains(&made_by) {
            let mut later = walk.log.exchanges.iter().skip(made_by + 1);
            let is_last = !later.any(|exchange| exchange.call == Some(Call::CreateSandbox));
            match admits_unknown(result, is_last) {
                Admitted::Yes => continue,
                Admitted::CannotTell => {
                    findings.note(format!(
                        "a create whose result the client could not know made a sandbox that is left ({} at the end); the \
                         acquisition after it ended otherwise, and its result has no place to say so",
                        entry.state
                    ));
                    continue;
                }
                Admitted::No => {}
            }
        }
        findings.add(
            Wrong::new(
                &["lease/no-leak"],
                Place::End,
                "no sandbox is left but one that the result names, or admits to know nothing of",
                format!(
                    "the sandbox of request {} is {} at the end, and the result is {}",
                    made_by + 1,
                    entry.state,
                    told(result)
                ),
            )
            .always(),
        );
    }
}

/// The request that made a sandbox which is still there.
fn lives(entry: &LedgerEntry) -> Option<usize> {
    let gone = matches!(entry.state.as_str(), "destroying" | "destroyed" | "failed");
    (entry.kind == "sandbox" && !gone).then_some(entry.made_by)?
}

enum Admitted {
    Yes,
    No,
    CannotTell,
}

/// Whether a result lets its reader know that a create may have made a sandbox.
fn admits_unknown(result: &JobResult, is_last: bool) -> Admitted {
    match result.outcome.as_str() {
        "error" => Admitted::Yes,
        "ok" => Admitted::CannotTell,
        // Of the acquisition that was stopped, not of one before it.
        _ if !is_last => Admitted::CannotTell,
        _ => Admitted::No,
    }
}

fn told(result: &JobResult) -> String {
    match &result.error {
        Some(error) => format!("error {}", words::short(&error.kind)),
        None => format!("`{}`", words::short(&result.outcome)),
    }
}
