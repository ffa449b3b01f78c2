//! Many live streams, a frame a second each: memory a stream, processor time, lateness.

use crate::child::{Child, Kind};
use std::{io::Error, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, sleep_until},
};

/// What was measured of one server.
struct Measured {
    kib_a_stream: f64,
    cpu_percent: f64,
    late_p99_ms: f64,
}

/// Measures both servers and prints a row a figure.
pub(crate) fn measure(streams: usize, watch: Duration) -> Result<(), Error> {
    let ours = one(Kind::Ours, streams, watch)?;
    let theirs = one(Kind::Peer, streams, watch)?;
    let row = |what: &str, ours: f64, theirs: f64| {
        crate::row(
            &format!("{streams} live streams: {what}"),
            &[ours],
            &[theirs],
        );
    };
    row("KiB a stream", ours.kib_a_stream, theirs.kib_a_stream);
    row("% of a core", ours.cpu_percent, theirs.cpu_percent);
    row("lateness p99, ms", ours.late_p99_ms, theirs.late_p99_ms);
    Ok(())
}

fn one(kind: Kind, streams: usize, watch: Duration) -> Result<Measured, Error> {
    let child = Child::start(kind, "ticking")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let request = child.get(&child.connect);
    let address = child.address;
    runtime.block_on(async {
        // One stream first, so that what every server allocates once is not counted.
        let mut first = TcpStream::connect(address).await?;
        first.write_all(request.as_bytes()).await?;
        first.read_u8().await?;
        let before = child.resident_kib()?;
        let mut tasks = Vec::with_capacity(streams);
        let (done, _) = tokio::sync::watch::channel(false);
        for opened in 0..streams {
            let mut socket = TcpStream::connect(address).await?;
            socket.write_all(request.as_bytes()).await?;
            let mut done = done.subscribe();
            tasks.push(tokio::spawn(async move {
                let mut buffer = [0; 512];
                let mut late = Vec::new();
                let mut began: Option<Instant> = None;
                let mut ticks = 0_u32;
                loop {
                    tokio::select! {
                        read = socket.read(&mut buffer) => {
                            if read? == 0 {
                                return Err(Error::other("a live stream ended"));
                            }
                            let now = Instant::now();
                            match began {
                                None => began = Some(now),
                                // The head may come in a read of its own: that is no tick.
                                Some(first) if now.duration_since(first) < Duration::from_millis(500) => began = Some(now),
                                Some(first) => {
                                    ticks += 1;
                                    late.push(now.duration_since(first).saturating_sub(Duration::from_secs(1) * ticks));
                                }
                            }
                        }
                        _ = done.changed() => return Ok(late),
                    }
                }
            }));
            // Connecting in bursts overflows the listener's backlog, which is not what is measured.
            if opened % 100 == 99 {
                tokio::task::yield_now().await;
            }
        }
        let (began, cpu) = (Instant::now(), child.cpu()?);
        sleep_until(began + watch).await;
        let cpu = (child.cpu()? - cpu).as_secs_f64() / began.elapsed().as_secs_f64();
        let after = child.resident_kib()?;
        let _ = done.send(true);
        let mut late = Vec::new();
        for task in tasks {
            late.extend(task.await??);
        }
        late.sort_unstable();
        let p99 = late.get(late.len() * 99 / 100).copied().unwrap_or_default();
        Ok(Measured {
            kib_a_stream: after.saturating_sub(before) as f64 / streams as f64,
            cpu_percent: cpu * 100.0,
            late_p99_ms: p99.as_secs_f64() * 1e3,
        })
    })
}
