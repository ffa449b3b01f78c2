//! The ops: each as the SDK's documentation does it.

use crate::{base64, bytes, say, text};
use createos::{
    Client, CreateSandboxRequest, Error, ExecOptions, ExecStreamEventType, Instance,
    ManagedProcessConnectEvent, ManagedProcessConnectOptions, RequestOptions, Result,
    RunCommandRequest, WaitOptions,
};
use serde_json::{Value, json};

/// What can be asked.
pub const NAMES: &[&str] = &[
    "connect",
    "exec",
    "exec-stream",
    "upload",
    "download",
    "acquire",
    "release",
    "pause",
    "resume",
];

/// Does a job; what it came to, or the error as its user sees it.
pub async fn run(job: &Value) -> Value {
    let done = async {
        let client = Client::builder()
            .api_key(text(job, "api_key"))
            .base_url(text(job, "base_url"))
            .build()?;
        if job["op"] == "acquire" {
            return acquire(job, &client).await;
        }
        let sandbox = client.sandbox(&text(job, "sandbox_id")).await?;
        match job["op"].as_str().unwrap_or_default() {
            "connect" => connect(job, &sandbox).await,
            "exec" => exec(job, &sandbox).await,
            "exec-stream" => exec_stream(job, &sandbox).await,
            "upload" => upload(job, &sandbox).await,
            "download" => download(job, &sandbox).await,
            "release" => sandbox.destroy().await.map(ok),
            "pause" => {
                sandbox.pause().await?;
                let paused = sandbox.wait_until_paused(WaitOptions::default()).await;
                paused.map(ok)
            }
            "resume" => {
                sandbox.resume().await?;
                let running = sandbox.wait_until_running(WaitOptions::default()).await;
                running.map(ok)
            }
            _ => Ok(json!({
                "outcome": "error",
                "error": { "kind": "unsupported", "message": "no such op" },
            })),
        }
    };
    done.await
        .unwrap_or_else(|error| json!({ "outcome": "error", "error": failure(&error) }))
}

fn ok((): ()) -> Value {
    json!({ "outcome": "ok" })
}

/// The SDK's own way to read a process. It opens a stream once.
async fn connect(job: &Value, sandbox: &Instance) -> Result<Value> {
    let options = ManagedProcessConnectOptions {
        after_sequence: job["after"].as_i64().unwrap_or_default(),
        ..ManagedProcessConnectOptions::default()
    };
    let processes = sandbox.processes();
    let mut stream = processes.connect(&text(job, "process_id"), options).await?;
    while let Some(event) = stream.next().await? {
        let mut message = told(&event);
        message["id"] = job["id"].clone();
        say("event", message);
    }
    Ok(json!({ "outcome": "ended" }))
}

/// What an event of this type has for its reader.
fn told(event: &ManagedProcessConnectEvent) -> Value {
    let kind = event.kind.as_str();
    match kind {
        "data" => json!({
            "kind": kind,
            "seq": event.sequence,
            "stream": event.stream.as_str(),
            "data_base64": base64(&event.data),
        }),
        "exit" => json!({ "kind": kind, "exit_code": event.exit_code, "signal": event.signal }),
        "error" => json!({ "kind": kind, "error": event.message }),
        "heartbeat" => json!({ "kind": kind }),
        // A type that the SDK does not know it hands over as it came.
        _ => json!({ "kind": "other" }),
    }
}

/// A command with its output in one piece. The SDK hands over text.
async fn exec(job: &Value, sandbox: &Instance) -> Result<Value> {
    let (request, options) = command(job);
    let result = sandbox.run_command(request, options).await?.result;
    Ok(ended(
        &result.standard_output,
        &result.standard_error,
        Some(result.exit_code),
        &result.error_message,
    ))
}

/// A command's events, added up. Whether an exit came is the caller's affair: without one there is no code.
async fn exec_stream(job: &Value, sandbox: &Instance) -> Result<Value> {
    let (request, options) = command(job);
    let mut stream = sandbox.stream_command(request, options).await?;
    let (mut stdout, mut stderr, mut error) = (String::new(), String::new(), String::new());
    let mut code = None;
    while let Some(event) = stream.next().await? {
        match event.kind.as_str() {
            ExecStreamEventType::STDOUT => stdout += &event.data,
            ExecStreamEventType::STDERR => stderr += &event.data,
            ExecStreamEventType::ERROR => error = event.message,
            ExecStreamEventType::EXIT => code = event.exit_code,
            _ => {}
        }
    }
    Ok(ended(&stdout, &stderr, code, &error))
}

fn ended(stdout: &str, stderr: &str, code: Option<i32>, error: &str) -> Value {
    let mut result = if error.is_empty() {
        json!({ "outcome": "exited", "exit_code": code, "signal": null })
    } else {
        json!({ "outcome": "error", "error": { "kind": "stream-error", "message": error } })
    };
    result["stdout_base64"] = base64(stdout);
    result["stderr_base64"] = base64(stderr);
    result
}

fn command(job: &Value) -> (RunCommandRequest, ExecOptions) {
    let words = job["command"].as_array().into_iter().flatten();
    let mut words = words.filter_map(Value::as_str).map(str::to_owned);
    let request = RunCommandRequest {
        command: words.next().unwrap_or_default(),
        arguments: words.collect(),
        ..RunCommandRequest::default()
    };
    let stdin = job["stdin_base64"].as_str().map(|_| {
        let bytes = bytes(job, "stdin_base64");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let options = ExecOptions {
        standard_input: stdin,
        ..ExecOptions::default()
    };
    (request, options)
}

async fn upload(job: &Value, sandbox: &Instance) -> Result<Value> {
    let (path, data) = (text(job, "path"), bytes(job, "data_base64"));
    let files = sandbox.files();
    files
        .upload(&path, data, &RequestOptions::default())
        .await
        .map(ok)
}

async fn download(job: &Value, sandbox: &Instance) -> Result<Value> {
    let files = sandbox.files();
    let response = files
        .download(&text(job, "path"), &RequestOptions::default())
        .await?;
    let data = response.bytes().await?;
    Ok(json!({ "outcome": "ok", "data_base64": base64(data) }))
}

/// A sandbox that runs. Once the SDK has given a handle, its caller knows what was made.
async fn acquire(job: &Value, client: &Client) -> Result<Value> {
    let prefix = job["name_prefix"].as_str().unwrap_or("sandbox");
    let request = CreateSandboxRequest {
        shape: text(job, "shape"),
        rootfs: job["rootfs"].as_str().map(str::to_owned),
        name: Some(format!("{prefix}-{:012x}", rand::random::<u64>() >> 16)),
        ..CreateSandboxRequest::default()
    };
    let sandbox = client.create_sandbox(request).await?;
    let running = sandbox.wait_until_running(WaitOptions::default()).await;
    Ok(match running {
        Ok(()) => json!({ "outcome": "ok", "sandbox_id": sandbox.id() }),
        Err(error) => json!({
            "outcome": "error",
            "sandbox_id": sandbox.id(),
            "error": failure(&error),
        }),
    })
}

/// The error in its own words. Its kind is told only where the SDK has a type for it.
fn failure(error: &Error) -> Value {
    match error {
        Error::Api(api) => json!({
            "kind": "http-error",
            "http_status": api.status.as_u16(),
            "message": error.to_string(),
        }),
        _ => json!({ "kind": "other", "message": error.to_string() }),
    }
}
