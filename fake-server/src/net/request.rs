//! A request as hyper parsed it, in the log's words.

use super::{lines::Lines, writer::Asked};
use crate::wirelog::{Request, TrapRequest};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    Method, Version,
    body::Incoming,
    header::{self, HeaderMap},
    http::request::Parts,
};
use std::borrow::Cow;

/// A request's body at the most; more is answered 413.
pub(super) const BODY_BYTES: usize = 64 << 20;

/// Path and query as they stand in the request line.
pub(super) fn target(parts: &Parts) -> Cow<'_, str> {
    match (parts.uri.path_and_query(), parts.uri.authority()) {
        (Some(path_and_query), None) => Cow::Borrowed(path_and_query.as_str()),
        // The absolute form, as proxies get it.
        _ => Cow::Owned(parts.uri.to_string()),
    }
}

/// The headers in the log's words.
pub(super) fn lines(headers: &HeaderMap) -> Lines {
    let values: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect();
    Lines::of(values.iter().map(|(name, value)| (*name, &**value)))
}

/// What it says about how it may be answered.
pub(super) fn asked(parts: &Parts) -> Asked {
    let http10 = parts.version == Version::HTTP_10;
    let says = |word: &str| {
        parts
            .headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case(word))
    };
    Asked {
        http10,
        is_head: parts.method == Method::HEAD,
        keep_alive: !says("close") && (!http10 || says("keep-alive")),
    }
}

/// How reading a body ended.
pub(super) enum Body {
    /// It is all there.
    Whole(Bytes),
    /// It is longer than [`BODY_BYTES`]; its beginning.
    TooLong(Vec<u8>),
    /// It broke off, or was no HTTP; its beginning.
    Broken(Vec<u8>),
}

/// Reads a body to its end, within bounds.
pub(super) async fn body(mut incoming: Incoming) -> Body {
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else {
            all.splice(0..0, first);
            return Body::Broken(all);
        };
        let Ok(data) = frame.into_data() else {
            // Trailers carry nothing here.
            continue;
        };
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
            first = Bytes::new();
        }
        all.extend_from_slice(&data);
        if all.len() > BODY_BYTES {
            all.truncate(BODY_BYTES);
            return Body::TooLong(all);
        }
    }
    Body::Whole(if all.is_empty() { first } else { all.into() })
}

/// A request at the trap, and whether it carried the key.
pub(super) fn trapped(request: Request, api_key: &str, at_us: u64) -> TrapRequest {
    let carries = |text: &str| !api_key.is_empty() && text.contains(api_key);
    let key = carries(&request.target) || request.headers.iter().any(|(_, value)| carries(value));
    TrapRequest {
        request,
        key,
        at_us,
    }
}
