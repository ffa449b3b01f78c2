//! A server in a process of its own: this program again, as the fake server or as the peer.

use crate::{peer, plans};
use bytes::Bytes;
use fake_server::net::{LOG_LIMIT_BYTES, Options, Server, Transport};
use std::{
    io::{BufRead as _, BufReader, Error, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// Which server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    Peer,
}

impl Kind {
    pub(crate) const BOTH: [Self; 2] = [Self::Ours, Self::Peer];

    pub(crate) fn from_name(name: &str) -> Self {
        if name == "peer" {
            Self::Peer
        } else {
            Self::Ours
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// A running server. Killed when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    pub(crate) sandbox: String,
    pub(crate) connect: String,
}

impl Child {
    /// Starts one and waits until it listens.
    pub(crate) fn start(kind: Kind, plan: &str) -> Result<Self, Error> {
        Self::start_with(kind, plan, "{}")
    }

    /// The same; `json` is what the peer answers where it streams nothing.
    pub(crate) fn start_with(kind: Kind, plan: &str, json: &str) -> Result<Self, Error> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["serve", kind.name(), plan, json])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut word = || {
            words
                .next()
                .ok_or_else(|| Error::other(format!("the {} server said {line:?}", kind.name())))
        };
        let address = word()?.parse().map_err(Error::other)?;
        Ok(Self {
            process,
            address,
            key: word()?,
            sandbox: word()?,
            connect: word()?,
        })
    }

    /// Starts one and measures from the start of the process to its first answer.
    pub(crate) fn timed(kind: Kind) -> Result<(Self, Duration), Error> {
        let began = Instant::now();
        let child = Self::start(kind, "10")?;
        let mut socket = TcpStream::connect(child.address)?;
        socket.write_all(child.get("/healthz").as_bytes())?;
        let mut answer = [0; 12];
        socket.read_exact(&mut answer)?;
        if &answer != b"HTTP/1.1 200" {
            return Err(Error::other(format!(
                "the first answer was {}",
                answer.escape_ascii()
            )));
        }
        Ok((child, began.elapsed()))
    }

    /// A GET request with the key.
    pub(crate) fn get(&self, target: &str) -> String {
        format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {}\r\n\r\n",
            self.address, self.key
        )
    }

    /// Resident memory, KiB.
    pub(crate) fn resident_kib(&self) -> Result<u64, Error> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        status
            .lines()
            .find_map(|line| {
                line.strip_prefix("VmRSS:")?
                    .trim()
                    .strip_suffix("kB")?
                    .trim()
                    .parse()
                    .ok()
            })
            .ok_or_else(|| Error::other("no VmRSS in /proc"))
    }

    /// Processor time used so far.
    pub(crate) fn cpu(&self) -> Result<Duration, Error> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        let ticks: u64 = [11, 12]
            .iter()
            .filter_map(|&at| fields.get(at)?.parse::<u64>().ok())
            .sum();
        // USER_HZ is 100 on every Linux that Rust supports.
        Ok(Duration::from_millis(ticks * 10))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until the parent is gone.
pub(crate) fn serve(kind: Kind, plan: &str, json: &str) -> Result<(), Box<dyn std::error::Error>> {
    // `lean-`: the log keeps no bodies and no headers.
    let lean = plan.strip_prefix("lean-");
    let plan = Arc::new(plans::named(lean.unwrap_or(plan))?);
    let json = Bytes::copy_from_slice(json.as_bytes());
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let options = Options {
            transport: Transport::Tcp,
            log_limit_bytes: if lean.is_some() { 0 } else { LOG_LIMIT_BYTES },
            ..Options::default()
        };
        let server = match kind {
            Kind::Ours => {
                let server = Server::start(plan, options)?;
                let names = server.names();
                let address = names.base_url.trim_start_matches("http://");
                let path = format!("/v1/sandboxes/{}", names.sandbox_id);
                println!(
                    "{address} {} {path} {path}/processes/{}/connect?after=0",
                    names.api_key, names.process_id
                );
                Some(server)
            }
            Kind::Peer => {
                let address = peer::start(plan, json).await?;
                println!("{address} no-key /v1/sandboxes/one /connect");
                None
            }
        };
        // The parent holds our stdin; when it ends, so do we.
        let mut byte = [0];
        let _ = tokio::task::spawn_blocking(move || std::io::stdin().read(&mut byte)).await;
        drop(server);
        Ok(())
    })
}
