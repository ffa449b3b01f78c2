//! Answers to what never reaches the session: requests that are no HTTP, or more than can be taken.
//! They look like every other refusal of the protocol.

use crate::{session::Answer, wire::envelope};
use hyper::{Version, header::HOST, http::request::Parts};

/// A body over the limit.
pub(super) fn too_long() -> Answer {
    refusal(413, "too_large", "the body is larger than 64 MiB")
}

/// A body that is not whole.
pub(super) fn broken() -> Answer {
    refusal(400, "bad_request", "the body broke off or is no valid HTTP")
}

/// Whether HTTP/1.1 forbids to serve this request: it does not say, or says twice, for whom it is.
pub(super) fn is_hostless(parts: &Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    match hosts.next() {
        None => parts.version == Version::HTTP_11,
        Some(_) => hosts.next().is_some(),
    }
}

/// The answer to such a request.
pub(super) fn hostless() -> Answer {
    refusal(400, "bad_request", "HTTP/1.1 wants exactly one host header")
}

/// What is said instead of hyper's own words about bytes that are no request, in full; `None` if these
/// are no such words.
pub(super) fn instead(words: &[u8]) -> Option<Vec<u8>> {
    let status = words.strip_prefix(b"HTTP/1.1 ")?;
    let answer = match status.get(..3)? {
        b"400" => refusal(400, "bad_request", "this is no HTTP/1.1 request"),
        b"414" => refusal(414, "uri_too_long", "the request line is too long"),
        b"431" => refusal(
            431,
            "request_header_fields_too_large",
            "the headers are too many or too long",
        ),
        _ => return None,
    };
    let mut text = format!("HTTP/1.1 {} {}\r\n", answer.status, answer.reason);
    for (name, value) in &answer.headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n", answer.body.len());
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(&answer.body);
    Some(bytes)
}

fn refusal(status: u16, code: &str, message: &str) -> Answer {
    let reason = match status {
        // hyper's word for it, which stands in the log as it leaves.
        413 => "Payload Too Large",
        status => envelope::reason(status),
    };
    Answer {
        status,
        reason,
        headers: vec![
            ("content-type".into(), "application/json".into()),
            ("connection".into(), "close".into()),
        ],
        body: envelope::fail(code, message, &[]).to_string().into(),
    }
}
