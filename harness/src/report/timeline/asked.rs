//! The words for a request.

use super::SHOWN;
use crate::report::text::{cut, harmless};
use fake_server::{wire::Call, wirelog::Exchange};
use serde_json::Value;

pub(super) fn name_of(exchange: &Exchange) -> String {
    exchange.call.map_or_else(
        || exchange.request.method.clone(),
        |call| match call {
            Call::Connect => "stream".to_owned(),
            other => other.to_string(),
        },
    )
}

/// A request in a few words: the call, what matters in its query and body, and which time it is.
pub(super) fn request_words(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let Some(call) = exchange.call else {
        return harmless(&format!("{} {}", request.method, request.target));
    };
    let mut words = call.to_string();
    for (key, value) in &request.query {
        words.push_str(&harmless(&format!(" {key}={value}")));
    }
    if let Ok(Value::Object(body)) = serde_json::from_slice(&request.body) {
        for (key, value) in body.iter().take(3) {
            words.push_str(&harmless(&cut(&format!(" {key}={value}"), SHOWN)));
        }
    }
    if exchange.attempt > 1 {
        words.push_str(&format!(" ({})", ordinal(exchange.attempt)));
    }
    if !request.body_complete && !matches!(request.method.as_str(), "GET" | "HEAD") {
        words.push_str(" (body unfinished)");
    }
    words
}

fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (1, n) if n != 11 => "st",
        (2, n) if n != 12 => "nd",
        (3, n) if n != 13 => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
