//! Ops `exec` and `exec-stream`: one command, run once, its output in one answer or frame by frame.

use super::{
    bug::{Bug, Quirk},
    capture::Capture,
    envelope::Success,
    failure::{Broken, Failure, Kind, Phase},
    fields::Command,
    follow::quote,
    follower::Output,
    http::{Answer, Ask, Body, Dial, Http, Wire},
    lines::{Lines, TooLong},
    object::Object,
    values::Status,
};
use crate::profile::Profile;
use hyper::Method;
use std::time::Duration;
use tokio::time::sleep;

/// How often a command is sent again after 503, which says that nothing was run. After anything else it may have run.
const REPEATS: u32 = 1;

/// Keys of a frame that hold output, by the names of the streams.
const STREAMS: &[&str] = &["stdout", "stderr"];

const RUNNING: &str = "running the command";

/// Runs a command.
///
/// # Errors
/// A refusal, a broken connection, or an answer without a whole result: the command may have run then, and is not
/// sent again.
pub(super) async fn run<D: Dial>(
    http: &mut Http<'_, D>,
    command: &Command,
    profile: &Profile,
    capture: &mut Capture,
    quirk: Quirk,
) -> Result<Status, Failure> {
    let ask = Ask {
        body: Some(command.body.clone().into()),
        ..Ask::new(Method::POST, command.exec.clone())
    };
    let mut repeats = REPEATS;
    loop {
        let ran = run_once(http, &ask, command.streamed, profile, capture, quirk).await;
        let again = match &ran {
            Ok(_) => false,
            Err(failure) if quirk.is(Bug::CommandRepeated) => {
                failure.http_status.is_none_or(|status| status >= 500)
            }
            Err(failure) => failure.http_status == Some(503),
        };
        if !(again && repeats > 0) {
            return ran;
        }
        repeats -= 1;
        sleep(Duration::from_millis(profile.reconnect_delay_ms)).await;
    }
}

async fn run_once<D: Dial>(
    http: &mut Http<'_, D>,
    ask: &Ask,
    streamed: bool,
    profile: &Profile,
    capture: &mut Capture,
    quirk: Quirk,
) -> Result<Status, Failure> {
    let mut answer = http.send(ask).await.map_err(|error| broken(&error))?;
    if answer.status != 200 {
        let refused = Failure::status(Kind::HttpError, RUNNING, answer.status);
        return Err(quote(refused, &mut answer, quirk).await);
    }
    if streamed {
        if answer.is_coded() {
            return Err(broken(&Broken::new(Phase::Coded)));
        }
        return read(&mut answer, profile.max_line_bytes, capture, quirk).await;
    }
    let text = http.text(answer).await.map_err(|error| broken(&error))?;
    let success = Success::read(&text, quirk).and_then(Success::object);
    let result = success.as_ref().and_then(|data| data.raw("result"));
    let result = result
        .and_then(|result| Object::parse(result).ok())
        .ok_or_else(|| {
            Failure::new(
                Kind::InvalidResponse,
                format!("{RUNNING} was answered without a result"),
            )
        })?;
    keep(&result, capture, quirk)?;
    match status(&result, quirk)? {
        Some(status) => Ok(status),
        None if quirk.is(Bug::CommandWithoutStatusIsZero) => Ok(zero()),
        None => Err(no_status()),
    }
}

/// Reads frames to the one with the exit code.
async fn read<S: Wire>(
    answer: &mut Answer<S>,
    max_line_bytes: u64,
    capture: &mut Capture,
    quirk: Quirk,
) -> Result<Status, Failure> {
    let mut lines = Lines::new(max_line_bytes, quirk);
    while let Some(bytes) = chunk(&mut answer.body, quirk).await? {
        lines.push(&bytes);
        while let Some(line) = lines.next().map_err(|TooLong| {
            Failure::new(
                Kind::FrameTooLarge,
                "the command's output has a line over the limit",
            )
        })? {
            if let Some(status) = frame(line, capture, quirk)? {
                return Ok(status);
            }
        }
    }
    if let Some(status) = frame(lines.rest(), capture, quirk)? {
        return Ok(status);
    }
    if quirk.any(&[Bug::CommandEndIsSuccess, Bug::CommandBreakIsSuccess]) {
        return Ok(zero());
    }
    Err(Failure::new(
        Kind::StreamEnded,
        "the command's output ended without an exit code",
    ))
}

