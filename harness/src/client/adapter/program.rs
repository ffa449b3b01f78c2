//! One adapter program: its pipes, its process group, and the loop that reads what it says.

use super::{
    Ask, Limits,
    desk::Desk,
    line,
    lines::{Line, Lines},
    message::{self, Hello, PROTOCOL},
};
use crate::{
    client::{
        job::Live,
        manifest::Manifest,
        process::{self, Group},
        tail::Tail,
    },
    observed::Reply,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    future::Future as _,
    io,
    os::fd::{AsRawFd as _, OwnedFd, RawFd},
    pin::{Pin, pin},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::unix::pipe,
    process::Child,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};

/// Bytes read at once: what a Linux pipe holds.
const READ_BYTES: usize = 64 << 10;

/// Reads in a row of one pipe, before what was read is told to anybody.
const READS_IN_A_ROW: usize = 16;

/// From a program's end to the end of its pipes. They end with it, unless a descendant that left the
/// process group holds them.
const DRAIN: Duration = Duration::from_secs(1);

/// From the end of its output to its own end.
const EXIT_AFTER_EOF: Duration = Duration::from_secs(2);

/// The descriptors of the pipes beside stdin and stdout, in the program. One digit each: a plain shell
/// can redirect no others.
const SIDE_IN: RawFd = 3;
const SIDE_OUT: RawFd = 4;

/// Why an adapter is not there.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It was not started at all.
    #[error("can't start {program:?} in {folder}: {source}{hint}")]
    Spawn {
        /// The program.
        program: String,
        /// The manifest's folder.
        folder: String,
        /// What the system says.
        source: io::Error,
        /// What may help.
        hint: String,
    },
    /// It ended before its hello.
    #[error("the program ended before its hello ({status}){}", said(stderr))]
    Ended {
        /// How.
        status: String,
        /// Its last words.
        stderr: String,
    },
    /// It said nothing, or nothing of use, in time.
    #[error("no hello within {waited:?}{}{}", first_line(rubbish.as_deref()), said(stderr))]
    NoHello {
        /// How long it had.
        waited: Duration,
        /// What was wrong with the first line it wrote instead.
        rubbish: Option<String>,
        /// Its last words.
        stderr: String,
    },
    /// Its hello is wrong.
    #[error("{words}")]
    WrongHello {
        /// How.
        words: String,
    },
}

fn first_line(rubbish: Option<&str>) -> String {
    rubbish.map_or_else(String::new, |words| format!("; it wrote {words}"))
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        words => format!("; its stderr:\n{words}"),
    }
}

/// One running program. Dropping it kills its process group.
#[derive(Debug)]
pub(super) struct Program {
    shared: Arc<Mutex<Shared>>,
    orders: mpsc::UnboundedSender<Order>,
    ended: watch::Receiver<bool>,
}

/// What the loop is told.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Close its stdin, wait, then kill.
    Leave,
    /// Kill.
    Kill,
}

/// What the callers and the loop share. Never locked across an await.
#[derive(Debug)]
struct Shared {
    phase: Phase,
    desk: Desk,
    tickets: BTreeMap<String, Ticket>,
    tail: Tail,
    inputs: Inputs,
    /// What was wrong with lines before the hello.
    early: Vec<String>,
}

/// How far a program has come.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// No hello yet.
    Starting,
    /// It takes jobs, and speaks this way.
    Ready(Way),
    /// It takes no more; what it has may finish.
    Retired(Way),
    /// It is gone; how it went, in words.
    Ended(String),
}

/// The two pairs of pipes that a program may speak over; it chooses by where it says its hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// stdin and stdout.
    Standard,
    /// `CONFORMANCE_IN` and `CONFORMANCE_OUT`. Its stdout is then free text.
    Side,
}

/// Who waits for a job.
#[derive(Debug)]
struct Ticket {
    live: mpsc::UnboundedSender<Live>,
    reply: oneshot::Sender<Reply>,
}

