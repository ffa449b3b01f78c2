//! The loop that tends one program: reads what it says, tells who waits, and sees it to its end.

use super::{
    Limits,
    lines::Line,
    message::{self, Hello},
    pipes::{Reader, Spawned, Way},
    program::{Order, Phase, Shared, lock},
    start::StartError,
};
use crate::{
    client::{
        manifest::Manifest,
        process::{self, Group},
    },
    observed::Reply,
    report::text::quoted,
};
use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    process::Child,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};

/// Reads in a row of one pipe, before what was read is told to anybody.
const READS_IN_A_ROW: usize = 16;

/// From a program's end to the end of its pipes. They end with it, unless a descendant that left the
/// process group holds them.
const DRAIN: Duration = Duration::from_secs(1);

/// Characters that are told of a line that its program did not end.
const TORN_SHOWN: usize = 60;

/// From the end of its output to its own end.
const EXIT_AFTER_EOF: Duration = Duration::from_secs(2);

/// The loop's side of a program.
pub(super) struct Tender {
    pub(super) shared: Arc<Mutex<Shared>>,
    hello: Option<oneshot::Sender<Result<Hello, StartError>>>,
    orders: mpsc::UnboundedReceiver<Order>,
    pub(super) orders_sender: mpsc::UnboundedSender<Order>,
    pub(super) ended: watch::Sender<bool>,
    leave: Duration,
    child: Child,
    group: Group,
    standard: Reader,
    side: Reader,
    stderr: Reader,
    writers: [JoinHandle<()>; 2],
}

/// What happened next.
enum Event {
    Order(Option<Order>),
    Output(Way, Vec<u8>),
    Stderr(Vec<u8>),
    Exited(String),
    TimeIsOver,
}

impl Tender {
    /// Starts the program. Its hello, or why there is none, comes over the channel.
    pub(super) fn spawn(
        manifest: &Manifest,
        limits: Limits,
    ) -> io::Result<(Self, oneshot::Receiver<Result<Hello, StartError>>)> {
        let Spawned {
            child,
            group,
            standard,
            side,
            stderr,
            inputs,
            writers,
        } = Spawned::spawn(&manifest.command, &manifest.folder, &manifest.env)?;
        let (orders_sender, orders) = mpsc::unbounded_channel();
        let (hello, greeting) = oneshot::channel();
        let (ended, _) = watch::channel(false);
        let tender = Self {
            shared: Arc::new(Mutex::new(Shared::new(inputs))),
            hello: Some(hello),
            orders,
            orders_sender,
            ended,
            leave: limits.leave,
            child,
            group,
            standard,
            side,
            stderr,
            writers,
        };
        Ok((tender, greeting))
    }

    /// Reads until the program is gone and its pipes have ended.
    pub(super) async fn tend(mut self) {
        let mut status: Option<String> = None;
        let mut deadline: Option<Instant> = None;
        let (mut broke_off, mut killed) = (false, false);
        loop {
            match self.next(status.is_none(), deadline).await {
                Event::Output(way, bytes) if bytes.is_empty() => {
                    if self.speaks(way) {
                        broke_off = true;
                        deadline.get_or_insert_with(|| Instant::now() + EXIT_AFTER_EOF);
                    }
                }
                Event::Output(way, bytes) => self.handle_output(way, bytes).await,
                Event::Stderr(bytes) => lock(&self.shared).tail.push(&bytes),
                Event::Order(Some(Order::Leave)) => {
                    lock(&self.shared).inputs.close();
                    deadline = Some(Instant::now() + self.leave);
                }
                Event::Order(Some(Order::Kill) | None) => {
                    self.group.kill();
                }
                Event::Exited(words) => {
                    // What it left behind goes too, and with it the last writers of the pipes.
                    self.group.kill();
                    status = Some(words);
                    deadline = Some(Instant::now() + DRAIN);
                }
                Event::TimeIsOver if status.is_none() => {
                    self.group.kill();
                    killed = true;
                    deadline = None;
                }
                Event::TimeIsOver => break,
            }
            let open = [&self.standard, &self.side, &self.stderr];
            if status.is_some() && !open.into_iter().any(Reader::is_open) {
                break;
            }
        }
        let mut status = status.unwrap_or_default();
        if broke_off && killed {
            status.push_str(", since it had closed its output and stayed");
        }
        self.conclude(status);
    }

    async fn next(&mut self, alive: bool, deadline: Option<Instant>) -> Event {
        let at = deadline.unwrap_or_else(Instant::now);
        tokio::select! {
            order = self.orders.recv() => Event::Order(order),
            bytes = self.standard.read(), if self.standard.is_open() => {
                Event::Output(Way::Standard, bytes.to_vec())
            }
            bytes = self.side.read(), if self.side.is_open() => Event::Output(Way::Side, bytes.to_vec()),
            bytes = self.stderr.read(), if self.stderr.is_open() => Event::Stderr(bytes.to_vec()),
            status = self.child.wait(), if alive => Event::Exited(match status {
                Ok(status) => process::words(status),
                Err(error) => format!("its end could not be told: {error}"),
            }),
            () = tokio::time::sleep_until(at), if deadline.is_some() => Event::TimeIsOver,
        }
    }