async fn chunk<S: Wire>(
    body: &mut Body<S>,
    quirk: Quirk,
) -> Result<Option<hyper::body::Bytes>, Failure> {
    match body.chunk().await {
        Err(_) if quirk.is(Bug::CommandBreakIsSuccess) => Ok(None),
        Err(error) => Err(broken(&error)),
        Ok(None) if quirk.is(Bug::CommandBreakIsSuccess) => Err(no_status()),
        Ok(bytes) => Ok(bytes),
    }
}

/// One frame; its status, if it has the exit code. Every key of it counts.
fn frame(line: &[u8], capture: &mut Capture, quirk: Quirk) -> Result<Option<Status>, Failure> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(line).ok();
    let frame = text
        .and_then(|text| Object::parse(text).ok())
        .ok_or_else(|| {
            Failure::new(
                Kind::FrameInvalid,
                "a line of the command's output is no JSON object",
            )
        })?;
    if frame.raw("hb").is_some() {
        if quirk.is(Bug::CommandHeartbeatDelivered) {
            take("stdout", line.to_vec(), capture);
        }
        if quirk.any(&[
            Bug::CommandHeartbeatSwallows,
            Bug::CommandHeartbeatDelivered,
        ]) {
            return Ok(None);
        }
    }
    if quirk.is(Bug::CommandExitSwallows) && frame.raw("exit_code").is_some() {
        return status(&frame, quirk);
    }
    if quirk.is(Bug::CommandFirstKeyOnly)
        && let Some(stream) = STREAMS.iter().find(|stream| frame.raw(stream).is_some())
    {
        let text = frame.text(stream).unwrap_or_default();
        take(stream, text.into_bytes(), capture);
        return Ok(None);
    }
    keep(&frame, capture, quirk)?;
    status(&frame, quirk)
}

/// Keeps the output of a frame or a result, and notices that the server failed.
fn keep(frame: &Object<'_>, capture: &mut Capture, quirk: Quirk) -> Result<(), Failure> {
    for stream in STREAMS {
        if frame.raw(stream).is_none() {
            continue;
        }
        let text = frame.text(stream).ok_or_else(|| {
            Failure::new(Kind::InvalidResponse, "the command's output is no text")
        })?;
        take(stream, text.into_bytes(), capture);
    }
    let failed = frame.raw("error").is_some_and(|error| error != "null");
    if failed && !quirk.is(Bug::CommandErrorIgnored) {
        return Err(Failure::new(
            Kind::StreamError,
            "the server says that the command failed",
        ));
    }
    Ok(())
}

/// The exit status of a frame or a result, if it has one.
fn status(frame: &Object<'_>, quirk: Quirk) -> Result<Option<Status>, Failure> {
    let Some(raw) = frame.raw("exit_code") else {
        return Ok(None);
    };
    match raw.parse() {
        Ok(code) => Ok(Some(Status {
            code: Some(code),
            signal: None,
        })),
        Err(_) if quirk.is(Bug::CommandWithoutStatusIsZero) => Ok(Some(zero())),
        Err(_) => Err(no_status()),
    }
}

fn take(stream: &'static str, data: Vec<u8>, capture: &mut Capture) {
    capture.take(Output { stream, data });
}

const fn zero() -> Status {
    Status {
        code: Some(0),
        signal: None,
    }
}

fn no_status() -> Failure {
    Failure::new(
        Kind::ExitStatusMissing,
        "the command's result has no exit code",
    )
}

fn broken(error: &Broken) -> Failure {
    Failure::broken(Kind::Transport, RUNNING, error)
}
