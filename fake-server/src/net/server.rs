//! A trial's server: its port, its trap, its connections, and the questions that a harness asks it.

use super::{
    conn,
    door::Door,
    event::{Observer, WireEvent},
    memory::MemoryNet,
    socket::Connector,
    trap,
    trial::Trial,
};
use crate::{
    script::model::{Cancel, CancelPoint, Plan},
    session::RefusalDue,
    wire::ids,
    wirelog::{Names, WireLog},
    world,
};
use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep, sleep_until, timeout},
};

/// Body bytes that a trial's log keeps, unless said otherwise.
pub const LOG_LIMIT_BYTES: u64 = 64 << 20;
/// How long the door rests when the system cannot give it another connection (too many open files).
const NO_SOCKET_REST: Duration = Duration::from_millis(5);

/// What connections are made of.
#[derive(Clone, Debug, Default)]
pub enum Transport {
    /// The kernel's, on a port.
    #[default]
    Tcp,
    /// Pipes in this network.
    Memory(MemoryNet),
}

/// What a server holds in memory, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Sandboxes, processes, journals and files.
    pub world: world::Held,
    /// Connections that are open, each with a task.
    pub connections: usize,
    /// Answers that are under way.
    pub answers: usize,
    /// Exchanges in the log: all of them stay, a few hundred bytes each.
    pub exchanges: usize,
    /// Bytes of bodies and headers that the log has kept: up to twice [`Options::log_limit_bytes`].
    pub log_bytes: u64,
}

/// How a trial is served.
#[derive(Clone)]
pub struct Options {
    /// Over what.
    pub transport: Transport,
    /// The names of the trial; `base_url` and `trap_url` are always set by the server. Absent: made
    /// from the plan and the trial's number.
    pub names: Option<Names>,
    /// The trial's number in the run, so that no two share a key or an id.
    pub trial: u64,
    /// Bytes of bodies that the log keeps, and as many of headers; what is beyond is counted only. Method,
    /// target and times of every exchange are always kept, a few hundred bytes.
    pub log_limit_bytes: u64,
    /// Hears everything at once, for a live view.
    pub observer: Option<Observer>,
    /// The scenario starts again for each new process (for playing by hand).
    pub restart_per_process: bool,
    /// Where TCP listens; port 0 is any free one.
    pub bind: SocketAddr,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            transport: Transport::Tcp,
            names: None,
            trial: 0,
            log_limit_bytes: LOG_LIMIT_BYTES,
            observer: None,
            restart_per_process: false,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("transport", &self.transport)
            .field("trial", &self.trial)
            .field("bind", &self.bind)
            .finish_non_exhaustive()
    }
}

/// A server that plays one plan. Dropping it ends it; [`Server::stop`] ends it and gives the log.
pub struct Server {
    trial: Arc<Trial>,
    names: Names,
    connector: Connector,
    stop: Option<oneshot::Sender<()>>,
    doors: Option<JoinHandle<()>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Starts to serve. To be called inside a tokio runtime; it listens when this returns.
    ///
    /// # Errors
    /// When the address cannot be bound (`AddrInUse`), or the system has no socket left.
    pub fn start(plan: Arc<Plan>, options: Options) -> io::Result<Self> {
        let (mut door, trap, connector) = match &options.transport {
            Transport::Tcp => {
                let trap = if trap::is_wanted(&plan) {
                    Some(Door::tcp(SocketAddr::new(options.bind.ip(), 0))?)
                } else {
                    None
                };
                (Door::tcp(options.bind)?, trap, Connector::Tcp)
            }
            Transport::Memory(net) => (
                Door::memory(net),
                trap::is_wanted(&plan).then(|| Door::memory(net)),
                Connector::Memory(net.clone()),
            ),
        };
        let mut names = options
            .names
            .unwrap_or_else(|| made_up(&plan.id, options.trial));
        names.base_url = door.url();
        names.trap_url = trap.as_ref().map(Door::url).unwrap_or_default();
        let (commands, refusals) = mpsc::unbounded_channel();
        let trial = Arc::new(Trial::new(
            plan,
            names.clone(),
            options.log_limit_bytes,
            commands,
            options.restart_per_process,
            options.observer,
        ));
        // A refusal before the first request holds from the very beginning.
        let first = match trial.first_refusal() {
            None => None,
            Some(due) => {
                let before = door.refused();
                door.shut()?;
                // Noted here: a client may have met it before the task below runs.
                Some((due, Refusing::begin(&trial, before, due.fault)))
            }
        };
        let (stop, stopped) = oneshot::channel();
        let doors = tokio::spawn(keep(
            Arc::clone(&trial),
            door,
            trap,
            refusals,
            first,
            stopped,
        ));
        Ok(Self {
            trial,
            names,
            connector,
            stop: Some(stop),
            doors: Some(doors),
        })
    }

    /// The names of the trial, where it listens among them.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// How connections to it are made.
    #[must_use]
    pub fn connector(&self) -> Connector {
        self.connector.clone()
    }

    /// The client has handed the frame with this seq to its caller (`until = "delivered"`).
    pub fn delivered(&self, seq: u64) {
        self.trial.deliver(seq);
    }

    /// Resolves when that moment of that call has come (its `plus_ms` is for the caller to wait). Where
    /// it never comes, it stays pending.
    pub fn moment(&self, cancel: &Cancel) -> impl Future<Output = ()> + Send + use<> {
        let trial = Arc::clone(&self.trial);
        let Cancel {
            on, attempt, at, ..
        } = *cancel;
        async move {
            match at {
                CancelPoint::Sent => trial.until(|log| log.is_sent(on, attempt)).await,
                CancelPoint::Answered => trial.until(|log| log.is_answered(on, attempt)).await,
                CancelPoint::Frame(n) => {
                    trial
                        .until_acked(|log| log.frames_acked(on, attempt) >= n)
                        .await;
                }
            }
        }
    }

