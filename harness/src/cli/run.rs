//! `run`: judge a client.

use super::{
    Failure,
    args::RunArgs,
    block_on, called,
    check::unreachable_faults,
    files, interrupted, or_interrupted,
    output::{complain, page, say},
    progress::Progress,
    report::{Events, Outputs},
    save::Saver,
    smoke,
};
use crate::{
    client::{
        Client,
        manifest::Manifest,
        reference::{Bug, Reference},
    },
    contract,
    events::{RunEvent, Sink},
    exit::Exit,
    machine::MachineSecrets,
    report::{
        self, console,
        json::{JsonLines, stability_line},
        text::{harmless, pad},
    },
    run::{DEFAULT_JOBS, Settings},
    saved::Keeper,
    select::{Pattern, select, suggest},
    shard::Part,
    stability::Stability,
    standing::{KnownFailures, Standing},
    suite::Suite,
    summary::{Judged, RunInfo},
};
use fake_server::script::model::Plan;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
};

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if args.wrong.as_deref() == Some("list") {
        say(&bugs());
        return Ok(Exit::AsExpected);
    }
    let Chosen {
        suite,
        patterns,
        files,
    } = choose(&args.patterns, args.source.scenarios.as_deref())?;
    let plans: Vec<Arc<Plan>> = suite.plans(args.pace.seed).map(Arc::new).collect();
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
    let mut selected: Vec<Arc<Plan>> = select(&patterns, &ids)?
        .into_iter()
        .map(|at| Arc::clone(&plans[at]))
        .collect();
    let part = args.shard.map(|shard| {
        let whole: Vec<&str> = selected.iter().map(|plan| plan.id.as_str()).collect();
        let part = Part::new(shard, &whole);
        selected = part
            .places
            .iter()
            .map(|at| Arc::clone(&selected[*at]))
            .collect();
        part
    });
    tell_notes(&never_met(&selected, &files));
    let digest = suite.digest();
    block_on(judged(args, &selected, part, &ids, files, &digest))?
}

/// Faults of single files that nobody will meet. Such a file is mostly new, and the pass that it gets says nothing
/// about what its author is after.
fn never_met(plans: &[Arc<Plan>], files: &BTreeMap<String, String>) -> Vec<String> {
    let reference = Reference::conformant();
    let is_file =
        |plan: &&Arc<Plan>| files.contains_key(plan.id.split('[').next().unwrap_or(&plan.id));
    plans
        .iter()
        .filter(is_file)
        .flat_map(|plan| unreachable_faults(plan, &reference))
        .collect()
}

async fn judged(
    args: &RunArgs,
    plans: &[Arc<Plan>],
    shard: Option<Part>,
    ids: &[&str],
    files: BTreeMap<String, String>,
    digest: &str,
) -> Result<Exit, Failure> {
    if args.json && args.outputs.github {
        return Err(Failure::usage(
            "--json and --github both write to standard output: use --events FILE",
        ));
    }
    let outputs = Outputs::new(&args.outputs)?;
    let events = Events::new(args.events.as_deref(), outputs.are_wanted(), args.verbose)?;
    let (client, known) = or_interrupted(ready(args, ids)).await?;
    let info = RunInfo {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        digest: digest.to_owned(),
        client: client.info(),
        seed: args.pace.seed,
        strict: args.strict,
        transport: if args.in_memory { "memory" } else { "sockets" },
        shard,
        cases: plans.len(),
        program: called::program(),
        replay_arguments: replay_arguments(args),
        files,
    };
    let repeats = args.verify_stability.map_or(0, usize::from);
    let (jobs, keep) = affordable(args.jobs.map_or(DEFAULT_JOBS, usize::from));
    let mut settings = Settings {
        jobs,
        keep,
        timeout_multiplier: args.pace.timeout_multiplier,
        fail_fast: args.fail_fast,
        in_memory: args.in_memory,
        first_trial: 0,
    };
    let saver = match &args.save {
        Some(folder) => {
            let promises = client.promises().clone();
            let keeper = Keeper::new(&info, promises, known.clone());
            Some(Saver::new(folder, keeper)?)
        }
        None => None,
    };
    let mut sinks = Sinks {
        saver,
        events,
        progress: Progress::new(1 + repeats as u64),
        unmet: BTreeSet::new(),
        json: args
            .json
            .then(|| JsonLines::new(args.verbose, |line: &str| say(&format!("{line}\n")))),
    };
    let mut interrupted = pin!(interrupted());
    let (judged, summary) = crate::run::run(
        plans,
        &client,
        &known,
        &info,
        &settings,
        interrupted.as_mut(),
        &mut sinks,
    )
    .await;
    let mut exit = summary.exit();
    let mut stopped = summary.stopped;
    let mut stability = Stability::default();
    if repeats > 0 {
        sinks.tell_again(&judged, &mut stability);
        stability.add(&judged);
    }
    // The lines and the files are those of the first run.
    sinks.json = None;
    let saver = sinks.saver.take();
    let events = sinks.events.take();
    for _ in 0..repeats {
        if stopped.is_some() {
            break;
        }
        settings.first_trial += plans.len();
        let (judged, summary) = crate::run::run(
            plans,
            &client,
            &known,
            &info,
            &settings,
            interrupted.as_mut(),
            &mut sinks,
        )
        .await;
        stopped = summary.stopped;
        exit = exit.and(summary.exit());
        sinks.tell_again(&judged, &mut stability);
        stability.add(&judged);
    }
    if !args.json {
        say(&console::report(
            &judged,
            &summary,
            &info,
            &page(),
            args.verbose,
        ));
    }
    if repeats > 0 {
        // The wire of the built-in client is ours to keep still.
        let wire_counts = args.client.is_none() || args.strict;
        let repeats = stability.repeats(repeats, wire_counts);
        if !repeats.is_stable() {
            exit = exit.and(Exit::Failed);
        }
        say(&if args.json {
            format!("{}\n", stability_line(&repeats, exit))
        } else {
            format!("\n{}", report::stability::report(&repeats, exit, &page()))
        });
    }
    // Of a run that was stopped, what the jobs that were given up still say is no news.
    let notes = client.take_notes().await;
    if stopped.is_none() {
        tell_notes(&notes);
    }
    if let Some(client) = Arc::into_inner(client) {
        client.shutdown().await;
    }
    saver.map_or(Ok(()), Saver::end)?;
    events.map_or(Ok(()), |events| events.end(&outputs))?;
    Ok(exit)
}

