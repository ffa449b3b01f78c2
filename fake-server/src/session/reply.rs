//! What the world says to a call, before anything is written down as HTTP.

use super::{Endpoint, Follow, RawBody, Route, decision::Goal, others, processes, sandboxes};
use crate::{
    wire::{Call, Problem, envelope::Success},
    world::World,
};
use serde::Serialize;
use serde_json::Value;

/// A call, as the world hears it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    /// Where it goes.
    pub(super) route: &'a Route,
    /// Decoded query.
    pub(super) query: &'a [(String, String)],
    /// Body.
    pub(super) body: &'a [u8],
    /// Now.
    pub(super) now_ms: u64,
    /// Index of its exchange.
    pub(super) by: Option<usize>,
    /// It takes effect although its body was never read: an unreadable one is replaced by the plainest.
    pub(super) forced: bool,
}

impl<'a> Ask<'a> {
    pub(super) fn sandbox(&self) -> &'a str {
        self.route.sandbox.as_deref().unwrap_or_default()
    }

    pub(super) fn process(&self) -> &'a str {
        self.route.process.as_deref().unwrap_or_default()
    }

    pub(super) fn query_text(&self, name: &str) -> Option<&'a str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn follow(&self) -> Follow {
        Follow {
            sandbox: self.sandbox().to_owned(),
            process: self.process().to_owned(),
        }
    }
}

/// What the world says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// A success envelope.
    Data {
        status: u16,
        data: Success,
        headers: Vec<(&'static str, String)>,
    },
    /// Plain bytes.
    Bytes(Vec<u8>),
    /// NDJSON, as it comes.
    Stream {
        body: RawBody,
        heartbeat_ms: u64,
        follows: Option<Follow>,
    },
    /// Not yet.
    Wait {
        until_ms: u64,
        goal: Goal,
        follow: Follow,
    },
}

impl Reply {
    pub(super) fn data(status: u16, data: &impl Serialize) -> Self {
        Self::told(status, Success::of(data))
    }

    pub(super) const fn told(status: u16, data: Success) -> Self {
        Self::Data {
            status,
            data,
            headers: Vec::new(),
        }
    }

    pub(super) fn ok() -> Self {
        Self::data(200, &serde_json::json!({ "ok": true }))
    }
}

/// A problem as status and body.
pub(super) fn refusal(problem: &Problem) -> (u16, Value) {
    (problem.status(), problem.envelope())
}

/// Asks the world. `authorised` says whether the request carries the key.
pub(super) fn ask(world: &mut World, ask: Ask<'_>, authorised: bool) -> Result<Reply, Problem> {
    match ask.route.endpoint {
        Endpoint::Healthz => return Ok(others::healthz()),
        Endpoint::Readyz => return Ok(others::readyz()),
        Endpoint::Shapes => return others::shapes(ask),
        Endpoint::Rootfs => return Ok(others::rootfs()),
        _ if !authorised => return Err(Problem::Unauthorized),
        _ => {}
    }
    let call = match ask.route.endpoint {
        Endpoint::Call(call) => call,
        Endpoint::Whoami => return Ok(others::whoami(world, ask)),
        Endpoint::WrongMethod(allow) => return Err(Problem::WrongMethod(allow)),
        _ => return Err(Problem::NotFound("path")),
    };
    match call {
        Call::CreateSandbox => sandboxes::create(world, ask),
        Call::GetSandbox => sandboxes::get(world, ask),
        Call::ListSandboxes => sandboxes::list(world, ask),
        Call::PatchSandbox => sandboxes::patch(world, ask),
        Call::DeleteSandbox => sandboxes::delete(world, ask),
        Call::Pause => sandboxes::pause(world, ask),
        Call::Resume => sandboxes::resume(world, ask),
        Call::Fork => sandboxes::fork(world, ask),
        Call::ResizeSandbox => sandboxes::resize(world, ask),
        Call::CreateProcess => processes::create(world, ask),
        Call::ListProcesses => processes::list(world, ask),
        Call::GetProcess => processes::get(world, ask),
        Call::Connect => processes::connect(world, ask),
        Call::StdinClose => processes::close_stdin(world, ask),
        Call::Input => processes::input(world, ask),
        Call::Signal => processes::signal(world, ask),
        Call::ResizeProcess => processes::resize(world, ask),
        Call::Wait => processes::wait(world, ask),
        Call::DeleteProcess => processes::delete(world, ask),
        Call::Exec => others::exec(world, ask),
        Call::PutFile => others::put_file(world, ask),
        Call::GetFile => others::get_file(world, ask),
    }
}
