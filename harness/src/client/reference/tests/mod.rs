//! Whole jobs against servers of a few bytes, in memory, on a paused clock.

mod bugs;
mod exec;
mod execute;
mod files;
mod http;
mod raw;
mod sockets;
mod stream;
mod time;

use super::Reference;
use crate::{
    client::job::{JobRequest, Live},
    observed::JobResult,
};
use fake_server::{
    net::{Connector, MemoryNet, memory::Pipe},
    wire::Op,
};
use serde_json::{Map, Value, json};
use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

/// What a connection does when a request has come.
#[derive(Clone, Debug)]
enum Act {
    Bytes(Vec<u8>),
    Pause(u64),
    Fin,
    Reset,
    /// Nothing more until the client leaves.
    Hold,
}
use Act::{Fin, Hold, Pause, Reset};

type Script = Vec<Act>;

/// One request that came.
#[derive(Clone, Debug, Default)]
struct Asked {
    connection: usize,
    /// Method and target.
    line: String,
    head: String,
    body: String,
    /// Milliseconds since the beginning.
    at: u64,
    /// When the client closed while the answer was held.
    closed: Option<u64>,
}

/// What one job came to.
#[derive(Debug)]
struct Told {
    result: JobResult,
    asked: Vec<Asked>,
    live: Vec<Live>,
    /// Milliseconds that it took.
    took: u64,
}

impl Told {
    fn outcome(&self) -> &str {
        &self.result.outcome
    }

    fn kind(&self) -> &str {
        self.result.error.as_ref().map_or("", |error| &error.kind)
    }

    fn stdout(&self) -> &str {
        std::str::from_utf8(self.result.stdout.as_ref().unwrap()).unwrap()
    }

    /// The requests, without the common beginning of their paths.
    fn lines(&self) -> Vec<String> {
        let short = |asked: &Asked| {
            let line = asked.line.replace("/v1/sandboxes/sb/processes", "");
            line.replace("GET /p/connect", "connect")
        };
        self.asked.iter().map(short).collect()
    }
}

/// A job and how it is run.
struct Case {
    client: Reference,
    job: JobRequest,
    scripts: Vec<Script>,
    /// When to cancel, in milliseconds.
    cancel: Option<u64>,
}

fn case(op: Op, scripts: Vec<Script>) -> Case {
    let mut fields = Map::new();
    match op {
        Op::Execute | Op::Terminal | Op::Exec | Op::ExecStream => {
            fields.insert("command".to_owned(), json!(["run", "it"]));
        }
        Op::Upload | Op::Download => {
            fields.insert("path".to_owned(), json!("/a b+c"));
            if op == Op::Upload {
                fields.insert("data_base64".to_owned(), json!("b25l"));
            }
        }
        _ => {
            fields.insert("process_id".to_owned(), json!("p"));
            fields.insert("after".to_owned(), json!(0));
        }
    }
    Case {
        client: Reference::conformant(),
        job: JobRequest {
            id: "1".to_owned(),
            op,
            base_url: String::new(),
            api_key: "skp_secret".to_owned(),
            sandbox_id: "sb".to_owned(),
            fields,
            timeout_ms: None,
            secrets: Vec::new(),
        },
        scripts,
        cancel: None,
    }
}

impl Case {
    fn client(mut self, client: Reference) -> Self {
        self.client = client;
        self
    }

    fn field(mut self, name: &str, value: Value) -> Self {
        self.job.fields.insert(name.to_owned(), value);
        self
    }

    fn timeout(mut self, ms: u64) -> Self {
        self.job.timeout_ms = Some(ms);
        self
    }

    fn cancel(mut self, ms: u64) -> Self {
        self.cancel = Some(ms);
        self
    }

    async fn run(mut self) -> Told {
        let net = MemoryNet::new();
        let start = Instant::now();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let authority = serve(&net, self.scripts, Arc::clone(&asked), start);
        self.job.base_url = format!("http://{authority}");
        let (live, mut handed) = mpsc::unbounded_channel();
        let (stop, cancel) = watch::channel(false);
        if let Some(ms) = self.cancel {
            tokio::spawn(async move {
                sleep(Duration::from_millis(ms)).await;
                let _ = stop.send(true);
            });
        }
        let connector = Connector::Memory(net);
        let result = self.client.run(&self.job, &connector, &live, cancel).await;
        let took = since(start);
        // One turn for the server to see what the client closed last.
        sleep(Duration::from_millis(1)).await;
        drop(live);
        let mut told = Told {
            result,
            asked: asked.lock().unwrap().clone(),
            live: Vec::new(),
            took,
        };
        while let Some(live) = handed.recv().await {
            told.live.push(live);
        }
        told
    }
}

