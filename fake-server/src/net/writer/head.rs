//! The head of an answer of our own: which headers frame it, and whether the connection may be kept.

use super::{coding::Coder, out::Delimited};
use crate::session::{RawAnswer, RawBody};
use std::fmt::Write as _;

/// What the request's head says about how it may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) struct Asked {
    /// HTTP/1.0.
    pub http10: bool,
    /// Only the head is wanted.
    pub is_head: bool,
    /// The client wants to use the connection again.
    pub keep_alive: bool,
}

/// A head, ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub http10: bool,
    pub status: u16,
    pub reason: String,
    pub headers: Vec<(String, String)>,
    /// How the body's end is told.
    pub delimited: Delimited,
    /// A body follows.
    pub has_body: bool,
    /// The connection may be used again if the body ends as framed.
    pub keep: bool,
}

impl Head {
    /// The head of this answer. `total` is the payload's length as it leaves (coded); for an endless
    /// body it means nothing.
    pub(super) fn new(answer: &RawAnswer, asked: Asked, total: u64) -> Self {
        let mut headers = answer.headers.clone();
        if let Some(encoding) = answer.encoding {
            add(&mut headers, "content-encoding", Coder::name(encoding));
        }
        let http10 = answer.http10 || asked.http10;
        let bodyless = matches!(answer.status, 100..=199 | 204 | 304);
        let delimited = if bodyless {
            Delimited::Length(0)
        } else {
            delimit(answer, asked, total, &mut headers)
        };
        let closes = headers.iter().any(|(name, value)| {
            name == "connection" && value.to_ascii_lowercase().contains("close")
        });
        let keep = asked.keep_alive
            && !answer.http10
            && !closes
            && delimited != Delimited::Close
            && !matches!(answer.body, RawBody::Endless(_));
        if !keep && !http10 {
            add(&mut headers, "connection", "close");
        } else if keep && http10 {
            add(&mut headers, "connection", "keep-alive");
        }
        Self {
            http10,
            status: answer.status,
            reason: answer.reason.clone(),
            headers,
            delimited,
            has_body: !bodyless && !asked.is_head,
            keep,
        }
    }

    /// As it stands on the wire.
    pub(super) fn text(&self) -> String {
        let version = if self.http10 { "1.0" } else { "1.1" };
        let mut text = format!("HTTP/{version} {} {}\r\n", self.status, self.reason);
        for (name, value) in &self.headers {
            // Writing to a String cannot fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("\r\n");
        text
    }
}

/// Chooses the framing and adds its headers; those that the scenario set itself are left as they are.
fn delimit(
    answer: &RawAnswer,
    asked: Asked,
    total: u64,
    headers: &mut Vec<(String, String)>,
) -> Delimited {
    let own_length = value(headers, "content-length").and_then(|text| text.trim().parse().ok());
    if value(headers, "transfer-encoding").is_some() {
        // The author writes the chunks.
        return Delimited::Close;
    }
    if value(headers, "content-length").is_some() {
        return own_length.map_or(Delimited::Close, Delimited::Length);
    }
    let is_endless = matches!(answer.body, RawBody::Endless(_));
    let announced = total.saturating_add_signed(answer.content_length.unwrap_or(0));
    if answer.transfer_encoding_also {
        add(headers, "content-length", &announced.to_string());
        add(headers, "transfer-encoding", "chunked");
        return Delimited::Chunked;
    }
    let wants_length = match answer.body {
        RawBody::Bytes(_) => answer.chunks == crate::script::model::Chunks::Frame && !answer.http10,
        RawBody::Pieces(_) | RawBody::Faithful(_) | RawBody::Endless(_) => false,
    };
    if answer.content_length.is_some() || wants_length && !is_endless {
        add(headers, "content-length", &announced.to_string());
        Delimited::Length(announced)
    } else if answer.http10 || asked.http10 {
        Delimited::Close
    } else {
        add(headers, "transfer-encoding", "chunked");
        Delimited::Chunked
    }
}

fn value<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

/// Adds a header unless one of that name is there.
fn add(headers: &mut Vec<(String, String)>, name: &str, text: &str) {
    if value(headers, name).is_none() {
        headers.push((name.to_owned(), text.to_owned()));
    }
}
