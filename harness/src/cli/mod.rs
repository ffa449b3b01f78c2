//! The command line: words to options, options to a call of the library, results to text and an exit code.
//! This is the only place that prints.

mod args;
mod audit;
mod called;
mod certify;
mod check;
mod coverage;
mod diff;
mod files;
mod fuzz;
mod judge;
mod list;
mod merge;
mod output;
mod progress;
mod report;
mod run;
mod save;
mod setup;
mod show;
mod smoke;
mod sweep;

use crate::{client::manifest::ManifestError, exit::Exit, select::SelectError};
use args::{Cli, Verb, with_default_verb};
use clap::Parser as _;
use files::FilesError;
use std::{ffi::OsString, future::Future, io, process::ExitCode, sync::LazyLock};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

/// Does what the words of the command line say (the program's name first).
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = words
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let cli = match Cli::try_parse_from(with_default_verb(words)) {
        Ok(cli) => cli,
        Err(error) => {
            // Printing help is success, anything else is wrong usage; a closed pipe changes neither.
            let _ = error.print();
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::AsExpected
            };
            return exit.into();
        }
    };
    let done = match &cli.verb {
        Verb::Run(args) => run::run(args),
        Verb::Certify(args) => certify::certify(args),
        Verb::Verify(args) => certify::verify(args),
        Verb::Judge(args) => judge::judge(args),
        Verb::Report(args) => report::report(args),
        Verb::Diff(args) => diff::differences(args),
        Verb::Merge(args) => merge::merge_shards(args),
        Verb::List(args) => list::list(args),
        Verb::Show(args) => show::show(args),
        Verb::Coverage(args) => coverage::coverage(args),
        Verb::Sweep(args) => sweep::sweep(args),
        Verb::Audit(args) => audit::audit(args),
        Verb::Fuzz(args) => fuzz::fuzz(args),
        Verb::Check(args) => check::check(args),
        Verb::Smoke(args) => smoke::smoke(args),
        Verb::Setup(args) => setup::setup(args),
    };
    if let Some(why) = output::lost() {
        // A report that nobody can read proves nothing.
        output::complain(&format!("error: standard output can't be written: {why}"));
        return Exit::Harness.into();
    }
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::complain(&failure.text);
            failure.exit.into()
        }
    }
}

/// Why nothing came of it.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    /// For standard error; several lines where places in files are shown.
    text: String,
}

impl Failure {
    fn new(exit: Exit, what: impl std::fmt::Display) -> Self {
        Self {
            exit,
            text: format!("error: {what}"),
        }
    }

    fn usage(what: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, what)
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        match error {
            // These bring their own `error:` and show the lines.
            FilesError::Load(mistakes) => Self {
                exit: Exit::Usage,
                text: mistakes.render(output::colour_on_stderr()),
            },
            other => Self::usage(other),
        }
    }
}

impl From<ManifestError> for Failure {
    fn from(error: ManifestError) -> Self {
        match error {
            // These bring their own `error:` too.
            ManifestError::Mistakes(mistakes) => Self {
                exit: Exit::Usage,
                text: mistakes.render(output::colour_on_stderr()),
            },
            other => Self::usage(other),
        }
    }
}

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Self {
        Self::usage(error)
    }
}

/// Runs a future to its end on a runtime made for it.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    // A listener and a few connections a trial soon exceed the usual 1,024 files. If they can't be raised, the
    // run still works with fewer jobs, and says which case could not open its port.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error: io::Error| Failure::new(Exit::Harness, format!("no runtime: {error}")))?;
    {
        let _inside = runtime.enter();
        listen();
    }
    Ok(runtime.block_on(future))
}

/// Whether we were interrupted. It stays so: who asks later is told too.
static INTERRUPTED: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Hears Ctrl-C, and that we are asked to end, as by a CI that gives up. From now on, not from when somebody first
/// waits for it: until a handler is in place a signal ends the program, and the clients it started live on. What
/// can't be listened for ends the program as it always would.
fn listen() {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        if let Ok(mut signals) = signal(kind) {
            tokio::spawn(async move {
                signals.recv().await;
                INTERRUPTED.send_replace(true);
            });
        }
    }
}

/// Resolves when we were interrupted.
async fn interrupted() {
    // The sender is never dropped, so there is no error to meet.
    let _ = INTERRUPTED.subscribe().wait_for(|is| *is).await;
}

/// What the future brings, or that it was interrupted. It is dropped then, and the programs it started are killed
/// with it: they lead process groups of their own, so Ctrl-C does not reach them.
async fn or_interrupted<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        done = future => done,
        () = interrupted() => Err(Failure {
            exit: Exit::Interrupted,
            text: format!("exit {}", Exit::Interrupted),
        }),
    }
}
