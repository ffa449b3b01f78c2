//! How fast is the fake server? Every figure is a ratio against a plain hyper server (`peer.rs`) that does the
//! least that hyper needs for the same bytes, measured in alternating rounds of the same run, each server in a
//! process of its own. Machines drift; ratios hold.
//!
//!     cargo run --release -p fake-server --example bench            about a minute
//!     cargo run --release -p fake-server --example bench -- --short a few seconds, to see that it runs

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, opens sockets and asks the kernel"
)]

mod child;
mod live;
mod peer;
mod plans;
mod requests;
mod stream;

use child::{Child, Kind};
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    rounds: usize,
    frames: u64,
    json: Duration,
    streams: &'static [usize],
    watch: Duration,
}

const FULL: Size = Size {
    rounds: 5,
    frames: 1_000_000,
    json: Duration::from_secs(2),
    streams: &[1_000, 5_000],
    watch: Duration::from_secs(8),
};

const SHORT: Size = Size {
    rounds: 1,
    frames: 50_000,
    json: Duration::from_millis(200),
    streams: &[100],
    watch: Duration::from_secs(2),
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, kind, frames] = &args[..]
        && mode == "serve"
    {
        return child::serve(Kind::from_name(kind), frames.parse()?);
    }
    let size = if args.iter().any(|arg| arg == "--short") {
        SHORT
    } else {
        FULL
    };
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    if cfg!(debug_assertions) {
        println!(
            "(a build without optimisation: the figures say nothing, only that the benchmark runs)"
        );
    }
    println!(
        "{:<58} {:>12} {:>12} {:>8}",
        "", "fake-server", "plain hyper", "ratio"
    );
    startup(size)?;
    one_stream(size)?;
    small_json(size)?;
    for &streams in size.streams {
        live::measure(streams, size.watch)?;
    }
    Ok(())
}

/// Process start to first answer.
fn startup(size: Size) -> Result<(), Box<dyn std::error::Error>> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..size.rounds.max(2) * 3 {
        for (kind, times) in Kind::BOTH.into_iter().zip(&mut times) {
            let (_child, took) = Child::timed(kind, 10)?;
            times.push(took.as_secs_f64() * 1e3);
        }
    }
    let [ours, theirs] = times.map(median);
    row(
        "process start to first answer, ms (less is better)",
        ours,
        theirs,
        ours / theirs,
    );
    Ok(())
}

/// One connection, one HTTP chunk a frame; the wire log is on.
fn one_stream(size: Size) -> Result<(), Box<dyn std::error::Error>> {
    let children = Kind::BOTH.map(|kind| Child::start(kind, size.frames));
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..size.rounds {
        for (child, rates) in children.iter().zip(&mut rates) {
            let child = child.as_ref().map_err(|error| error.to_string())?;
            rates.push(stream::frames_a_second(child, size.frames)? / 1e6);
        }
    }
    let [ours, theirs] = rates.map(median);
    row(
        &format!(
            "one stream of {} frames, million frames a second",
            size.frames
        ),
        ours,
        theirs,
        ours / theirs,
    );
    Ok(())
}

/// 64 keep-alive connections asking for a sandbox; the wire log is on.
fn small_json(size: Size) -> Result<(), Box<dyn std::error::Error>> {
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..size.rounds {
        for (kind, rates) in Kind::BOTH.into_iter().zip(&mut rates) {
            // A fresh server a round: the log of millions of requests is no part of a trial.
            let child = Child::start(kind, 10)?;
            rates.push(requests::a_second(&child, 64, size.json)? / 1e3);
        }
    }
    let [ours, theirs] = rates.map(median);
    row(
        "small JSON answers on 64 connections, thousand a second",
        ours,
        theirs,
        ours / theirs,
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn row(what: &str, ours: f64, theirs: f64, ratio: f64) {
    println!("{what:<58} {ours:>12.2} {theirs:>12.2} {ratio:>8.2}");
}
