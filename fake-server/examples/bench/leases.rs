//! Sandboxes and processes made side by side, followed and deleted, wave after wave: what stays resident.

use crate::child::{Child, Kind};
use std::io::{Error, ErrorKind};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// Connections that make them, each its share.
const CONNECTIONS: usize = 50;
/// Processes a sandbox.
const PROCESSES: usize = 10;
const WAVES: usize = 3;

/// Plays the waves against one server and prints the resident memory before, at the height and after each.
pub(crate) fn measure(sandboxes: usize) -> Result<(), Error> {
    for (plan, log) in [
        ("10", "with its log"),
        ("lean-10", "without bodies and headers in its log"),
    ] {
        waves(sandboxes, plan, log)?;
    }
    Ok(())
}

fn waves(sandboxes: usize, plan: &str, log: &str) -> Result<(), Error> {
    let child = Child::start(Kind::Ours, plan)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let things = sandboxes * (1 + PROCESSES);
    println!(
        "{sandboxes} sandboxes with {PROCESSES} processes each, made, followed and deleted, three times, {log}:"
    );
    runtime.block_on(async {
        let mut lines = Vec::new();
        for _ in 0..CONNECTIONS {
            lines.push(Line::open(&child).await?);
        }
        let mut last = child.resident_kib()?;
        println!("  resident before, KiB {last:>42}");
        for wave in 1..=WAVES {
            let tasks: Vec<_> = std::mem::take(&mut lines)
                .into_iter()
                .map(|line| tokio::spawn(make(line, sandboxes / CONNECTIONS)))
                .collect();
            let mut made = Vec::new();
            for task in tasks {
                made.push(task.await??);
            }
            let full = child.resident_kib()?;
            let tasks: Vec<_> = made
                .into_iter()
                .map(|(line, paths)| tokio::spawn(delete(line, paths)))
                .collect();
            for task in tasks {
                lines.push(task.await??);
            }
            let after = child.resident_kib()?;
            let grown = after.saturating_sub(last) as f64;
            println!(
                "  wave {wave}: resident with all there {full:>8}, when all are gone {after:>8}, {:.2} KiB more a thing",
                grown / things as f64
            );
            last = after;
        }
        Ok(())
    })
}

/// Makes so many sandboxes, their processes, and follows each; the paths to delete.
async fn make(mut line: Line, sandboxes: usize) -> Result<(Line, Vec<String>), Error> {
    let mut paths = Vec::new();
    for _ in 0..sandboxes {
        let said = line
            .ask("POST", "/v1/sandboxes", r#"{"shape":"s-1vcpu-1gb"}"#)
            .await?;
        let sandbox = format!("/v1/sandboxes/{}", id(&said, "\"id\":\"")?);
        for _ in 0..PROCESSES {
            let processes = format!("{sandbox}/processes");
            let said = line.ask("POST", &processes, r#"{"cmd":"run.sh"}"#).await?;
            let process = format!("{processes}/{}", id(&said, "\"process_id\":\"")?);
            line.ask("GET", &format!("{process}/connect?after=0"), "")
                .await?;
            paths.push(process);
        }
        paths.push(sandbox);
    }
    Ok((line, paths))
}

async fn delete(mut line: Line, paths: Vec<String>) -> Result<Line, Error> {
    for path in paths {
        line.ask("DELETE", &path, "").await?;
    }
    Ok(line)
}

fn id<'a>(said: &'a str, key: &str) -> Result<&'a str, Error> {
    said.split_once(key)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(id, _)| id)
        .ok_or_else(|| Error::other(format!("no id in {said}")))
}

/// A keep-alive connection.
struct Line {
    socket: BufReader<TcpStream>,
    key: String,
}

impl Line {
    async fn open(child: &Child) -> Result<Self, Error> {
        let socket = TcpStream::connect(child.address).await?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket: BufReader::new(socket),
            key: child.key.clone(),
        })
    }

    /// Asks, and reads the answer to its end.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<String, Error> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.socket.get_mut().write_all(request.as_bytes()).await?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.socket.read_line(&mut head).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        if !head.starts_with("HTTP/1.1 2") {
            return Err(Error::other(format!("{method} {path}: {head}")));
        }
        let mut said = Vec::new();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if let Some(length) = length {
            self.exactly(length, &mut said).await?;
        } else {
            let mut size = usize::MAX;
            while size > 0 {
                let mut line = String::new();
                self.socket.read_line(&mut line).await?;
                size = usize::from_str_radix(line.trim_end(), 16).map_err(Error::other)?;
                self.exactly(size, &mut said).await?;
                self.socket.read_line(&mut line).await?;
            }
        }
        String::from_utf8(said).map_err(Error::other)
    }

    async fn exactly(&mut self, bytes: usize, said: &mut Vec<u8>) -> Result<(), Error> {
        let from = said.len();
        said.resize(from + bytes, 0);
        self.socket.read_exact(&mut said[from..]).await.map(drop)
    }
}
