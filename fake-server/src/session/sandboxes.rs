//! Calls about sandboxes.

use super::reply::{Ask, Reply};
use crate::{
    wire::{
        Problem, catalog,
        fields::query_integer,
        limits,
        requests::{CreateSandbox, Fork, PatchSandbox, read_disk_mib},
        view::{page, to_json},
    },
    world::{
        State, World,
        sandbox::{Accepted, Sandbox},
    },
};
use serde_json::json;

pub(super) fn create(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let request = match CreateSandbox::read(ask.body) {
        Err(_) if ask.forced => plainest(),
        read => read?,
    };
    let sandbox = world.create_sandbox(request, ask.by, ask.now_ms)?;
    Ok(Reply::told(200, sandbox.told(sandbox.shown())))
}

fn plainest() -> CreateSandbox {
    CreateSandbox {
        shape: catalog::SHAPES[0].id.to_owned(),
        rootfs: catalog::ROOTFS[0].to_owned(),
        name: None,
        disk_mib: catalog::DISK_MIB,
        egress: Vec::new(),
        envs: Vec::new(),
        ssh_pubkeys: Vec::new(),
        ingress_enabled: false,
        auto_pause_after_seconds: None,
    }
}

pub(super) fn get(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let state = sandbox.poll(ask.now_ms);
    Ok(Reply::told(200, sandbox.told(state)))
}

pub(super) fn list(world: &World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let (limit, offset) = paging(ask)?;
    let wanted = match ask.query_text("status") {
        None | Some("") => None,
        Some(text) => Some(
            text.split(',')
                .map(|name| {
                    State::from_name(name)
                        .ok_or_else(|| Problem::invalid("status", format!("{name:?} is unknown")))
                })
                .collect::<Result<Vec<State>, Problem>>()?,
        ),
    };
    let rows = world
        .sandboxes(ask.now_ms)
        .filter(|sandbox| match &wanted {
            None => sandbox.shown() != State::Destroyed,
            Some(wanted) => wanted.contains(&sandbox.shown()),
        })
        .map(|sandbox| to_json(&sandbox.view(sandbox.shown())))
        .collect();
    Ok(Reply::data(200, &page(rows, limit, offset)))
}

/// `limit` and `offset`, with defaults and the clamp.
pub(super) fn paging(ask: Ask<'_>) -> Result<(usize, usize), Problem> {
    let number = |name, default: usize| {
        query_integer(ask.query, name).map(|found| {
            found.map_or(default, |found| {
                usize::try_from(found).unwrap_or(usize::MAX)
            })
        })
    };
    let limit = number("limit", limits::LIST_DEFAULT)?.clamp(1, limits::LIST_MAX);
    Ok((limit, number("offset", 0)?))
}

pub(super) fn patch(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let patch = PatchSandbox::read(ask.body)?;
    sandbox.patch(patch);
    Ok(Reply::told(200, sandbox.told(sandbox.shown())))
}

pub(super) fn delete(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let (status, state) = match sandbox.delete(ask.by, ask.now_ms) {
        Accepted::Begun(state) => (202, state),
        // A terminal sandbox answers as destroyed, whatever ended it.
        Accepted::Already(State::Failed) => (200, State::Destroyed),
        Accepted::Already(state) => (200, state),
    };
    let data = json!({ "id": sandbox.id(), "status": state.name() });
    Ok(Reply::data(status, &data))
}

pub(super) fn pause(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let accepted = sandbox.pause()?;
    Ok(changed(sandbox, accepted, true))
}

pub(super) fn resume(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let accepted = sandbox.resume()?;
    Ok(changed(sandbox, accepted, false))
}

fn changed(sandbox: &mut Sandbox, accepted: Accepted, poll_after: bool) -> Reply {
    match accepted {
        Accepted::Already(state) => Reply::told(200, sandbox.told(state)),
        Accepted::Begun(state) => Reply::Data {
            status: 202,
            data: sandbox.told(state),
            headers: if poll_after {
                vec![("x-poll-after", "1".to_owned())]
            } else {
                Vec::new()
            },
        },
    }
}

pub(super) fn fork(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let request = match Fork::read(ask.body) {
        Err(_) if ask.forced => Fork::default(),
        read => read?,
    };
    let child = world.fork(ask.sandbox(), request, ask.by, ask.now_ms)?;
    Ok(Reply::told(201, child.told(child.shown())))
}

pub(super) fn resize(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    let disk_mib = read_disk_mib(ask.body)?;
    sandbox.grow(disk_mib)?;
    let data = json!({ "id": sandbox.id(), "disk_mib": disk_mib });
    Ok(Reply::data(200, &data))
}
