//! Small JSON answers over keep-alive connections, each with one request under way.

use crate::child::Child;
use std::{
    io::{Error, Read as _, Write as _},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::Instant,
};

/// The body of one answer.
pub(crate) fn body(child: &Child) -> Result<String, Error> {
    let mut socket = std::net::TcpStream::connect(child.address)?;
    socket.write_all(child.get(&child.sandbox).as_bytes())?;
    let (mut have, mut buffer) = (0, vec![0; 4096]);
    loop {
        match socket.read(&mut buffer[have..])? {
            0 => return Err(Error::other("no whole answer within 4 KiB")),
            read => have += read,
        }
        if whole(&buffer[..have])?.is_some_and(|length| have >= length) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&buffer[..have]).into_owned();
    text.split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned())
        .ok_or_else(|| Error::other("an answer without a body"))
}

/// Answers a second.
pub(crate) fn a_second(child: &Child, connections: usize, during: Duration) -> Result<f64, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let request: Arc<[u8]> = child.get(&child.sandbox).into_bytes().into();
    let address = child.address;
    runtime.block_on(async {
        let began = Instant::now();
        let until = began + during;
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let request = Arc::clone(&request);
                tokio::spawn(async move {
                    let mut socket = TcpStream::connect(address).await?;
                    socket.set_nodelay(true)?;
                    let mut answers = 0_u64;
                    let mut length = None;
                    let mut buffer = vec![0; 4096];
                    while Instant::now() < until {
                        socket.write_all(&request).await?;
                        let mut have = 0;
                        loop {
                            have += socket.read(&mut buffer[have..]).await?;
                            // Every answer is as long as the first.
                            if length.is_none() {
                                length = whole(&buffer[..have])?;
                            }
                            match length {
                                Some(length) if have >= length => break,
                                _ if have == buffer.len() => {
                                    return Err(Error::other("an answer over 4 KiB"));
                                }
                                _ => {}
                            }
                        }
                        answers += 1;
                    }
                    Ok::<u64, Error>(answers)
                })
            })
            .collect();
        let mut answers = 0;
        for task in tasks {
            answers += task.await??;
        }
        Ok(answers as f64 / began.elapsed().as_secs_f64())
    })
}

/// The length of a whole answer once its head is there.
fn whole(bytes: &[u8]) -> Result<Option<usize>, Error> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    if !head.starts_with("http/1.1 200") {
        return Err(Error::other(format!("an answer that is no 200: {head}")));
    }
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
        .ok_or_else(|| Error::other("an answer without Content-Length"))?;
    Ok(Some(end + 4 + length))
}
