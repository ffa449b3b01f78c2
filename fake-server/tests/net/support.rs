//! Plans made by hand, and a client that sees every byte.

use fake_server::{
    net::{MemoryNet, Options, Server, Socket, Transport},
    script::model::{
        Attempts, Behaviour, Content, Expect, Fault, Job, Plan, SandboxTruth, Step, Truth,
        TruthExit, TruthFrame,
    },
    wire::{Call, Op, ProcessKind, StreamName},
    wirelog::{Exchange, WireLog},
};
use std::{io, sync::Arc, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A process that wrote `frames` lines and exited with 0, followed from the beginning.
pub(crate) fn plan(frames: u64, faults: Vec<Behaviour>) -> Plan {
    let faults = faults
        .into_iter()
        .zip(1..)
        .map(|(behaviour, attempt)| fault(attempt as usize, Call::Connect, attempt, behaviour))
        .collect();
    plan_with(frames, faults)
}

/// The same with faults on any calls.
pub(crate) fn plan_with(frames: u64, faults: Vec<Fault>) -> Plan {
    let frames = (1..=frames)
        .map(|seq| TruthFrame {
            seq,
            stream: StreamName::Stdout,
            data: format!("line {seq}\n").as_str().into(),
            pause_ms: 0,
        })
        .collect();
    Plan {
        id: "test/plan".to_owned(),
        title: String::new(),
        requirements: Vec::new(),
        fault_kinds: Vec::new(),
        why: String::new(),
        op: Op::Follow,
        needs: Vec::new(),
        deadline_ms: 10_000,
        job: Job::default(),
        sandbox: SandboxTruth {
            state: "running".to_owned(),
            lag: 0,
            files: Vec::new(),
        },
        truth: Truth {
            kind: ProcessKind::Pipe,
            first_seq: 1,
            frames,
            exit: TruthExit::Status {
                code: Some(0),
                signal: None,
                pause_ms: 0,
            },
            heartbeat_ms: 5_000,
            journal_bytes: 1 << 20,
            children: 0,
            live: false,
        },
        faults,
        expect: Expect::default(),
        seed: 0,
    }
}

pub(crate) fn fault(number: usize, on: Call, attempt: u32, behaviour: Behaviour) -> Fault {
    Fault {
        number,
        on: Some(on),
        attempts: Attempts::Nth(attempt),
        when_after: None,
        on_connection: None,
        bait: false,
        behaviour,
    }
}

pub(crate) fn stream(steps: Vec<Step>) -> Behaviour {
    Behaviour {
        content: Content::Stream(steps),
        ..Behaviour::default()
    }
}

pub(crate) fn text(body: &str) -> Behaviour {
    Behaviour {
        content: Content::Text(body.to_owned()),
        ..Behaviour::default()
    }
}

/// The line of a true frame of [`plan`].
pub(crate) fn line(seq: u64) -> String {
    let data = format!("line {seq}\n");
    let line = fake_server::wire::frame::data_line(seq, StreamName::Stdout, data.as_bytes());
    String::from_utf8(line).unwrap()
}

pub(crate) const EXIT: &str = "{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n";

pub(crate) fn tcp(plan: Plan) -> Server {
    Server::start(Arc::new(plan), Options::default()).unwrap()
}

pub(crate) fn memory(plan: Plan) -> Server {
    let options = Options {
        transport: Transport::Memory(MemoryNet::new()),
        ..Options::default()
    };
    Server::start(Arc::new(plan), options).unwrap()
}

/// One connection of a client.
pub(crate) struct Client {
    pub(crate) socket: Socket,
    key: String,
    base: String,
}

impl Client {
    pub(crate) async fn connect(server: &Server) -> Self {
        Self::try_connect(server).await.unwrap()
    }

    pub(crate) async fn try_connect(server: &Server) -> io::Result<Self> {
        let names = server.names();
        let authority = names.base_url.strip_prefix("http://").unwrap();
        Ok(Self {
            socket: server.connector().connect(authority).await?,
            key: names.api_key.clone(),
            base: format!(
                "/v1/sandboxes/{}/processes/{}",
                names.sandbox_id, names.process_id
            ),
        })
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    /// A request line and headers, without a body.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str) -> String {
        let Self { key, base, .. } = self;
        format!("{method} {base}{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n{headers}\r\n")
    }

    pub(crate) async fn ask(&mut self, method: &str, path: &str, headers: &str) {
        let text = self.request(method, path, headers);
        self.send(&text).await;
    }

    /// Asks for the stream.
    pub(crate) async fn follow(&mut self, after: u64) {
        self.ask("GET", &format!("/connect?after={after}"), "")
            .await;
    }

    /// Reads up to and including this text; all that was read.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        let mut read = Vec::new();
        while !read.ends_with(end.as_bytes()) {
            let byte = self.socket.read_u8().await.unwrap_or_else(|error| {
                let read = String::from_utf8_lossy(&read);
                panic!("{error} instead of {end:?} after {read:?}")
            });
            read.push(byte);
        }
        String::from_utf8(read).unwrap()
    }

    /// Reads an answer with a `Content-Length`; its head and its body.
    pub(crate) async fn answer(&mut self) -> (String, String) {
        let head = self.until("\r\n\r\n").await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap_or_else(|| panic!("no length in {head}"));
        let mut body = vec![0; length.parse().unwrap()];
        self.socket.read_exact(&mut body).await.unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// Reads to the end; what came, and the error that ended it.
    pub(crate) async fn rest(&mut self) -> (String, Option<io::ErrorKind>) {
        let mut read = Vec::new();
        let error = self.socket.read_to_end(&mut read).await.err();
        (
            String::from_utf8_lossy(&read).into_owned(),
            error.map(|error| error.kind()),
        )
    }
}

/// Chunks of one frame each.
pub(crate) fn chunked<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines
        .into_iter()
        .map(|line| format!("{:x}\r\n{line}\r\n", line.len()))
        .collect()
}

pub(crate) const ZERO: &str = "0\r\n\r\n";

/// Stops the server once the client has what it wants and everything is acknowledged.
pub(crate) async fn finish(server: Server) -> WireLog {
    assert!(server.settled(Duration::from_secs(20)).await, "it settles");
    server.stop().await
}

pub(crate) fn connects(log: &WireLog) -> Vec<&Exchange> {
    log.exchanges
        .iter()
        .filter(|exchange| exchange.call == Some(Call::Connect))
        .collect()
}
