//! Calls about managed processes.

use super::{
    Follow, RawBody,
    decision::Goal,
    reply::{Ask, Reply},
};
use crate::{
    script::expand::Faithful,
    wire::{
        Problem,
        fields::query_integer,
        limits,
        requests::{self, CreateProcess},
        view::to_json,
    },
    world::{World, process::Deleting},
};
use serde_json::json;

/// Milliseconds of grace that a delete without `grace_ms` gives (the best-known client asks for as much).
const GRACE_DEFAULT_MS: u64 = 1_000;

pub(super) fn create(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    sandbox.check_running()?;
    let request = match CreateProcess::read(ask.body, &sandbox.declared()) {
        Err(_) if ask.forced => CreateProcess {
            cmd: Some("unread".to_owned()),
            ..CreateProcess::default()
        },
        read => read?,
    };
    let process = world.create_process(ask.sandbox(), request, ask.by, ask.now_ms)?;
    Ok(Reply::told(201, process.told_at_creation()))
}

pub(super) fn list(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let processes = world.processes(ask.sandbox(), ask.now_ms)?;
    let views: Vec<_> = processes
        .iter_mut()
        .map(|process| to_json(&process.view(ask.now_ms)))
        .collect();
    Ok(Reply::data(200, &json!({ "processes": views })))
}

pub(super) fn get(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    Ok(Reply::told(200, process.told(ask.now_ms)))
}

pub(super) fn connect(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    let after = query_integer(ask.query, "after")?.unwrap_or(0);
    process.check_cursor(after, ask.now_ms)?;
    process.watched(ask.now_ms);
    let shown = process.shown();
    Ok(Reply::Stream {
        heartbeat_ms: shown.heartbeat_ms,
        body: RawBody::Faithful(Faithful::new(shown, after)),
        follows: process.exit(ask.now_ms).is_none().then(|| ask.follow()),
    })
}

pub(super) fn input(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    requests::read_input(ask.body)?;
    let number = process.input(ask.now_ms)?;
    Ok(Reply::data(200, &json!({ "input_seq": number })))
}

pub(super) fn close_stdin(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    process.close_stdin(ask.now_ms)?;
    Ok(Reply::ok())
}

pub(super) fn resize(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    let size = requests::read_size(ask.body)?;
    process.resize(size, ask.now_ms)?;
    Ok(Reply::ok())
}

pub(super) fn signal(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    let name = requests::read_signal(ask.body)?;
    process.signal(name, ask.by, ask.now_ms)?;
    Ok(Reply::ok())
}

pub(super) fn wait(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    let timeout_ms = query_integer(ask.query, "timeout_ms")?
        .unwrap_or(limits::WAIT_DEFAULT_MS)
        .min(limits::WAIT_MAX_MS);
    let deadline_ms = ask.now_ms.saturating_add(timeout_ms);
    // One SDK sends an empty scope when none was asked for.
    let goal = match ask.query_text("scope") {
        None | Some("" | "leader") => Goal::Leader {
            deadline_ms,
            timeout_ms,
        },
        Some("tree") => Goal::Tree {
            deadline_ms,
            timeout_ms,
        },
        Some(_) => return Err(Problem::invalid("scope", "must be leader or tree")),
    };
    resume(world, goal, &ask.follow(), ask.now_ms)
}

pub(super) fn delete(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let process = world.process(ask.sandbox(), ask.process(), ask.now_ms)?;
    let grace_ms = query_integer(ask.query, "grace_ms")?
        .unwrap_or(GRACE_DEFAULT_MS)
        .min(limits::WAIT_MAX_MS);
    let _ = process.delete(grace_ms, ask.by, ask.now_ms);
    resume(world, Goal::Grace, &ask.follow(), ask.now_ms)
}

/// Looks whether what a long poll waits for has come.
pub(super) fn resume(
    world: &mut World,
    goal: Goal,
    follow: &Follow,
    now_ms: u64,
) -> Result<Reply, Problem> {
    let process = world.process(&follow.sandbox, &follow.process, now_ms)?;
    let (reached, until_ms) = match goal {
        Goal::Leader {
            deadline_ms,
            timeout_ms,
        }
        | Goal::Tree {
            deadline_ms,
            timeout_ms,
        } => {
            let reached = match goal {
                Goal::Tree { .. } => process.tree_exited(now_ms),
                _ => process.exit(now_ms).is_some(),
            };
            if !reached && deadline_ms <= now_ms {
                return Err(Problem::WaitExpired(timeout_ms));
            }
            let exits_ms = process.natural_exit_ms().filter(|at| *at > now_ms);
            (
                reached,
                exits_ms.map_or(deadline_ms, |at| at.min(deadline_ms)),
            )
        }
        Goal::Grace => match process.deleting(now_ms) {
            Deleting::Done => (true, now_ms),
            Deleting::Grace { until_ms } => (false, until_ms),
        },
    };
    Ok(if reached {
        Reply::told(200, process.told(now_ms))
    } else {
        Reply::Wait {
            until_ms,
            goal,
            follow: follow.clone(),
        }
    })
}
