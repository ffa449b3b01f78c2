//! The response writer for everything that an HTTP library would not write: streams with waits,
//! lying framing, cut and reset connections. It owns the wire while it writes.

mod coding;
mod end;
mod flush;
mod head;
mod measure;
mod out;
mod payload;
mod player;
mod rest;

pub(super) use head::Asked;

use super::{
    later,
    trial::{Arrived, Trial},
    wire::{Left, Wire},
};
use crate::{
    script::model::{Break, BreakPlace, Cut},
    session::RawAnswer,
    wirelog::AnswerEnd,
};
use coding::Coder;
use head::Head;
use measure::measure;
use out::Out;
use player::Player;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// How long a reset, and each segment, waits for what came before to be acknowledged. A reader that
/// does not read keeps a window's worth unacknowledged for ever.
pub(super) const ACK_BOUND: Duration = Duration::from_secs(2);
/// How long a close waits for the peer's own, so that no reset of ours overtakes the last bytes.
pub(super) const CLOSE_BOUND: Duration = Duration::from_secs(2);
/// The same after an answer that broke off: whether the client closes it, sooner or later, is what is asked then. Longer
/// than the deadline of any scenario.
const BROKEN_BOUND: Duration = Duration::from_secs(60);

/// Why the rest of an answer is not written.
enum Stop {
    /// The client left.
    Left,
    /// The process was ended by force; its last line.
    Forced(Vec<u8>),
}

impl From<Left> for Stop {
    fn from(_: Left) -> Self {
        Self::Left
    }
}

/// Writes an answer. Gives the wire back if the connection may be used again; else it is closed.
pub(super) async fn play(
    trial: &Trial,
    connection: u32,
    arrived: &Arrived,
    asked: Asked,
    answer: RawAnswer,
    wire: Wire,
) -> Option<Wire> {
    let names = Arc::clone(trial.names());
    let mut total = measure(&answer, &names);
    let mut payload_room = None;
    if let Some(Break {
        at: BreakPlace::Payload(payload),
        ..
    }) = answer.break_at
    {
        total = total.min(payload);
        payload_room = Some(payload);
    }
    let asked = Asked {
        keep_alive: asked.keep_alive && !trial.closes_after(arrived),
        ..asked
    };
    let head = Head::new(&answer, asked, total);
    let follows = answer.follows.clone();
    let changes = follows.is_some().then(|| trial.changes());
    let mut player = Player {
        trial,
        connection,
        arrived,
        wire,
        out: Out::new(
            head.delimited,
            answer.chunks.clone(),
            usize::try_from(total).unwrap_or(usize::MAX),
        ),
        coder: answer.encoding.map(Coder::new),
        coded_notes: Vec::new(),
        segments: answer.segments.clone(),
        round: 0,
        names,
        heartbeat: Duration::from_millis(answer.heartbeat_ms),
        follows,
        changes,
        quiet_since: Instant::now(),
        clock: Instant::now(),
        keep: head.keep,
        said_end: false,
        break_at: answer.break_at,
        payload_room,
        body_from: 0,
        broken: None,
    };
    let result = player.answer(&head, answer.body).await;
    if result.is_err() {
        trial.abandoned(arrived.exchange, connection);
    }
    player.look_at_acks();
    let refusing = trial.ending(arrived).await;
    let Player { mut wire, .. } = player;
    match result {
        Ok(Close::Keep) if !refusing => Some(wire),
        Ok(Close::Keep | Close::Fin) => {
            close(trial, connection, &mut wire).await;
            None
        }
        Ok(Close::Reset) => {
            wire.reset();
            None
        }
        Err(Left) => None,
    }
}

/// Ends the connection of a request without an answer.
pub(super) async fn cut(trial: &Trial, connection: u32, arrived: &Arrived, cut: Cut, wire: Wire) {
    trial.ending(arrived).await;
    let place = wire.gauge().written();
    trial.ended(
        arrived.exchange,
        AnswerEnd::Cut(cut),
        place,
        Some(true),
        None,
    );
    end_unread(trial, connection, cut.reset, wire).await;
}

/// Ends a connection, by RST or by FIN.
pub(super) async fn end_unread(trial: &Trial, connection: u32, reset: bool, mut wire: Wire) {
    if reset {
        wire.reset();
    } else {
        close(trial, connection, &mut wire).await;
    }
}

/// Says nothing for a while, then closes.
pub(super) async fn hold(
    trial: &Trial,
    connection: u32,
    arrived: &Arrived,
    ms: u64,
    mut wire: Wire,
) {
    let over = later(Instant::now(), ms);
    let left = tokio::time::timeout_at(over, wire.until_left())
        .await
        .is_ok();
    trial.ending(arrived).await;
    if left {
        trial.abandoned(arrived.exchange, connection);
        return;
    }
    let place = wire.gauge().written();
    trial.ended(arrived.exchange, AnswerEnd::Held, place, Some(true), None);
    close(trial, connection, &mut wire).await;
}

/// Closes by FIN, then reads to the peer's own end, within bounds: closing with unread bytes would be
/// a reset that overtakes what was sent.
pub(super) async fn close(trial: &Trial, connection: u32, wire: &mut Wire) {
    wire.finish().await;
    let bound = match trial.awaits_close(connection) {
        true => BROKEN_BOUND,
        false => CLOSE_BOUND,
    };
    let over = Instant::now() + bound;
    let mut pause = Duration::from_millis(2);
    loop {
        trial.acked(connection, wire.acked());
        if wire.left() {
            trial.client_left(connection);
            return;
        }
        if Instant::now() >= over {
            return;
        }
        wire.look(Some(over), &mut pause).await;
    }
}

/// What becomes of the connection after an answer.
enum Close {
    Keep,
    Fin,
    Reset,
}