    /// Resolves when more than this many requests came, or connections were accepted or refused: a client that floods.
    pub fn flooded(&self, most: usize) -> impl Future<Output = ()> + Send + use<> {
        let trial = Arc::clone(&self.trial);
        async move { trial.until(|recorder| recorder.arrivals() > most).await }
    }

    /// Resolves when every connection is closed, or idle with all it was sent acknowledged, or when
    /// the grace is over. One on which an answer broke off is never idle: it is the client's to close. Says which: true for settled.
    pub async fn settled(&self, grace: Duration) -> bool {
        timeout(grace, self.trial.settled()).await.is_ok()
    }

    /// Microseconds since the trial began: the log's clock.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        self.trial.now()
    }

    /// What the server holds in memory by now.
    #[must_use]
    pub fn held(&self) -> Held {
        self.trial.held()
    }

    /// The log so far.
    #[must_use]
    pub fn log(&self) -> WireLog {
        self.trial.log()
    }

    /// Ends everything that is still open and gives the log.
    pub async fn stop(mut self) -> WireLog {
        self.trial.is_over();
        drop(self.stop.take());
        if let Some(doors) = self.doors.take() {
            // It ends by the stop, or was ended with the runtime; there is nothing to hear from it.
            let _ = doors.await;
        }
        self.trial.log()
    }
}

/// Names for a trial: the same trial has the same, no two share any.
fn made_up(plan: &str, trial: u64) -> Names {
    let made = |prefix, what: &str| ids::derived(prefix, &format!("{what} of {plan}"), trial);
    Names {
        api_key: made("skp_", "key"),
        canary: made("canary-", "canary"),
        sandbox_id: made("sb-", "sandbox"),
        process_id: made("proc_", "process"),
        ..Names::default()
    }
}

type Refusals = mpsc::UnboundedReceiver<(RefusalDue, oneshot::Sender<()>)>;

/// Keeps the doors of a trial until it is stopped: accepts, refuses when told, and holds the
/// connections' tasks, which end with it.
async fn keep(
    trial: Arc<Trial>,
    mut door: Door,
    mut trap: Option<Door>,
    mut refusals: Refusals,
    first: Option<(RefusalDue, Refusing)>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    let work = async {
        if let Some((due, begun)) = first {
            refuse(&trial, &mut door, due, Some(begun), None).await;
        }
        loop {
            tokio::select! {
                biased;
                // The sender lives in the trial, which we hold.
                Some((due, closed)) = refusals.recv() => {
                    refuse(&trial, &mut door, due, None, Some(closed)).await;
                }
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = door.accept() => match accepted {
                    Ok(socket) => {
                        connections.spawn(conn::serve(Arc::clone(&trial), socket));
                    }
                    Err(_) => sleep(NO_SOCKET_REST).await,
                },
                accepted = accept(&mut trap) => match accepted {
                    Ok(socket) => {
                        connections.spawn(trap::serve(Arc::clone(&trial), socket));
                    }
                    Err(_) => sleep(NO_SOCKET_REST).await,
                },
            }
        }
    };
    tokio::select! {
        biased;
        _ = &mut stopped => {}
        () = work => {}
    }
    connections.shutdown().await;
}

async fn accept(door: &mut Option<Door>) -> io::Result<super::Socket> {
    match door {
        Some(door) => door.accept().await,
        None => std::future::pending().await,
    }
}

/// A refusal that has begun: its place in the log, and how many connections had been refused before.
struct Refusing {
    place: usize,
    before: u32,
}

impl Refusing {
    /// Notes it. The door is shut; `before` that so many had been refused. (Who was not accepted yet is as it shuts.)
    fn begin(trial: &Trial, before: u32, fault: usize) -> Self {
        let (place, at_us) = trial.record(|recorder, now| (recorder.refusing(fault, now), now));
        trial.tell(WireEvent::Refusing { at_us, fault });
        Self { place, before }
    }
}

/// Refuses until a connection was refused (where that can be seen) or the time is over, and goes on
/// with the next refusal where one follows at once.
async fn refuse(
    trial: &Trial,
    door: &mut Door,
    due: RefusalDue,
    begun: Option<Refusing>,
    closed: Option<oneshot::Sender<()>>,
) {
    let mut next = Some(due);
    let (mut begun, mut closed) = (begun, closed);
    while let Some(due) = next {
        let before = door.refused();
        // It fails only on a socket that is no socket.
        let _ = door.shut();
        let Refusing { place, before } = begun
            .take()
            .unwrap_or_else(|| Refusing::begin(trial, before, due.fault));
        if let Some(closed) = closed.take() {
            // Who asked may have gone with its connection.
            let _ = closed.send(());
        }
        tokio::select! {
            biased;
            () = door.refused_more_than(before) => {}
            () = sleep_until(super::later(Instant::now(), due.hold_ms)) => {}
        }
        let refused = door.refused() - before;
        next = trial.refused(due.fault);
        if next.is_none() {
            // The port is still ours; another program listening on it is the only thing that could
            // fail here, and then nothing but the log can tell.
            while door.reopen().is_err() {
                sleep(NO_SOCKET_REST).await;
            }
        }
        let at_us = trial.record(|recorder, now| {
            recorder.listening(place, refused, now);
            now
        });
        trial.tell(WireEvent::Listening {
            at_us,
            fault: due.fault,
            refused,
        });
    }
}
