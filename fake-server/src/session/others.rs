//! Exec, files, the catalog, identity and health.

use super::{
    RawBody,
    reply::{Ask, Reply},
    sandboxes::paging,
};
use crate::{
    script::{
        expand::Piece,
        model::{End, Truth, TruthExit},
    },
    wire::{
        Problem, StreamName, catalog, limits,
        requests::{Exec, SIGNALS},
        view::page,
    },
    wirelog::Payload,
    world::{State, USER, World, healthy},
};
use serde_json::{Value, json};

pub(super) fn exec(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let sandbox = world.sandbox(ask.sandbox(), ask.now_ms)?;
    sandbox.check_running()?;
    let request = Exec::read(ask.body, &sandbox.declared())?;
    let truth = world
        .exec_truth()
        .map_or_else(|| healthy(false), Truth::clone);
    let (code, exit_pause_ms) = match &truth.exit {
        TruthExit::Status {
            code,
            signal,
            pause_ms,
        } => (
            code.unwrap_or_else(|| signal_code(signal.as_deref())),
            *pause_ms,
        ),
        TruthExit::Never => (0, 0),
    };
    if request.stream || ask.query_text("stream") == Some("true") {
        return Ok(Reply::Stream {
            body: RawBody::Pieces(exec_pieces(&truth, code, exit_pause_ms)),
            heartbeat_ms: limits::HEARTBEAT_MS,
            follows: None,
        });
    }
    let text = |wanted: fn(StreamName) -> bool| {
        let bytes: Vec<u8> = truth
            .frames
            .iter()
            .filter(|frame| wanted(frame.stream))
            .flat_map(|frame| frame.data.iter().copied())
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let data = json!({
        "result": {
            "stdout": text(|stream| stream != StreamName::Stderr),
            "stderr": text(|stream| stream == StreamName::Stderr),
            "exit_code": code,
        },
        "exec_ms": 1.5,
    });
    Ok(Reply::data(200, &data))
}

/// A shell's way to tell a signal by a code.
fn signal_code(signal: Option<&str>) -> i64 {
    let number = SIGNALS
        .iter()
        .find(|(name, _)| Some(*name) == signal)
        .map_or(0, |(_, number)| *number);
    128 + number
}

fn exec_pieces(truth: &Truth, code: i64, exit_pause_ms: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let line = |frame: Value| Piece::Bytes {
        step: 0,
        what: Payload::Plain,
        bytes: format!("{frame}\n").into_bytes(),
    };
    let quiet = |pieces: &mut Vec<Piece>, ms: u64| {
        let mut left = if truth.live { ms } else { 0 };
        while left > 0 {
            let ms = left.min(limits::HEARTBEAT_MS);
            left -= ms;
            pieces.push(Piece::Pause {
                ms,
                heartbeats: false,
            });
            // Exec has heartbeats of its own kind.
            if left > 0 {
                pieces.push(line(json!({ "hb": true })));
            }
        }
    };
    for frame in &truth.frames {
        quiet(&mut pieces, frame.pause_ms);
        let name = match frame.stream {
            StreamName::Stderr => "stderr",
            StreamName::Stdout | StreamName::Pty => "stdout",
        };
        pieces.push(line(json!({ name: String::from_utf8_lossy(&frame.data) })));
    }
    quiet(&mut pieces, exit_pause_ms);
    pieces.push(line(json!({ "exit_code": code })));
    pieces.push(Piece::End(End::Chunk));
    pieces
}

pub(super) fn put_file(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let files = world.files(ask.sandbox(), ask.now_ms)?;
    let path = absolute_path(ask)?;
    files.insert(path.to_owned(), ask.body.to_vec());
    let data = json!({ "bytes": ask.body.len(), "path": path });
    Ok(Reply::data(200, &data))
}

pub(super) fn get_file(world: &mut World, ask: Ask<'_>) -> Result<Reply, Problem> {
    let files = world.files(ask.sandbox(), ask.now_ms)?;
    let path = absolute_path(ask)?;
    files
        .get(path)
        .map(|bytes| Reply::Bytes(bytes.clone()))
        .ok_or(Problem::NotFound("file"))
}

fn absolute_path<'a>(ask: Ask<'a>) -> Result<&'a str, Problem> {
    match ask.query_text("path") {
        Some(path) if path.starts_with('/') && !path.ends_with('/') && !path.contains('\0') => {
            Ok(path)
        }
        Some(_) => Err(Problem::invalid(
            "path",
            "must be the absolute path of a file",
        )),
        None => Err(Problem::invalid("path", "is missing")),
    }
}

pub(super) fn shapes(ask: Ask<'_>) -> Result<Reply, Problem> {
    let (limit, offset) = paging(ask)?;
    Ok(Reply::data(
        200,
        &page(catalog::shape_rows(), limit, offset),
    ))
}

pub(super) fn rootfs() -> Reply {
    Reply::data(200, &catalog::rootfs())
}

pub(super) fn whoami(world: &World, ask: Ask<'_>) -> Reply {
    let states: Vec<State> = world
        .sandboxes(ask.now_ms)
        .map(|sandbox| sandbox.shown())
        .filter(|state| *state != State::Destroyed)
        .collect();
    let count = |wanted| states.iter().filter(|state| **state == wanted).count();
    let (running, paused) = (count(State::Running), count(State::Paused));
    let stats = json!({
        "running": running,
        "paused": paused,
        "other": states.len() - running - paused,
        "total": states.len(),
    });
    Reply::data(200, &json!({ "user_id": USER, "stats": stats }))
}

pub(super) fn healthz() -> Reply {
    Reply::data(200, &json!({ "up": true }))
}

pub(super) fn readyz() -> Reply {
    Reply::data(
        200,
        &json!({ "ready": true, "scheduler_last_ok_ms_ago": 0 }),
    )
}
