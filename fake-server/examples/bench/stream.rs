//! One connection, read as fast as it comes.

use crate::child::Child;
use std::{
    io::{Error, Read as _, Write as _},
    net::TcpStream,
    time::Instant,
};

/// Frames a second over one whole stream. The reader only counts: it looks for the exit line's beginning at the end.
pub(crate) fn frames_a_second(child: &Child, frames: u64) -> Result<f64, Error> {
    let mut socket = TcpStream::connect(child.address)?;
    let began = Instant::now();
    socket.write_all(child.get(&child.connect).as_bytes())?;
    let mut buffer = vec![0; 256 << 10];
    let mut tail: Vec<u8> = Vec::new();
    loop {
        let read = socket.read(&mut buffer)?;
        if read == 0 {
            return Err(Error::other("the stream ended without an exit frame"));
        }
        tail.extend_from_slice(&buffer[read.saturating_sub(512)..read]);
        if tail
            .windows(13)
            .any(|window| window == b"\"type\":\"exit\"")
        {
            break;
        }
        let keep = tail.len().saturating_sub(64);
        tail.drain(..keep);
    }
    Ok(frames as f64 / began.elapsed().as_secs_f64())
}
