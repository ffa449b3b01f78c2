//! What is gone gives its memory back. Counted, not measured: what a process keeps resident is in docs/benchmarks.md.

use crate::support::plan;
use fake_server::{
    net::{Held, MemoryNet, Options, Server, Socket, Transport},
    script::model::{Plan, TruthExit},
};
use std::{io, sync::Arc};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    sync::Barrier,
    task::JoinSet,
};

const SANDBOXES: usize = 1_000;
const PROCESSES: usize = 10;
/// Bytes of log that the test's server keeps.
const LOG: u64 = 1 << 20;

/// A keep-alive connection.
struct Line {
    socket: BufReader<Socket>,
    key: String,
}

impl Line {
    async fn open(server: &Server) -> io::Result<Self> {
        let names = server.names();
        let authority = names.base_url.trim_start_matches("http://");
        Ok(Self {
            socket: BufReader::new(server.connector().connect(authority).await?),
            key: names.api_key.clone(),
        })
    }

    /// Asks, and reads the answer to its end.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> io::Result<String> {
        let request = format!(
            "{method} /v1/sandboxes{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.socket.get_mut().write_all(request.as_bytes()).await?;
        let mut length = None;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            self.socket.read_line(&mut line).await?;
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim_end().parse().ok();
            }
        }
        let mut said = Vec::new();
        match length {
            Some(length) => self.exactly(length, &mut said).await?,
            None => loop {
                line.clear();
                self.socket.read_line(&mut line).await?;
                let size = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
                self.exactly(size, &mut said).await?;
                self.socket.read_line(&mut line).await?;
                if size == 0 {
                    break;
                }
            },
        }
        String::from_utf8(said).map_err(io::Error::other)
    }

    async fn exactly(&mut self, bytes: usize, said: &mut Vec<u8>) -> io::Result<()> {
        let from = said.len();
        said.resize(from + bytes, 0);
        self.socket.read_exact(&mut said[from..]).await.map(drop)
    }

    /// Asks for something new; its id.
    async fn make(&mut self, path: &str, body: &str, field: &str) -> io::Result<String> {
        let said = self.ask("POST", path, body).await?;
        let said: serde_json::Value = serde_json::from_str(&said).map_err(io::Error::other)?;
        let id = said["data"][field].as_str();
        Ok(id
            .unwrap_or_else(|| panic!("no {field} in {said}"))
            .to_owned())
    }
}

fn serve(plan: Plan) -> Arc<Server> {
    let options = Options {
        transport: Transport::Memory(MemoryNet::new()),
        restart_per_process: true,
        log_limit_bytes: LOG,
        ..Options::default()
    };
    Arc::new(Server::start(Arc::new(plan), options).unwrap())
}

