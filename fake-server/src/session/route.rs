//! From a request line to what is meant.

use crate::wire::Call;

/// What a request line means, taken apart once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// Method.
    pub method: String,
    /// Path and query as they stood in the request line.
    pub target: String,
    /// The same, taken apart.
    pub parts: Target,
    /// Where it goes.
    pub route: Route,
}

impl Meant {
    /// By this method and target.
    #[must_use]
    pub fn of(method: &str, text: &str) -> Self {
        let parts = target(text);
        Self {
            route: route(method, &parts),
            method: method.to_owned(),
            target: text.to_owned(),
            parts,
        }
    }
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What is meant.
    pub endpoint: Endpoint,
    /// Percent-decoded sandbox id, where the path has one.
    pub sandbox: Option<String>,
    /// Percent-decoded process id, where the path has one.
    pub process: Option<String>,
}

impl Route {
    /// The call, if it is one that scenarios know.
    #[must_use]
    pub const fn call(&self) -> Option<Call> {
        match self.endpoint {
            Endpoint::Call(call) => Some(call),
            _ => None,
        }
    }

    const fn to(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            sandbox: None,
            process: None,
        }
    }
}

/// What a path and method mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// One of the calls that scenarios know.
    Call(Call),
    /// `GET /healthz`
    Healthz,
    /// `GET /readyz`
    Readyz,
    /// `GET /v1/shapes`
    Shapes,
    /// `GET /v1/rootfs`
    Rootfs,
    /// `GET /v1/whoami`
    Whoami,
    /// The path exists, the method does not; what is allowed, as an `Allow` header says it.
    WrongMethod(&'static str),
    /// No such path.
    Unknown,
}

/// A request target, taken apart and percent-decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Whether the path begins with `/v1`.
    pub v1: bool,
    /// Path segments (after `/v1`), decoded; one slash at the end is forgiven.
    pub path: Vec<String>,
    /// Query pairs in order, decoded, `+` as a space.
    pub query: Vec<(String, String)>,
}

/// Takes a request target apart: `/path?query`, or the absolute form that proxies get.
#[must_use]
pub fn target(text: &str) -> Target {
    let text = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
        .map_or(text, |rest| {
            rest.find('/').map_or("/", |slash| &rest[slash..])
        });
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments: Vec<String> = path
        .split('/')
        .map(|segment| percent_decode(segment, false))
        .collect();
    let v1 = segments.first().is_some_and(|first| first == "v1");
    if v1 {
        segments.remove(0);
    }
    let query = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(key, true), percent_decode(value, true))
        })
        .collect();
    Target {
        v1,
        path: segments,
        query,
    }
}

/// What a method and a target mean.
#[must_use]
pub fn route(method: &str, target: &Target) -> Route {
    let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
    if !target.v1 {
        return match path.as_slice() {
            ["healthz"] => Route::to(get_only(method, Endpoint::Healthz)),
            ["readyz"] => Route::to(get_only(method, Endpoint::Readyz)),
            _ => Route::to(Endpoint::Unknown),
        };
    }
    match path.as_slice() {
        ["shapes"] => Route::to(get_only(method, Endpoint::Shapes)),
        ["rootfs"] => Route::to(get_only(method, Endpoint::Rootfs)),
        ["whoami"] => Route::to(get_only(method, Endpoint::Whoami)),
        ["sandboxes", rest @ ..] => sandboxes(method, rest),
        _ => Route::to(Endpoint::Unknown),
    }
}

fn get_only(method: &str, endpoint: Endpoint) -> Endpoint {
    if method == "GET" {
        endpoint
    } else {
        Endpoint::WrongMethod("GET")
    }
}

fn sandboxes(method: &str, path: &[&str]) -> Route {
    let pick = |allow: &'static str, calls: &[(&str, Call)]| {
        calls
            .iter()
            .find(|(name, _)| *name == method)
            .map_or(Endpoint::WrongMethod(allow), |(_, call)| {
                Endpoint::Call(*call)
            })
    };
    let endpoint = match path {
        [] => pick(
            "GET, POST",
            &[("GET", Call::ListSandboxes), ("POST", Call::CreateSandbox)],
        ),
        [_] => pick(
            "GET, PATCH, DELETE",
            &[
                ("GET", Call::GetSandbox),
                ("PATCH", Call::PatchSandbox),
                ("DELETE", Call::DeleteSandbox),
            ],
        ),
        [_, "pause"] => pick("POST", &[("POST", Call::Pause)]),
        [_, "resume"] => pick("POST", &[("POST", Call::Resume)]),
        [_, "fork"] => pick("POST", &[("POST", Call::Fork)]),
        [_, "resize"] => pick("POST", &[("POST", Call::ResizeSandbox)]),
        [_, "exec"] => pick("POST", &[("POST", Call::Exec)]),
        [_, "files"] => pick(
            "GET, PUT",
            &[("GET", Call::GetFile), ("PUT", Call::PutFile)],
        ),
        [_, "processes"] => pick(
            "GET, POST",
            &[("GET", Call::ListProcesses), ("POST", Call::CreateProcess)],
        ),
        [_, "processes", _] => pick(
            "GET, DELETE",
            &[("GET", Call::GetProcess), ("DELETE", Call::DeleteProcess)],
        ),
        [_, "processes", _, "connect"] => pick("GET", &[("GET", Call::Connect)]),
        [_, "processes", _, "stdin", "close"] => pick("POST", &[("POST", Call::StdinClose)]),
        [_, "processes", _, "input"] => pick("POST", &[("POST", Call::Input)]),
        [_, "processes", _, "signal"] => pick("POST", &[("POST", Call::Signal)]),
        [_, "processes", _, "resize"] => pick("POST", &[("POST", Call::ResizeProcess)]),
        [_, "processes", _, "wait"] => pick("GET", &[("GET", Call::Wait)]),
        _ => Endpoint::Unknown,
    };
    Route {
        endpoint,
        sandbox: path.first().map(|id| (*id).to_owned()),
        process: path
            .get(2)
            .filter(|_| path.get(1) == Some(&"processes"))
            .map(|id| (*id).to_owned()),
    }
}

