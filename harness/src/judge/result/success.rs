//! `exited`: the client says that the process ended and all its output was handed over.

use super::{Ending, words};
use crate::{
    contract::line::{Exit, Signal, Whole, whole},
    judge::{
        Place,
        acceptor::{Phase, Proof, State},
        findings::{Findings, Wrong},
    },
    observed::JobResult,
};
use fake_server::wire::Op;
use serde_json::Value;

impl Ending<'_, '_> {
    /// The states that this success fits.
    pub(super) fn exited(&self, findings: &mut Findings<'_>) -> Vec<State> {
        let walk = self.walk;
        let ended: Vec<State> = walk
            .states
            .iter()
            .filter(|state| matches!(state.phase, Phase::Ended(_)))
            .copied()
            .collect();
        if ended.is_empty() {
            let candidates = self.blame(&walk.states);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(&walk.states),
                format!("success: {}", said_words(self.result)),
            ));
            return Vec::new();
        }
        self.calls_of_a_success(findings);
        let exit = |state: &State| match state.phase {
            Phase::Ended(at) => Some(walk.acceptor.arena.exit_at(at)),
            _ => None,
        };
        let fitting: Vec<State> = ended
            .iter()
            .filter(|state| exit(state).is_some_and(|exit| says(self.result, exit)))
            .copied()
            .collect();
        if !fitting.is_empty() {
            return fitting;
        }
        let mut candidates = match ended.first().and_then(exit) {
            Some(Exit {
                signal: Signal::Is(_),
                ..
            }) => vec!["exit/signal", "exit/code"],
            _ => vec!["exit/code", "exit/signal"],
        };
        if walk.acceptor.touched.contains(&"exit/first-counts") {
            candidates.insert(0, "exit/first-counts");
        }
        if ended.iter().any(|state| state.blemish.is_some()) {
            candidates.push("frames/duplicate-keys");
        }
        findings.add(Wrong::new(
            &candidates,
            Place::Result,
            self.right_outcomes(&ended),
            said_words(self.result),
        ));
        ended
    }

    fn calls_of_a_success(&self, findings: &mut Findings<'_>) {
        let walk = self.walk;
        if walk.plan.op == Op::Execute && walk.stdin_closes.is_empty() {
            findings.add(Wrong::new(
                &["stdin/closed-already"],
                Place::End,
                "stdin of the new process is closed once",
                "it was never closed",
            ));
        }
        if walk.creates_anything()
            && let [first, ..] = walk.deletes.as_slice()
        {
            let once = walk.deletes.len() == 1 && first.1 != Proof::No;
            if !once {
                findings.add(Wrong::new(
                    &["cleanup/not-on-success"],
                    Place::Exchange(first.0),
                    "after success no delete, or one that succeeds",
                    match walk.deletes.len() {
                        1 => "a delete that was not confirmed".to_owned(),
                        more => format!("{more} deletes"),
                    },
                ));
            }
        }
    }
}

/// Whether a result says exactly this exit.
fn says(result: &JobResult, exit: &Exit) -> bool {
    let code = match (&exit.code, &result.exit_code) {
        (None, None | Some(Value::Null)) => true,
        (Some(code), Some(Value::Number(said))) => same_number(code, &said.to_string()),
        _ => false,
    };
    let signal = match (&exit.signal, &result.signal) {
        (Signal::Any, _) => true,
        (Signal::Is(name), Some(Value::String(said))) => name == said,
        (Signal::Is(_), _) => false,
    };
    code && signal
}

/// Whether two numbers as written are equal in value.
fn same_number(one: &str, other: &str) -> bool {
    let value = |text| match whole(text) {
        Whole::Plain(value) | Whole::Written(value) => Some(value),
        Whole::Fraction | Whole::Beyond => None,
    };
    match (value(one), value(other)) {
        (Some(one), Some(other)) => one == other,
        // Beyond any use: a reader may have gone through a float.
        _ => one.parse::<f64>().ok() == other.parse::<f64>().ok(),
    }
}

/// An exit in words.
pub(super) fn exit_words(exit: &Exit) -> String {
    match (&exit.code, &exit.signal) {
        (Some(code), Signal::Is(signal)) => format!("exited with code {code} and signal {signal}"),
        (Some(code), Signal::Any) => format!("exited with code {code}"),
        (None, Signal::Is(signal)) => format!("exited by signal {signal}, without a code"),
        (None, Signal::Any) => "exited".to_owned(),
    }
}

/// What a result says about the exit, in words.
pub(super) fn said_words(result: &JobResult) -> String {
    let said = |value: &Option<Value>| match value {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(words::short(text)),
        Some(value) => Some(words::short(&value.to_string())),
    };
    let code = match &result.exit_code {
        // In quotes: a text is no code.
        Some(Value::String(text)) => Some(format!("{:?}", words::short(text))),
        other => said(other),
    };
    match (code, said(&result.signal)) {
        (Some(code), Some(signal)) => format!("exited with code {code} and signal {signal}"),
        (Some(code), None) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("exited by signal {signal}, without a code"),
        (None, None) => "exited with neither code nor signal".to_owned(),
    }
}
