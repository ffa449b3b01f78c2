//! Playing a server by hand: read a scenario, serve it, show the wire, tell how it went.

mod args;
mod banner;
mod closing;
mod live;

pub(crate) use args::Args;

use args::Form;
use fake_server::{
    net::{Options, Server, Transport, WireEvent},
    script::{self, Scenario, model::Plan},
};
use live::Live;
use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::signal::unix::{SignalKind, signal};

/// Usage or scenario error, port in use, unreadable file.
const UNUSABLE: u8 = 2;

/// Why the server could not play.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("can't read {}: {source}\n  give the path of a scenario file, or nothing for a healthy server", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{0}")]
    Broken(String),
    #[error("{id} has no instance `{wanted}`; it has: {}", instances.join(", "))]
    NoInstance {
        id: String,
        wanted: String,
        instances: Vec<String>,
    },
    #[error("can't listen on {address}: {source}{hint}")]
    Listen {
        address: std::net::SocketAddr,
        source: io::Error,
        hint: &'static str,
    },
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Runs until Ctrl-C. 0 when it ended so, 2 when it could not begin.
pub(crate) fn run(args: &Args) -> ExitCode {
    // A thousand streams want a thousand descriptors; failing to raise the limit only means fewer of them.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(play(args)),
        Err(error) => Err(Error::Io(error)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!(
                "{}error{}: {error}",
                live::BAD.render(),
                live::BAD.render_reset()
            );
            ExitCode::from(UNUSABLE)
        }
    }
}

async fn play(args: &Args) -> Result<(), Error> {
    let plan = Arc::new(load(args)?);
    // Asked for before anything is printed, so that an early Ctrl-C still ends in the last page.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let form = args.form();
    let view = Arc::new(Mutex::new(Live::new(&plan)));
    let observer = {
        let view = Arc::clone(&view);
        Arc::new(move |event: &WireEvent| {
            let mut view = view.lock().unwrap_or_else(PoisonError::into_inner);
            match form {
                Form::Text => print(&view.lines(event)),
                Form::Json => print(
                    &serde_json::to_string(event)
                        .map_or_else(|_| String::new(), |line| line + "\n"),
                ),
            }
        })
    };
    let options = Options {
        transport: Transport::Tcp,
        bind: args.address(),
        observer: Some(observer),
        restart_per_process: true,
        ..Options::default()
    };
    let server = Server::start(Arc::clone(&plan), options).map_err(|source| Error::Listen {
        address: args.address(),
        hint: if source.kind() == io::ErrorKind::AddrInUse {
            "\n  another program has this port; choose another, or leave --port out for a free one"
        } else {
            ""
        },
        source,
    })?;
    match form {
        Form::Text => print(&banner::text(
            &plan,
            server.names(),
            args.scenario.is_some(),
        )),
        Form::Json => print(&banner::json(&plan, server.names())),
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    let log = server.stop().await;
    match form {
        Form::Text => print(&closing::text(&plan, &log)),
        Form::Json => print(&closing::json(&plan, &log)),
    }
    Ok(())
}

fn load(args: &Args) -> Result<Plan, Error> {
    let Some(path) = &args.scenario else {
        return Ok(only_instance(
            &parse("healthy", "healthy", HEALTHY)?,
            args.seed,
        ));
    };
    let file = found(path);
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the edge at which the scenario's file is read"
    )]
    let text = std::fs::read_to_string(&file).map_err(|source| Error::Unreadable {
        file: file.clone(),
        source,
    })?;
    let id = file.file_stem().map_or_else(
        || "scenario".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let scenario = parse(&file.display().to_string(), &id, &text)?;
    let plans = scenario.plans(args.seed);
    match &args.instance {
        None => Ok(only_instance(&scenario, args.seed)),
        Some(wanted) => {
            let label = |plan: &Plan| {
                plan.id
                    .strip_prefix(&id)
                    .unwrap_or("")
                    .trim_matches(['[', ']'])
                    .to_owned()
            };
            let wanted = wanted.trim_matches(['[', ']']);
            plans
                .iter()
                .find(|plan| label(plan) == wanted)
                .cloned()
                .ok_or_else(|| Error::NoInstance {
                    id: id.clone(),
                    wanted: wanted.to_owned(),
                    instances: plans.iter().map(label).collect(),
                })
        }
    }
}

/// What a server without a scenario plays: a small healthy process.
const HEALTHY: &str = r#"
title = "A healthy server"
requirements = ["stream/exit-ends-it"]
why = "Something to talk to."
op = "follow"

[process]
output = [{ stdout = "hello\n" }, { stderr = "a word on stderr\n" }, { stdout = "good bye\n" }]
"#;

fn parse(file: &str, id: &str, text: &str) -> Result<Scenario, Error> {
    script::parse(file, id, text, None).map_err(|mistakes| {
        Error::Broken(format!(
            "{file} can't be played\n{}",
            mistakes.render(io::stderr().is_terminal())
        ))
    })
}

fn only_instance(scenario: &Scenario, seed: u64) -> Plan {
    scenario.plan(0, seed)
}

/// The file that is meant: the path itself, or, for an id, the file of that id below `scenarios/`.
fn found(path: &Path) -> PathBuf {
    if path.exists() || path.extension().is_some() {
        return path.to_owned();
    }
    let by_id = Path::new("scenarios").join(path).with_extension("toml");
    if by_id.exists() {
        by_id
    } else {
        path.to_owned()
    }
}

/// Prints; a reader that has gone (`| head`) is no reason to fail.
fn print(text: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