/// A sandbox with its processes: all are made, then, when everybody's are, followed to the end and deleted, and the
/// sandbox with them.
async fn lease(server: Arc<Server>, all: Arc<Barrier>) -> io::Result<()> {
    let mut line = Line::open(&server).await?;
    let sandbox = line.make("", r#"{"shape":"s-1vcpu-1gb"}"#, "id").await?;
    let file = format!("/{sandbox}/files?path=/data");
    line.ask("PUT", &file, "contents").await?;
    let processes = format!("/{sandbox}/processes");
    let mut made = Vec::new();
    for _ in 0..PROCESSES {
        let body = r#"{"cmd":"run.sh"}"#;
        made.push(line.make(&processes, body, "process_id").await?);
    }
    all.wait().await;
    for process in &made {
        let path = format!("{processes}/{process}");
        let frames = line
            .ask("GET", &format!("{path}/connect?after=0"), "")
            .await?;
        assert_eq!(frames.lines().count(), 4, "{frames}");
    }
    all.wait().await;
    for process in &made {
        let path = format!("{processes}/{process}?grace_ms=0");
        let said = line.ask("DELETE", &path, "").await?;
        assert!(said.contains(r#""tree_exited":true"#), "{said}");
    }
    line.ask("DELETE", &format!("/{sandbox}"), "").await?;
    Ok(())
}

/// A thousand sandboxes with ten processes each, side by side; what was held while all of them were there.
async fn wave(server: &Arc<Server>) -> Held {
    let all = Arc::new(Barrier::new(SANDBOXES + 1));
    let mut leases = JoinSet::new();
    for _ in 0..SANDBOXES {
        leases.spawn(lease(Arc::clone(server), Arc::clone(&all)));
    }
    all.wait().await;
    all.wait().await;
    let held = server.held();
    while let Some(done) = leases.join_next().await {
        done.unwrap().unwrap();
    }
    held
}

/// Waits until the tasks of closed connections have ended.
async fn quiet(server: &Server) -> Held {
    loop {
        let held = server.held();
        if held.connections == 0 {
            return held;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_thousand_sandboxes_and_ten_thousand_processes_leave_nothing_but_their_records() {
    let server = serve(plan(3, Vec::new()));
    let before = quiet(&server).await;
    let mut exchanges = before.exchanges;
    for round in 1..=2 {
        let full = wave(&server).await;
        // The first and its process are the scenario's own.
        assert_eq!(full.world.sandboxes, SANDBOXES + 1);
        assert_eq!(full.world.journal_entries, 3 * SANDBOXES * PROCESSES);
        assert_eq!(full.world.file_bytes, SANDBOXES * "contents".len());
        let after = quiet(&server).await;
        assert_eq!(after.world.sandboxes, before.world.sandboxes);
        assert_eq!(after.world.processes, before.world.processes);
        assert_eq!(after.world.journal_entries, before.world.journal_entries);
        assert_eq!(after.world.file_bytes, 0);
        assert_eq!(after.answers, 0);
        // What stays on purpose: a record of each thing, a mark of each exchange, and the log up to its limit.
        let made = SANDBOXES * (1 + PROCESSES);
        assert_eq!(after.world.records, before.world.records + round * made);
        assert_eq!(
            after.exchanges - exchanges,
            SANDBOXES * (3 + 3 * PROCESSES),
            "no request was repeated"
        );
        exchanges = after.exchanges;
        assert!(after.log_bytes <= 2 * LOG);
    }
    let server = Arc::into_inner(server).expect("all leases are over");
    let log = server.stop().await;
    assert!(
        log.dropped_bytes > 0,
        "what the log did not keep is counted"
    );
    let ledger = fake_server::ledger::Ledger::of(&log);
    assert_eq!(ledger.left().count(), 0);
    assert_eq!(ledger.made().count(), 2 * SANDBOXES * (1 + PROCESSES));
}

#[tokio::test]
async fn processes_that_never_end_give_their_streams_back_when_they_are_deleted() {
    const STREAMS: usize = 200;
    let mut endless = plan(3, Vec::new());
    endless.truth.exit = TruthExit::Never;
    let server = serve(endless);
    let sandbox = server.names().sandbox_id.clone();
    let mut line = Line::open(&server).await.unwrap();
    let processes = format!("/{sandbox}/processes");
    let before = server.held();
    let mut followed = JoinSet::new();
    let mut made = Vec::new();
    for _ in 0..STREAMS {
        let body = r#"{"cmd":"run.sh"}"#;
        let id = line.make(&processes, body, "process_id").await.unwrap();
        let path = format!("{processes}/{id}/connect?after=0");
        made.push(id);
        let server = Arc::clone(&server);
        followed.spawn(async move {
            let mut line = Line::open(&server).await?;
            line.ask("GET", &path, "").await
        });
    }
    while server.held().answers < STREAMS {
        tokio::task::yield_now().await;
    }
    let full = server.held();
    assert_eq!(full.world.processes, before.world.processes + STREAMS);
    assert_eq!(full.connections, STREAMS + 1, "one asks, the others follow");
    for id in &made {
        let path = format!("{processes}/{id}?grace_ms=0");
        line.ask("DELETE", &path, "").await.unwrap();
    }
    while let Some(frames) = followed.join_next().await {
        let frames = frames.unwrap().unwrap();
        assert!(frames.ends_with("\"signal\":\"SIGTERM\"}\n"), "{frames}");
    }
    drop(line);
    let after = quiet(&server).await;
    assert_eq!(after.world.processes, before.world.processes);
    assert_eq!(after.world.journal_entries, before.world.journal_entries);
    assert_eq!(after.answers, 0);
}
