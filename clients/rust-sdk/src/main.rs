//! Asks the CreateOS SDK for Rust (`createos` on crates.io) what the harness wants to know.
//!
//! It does what the SDK's documentation shows and nothing else: a client, a handle to the sandbox, a call or a loop over
//! the events of a stream. No retry, no check and no clean-up is added. JSON lines on stdin and stdout, one task a job.
//! Who cancels drops the future, which is how any call is cancelled in Rust.

mod ops;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, stdin},
    sync::oneshot,
};

/// Of the SDK, as Cargo.toml pins it.
const VERSION: &str = "0.1.0";

/// The running jobs, and how each is told that its caller wants to stop.
type Running = Arc<Mutex<BTreeMap<String, oneshot::Sender<()>>>>;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("{VERSION}");
        return Ok(());
    }
    let mut capabilities = ops::NAMES.to_vec();
    capabilities.push("cancel");
    say(
        "hello",
        json!({
            "protocol": 1,
            "client": { "name": "createos", "version": VERSION, "language": "Rust" },
            "capabilities": capabilities,
        }),
    );
    let running = Running::default();
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let message: Value = serde_json::from_str(&line)?;
        let id = text(&message, "id");
        match message["type"].as_str() {
            Some("job") => {
                let (stop, stopped) = oneshot::channel();
                lock(&running).insert(id, stop);
                tokio::spawn(answer(message, stopped, Arc::clone(&running)));
            }
            Some("cancel") => {
                if let Some(stop) = lock(&running).remove(&id) {
                    // A job that has just ended hears nothing any more.
                    let _ = stop.send(());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// One job to its end, or to its caller's.
async fn answer(job: Value, stopped: oneshot::Receiver<()>, running: Running) {
    let id = text(&job, "id");
    let mut result = tokio::select! {
        result = ops::run(&job) => result,
        Ok(()) = stopped => json!({ "outcome": "cancelled" }),
    };
    lock(&running).remove(&id);
    result["id"] = id.into();
    say("result", result);
}

/// One message.
fn say(kind: &str, fields: Value) {
    let mut message = Map::new();
    message.insert("type".to_owned(), kind.into());
    if let Value::Object(fields) = fields {
        message.extend(fields);
    }
    // Who does not read any more gets nothing more: the harness has ended.
    let _ = writeln!(std::io::stdout().lock(), "{}", Value::Object(message));
}

/// A field of a message that is text.
fn text(message: &Value, name: &str) -> String {
    message[name].as_str().unwrap_or_default().to_owned()
}

/// A field that holds bytes.
fn bytes(message: &Value, name: &str) -> Vec<u8> {
    STANDARD.decode(text(message, name)).unwrap_or_default()
}

fn base64(bytes: impl AsRef<[u8]>) -> Value {
    STANDARD.encode(bytes).into()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
