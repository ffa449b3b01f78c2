//! The pipes of an adapter program: stdin, stdout and stderr, and a pair beside them to which the protocol
//! may move if the client's own prints go to stdout.

use super::lines::Lines;
use crate::client::process::{self, Group};
use std::{
    future::Future as _,
    io,
    os::fd::{AsRawFd as _, OwnedFd, RawFd},
    path::Path,
    pin::{Pin, pin},
    process::Stdio,
    task::Poll,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::unix::pipe,
    process::Child,
    sync::mpsc,
    task::JoinHandle,
};

/// Bytes read at once: what a Linux pipe holds.
const READ_BYTES: usize = 64 << 10;

/// The descriptors of the pipes beside stdin and stdout, in the program. One digit each: a plain shell
/// can redirect no others.
const SIDE_IN: RawFd = 3;
const SIDE_OUT: RawFd = 4;

/// The two pairs of pipes that a program may speak over; it chooses by where it says its hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// stdin and stdout.
    Standard,
    /// `CONFORMANCE_IN` and `CONFORMANCE_OUT`. Its stdout is then free text.
    Side,
}

/// A program that was started, and our ends of its pipes.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) group: Group,
    pub(super) standard: Reader,
    pub(super) side: Reader,
    pub(super) stderr: Reader,
    pub(super) inputs: Inputs,
    /// What writes the inputs; to be aborted when the program is gone.
    pub(super) writers: [JoinHandle<()>; 2],
}

impl Spawned {
    /// Starts a command in a folder, with these in its environment.
    pub(super) fn spawn(
        line: &[String],
        folder: &Path,
        env: &[(String, String)],
    ) -> io::Result<Self> {
        let (their_in, side_in) = io::pipe()?;
        let (side_out, their_out) = io::pipe()?;
        let (their_in, their_out) = (OwnedFd::from(their_in), OwnedFd::from(their_out));
        let mut command = process::program(line, folder);
        command
            .envs(env.iter().map(|(name, value)| (name, value)))
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
        // The program's end of its life is the end of these pipes only if we hold no copies.
        drop((their_in, their_out));
        let missing = || io::Error::other("a pipe of the new process is missing");
        let group = Group::led_by(&child).ok_or_else(missing)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let side_in = pipe::Sender::from_owned_fd(OwnedFd::from(side_in))?;
        let side_out = pipe::Receiver::from_owned_fd(OwnedFd::from(side_out))?;
        let (standard, standard_lines) = mpsc::unbounded_channel();
        let (side, side_lines) = mpsc::unbounded_channel();
        Ok(Self {
            child,
            group,
            standard: Reader::new(stdout),
            side: Reader::new(side_out),
            stderr: Reader::new(stderr),
            inputs: Inputs {
                standard: Some(standard),
                side: Some(side),
            },
            writers: [
                tokio::spawn(write(stdin, standard_lines)),
                tokio::spawn(write(side_in, side_lines)),
            ],
        })
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

/// Lines on their way to the program. Dropping a sender closes the pipe when all is written.
#[derive(Debug)]
pub(super) struct Inputs {
    standard: Option<mpsc::UnboundedSender<Vec<u8>>>,
    side: Option<mpsc::UnboundedSender<Vec<u8>>>,
}

impl Inputs {
    /// Sends a line.
    pub(super) fn say(&self, way: Way, line: Vec<u8>) {
        let input = match way {
            Way::Standard => &self.standard,
            Way::Side => &self.side,
        };
        if let Some(input) = input {
            // A program that has closed its input is found out by its silence.
            drop(input.send(line));
        }
    }

    /// Closes both pipes when all is written.
    pub(super) fn close(&mut self) {
        self.standard = None;
        self.side = None;
    }
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

/// One pipe from the program.
pub(super) struct Reader {
    /// `None` after its end.
    pipe: Option<Pin<Box<dyn AsyncRead + Send>>>,
    pub(super) lines: Lines,
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

    /// Its end has not been read.
    pub(super) const fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Bytes, or nothing at the end.
    pub(super) async fn read(&mut self) -> &[u8] {
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
    pub(super) async fn read_ready(&mut self) -> Option<&[u8]> {
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