/// Lines on their way to the program. Dropping a sender closes the pipe when all is written.
#[derive(Debug)]
struct Inputs {
    standard: Option<mpsc::UnboundedSender<Vec<u8>>>,
    side: Option<mpsc::UnboundedSender<Vec<u8>>>,
}

impl Inputs {
    fn say(&self, way: Way, line: Vec<u8>) {
        let input = match way {
            Way::Standard => &self.standard,
            Way::Side => &self.side,
        };
        if let Some(input) = input {
            // A program that has closed its input is found out by its silence.
            drop(input.send(line));
        }
    }

    fn close(&mut self) {
        self.standard = None;
        self.side = None;
    }
}

impl Program {
    /// Starts the manifest's command and waits for its hello.
    pub(super) async fn start(
        manifest: &Manifest,
        limits: Limits,
    ) -> Result<(Self, Hello), StartError> {
        let (tender, hello) =
            Tender::spawn(manifest, limits).map_err(|source| spawn_error(manifest, source))?;
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
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn_error(manifest: &Manifest, source: io::Error) -> StartError {
    let hint = if source.kind() != io::ErrorKind::NotFound {
        String::new()
    } else if manifest.setup.is_empty() {
        " (is it installed, and its path relative to the manifest's folder?)".to_owned()
    } else {
        format!(" (has it been set up? `setup {}` does it)", manifest.file)
    };
    StartError::Spawn {
        program: manifest.command.first().cloned().unwrap_or_default(),
        folder: manifest.folder.display().to_string(),
        source,
        hint,
    }
}

/// The loop's side of a program.
struct Tender {
    shared: Arc<Mutex<Shared>>,
    hello: Option<oneshot::Sender<Result<Hello, StartError>>>,
    orders: mpsc::UnboundedReceiver<Order>,
    orders_sender: mpsc::UnboundedSender<Order>,
    ended: watch::Sender<bool>,
    leave: Duration,
    child: Child,
    group: Group,
    standard: Reader,
    side: Reader,
    stderr: Reader,
    writers: [JoinHandle<()>; 2],
}

/// One pipe from the program.
struct Reader {
    /// `None` after its end.
    pipe: Option<Pin<Box<dyn AsyncRead + Send>>>,
    lines: Lines,
    buffer: Box<[u8]>,
}

impl Reader {
    fn new(pipe: impl AsyncRead + Send + 'static) -> Self {
        Self {
            pipe: Some(Box::pin(pipe)),
            lines: Lines::default(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
        }
    }

    const fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Bytes, or nothing at the end.
    async fn read(&mut self) -> &[u8] {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        match pipe.read(&mut self.buffer).await {
            Ok(count) if count > 0 => &self.buffer[..count],
            // A pipe that can't be read is at its end.
            _ => {
                self.pipe = None;
                &[]
            }
        }
    }

    /// What is there without waiting.
    async fn read_ready(&mut self) -> Option<&[u8]> {
        if !self.is_open() {
            return None;
        }
        let mut count = None;
        {
            let mut read = pin!(self.read());
            std::future::poll_fn(|context| {
                if let Poll::Ready(bytes) = read.as_mut().poll(context) {
                    count = Some(bytes.len());
                }
                Poll::Ready(())
            })
            .await;
        }
        count.map(|count| &self.buffer[..count])
    }
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
    fn spawn(
        manifest: &Manifest,
        limits: Limits,
    ) -> io::Result<(Self, oneshot::Receiver<Result<Hello, StartError>>)> {
        let (their_in, side_in) = io::pipe()?;
        let (side_out, their_out) = io::pipe()?;
        let (their_in, their_out) = (OwnedFd::from(their_in), OwnedFd::from(their_out));
        let mut command = process::program(&manifest.command, &manifest.folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("CONFORMANCE_IN", SIDE_IN.to_string())
            .env("CONFORMANCE_OUT", SIDE_OUT.to_string());
        let (from_in, from_out) = (their_in.as_raw_fd(), their_out.as_raw_fd());
        // SAFETY: runs in the child between fork and exec, where only async-signal-safe calls are
        // allowed: fcntl and dup2 are, and nothing is allocated.
        unsafe {
            command.pre_exec(move || place(from_in, from_out));
        }
        let mut child = command.spawn()?;
        drop((their_in, their_out));
        let missing = || io::Error::other("a pipe of the new process is missing");
        let group = Group::led_by(&child).ok_or_else(missing)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (standard, standard_lines) = mpsc::unbounded_channel();
        let (side, side_lines) = mpsc::unbounded_channel();
        let writers = [
            tokio::spawn(write(stdin, standard_lines)),
            tokio::spawn(write(
                pipe::Sender::from_owned_fd(OwnedFd::from(side_in))?,
                side_lines,
            )),
        ];
        let shared = Shared {
            phase: Phase::Starting,
            desk: Desk::default(),
            tickets: BTreeMap::new(),
            tail: Tail::default(),
            inputs: Inputs {
                standard: Some(standard),
                side: Some(side),
            },
            early: Vec::new(),
        };
        let (orders_sender, orders) = mpsc::unbounded_channel();
        let (hello, greeting) = oneshot::channel();
        let (ended, _) = watch::channel(false);
        let tender = Self {
            shared: Arc::new(Mutex::new(shared)),
            hello: Some(hello),
            orders,
            orders_sender,
            ended,
            leave: limits.leave,
            child,
            group,
            standard: Reader::new(stdout),
            side: Reader::new(pipe::Receiver::from_owned_fd(OwnedFd::from(side_out))?),
            stderr: Reader::new(stderr),
            writers,
        };
        Ok((tender, greeting))
    }

    /// Reads until the program is gone and its pipes have ended.
    async fn tend(mut self) {
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
    fn conclude(mut self, status: String) {
        for (way, rest) in [
            (Way::Standard, self.standard.lines.rest()),
            (Way::Side, self.side.lines.rest()),
        ] {
            // A last line without LF counts if it is a message; a torn one is part of the crash.
            if let Some(rest) = rest
                && serde_json::from_slice::<serde::de::IgnoredAny>(&rest).is_ok()
            {
                self.handle_line(way, &Line::Whole(rest));
            }
        }
        let stderr = {
            let mut shared = lock(&self.shared);
            shared.desk.end_all(&Reply::AdapterDied(status.clone()));
            shared.phase = Phase::Ended(status.clone());
            shared.inputs.close();
            shared.tail.words()
        };
        self.flush();
        self.greet(Err(StartError::Ended { status, stderr }));
        for writer in &self.writers {
            writer.abort();
        }
        self.ended.send_replace(true);
    }
}

/// Puts the two pipes where the program is told that they are, open over exec.
fn place(from_in: RawFd, from_out: RawFd) -> io::Result<()> {
    /// Above both places, so that neither pipe is overwritten before it is moved.
    const ASIDE: RawFd = 10;
    let checked = |result: RawFd| match result {
        -1 => Err(io::Error::last_os_error()),
        fd => Ok(fd),
    };
    // SAFETY: fcntl and dup2 take integers and touch no memory of ours; what stood at the two places
    // before is the child's copy of something of the harness that was to be closed on exec.
    unsafe {
        let from_in = checked(libc::fcntl(from_in, libc::F_DUPFD_CLOEXEC, ASIDE))?;
        let from_out = checked(libc::fcntl(from_out, libc::F_DUPFD_CLOEXEC, ASIDE))?;
        checked(libc::dup2(from_in, SIDE_IN))?;
        checked(libc::dup2(from_out, SIDE_OUT))?;
    }
    Ok(())
}

/// Writes lines until there are no more senders; then the pipe is closed.
async fn write(mut pipe: impl AsyncWrite + Unpin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if pipe.write_all(&line).await.is_err() {
            // The program has closed its end; it will be silent, or it is gone.
            return;
        }
    }
}