/// The client, able to be judged, and the failures it is known for.
async fn ready(args: &RunArgs, ids: &[&str]) -> Result<(Arc<Client>, KnownFailures), Failure> {
    let client = Arc::new(chosen_client(args.client.as_deref(), args.wrong.as_deref()).await?);
    let requirements: Vec<&str> = contract::registry().iter().map(|known| known.id).collect();
    let known =
        KnownFailures::find(client.known_failures(), ids, &requirements).map_err(|error| {
            let file = args
                .client
                .as_deref()
                .unwrap_or_else(|| Path::new("manifest"));
            Failure::usage(format!("{}: {error}", file.display()))
        })?;
    smoke::probe(&client).await?;
    Ok((client, known))
}

/// [`chosen_client`], probed. What it is known to fail is not asked: a sweep begins with a case that passes.
pub(super) async fn ready_client(
    manifest: Option<&Path>,
    wrong: Option<&str>,
) -> Result<Arc<Client>, Failure> {
    let client = Arc::new(chosen_client(manifest, wrong).await?);
    smoke::probe(&client).await?;
    Ok(client)
}

/// How many jobs are played at a time, and how many judged trials keep their port, with as many open files as there
/// are: out of files, the built-in client would fail for what is our doing.
pub(super) fn affordable(jobs: usize) -> (usize, usize) {
    /// Two listeners, and both ends of a few connections, closed ones still lingering among them.
    const FILES_A_TRIAL: usize = 24;
    /// A port and its trap.
    const FILES_KEPT: usize = 2;
    /// Standard streams, the runtime's own, an adapter's pipes.
    const OTHER_FILES: usize = 32;
    let Ok((files, _)) = rlimit::Resource::NOFILE.get() else {
        return (jobs, usize::MAX);
    };
    let free = usize::try_from(files)
        .unwrap_or(usize::MAX)
        .saturating_sub(OTHER_FILES);
    let most = (free / FILES_A_TRIAL).max(1);
    if most < jobs {
        complain(&format!(
            "note: {files} open files are allowed, so {most} cases at a time instead of {jobs} (ulimit -n raises it)"
        ));
    }
    let jobs = jobs.min(most);
    (jobs, free.saturating_sub(jobs * FILES_A_TRIAL) / FILES_KEPT)
}

/// What was wrong with the adapter and no case's fault, each once.
pub(super) fn tell_notes(notes: &[String]) {
    /// An adapter that chatters need not fill the screen.
    const MOST: usize = 20;
    let mut counted: Vec<(&String, usize)> = Vec::new();
    for note in notes {
        match counted.iter_mut().find(|(known, _)| *known == note) {
            Some((_, times)) => *times += 1,
            None => counted.push((note, 1)),
        }
    }
    for (note, times) in counted.iter().take(MOST) {
        let times = match times {
            1 => String::new(),
            many => format!(" ({many} times)"),
        };
        complain(&format!("note: {}{times}", harmless(note)));
    }
    if counted.len() > MOST {
        complain(&format!("note: and {} more", counted.len() - MOST));
    }
}

/// Who listens to a run.
struct Sinks<W> {
    saver: Option<Saver>,
    events: Option<Events>,
    progress: Progress,
    /// Cases that were not exercised at first.
    unmet: BTreeSet<String>,
    json: Option<JsonLines<W>>,
}