    /// Whether this is (or may still become) the way the program speaks.
    fn speaks(&self, way: Way) -> bool {
        match lock(&self.shared).phase {
            Phase::Ready(chosen) | Phase::Retired(chosen) => chosen == way,
            Phase::Starting => !self.standard.is_open() && !self.side.is_open(),
            Phase::Ended(_) => false,
        }
    }

    /// Handles what is there, then tells the replies. All that was written before is read first: a
    /// second result counts as long as it stands right behind the first, and what stood on stderr
    /// before a result belongs to its job.
    async fn handle_output(&mut self, way: Way, bytes: Vec<u8>) {
        self.handle_bytes(way, &bytes);
        for _ in 0..READS_IN_A_ROW {
            if !lock(&self.shared).desk.has_replies() {
                break;
            }
            let reader = match way {
                Way::Standard => &mut self.standard,
                Way::Side => &mut self.side,
            };
            let Some(more) = reader.read_ready().await.map(<[u8]>::to_vec) else {
                break;
            };
            self.handle_bytes(way, &more);
        }
        self.read_stderr().await;
        self.flush();
    }

    async fn read_stderr(&mut self) {
        for _ in 0..READS_IN_A_ROW {
            let Some(bytes) = self.stderr.read_ready().await else {
                break;
            };
            lock(&self.shared).tail.push(bytes);
        }
    }

    fn handle_bytes(&mut self, way: Way, bytes: &[u8]) {
        let reader = match way {
            Way::Standard => &mut self.standard,
            Way::Side => &mut self.side,
        };
        for line in reader.lines.push(bytes) {
            self.handle_line(way, &line);
        }
    }

    fn handle_line(&mut self, way: Way, line: &Line) {
        let mut shared = lock(&self.shared);
        match shared.phase {
            Phase::Ready(chosen) | Phase::Retired(chosen) if chosen != way => {
                // Free text on stdout, beside the way it speaks.
                if way == Way::Standard {
                    let (Line::Whole(text) | Line::TooLong(text)) = line;
                    shared.tail.push(text);
                    shared.tail.push(b"\n");
                }
            }
            Phase::Ready(_) | Phase::Retired(_) | Phase::Ended(_) => {
                if let Some((id, live)) = shared.desk.handle_line(line)
                    && let Some(ticket) = shared.tickets.get(&id)
                {
                    // An error means that nobody listens: the caller has gone.
                    drop(ticket.live.send(live));
                }
            }
            Phase::Starting => {
                match message::greeting(line) {
                    Ok(hello) => {
                        shared.phase = Phase::Ready(way);
                        let early = std::mem::take(&mut shared.early);
                        // Before a hello on the side, stdout was free text.
                        if way == Way::Standard {
                            shared.desk.add_notes(early);
                        }
                        drop(shared);
                        self.greet(Ok(*hello));
                    }
                    Err(fault) if fault.is_hello => {
                        drop(shared);
                        self.greet(Err(StartError::WrongHello { words: fault.words }));
                    }
                    Err(fault) => {
                        if shared.early.len() < READS_IN_A_ROW {
                            shared.early.push(fault.words);
                        }
                    }
                }
            }
        }
    }

    /// Tells the starter; a starter that has gone needs no word.
    fn greet(&mut self, hello: Result<Hello, StartError>) {
        if let Some(starter) = self.hello.take() {
            drop(starter.send(hello));
        }
    }

    fn flush(&self) {
        let mut shared = lock(&self.shared);
        for (id, reply) in shared.desk.flush() {
            if let Some(ticket) = shared.tickets.remove(&id) {
                // Nobody waits: the caller has gone.
                drop(ticket.reply.send(reply));
            }
        }
        if matches!(shared.phase, Phase::Retired(_)) && shared.desk.is_idle() {
            self.group.kill();
        }
    }

    /// The program is gone.
    fn conclude(mut self, mut status: String) {
        for (way, rest) in [
            (Way::Standard, self.standard.lines.rest()),
            (Way::Side, self.side.lines.rest()),
        ] {
            let Some(rest) = rest else { continue };
            // A last line without LF counts if it is a message; a torn one is part of the crash.
            if serde_json::from_slice::<serde::de::IgnoredAny>(&rest).is_ok() {
                self.handle_line(way, &Line::Whole(rest));
            } else if way == Way::Side
                || !matches!(
                    lock(&self.shared).phase,
                    Phase::Ready(Way::Side) | Phase::Retired(Way::Side)
                )
            {
                let torn = quoted(&rest, TORN_SHOWN);
                status.push_str(&format!(", in the middle of a line: {torn}"));
            }
        }
        let (rubbish, stderr) = {
            let mut shared = lock(&self.shared);
            shared.desk.end_all(&Reply::AdapterDied(status.clone()));
            shared.phase = Phase::Ended(status.clone());
            shared.inputs.close();
            (shared.early.first().cloned(), shared.tail.words())
        };
        self.flush();
        self.greet(Err(StartError::Ended {
            status,
            rubbish,
            stderr,
        }));
        for writer in &self.writers {
            writer.abort();
        }
        self.ended.send_replace(true);
    }
}
