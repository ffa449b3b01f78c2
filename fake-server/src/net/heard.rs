//! A request's head as it was heard. Clients say the same again and again on a connection: what they
//! say as before is not taken apart and not kept a second time.

use super::{
    lines::Lines,
    request::{self, target},
};
use crate::{
    session::Meant,
    wirelog::{Names, Request},
};
use hyper::{header::HeaderMap, http::request::Parts};
use std::sync::Arc;

/// A request's head. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// Its first line.
    pub(super) meant: Arc<Meant>,
    /// Its headers.
    pub(super) lines: Arc<Lines>,
    /// It carries the key.
    pub(super) authorised: bool,
}

impl Heard {
    /// The head of a request, which shares with the `last` one what is the same.
    pub(super) fn of(parts: &Parts, names: &Names, last: Option<&Self>) -> Self {
        let target = target(parts);
        let meant = match last {
            Some(last)
                if last.meant.target == target && last.meant.method == parts.method.as_str() =>
            {
                Arc::clone(&last.meant)
            }
            _ => Arc::new(Meant::of(parts.method.as_str(), &target)),
        };
        match last {
            Some(last) if is_same(&last.lines, &parts.headers) => Self {
                meant,
                lines: Arc::clone(&last.lines),
                authorised: last.authorised,
            },
            _ => {
                let lines = request::lines(&parts.headers);
                let authorised = lines
                    .iter()
                    .any(|(name, value)| name == b"x-api-key" && value == names.api_key.as_bytes());
                Self {
                    meant,
                    lines: Arc::new(lines),
                    authorised,
                }
            }
        }
    }

    /// As the log shows it; the body is still to come.
    pub(super) fn shown(&self) -> Request {
        shown(&self.meant, &self.lines)
    }
}

/// A request without its body, as the log shows it.
pub(super) fn shown(meant: &Meant, lines: &Lines) -> Request {
    Request {
        method: meant.method.clone(),
        target: meant.target.clone(),
        headers: lines.shown(),
        path: meant.parts.path.clone(),
        query: meant.parts.query.clone(),
        ..Request::default()
    }
}

fn is_same(lines: &Lines, headers: &HeaderMap) -> bool {
    let mut theirs = headers.iter();
    lines.iter().all(|(name, value)| {
        theirs.next().is_some_and(|(their_name, their_value)| {
            name == their_name.as_str().as_bytes() && value == their_value.as_bytes()
        })
    }) && theirs.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(target: &str, headers: &[(&str, &[u8])]) -> Parts {
        let mut request = hyper::Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn what_is_said_again_is_shared_and_what_differs_is_not() {
        let names = Names {
            api_key: "k".to_owned(),
            ..Names::default()
        };
        let key: (&str, &[u8]) = ("x-api-key", b"k");
        let hear = |target, headers: &[_], last| Heard::of(&parts(target, headers), &names, last);
        let first = hear("/v1/whoami?a=1", &[key, ("a", b"b")], None);
        assert!(first.authorised);
        assert_eq!(first.shown().query, [("a".to_owned(), "1".to_owned())]);
        let same = hear("/v1/whoami?a=1", &[key, ("a", b"b")], Some(&first));
        assert!(Arc::ptr_eq(&first.meant, &same.meant));
        assert!(Arc::ptr_eq(&first.lines, &same.lines));
        assert!(same.authorised);
        let line = hear("/v1/whoami", &[key, ("a", b"b")], Some(&first));
        assert_eq!(line.shown().target, "/v1/whoami");
        assert!(Arc::ptr_eq(&first.lines, &line.lines));
        for other in [
            &[key][..],
            &[key, ("a", b"c")],
            &[key, ("b", b"b")],
            &[key, ("a", b"b"), ("a", b"b")],
            &[("a", b"b"), key],
        ] {
            let heard = hear("/v1/whoami?a=1", other, Some(&first));
            assert!(Arc::ptr_eq(&first.meant, &heard.meant));
            assert_eq!(heard.shown().headers.len(), other.len());
            assert!(!Arc::ptr_eq(&first.lines, &heard.lines), "{other:?}");
        }
        let keyless = hear("/v1/whoami?a=1", &[("x-api-key", b"K")], Some(&first));
        assert!(!keyless.authorised);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let headers: [(&str, &[u8]); 1] = [("a", b"\xff")];
        let heard = Heard::of(&parts("/", &headers), &Names::default(), None);
        assert_eq!(heard.shown().headers[0].1, "\u{fffd}");
        let again = Heard::of(&parts("/", &headers), &Names::default(), Some(&heard));
        assert_eq!(again.shown().headers[0].1, "\u{fffd}");
    }
}
