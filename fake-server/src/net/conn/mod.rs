//! One connection: hyper reads requests and writes ordinary answers; for everything else the service
//! parks what was decided and stays pending, hyper is taken apart, and our own writer goes on with
//! the socket. Afterwards a new hyper connection reads on, with the bytes that came early in front.
//!
//! The whole body of a request is read before anything is answered, so that its rest is never taken
//! for the next request.

mod answer;

use super::{
    gauge::Gauge,
    heard::Heard,
    trial::{Arrived, Trial},
    wire::Wire,
    writer::{self, Asked},
};
use crate::{script::model::Cut, session::RawAnswer};
use answer::Calls;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

/// Serves a connection to its end.
pub(super) async fn serve(trial: Arc<Trial>, socket: super::Socket) {
    let wire = Wire::new(socket);
    let (connection, cut) = trial.accepted(Arc::clone(wire.gauge()));
    match cut {
        Some(cut) => writer::end_unread(&trial, connection, cut.reset, wire).await,
        None => converse(&trial, connection, wire).await,
    }
    trial.closed(connection);
}

async fn converse(trial: &Arc<Trial>, connection: u32, mut wire: Wire) {
    while let Some((parked, taken)) = listen(trial, connection, wire).await {
        let Parked {
            arrived,
            asked,
            act,
        } = *parked;
        match act {
            Taken::Raw(answer) => {
                let kept = writer::play(trial, connection, &arrived, asked, *answer, taken).await;
                match kept {
                    Some(kept) => wire = kept,
                    None => return,
                }
            }
            Taken::Cut(cut) => {
                writer::cut(trial, connection, &arrived, cut, taken).await;
                return;
            }
            Taken::Hold { ms } => {
                writer::hold(trial, connection, &arrived, ms, taken).await;
                return;
            }
        }
    }
}

/// A decision for which the connection has to be taken over.
struct Parked {
    arrived: Arc<Arrived>,
    asked: Asked,
    act: Taken,
}

enum Taken {
    Raw(Box<RawAnswer>),
    Cut(Cut),
    Hold { ms: u64 },
}

/// What the service and the connection's driver share.
struct Desk {
    trial: Arc<Trial>,
    connection: u32,
    gauge: Arc<Gauge>,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    /// Waits for the connection to be taken over.
    parked: Option<Box<Parked>>,
    /// The exchange whose ordinary answer hyper is writing.
    writing: Option<Arc<Arrived>>,
    /// The exchange that the service is busy with.
    busy: Option<Arc<Arrived>>,
    /// The request's head that came last.
    heard: Option<Heard>,
    /// So many bytes the peer had read when that was told last (in memory).
    drained: u64,
}

impl Desk {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// hyper is to write the ordinary answer of this exchange.
    fn write(&self, slot: &mut Slot, arrived: Arc<Arrived>) {
        self.gauge.answering(true);
        slot.writing = Some(arrived);
    }

    /// Logs that the answer that hyper was writing has left, if nothing of it is stuck.
    fn place(&self, slot: &mut Slot) {
        if self.gauge.blocked() || self.gauge.broken() {
            return;
        }
        if let Some(arrived) = slot.writing.take() {
            self.trial.placed(
                arrived.exchange,
                self.gauge.written(),
                self.gauge.last_write(),
            );
        }
    }

    /// The decision for which the connection has to be taken over now, if there is one.
    fn parked(&self, slot: &mut Slot) -> Option<Box<Parked>> {
        // A response before, or `100 Continue`, may still be in hyper's buffer.
        slot.parked.take_if(|_| !self.gauge.blocked())
    }

    /// Whoever waits for the trial to settle hears when a peer in memory has read everything. Over TCP
    /// nobody tells.
    fn tell_drained(&self, cx: &mut Context<'_>) {
        let written = self.gauge.written();
        if self.gauge.tells_nothing() || self.slot().drained == written {
            return;
        }
        if self.gauge.poll_drained(cx).is_ready() {
            self.slot().drained = written;
            if let Some((acked, _)) = self.gauge.acked() {
                self.trial.acked(self.connection, acked);
            }
        }
    }

    /// What was under way when hyper gave up: the client has gone, or what it sent was no HTTP.
    fn given_up(&self) -> impl Iterator<Item = Arc<Arrived>> + use<> {
        let mut slot = self.slot();
        let parked = slot.parked.take().map(|parked| parked.arrived);
        [slot.writing.take(), slot.busy.take(), parked]
            .into_iter()
            .flatten()
    }
}

/// What comes next on a connection that hyper drives.
enum Turn {
    /// The parked decision takes over.
    TakeOver(Box<Parked>),
    /// hyper is done with it.
    Done(hyper::Result<()>),
}

/// Lets hyper read requests and write ordinary answers until the connection is to be taken over.
/// `None`: it is closed.
async fn listen(
    trial: &Arc<Trial>,
    connection: u32,
    mut wire: Wire,
) -> Option<(Box<Parked>, Wire)> {
    let desk = Arc::new(Desk {
        trial: Arc::clone(trial),
        connection,
        gauge: Arc::clone(wire.gauge()),
        slot: Mutex::default(),
    });
    wire.lend(true);
    let mut http = http1::Builder::new()
        .header_read_timeout(None)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(wire), Calls::new(Arc::clone(&desk)));
    let mut idle_closes = trial.idle_closes();
    let turn = loop {
        let next = std::future::poll_fn(|cx| {
            let polled = http.poll_without_shutdown(cx);
            let mut slot = desk.slot();
            desk.place(&mut slot);
            if let Poll::Ready(result) = polled {
                return Poll::Ready(Turn::Done(result));
            }
            if let Some(parked) = desk.parked(&mut slot) {
                return Poll::Ready(Turn::TakeOver(parked));
            }
            drop(slot);
            desk.tell_drained(cx);
            Poll::Pending
        });
        tokio::select! {
            biased;
            turn = next => break turn,
            // The sender lives in the trial, which we hold.
            _ = idle_closes.changed() => std::pin::Pin::new(&mut http).graceful_shutdown(),
        }
    };
    let parts = http.into_parts();
    drop(parts.service);
    let mut wire = parts.io.into_inner();
    wire.lend(false);
    match turn {
        Turn::TakeOver(parked) => {
            wire.put_back(&parts.read_buf);
            Some((parked, wire))
        }
        Turn::Done(result) => {
            if let Err(error) = result
                && error.is_parse()
            {
                trial.unreadable(connection, &error);
            }
            for exchange in desk.given_up() {
                trial.abandoned(exchange.exchange, connection);
                trial.ending(&exchange).await;
            }
            if wire.left() {
                trial.acked(connection, wire.acked());
                trial.client_left(connection);
            } else {
                writer::close(trial, connection, &mut wire).await;
            }
            None
        }
    }
}
