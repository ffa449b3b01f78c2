//! One adapter program, as those see it who give it jobs. `tender` does the reading, `pipes` are its pipes.

use super::{
    Ask, Limits,
    desk::Desk,
    line,
    message::{Hello, PROTOCOL},
    pipes::{Inputs, Way},
    start::StartError,
    tender::Tender,
};
use crate::{
    client::{job::Live, manifest::Manifest, tail::Tail},
    observed::Reply,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, oneshot, watch};

/// One running program. Dropping it kills its process group.
#[derive(Debug)]
pub(super) struct Program {
    shared: Arc<Mutex<Shared>>,
    orders: mpsc::UnboundedSender<Order>,
    ended: watch::Receiver<bool>,
}

/// What the loop is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Close its stdin, wait, then kill.
    Leave,
    /// Kill.
    Kill,
}

/// What the callers and the loop share. Never locked across an await.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) phase: Phase,
    pub(super) desk: Desk,
    pub(super) tickets: BTreeMap<String, Ticket>,
    pub(super) tail: Tail,
    pub(super) inputs: Inputs,
    /// What was wrong with lines before the hello.
    pub(super) early: Vec<String>,
}

/// How far a program has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No hello yet.
    Starting,
    /// It takes jobs, and speaks this way.
    Ready(Way),
    /// It takes no more; what it has may finish.
    Retired(Way),
    /// It is gone; how it went, in words.
    Ended(String),
}

/// Who waits for a job.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) live: mpsc::UnboundedSender<Live>,
    pub(super) reply: oneshot::Sender<Reply>,
}

impl Shared {
    /// Before its hello.
    pub(super) fn new(inputs: Inputs) -> Self {
        Self {
            phase: Phase::Starting,
            desk: Desk::default(),
            tickets: BTreeMap::new(),
            tail: Tail::default(),
            inputs,
            early: Vec::new(),
        }
    }
}

impl Program {
    /// Starts the manifest's command and waits for its hello.
    pub(super) async fn start(
        manifest: &Manifest,
        limits: Limits,
    ) -> Result<(Self, Hello), StartError> {
        let (tender, hello) = Tender::spawn(manifest, limits)
            .map_err(|source| StartError::spawn(manifest, source))?;
        let program = Self {
            shared: Arc::clone(&tender.shared),
            orders: tender.orders_sender.clone(),
            ended: tender.ended.subscribe(),
        };
        let greeting = line(
            "hello",
            &json!({"protocol": PROTOCOL, "suite": env!("CARGO_PKG_VERSION")}),
        );
        let shared = Arc::clone(&tender.shared);
        if let Ok(greeting) = greeting {
            let shared = lock(&shared);
            shared.inputs.say(Way::Standard, greeting.clone());
            shared.inputs.say(Way::Side, greeting);
        }
        tokio::spawn(tender.tend());
        match tokio::time::timeout(limits.hello, hello).await {
            Ok(Ok(hello)) => Ok((program, hello?)),
            // The loop is gone without a word: the runtime is shutting down.
            Ok(Err(_)) => Err(StartError::Ended {
                status: "unknown".to_owned(),
                rubbish: None,
                stderr: String::new(),
            }),
            Err(_) => {
                let mut shared = lock(&shared);
                Err(StartError::NoHello {
                    waited: limits.hello,
                    rubbish: shared.early.first().cloned(),
                    stderr: shared.tail.words(),
                })
            }
        }
    }

    /// Whether it can be given another job.
    pub(super) fn takes_jobs(&self) -> bool {
        matches!(lock(&self.shared).phase, Phase::Ready(_))
    }

    /// Gives it a job. `None` if it takes none any more.
    pub(super) fn open(
        &self,
        ask: &Ask<'_>,
        live: mpsc::UnboundedSender<Live>,
    ) -> Option<oneshot::Receiver<Reply>> {
        let mut shared = lock(&self.shared);
        let Phase::Ready(way) = shared.phase else {
            return None;
        };
        let (reply, receiver) = oneshot::channel();
        shared.desk.open(ask.id);
        shared.tail.watch(ask.id, ask.secrets);
        shared
            .tickets
            .insert(ask.id.to_owned(), Ticket { live, reply });
        shared.inputs.say(way, ask.line.clone());
        Some(receiver)
    }

    /// Tells it something about a job it has.
    pub(super) fn say(&self, line: Vec<u8>) {
        let shared = lock(&self.shared);
        if let Phase::Ready(way) | Phase::Retired(way) = shared.phase {
            shared.inputs.say(way, line);
        }
    }

    /// Nobody waits for a job any more. A reply that was on its way is given back.
    pub(super) fn give_up(&self, id: &str) -> Option<Reply> {
        let mut shared = lock(&self.shared);
        shared.tickets.remove(id);
        shared.desk.give_up(id)
    }

    /// What it printed while it had the job, and the secrets that told.
    pub(super) fn finish(&self, id: &str) -> (String, Vec<String>) {
        lock(&self.shared).tail.finish(id)
    }

    /// The reply to a job whose ticket was lost with the program.
    pub(super) fn broken_off(&self) -> Reply {
        match &lock(&self.shared).phase {
            Phase::Ended(words) => Reply::AdapterDied(words.clone()),
            _ => Reply::HarnessError("the adapter's reader was dropped".to_owned()),
        }
    }

    /// It gets no more jobs, and is killed when it has none.
    pub(super) fn retire(&self) {
        let mut shared = lock(&self.shared);
        if let Phase::Ready(way) = shared.phase {
            shared.phase = Phase::Retired(way);
        }
        if shared.desk.is_idle() {
            let _ = self.orders.send(Order::Kill);
        }
    }

    /// Results it has given.
    pub(super) fn answers(&self) -> usize {
        lock(&self.shared).desk.answers()
    }

    /// Takes what was wrong with a job after its reply.
    pub(super) fn take_late(&self, id: &str) -> Vec<String> {
        lock(&self.shared).desk.take_late(id)
    }

    /// Takes what was wrong and no running job's fault.
    pub(super) fn take_notes(&self) -> Vec<String> {
        lock(&self.shared).desk.take_notes()
    }

    /// Asks it to leave, and waits until it and all it started are gone.
    pub(super) async fn leave(&self) {
        let _ = self.orders.send(Order::Leave);
        let mut ended = self.ended.clone();
        // An error means that the loop is gone, and with it the process group.
        drop(ended.wait_for(|ended| *ended).await);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Kill);
    }
}

/// A poisoned lock is taken all the same: what it guards is only ever changed by whole steps.
pub(super) fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