/// Decodes `%xx`; what is no such triple stays, what is no UTF-8 becomes U+FFFD.
fn percent_decode(text: &str, plus_is_space: bool) -> String {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes
            .get(at + 1..at + 3)
            .filter(|_| byte == b'%')
            .and_then(|pair| Some(hex(pair[0])? << 4 | hex(pair[1])?));
        match (pair, byte) {
            (Some(decoded), _) => {
                out.push(decoded);
                at += 3;
                continue;
            }
            (None, b'+') if plus_is_space => out.push(b' '),
            (None, other) => out.push(other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

const fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routed(method: &str, text: &str) -> Route {
        route(method, &target(text))
    }

    #[test]
    fn ids_are_percent_decoded_before_they_are_matched() {
        let route = routed(
            "GET",
            "/v1/sandboxes/sb%2D1/processes/proc%5F1/connect?after=3",
        );
        assert_eq!(route.call(), Some(Call::Connect));
        assert_eq!(route.sandbox.as_deref(), Some("sb-1"));
        assert_eq!(route.process.as_deref(), Some("proc_1"));
    }

    #[test]
    fn an_encoded_slash_does_not_split_a_segment() {
        let route = routed("GET", "/v1/sandboxes/a%2Fprocesses");
        assert_eq!(route.call(), Some(Call::GetSandbox));
        assert_eq!(route.sandbox.as_deref(), Some("a/processes"));
    }

    #[test]
    fn a_wrong_method_says_what_is_allowed() {
        assert_eq!(
            routed("PUT", "/v1/sandboxes/a").endpoint,
            Endpoint::WrongMethod("GET, PATCH, DELETE")
        );
        assert_eq!(
            routed("POST", "/healthz").endpoint,
            Endpoint::WrongMethod("GET")
        );
    }

    #[test]
    fn paths_outside_are_unknown() {
        for path in [
            "/",
            "/v1",
            "/v2/sandboxes",
            "/v1/sandboxes/a/b/c/d/e/f",
            "/sandboxes",
        ] {
            assert_eq!(routed("GET", path).endpoint, Endpoint::Unknown, "{path}");
        }
    }

    #[test]
    fn a_query_keeps_order_repeats_and_odd_percents() {
        let target = target("/v1/x?after=1&after=2&&path=%2Ftmp%2Fa+b&bad=%zz%e2%82%ac");
        let pairs: Vec<(&str, &str)> = target
            .query
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("after", "1"),
                ("after", "2"),
                ("path", "/tmp/a b"),
                ("bad", "%zz€")
            ]
        );
    }

    #[test]
    fn every_call_has_exactly_one_request_line() {
        let lines = [
            ("POST", "/v1/sandboxes", Call::CreateSandbox),
            ("GET", "/v1/sandboxes/", Call::ListSandboxes),
            ("GET", "/v1/sandboxes/s", Call::GetSandbox),
            ("PATCH", "/v1/sandboxes/s", Call::PatchSandbox),
            ("DELETE", "/v1/sandboxes/s", Call::DeleteSandbox),
            ("POST", "/v1/sandboxes/s/pause", Call::Pause),
            ("POST", "/v1/sandboxes/s/resume", Call::Resume),
            ("POST", "/v1/sandboxes/s/fork", Call::Fork),
            ("POST", "/v1/sandboxes/s/resize", Call::ResizeSandbox),
            ("POST", "/v1/sandboxes/s/processes", Call::CreateProcess),
            ("GET", "/v1/sandboxes/s/processes", Call::ListProcesses),
            ("GET", "/v1/sandboxes/s/processes/p", Call::GetProcess),
            ("GET", "/v1/sandboxes/s/processes/p/connect", Call::Connect),
            (
                "POST",
                "/v1/sandboxes/s/processes/p/stdin/close",
                Call::StdinClose,
            ),
            ("POST", "/v1/sandboxes/s/processes/p/input", Call::Input),
            ("POST", "/v1/sandboxes/s/processes/p/signal", Call::Signal),
            (
                "POST",
                "/v1/sandboxes/s/processes/p/resize",
                Call::ResizeProcess,
            ),
            ("GET", "/v1/sandboxes/s/processes/p/wait", Call::Wait),
            ("DELETE", "/v1/sandboxes/s/processes/p", Call::DeleteProcess),
            ("POST", "/v1/sandboxes/s/exec", Call::Exec),
            ("PUT", "/v1/sandboxes/s/files?path=/a", Call::PutFile),
            ("GET", "/v1/sandboxes/s/files?path=/a", Call::GetFile),
        ];
        assert_eq!(lines.len(), Call::ALL.len());
        for (method, path, call) in lines {
            assert_eq!(routed(method, path).call(), Some(call), "{method} {path}");
        }
    }
}