impl<W> Sinks<W> {
    /// Tells which cases of a run were tried once more, now that it is over.
    fn tell_again(&mut self, judged: &[Judged], stability: &mut Stability) {
        let met: BTreeSet<&str> = judged
            .iter()
            .filter(|one| one.standing != Standing::NotExercised)
            .map(|one| one.case.id())
            .collect();
        for id in std::mem::take(&mut self.unmet) {
            if met.contains(id.as_str()) {
                stability.add_tried_again(&id);
            }
        }
    }
}

impl<W: FnMut(&str)> Sink for Sinks<W> {
    fn event(&mut self, event: &RunEvent) {
        self.progress.event(event);
        if let Some(saver) = &mut self.saver {
            saver.event(event);
        }
        if let Some(events) = &mut self.events {
            events.event(event);
        }
        if let RunEvent::CaseFinished { judged, .. } = event
            && judged.standing == Standing::NotExercised
        {
            self.unmet.insert(judged.case.id().to_owned());
        }
        if let Some(json) = &mut self.json {
            json.event(event);
        }
    }
}

/// The scenarios that were asked for.
pub(super) struct Chosen {
    pub(super) suite: Suite,
    pub(super) patterns: Vec<Pattern>,
    /// Scenarios from single files: id and path.
    pub(super) files: BTreeMap<String, String>,
}

/// Loads what patterns, single files and a folder ask for.
pub(super) fn choose(words: &[String], folder: Option<&Path>) -> Result<Chosen, Failure> {
    let is_file = |word: &&String| {
        Path::new(word.as_str())
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("toml"))
    };
    let paths: Vec<PathBuf> = words.iter().filter(is_file).map(PathBuf::from).collect();
    let borrowed: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let suite = files::load(folder, &borrowed)?;
    let patterns = words
        .iter()
        .map(|word| {
            if is_file(&word) {
                Pattern::new(&files::stem(Path::new(word)))
            } else {
                Pattern::new(word)
            }
        })
        .collect();
    let files = borrowed
        .iter()
        .map(|path| (files::stem(path), path.display().to_string()))
        .collect();
    Ok(Chosen {
        suite,
        patterns,
        files,
    })
}

/// The client of a manifest, or the built-in one, perhaps with a bug.
pub(super) async fn chosen_client(
    manifest: Option<&Path>,
    wrong: Option<&str>,
) -> Result<Client, Failure> {
    if let Some(path) = manifest {
        return start(path).await;
    }
    let mut reference = Reference::conformant();
    if let Some(name) = wrong {
        let bug = Bug::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Bug::ALL.iter().map(|bug| bug.name()).collect();
            let hint = suggest(name, &names).into_iter().next().map_or_else(
                || "`--wrong list` names them".to_owned(),
                |best| format!("did you mean `{best}`?"),
            );
            Failure::usage(format!("there is no bug `{name}` ({hint})"))
        })?;
        reference = Reference::wrong(bug);
    }
    Ok(Client::Reference(reference))
}

/// Reads a manifest and starts its client.
pub(super) async fn start(path: &Path) -> Result<Client, Failure> {
    start_manifest(read_manifest(path)?).await
}

/// Starts the client of a manifest.
pub(super) async fn start_manifest(manifest: Manifest) -> Result<Client, Failure> {
    let file = manifest.file.clone();
    Client::start(manifest, crate::client::adapter::Limits::default())
        .await
        .map_err(|error| {
            Failure::new(
                Exit::AdapterUnusable,
                format!("{file}: {}", hidden(&error.to_string())),
            )
        })
}

/// Words of a client that never came to be one, without the secrets of this machine.
fn hidden(words: &str) -> String {
    MachineSecrets::of_this_process().hide(words).into_owned()
}

/// Reads a manifest.
pub(super) fn read_manifest(path: &Path) -> Result<Manifest, Failure> {
    Ok(Manifest::read(path)?)
}

/// What makes it this run again, apart from the pattern and the seed.
fn replay_arguments(args: &RunArgs) -> Vec<String> {
    replay_words(
        args.client.as_deref(),
        args.wrong.as_deref(),
        args.in_memory,
        args.strict,
        args.source.scenarios.as_deref(),
    )
}

/// The same for whoever has these options.
pub(super) fn replay_words(
    client: Option<&Path>,
    wrong: Option<&str>,
    in_memory: bool,
    strict: bool,
    scenarios: Option<&Path>,
) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(path) = client {
        words.extend(["--client".to_owned(), path.display().to_string()]);
    }
    if let Some(bug) = wrong {
        words.extend(["--wrong".to_owned(), bug.to_owned()]);
    }
    if in_memory {
        words.push("--in-memory".to_owned());
    }
    if strict {
        words.push("--strict".to_owned());
    }
    if let Some(folder) = scenarios {
        words.extend(["--scenarios".to_owned(), folder.display().to_string()]);
    }
    words
}

/// Every deliberate bug, with the requirement that it breaks.
fn bugs() -> String {
    let widest = Bug::ALL
        .iter()
        .map(|bug| bug.name().len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for bug in Bug::ALL {
        text.push_str(&format!(
            "{}  {}\n",
            pad(bug.name(), widest),
            bug.caught_by()
        ));
    }
    text
}