async fn follow(scripts: Vec<Script>) -> Told {
    case(Op::Follow, scripts).run().await
}

fn since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap()
}

/// Answers requests in the order in which they come, each by the next script; resets what comes after.
fn serve(
    net: &MemoryNet,
    scripts: Vec<Script>,
    asked: Arc<Mutex<Vec<Asked>>>,
    start: Instant,
) -> String {
    let mut listener = net.listen();
    let authority = listener.authority().to_owned();
    let scripts = Arc::new(Mutex::new(VecDeque::from(scripts)));
    tokio::spawn(async move {
        for connection in 1.. {
            let pipe = poll_fn(|cx| listener.poll_accept(cx)).await;
            let scripts = Arc::clone(&scripts);
            tokio::spawn(answer(pipe, connection, scripts, Arc::clone(&asked), start));
        }
    });
    authority
}

async fn answer(
    mut pipe: Pipe,
    connection: usize,
    scripts: Arc<Mutex<VecDeque<Script>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    start: Instant,
) {
    while let Some(mut request) = read_request(&mut pipe).await {
        request.connection = connection;
        request.at = since(start);
        let number = asked.lock().unwrap().len();
        asked.lock().unwrap().push(request);
        let script = scripts.lock().unwrap().pop_front();
        for act in script.unwrap_or_else(|| vec![Reset]) {
            match act {
                Act::Bytes(bytes) => {
                    if pipe.write_all(&bytes).await.is_err() {
                        asked.lock().unwrap()[number].closed = Some(since(start));
                        return;
                    }
                }
                Pause(ms) => sleep(Duration::from_millis(ms)).await,
                Fin => return,
                Reset => return pipe.reset(),
                Hold => {
                    let _ = pipe.read(&mut [0; 16]).await;
                    asked.lock().unwrap()[number].closed = Some(since(start));
                    return;
                }
            }
        }
    }
}

async fn read_request(pipe: &mut Pipe) -> Option<Asked> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(pipe.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    pipe.read_exact(&mut body).await.ok()?;
    let line = head.lines().next().unwrap();
    let (method, rest) = line.split_once(' ').unwrap();
    let target = rest.strip_suffix(" http/1.1").unwrap();
    Some(Asked {
        line: format!("{} {target}", method.to_uppercase()),
        head,
        body: String::from_utf8(body).unwrap(),
        ..Asked::default()
    })
}

// What servers say.

fn bytes(text: impl AsRef<[u8]>) -> Act {
    Act::Bytes(text.as_ref().to_vec())
}

fn data(seq: u64, payload: &str) -> String {
    format!(
        "{{\"type\":\"data\",\"seq\":{seq},\"stream\":\"stdout\",\"data_base64\":\"{payload}\"}}\n"
    )
}

const HEARTBEAT: &str = "{\"type\":\"heartbeat\"}\n";
const EXIT: &str = "{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n";
const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
const LAST: &str = "0\r\n\r\n";

/// "a\n", "b\n", "c\n" as frames 1, 2, 3.
fn frames() -> [String; 3] {
    [data(1, "YQo="), data(2, "Ygo="), data(3, "Ywo=")]
}

fn chunk(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    [format!("{:x}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat()
}

/// A stream of these chunks, open at its end.
fn open(chunks: &[&str]) -> Vec<Act> {
    let mut acts = vec![bytes(STREAM)];
    acts.extend(chunks.iter().map(|text| bytes(chunk(text))));
    acts
}

/// A stream of these chunks that ends cleanly; the connection stays.
fn whole(chunks: &[&str]) -> Script {
    then(open(chunks), [bytes(LAST)])
}

fn then(mut acts: Script, more: impl IntoIterator<Item = Act>) -> Script {
    acts.extend(more);
    acts
}

fn status(status: u16) -> Script {
    vec![bytes(format!(
        "HTTP/1.1 {status} Whatever\r\nContent-Length: 6\r\n\r\nsecret"
    ))]
}

fn envelope(text: &str) -> Script {
    let length = text.len();
    vec![bytes(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{text}"
    ))]
}

fn created() -> Script {
    envelope(r#"{"status":"success","data":{"process_id":"p"}}"#)
}

fn acknowledged() -> Script {
    envelope(r#"{"status":"success","data":{"ok":true}}"#)
}

fn deleted() -> Script {
    envelope(r#"{"status":"success","data":{"tree_exited":true}}"#)
}
