//! How fast is the fake server? Every figure is a ratio against a plain hyper server (`peer.rs`) that does the
//! least that hyper needs for the same bytes, measured in alternating rounds of the same run, each server in a
//! process of its own. Machines drift; ratios hold. `docs/benchmarks.md` says what each row means.
//!
//!     cargo run --release -p fake-server --example bench             about a minute
//!     cargo run -p fake-server --example bench -- --short            a few seconds, to see that it runs
//!     cargo run --release -p fake-server --example bench -- --leases only what stays of sandboxes and processes

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, opens sockets and asks the kernel"
)]

mod child;
mod leases;
mod live;
mod peer;
mod plans;
mod requests;
mod stream;

use child::{Child, Kind};
use std::{io::Error, time::Duration};

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    rounds: usize,
    starts: usize,
    frames: u64,
    json: Duration,
    streams: &'static [usize],
    sandboxes: usize,
    watch: Duration,
}

const FULL: Size = Size {
    rounds: 7,
    starts: 21,
    frames: 1_000_000,
    json: Duration::from_secs(1),
    streams: &[1_000, 5_000],
    sandboxes: 1_000,
    watch: Duration::from_secs(8),
};

const SHORT: Size = Size {
    rounds: 1,
    starts: 3,
    frames: 20_000,
    json: Duration::from_millis(200),
    streams: &[50],
    sandboxes: 50,
    watch: Duration::from_millis(1_500),
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, kind, plan, json] = &args[..]
        && mode == "serve"
    {
        return child::serve(Kind::from_name(kind), plan, json);
    }
    let size = if args.iter().any(|arg| arg == "--short") {
        SHORT
    } else {
        FULL
    };
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    if cfg!(debug_assertions) {
        println!("(a build without optimisation: the figures only say that the benchmark runs)");
    }
    if args.iter().any(|arg| arg == "--leases") {
        return Ok(leases::measure(size.sandboxes)?);
    }
    println!(
        "{:<53} {:>11} {:>11} {:>6}   ratios of the rounds",
        "medians", "fake-server", "plain hyper", "ratio"
    );
    startup(size)?;
    one_stream(size)?;
    small_json(size)?;
    for &streams in size.streams {
        live::measure(streams, size.watch)?;
    }
    leases::measure(size.sandboxes).map_err(Into::into)
}

/// Process start to first answer, and what memory it takes until then.
fn startup(size: Size) -> Result<(), Error> {
    let mut times = [Vec::new(), Vec::new()];
    let mut memory = [Vec::new(), Vec::new()];
    for _ in 0..size.starts {
        for (at, kind) in Kind::BOTH.into_iter().enumerate() {
            let (child, took) = Child::timed(kind)?;
            times[at].push(took.as_secs_f64() * 1e3);
            memory[at].push(child.resident_kib()? as f64 / 1024.0);
        }
    }
    row("process start to first answer, ms", &times[0], &times[1]);
    row("  memory of that process, MiB", &memory[0], &memory[1]);
    Ok(())
}

/// One connection, one HTTP chunk a frame; the wire log is on. Once as it is, once under a fault that meets the
/// last frame.
fn one_stream(size: Size) -> Result<(), Error> {
    let frames = size.frames;
    let ours = Child::start(Kind::Ours, &frames.to_string())?;
    let armed = Child::start(Kind::Ours, &format!("armed-{frames}"))?;
    let peer = Child::start(Kind::Peer, &frames.to_string())?;
    let mut rates = [Vec::new(), Vec::new(), Vec::new()];
    let mut costs = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..size.rounds {
        for (at, child) in [&ours, &armed, &peer].into_iter().enumerate() {
            let before = child.cpu()?;
            rates[at].push(stream::frames_a_second(child, frames)? / 1e6);
            costs[at].push((child.cpu()? - before).as_secs_f64() * 1e9 / frames as f64);
        }
    }
    let words = format!("one stream of {frames} frames, million a second");
    row(&words, &rates[0], &rates[2]);
    row("  processor time a frame, ns", &costs[0], &costs[2]);
    row("  a fault armed for the last frame", &rates[1], &rates[2]);
    row("  processor time a frame, ns", &costs[1], &costs[2]);
    Ok(())
}

/// 64 keep-alive connections asking for a sandbox; the wire log is on.
fn small_json(size: Size) -> Result<(), Error> {
    let body = requests::body(&Child::start(Kind::Ours, "10")?)?;
    let mut rates = [Vec::new(), Vec::new()];
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..size.rounds {
        for (at, kind) in Kind::BOTH.into_iter().enumerate() {
            // A fresh server a round: the log of millions of requests is no part of a trial.
            let child = Child::start_with(kind, "10", &body)?;
            let rate = requests::a_second(&child, 64, size.json)?;
            rates[at].push(rate / 1e3);
            let answers = rate * size.json.as_secs_f64();
            costs[at].push(child.cpu()?.as_secs_f64() * 1e6 / answers);
        }
    }
    let words = format!(
        "JSON of {} bytes, 64 connections, thousand a second",
        body.len()
    );
    row(&words, &rates[0], &rates[1]);
    row("  processor time an answer, us", &costs[0], &costs[1]);
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the medians of both, and the median and range of the ratios of each round's two figures.
fn row(what: &str, ours: &[f64], theirs: &[f64]) {
    let ratios: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .filter(|(_, theirs)| **theirs > 0.0)
        .map(|(ours, theirs)| ours / theirs)
        .collect();
    let (ours, theirs) = (median(ours), median(theirs));
    let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = ratios.iter().copied().fold(0.0, f64::max);
    let ratio = median(&ratios);
    let shown = match ratios.len() {
        0 => "     -".to_owned(),
        1 => format!("{ratio:>6.2}"),
        _ => format!("{ratio:>6.2}   {lowest:.2} to {highest:.2}"),
    };
    println!("{what:<53} {ours:>11.2} {theirs:>11.2} {shown}");
}
