//! Cursors, lists and bytes in words, as reports show them.

use crate::{
    contract::oracle::Expected,
    profile::{BudgetRenewal, Promises},
    report::text::{quoted, span_ms, thousands},
};
use fake_server::wirelog::Exchange;

/// The cursor of a connect, if it can be read at all.
pub(super) fn cursor(exchange: &Exchange) -> Option<u64> {
    let mut values = exchange.request.query_values("after");
    let first = values.next()?;
    first.parse().ok()
}

/// Whether the cursor stands there once, in digits only.
pub(super) fn is_plain_cursor(exchange: &Exchange) -> bool {
    let values: Vec<&str> = exchange.request.query_values("after").collect();
    matches!(values.as_slice(), [value] if cursor(exchange).is_some_and(|cursor| cursor.to_string() == *value))
}

/// The cursor as it was sent.
pub(super) fn after(exchange: &Exchange) -> String {
    let values: Vec<String> = exchange
        .request
        .query_values("after")
        .map(|value| format!("after={}", short(value)))
        .collect();
    if values.is_empty() {
        "no `after` at all".to_owned()
    } else {
        values.join(" and ")
    }
}

/// Which cursor would have been right.
pub(super) fn expected_cursor(cursors: &[u64], first: bool) -> String {
    let low = cursors.iter().min().copied().unwrap_or(0);
    let high = cursors.iter().max().copied().unwrap_or(0);
    if first {
        format!("a connect with after={high}")
    } else if low == high {
        format!("a reconnect with after={high}, the last whole data frame")
    } else {
        format!("a reconnect with after={low} to {high}; {high} is the last whole data frame")
    }
}

/// How many connects are allowed, and by which promise.
pub(super) fn budget(promises: &Promises) -> String {
    let budget = promises.connect_budget();
    let connects = if budget == 1 { "connect" } else { "connects" };
    let renewal = match promises.profile.budget_renewal {
        BudgetRenewal::Never => "",
        BudgetRenewal::Progress => " without new output",
    };
    let promise = match budget.saturating_sub(1) {
        0 => "no reconnect".to_owned(),
        1 => "1 reconnect".to_owned(),
        more => format!("{more} reconnects"),
    };
    format!("at most {budget} {connects}{renewal}: the client promises {promise}")
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn or<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => "nothing".to_owned(),
        [one] => one.as_ref().to_owned(),
        [start @ .., last] => {
            let start: Vec<&str> = start.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", start.join(", "), last.as_ref())
        }
    }
}

/// That an answer was due, and which, if that can be said shortly.
pub(super) fn answer_in_time(expected: &Expected) -> String {
    /// More of them tell nothing.
    const TOLD: usize = 3;
    let outcomes: Vec<&str> = expected
        .outcomes
        .iter()
        .map(String::as_str)
        .filter(|outcome| *outcome != "none")
        .collect();
    let within = span_ms(expected.deadline_ms);
    if outcomes.is_empty() || outcomes.len() > TOLD {
        return format!("an answer within {within}");
    }
    let words: Vec<String> = outcomes
        .iter()
        .map(|outcome| match outcome.split_once(':') {
            Some((outcome, kind)) => format!("{outcome} {kind}"),
            None => (*outcome).to_owned(),
        })
        .collect();
    format!("{}, within {within}", or(&words))
}

/// Characters of a stranger's text that are shown.
const SHOWN: usize = 100;

/// The beginning of a text.
pub(super) fn short(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let cut: String = text.chars().take(SHOWN - 1).collect();
    format!("{cut}…")
}

/// Bytes in quotes, the beginning of long ones.
pub(super) fn bytes(bytes: &[u8]) -> String {
    quoted(bytes, 48)
}

/// `1 byte`, `2 bytes`.
pub(super) fn size(bytes: u64) -> String {
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    format!("{} {unit}", thousands(bytes))
}

/// `once`, `twice`, `3 times`.
pub(super) fn times(number: usize) -> String {
    match number {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", thousands(more as u64)),
    }
}

/// Microseconds, for people.
pub(super) fn ms(us: u64) -> String {
    span_ms(us / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!(times(0), "never");
        assert_eq!(times(1), "once");
        assert_eq!(times(1_000), "1,000 times");
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(8_388_608), "8,388,608 bytes");
    }

    #[test]
    fn a_long_text_says_that_it_was_cut() {
        assert_eq!(short("short"), "short");
        let cut = short(&"x".repeat(500));
        assert_eq!(cut.chars().count(), SHOWN);
        assert!(cut.ends_with('…'));
    }
}
