//! Op `connect`: one stream, its events handed over as they are. Nothing is checked against anything, and
//! nothing is asked twice.

use super::{
    bug::{Bug, Quirk},
    failure::{Broken, Failure, Kind, Phase},
    follow::{connect, leave_open, quote},
    follower::error_frame,
    frame::{self, Frame, NoFrame},
    http::{Body, Dial, Http, Wire},
    lines::{Lines, TooLong},
    object, values,
};
use crate::{client::job::Live, observed::ClientEvent};
use fake_server::wire::Blob;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

/// Whether the events go on after one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    More,
    Exit,
}

/// Hands over one stream's events, up to the exit or the end.
///
/// # Errors
/// A status other than 200, a broken connection, a line that is no frame, a value that can't be told as it is,
/// or the server's error frame (which is handed over too).
pub(super) async fn hand_over<D: Dial>(
    http: &mut Http<'_, D>,
    process: &str,
    after: u64,
    max_line_bytes: u64,
    live: &UnboundedSender<Live>,
    quirk: Quirk,
) -> Result<(), Failure> {
    let ask = connect(
        process,
        (after > 0 || !quirk.is(Bug::ZeroCursorOmitted)).then_some(after),
    );
    let mut restarts = u32::from(quirk.is(Bug::RawRestarts));
    loop {
        let mut answer = http
            .send(&ask)
            .await
            .map_err(|broken| Failure::broken(Kind::Transport, "opening the stream", &broken))?;
        if answer.status != 200 && !quirk.any(&[Bug::RawStatusUnchecked, Bug::StatusUnchecked]) {
            let kind = if answer.status == 410 {
                Kind::OutputEvicted
            } else {
                Kind::HttpError
            };
            let refused = Failure::status(kind, "opening the stream", answer.status);
            return Err(quote(refused, &mut answer, quirk).await);
        }
        if answer.is_coded() {
            let coded = Broken::new(Phase::Coded);
            return Err(Failure::broken(
                Kind::Transport,
                "reading the stream",
                &coded,
            ));
        }
        let mut body = Keeper(Some(answer.body), quirk.is(Bug::RawLeftOpen));
        let Keeper(Some(stream), _) = &mut body else {
            return Ok(());
        };
        let read = read(stream, max_line_bytes, live, quirk).await;
        match read {
            Err(failure) if failure.kind == Kind::Transport && restarts > 0 => restarts -= 1,
            Err(failure)
                if failure.kind == Kind::Transport
                    && quirk.any(&[Bug::RawBreakIsAnEnd, Bug::BrokenBodyIsSuccess]) =>
            {
                return Ok(());
            }
            read => return read,
        }
    }
}

/// [`Bug::RawLeftOpen`]: a body that outlives who reads it.
struct Keeper<T: Send + 'static>(Option<T>, bool);

impl<T: Send + 'static> Drop for Keeper<T> {
    fn drop(&mut self) {
        if self.1 {
            leave_open(self.0.take());
        }
    }
}

async fn read<S: Wire>(
    body: &mut Body<S>,
    max_line_bytes: u64,
    live: &UnboundedSender<Live>,
    quirk: Quirk,
) -> Result<(), Failure> {
    let mut lines = Lines::new(max_line_bytes, quirk);
    while let Some(bytes) = body
        .chunk()
        .await
        .map_err(|broken| Failure::broken(Kind::Transport, "reading the stream", &broken))?
    {
        lines.push(&bytes);
        while let Some(line) = lines.next().map_err(|TooLong| {
            Failure::new(Kind::FrameTooLarge, "the stream has a line over the limit")
        })? {
            if one(line, live, quirk)? == Next::Exit {
                return Ok(());
            }
        }
    }
    if quirk.is(Bug::LastLineLost) {
        return Ok(());
    }
    one(lines.rest(), live, quirk).map(|_| ())
}

/// Hands over what one line says.
fn one(line: &[u8], live: &UnboundedSender<Live>, quirk: Quirk) -> Result<Next, Failure> {
    let Some(frame) = frame::read(line, quirk).map_err(NoFrame::failure)? else {
        return Ok(Next::More);
    };
    if quirk.is(Bug::RawErrorSkipped) && matches!(frame, Frame::Error { .. }) {
        return Ok(Next::More);
    }
    let event = event(&frame, quirk)?;
    // The receiver may be gone; then nobody wants to know.
    let _ = live.send(Live::Event(event));
    match frame {
        Frame::Exit { .. } => Ok(Next::Exit),
        Frame::Error { code, .. } => Err(error_frame(code)),
        _ => Ok(Next::More),
    }
}

/// The event that a frame is, its fields as they stand there.
fn event(frame: &Frame<'_>, quirk: Quirk) -> Result<ClientEvent, Failure> {
    let of = |kind: &str| ClientEvent {
        kind: kind.to_owned(),
        ..ClientEvent::default()
    };
    Ok(match *frame {
        Frame::Data {
            seq,
            stream,
            payload,
        } => ClientEvent {
            seq: seq.map(|raw| number(raw, quirk)).transpose()?,
            stream: stream.map(text).transpose()?,
            data: Some(Blob(values::payload(payload, quirk)?)),
            ..of("data")
        },
        Frame::Heartbeat { .. } => of("heartbeat"),
        Frame::Error { code, .. } => ClientEvent {
            error: values::error_code(code),
            ..of("error")
        },
        Frame::Exit { code, signal } => ClientEvent {
            exit_code: code.map(value).transpose()?,
            signal: signal.map(value).transpose()?,
            ..of("exit")
        },
        Frame::Unknown => of("other"),
    })
}

/// A number's own digits.
fn number(raw: &str, quirk: Quirk) -> Result<String, Failure> {
    if quirk.is(Bug::SeqAsFloat) {
        return values::seq(Some(raw), quirk).map(|seq| seq.to_string());
    }
    if raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Ok(raw.to_owned());
    }
    Err(Failure::new(
        Kind::SequenceInvalid,
        "a data event's sequence number is no number",
    ))
}

fn text(raw: &str) -> Result<String, Failure> {
    object::string(raw)
        .ok_or_else(|| Failure::new(Kind::OutputInvalid, "a data event's stream name is no text"))
}

fn value(raw: &str) -> Result<Value, Failure> {
    serde_json::from_str(raw).map_err(|_| {
        Failure::new(
            Kind::FrameInvalid,
            "an exit event has a value that can't be read",
        )
    })
}
