//! Cursors, lists and bytes in words, as reports show them.

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
    let verb = if first { "connect" } else { "reconnect" };
    if first {
        format!("{verb} with after={high}")
    } else if low == high {
        format!("{verb} with after={high} (the last whole data frame)")
    } else {
        format!("{verb} with after={low} to after={high} (at most the last whole data frame)")
    }
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

/// At most 60 characters of a text.
pub(super) fn short(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    let cut: String = text.chars().take(57).collect();
    format!("{cut}...")
}

/// Bytes as their number and their beginning.
pub(super) fn bytes(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let start = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!(
        "{} {} \"{}{more}\"",
        bytes.len(),
        if bytes.len() == 1 { "byte" } else { "bytes" },
        start.escape_ascii()
    )
}

/// Milliseconds of microseconds, for people.
pub(super) fn ms(us: u64) -> String {
    format!("{} ms", us / 1000)
}
