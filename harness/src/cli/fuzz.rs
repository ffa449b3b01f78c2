//! `fuzz`: judge a client by generated schedules.

use super::{
    Failure,
    args::FuzzArgs,
    block_on, called, files, interrupted, or_interrupted,
    output::{complain, page, say},
    run::{affordable, chosen_client, read_manifest, start_manifest, tell_notes},
    smoke,
};
use crate::{
    case::Case,
    client::{Client, manifest::Manifest},
    exit::Exit,
    fuzz::{
        self, Counts, Event, Options, Origin, Outcome,
        found::{Group, Signature},
        saved::{Contents, Folder, Source},
        smallest::{Smallest, smallest},
    },
    generate::Profile,
    judge::CheckStatus,
    report::{
        story::story,
        text::{Page, count, harmless, pad, paint, seconds, thousands, wrap},
    },
    run::{DEFAULT_JOBS, Settings},
    shard::Shard,
    summary::RunInfo,
};
use fake_server::script::model::Plan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    cell::Cell,
    collections::BTreeMap,
    hash::{BuildHasher as _, RandomState},
    ops::Range,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

/// Cases unless said.
const CASES: u64 = 1_000;
/// Failing cases of one kind that are kept; more of them say nothing new.
const KEPT: usize = 3;
/// Kinds of failure that are made smaller; a client with more of them has other worries.
const MOST_SHRUNK: usize = 10;
/// How long one of them may take. With a client that waits 250 ms before each reconnect 20 s were measured.
const SHRINK_TIME: Duration = Duration::from_secs(60);
/// Numbers of trials that the cases before have not used.
const SHRINK_TRIALS: usize = 1_000_000_000;

pub(super) fn fuzz(args: &FuzzArgs) -> Result<Exit, Failure> {
    let seed = args.seed.unwrap_or_else(any_seed);
    let folder = folder(args)?;
    let found = folder.read().map_err(Failure::usage)?;
    for reason in &found.unusable {
        complain(&format!("note: {}", harmless(reason)));
    }
    let (mut first, files) = regressions(&found, seed)?;
    if let Some(shard) = args.shard {
        // Shards that share a folder would all play them.
        first.retain(|plan| shard.holds(&plan.id));
    }
    block_on(judged(args, seed, folder, first, files))?
}

/// A seed nobody chose, short enough to be typed.
fn any_seed() -> u64 {
    // The standard library's only source of randomness; what it is the hash of does not matter.
    RandomState::new().hash_one(0_u8) % 1_000_000_000
}

/// Where failures are kept.
fn folder(args: &FuzzArgs) -> Result<Folder, Failure> {
    if let Some(folder) = &args.save {
        return Ok(Folder::new(folder.clone()));
    }
    Ok(Folder::new(match &args.client {
        Some(path) => read_manifest(path)?.folder.join("regressions"),
        None => PathBuf::from("regressions"),
    }))
}

/// Plans that failed before, and the files of those that are scenarios.
fn regressions(
    found: &Contents,
    seed: u64,
) -> Result<(Vec<Plan>, BTreeMap<String, String>), Failure> {
    let paths: Vec<_> = found.scenarios.iter().map(PathBuf::as_path).collect();
    let mut plans = Vec::new();
    let mut files = BTreeMap::new();
    if !paths.is_empty() {
        let suite = files::load(None, &paths)?;
        for path in paths {
            let id = files::stem(path);
            files.insert(id.clone(), path.display().to_string());
            if let Some(entry) = suite.get(&id) {
                plans.extend(entry.scenario.plans(seed));
            }
        }
    }
    plans.extend(found.plans.iter().map(|(_, plan)| plan.clone()));
    Ok((plans, files))
}

async fn judged(
    args: &FuzzArgs,
    seed: u64,
    folder: Folder,
    first: Vec<Plan>,
    files: BTreeMap<String, String>,
) -> Result<Exit, Failure> {
    let (manifest, speed) = match &args.client {
        None => (None, String::new()),
        Some(path) => {
            let mut manifest = read_manifest(path)?;
            let speed = speed(args, &mut manifest);
            (Some(manifest), speed)
        }
    };
    let client = or_interrupted(async {
        let client = match manifest {
            Some(manifest) => start_manifest(manifest).await?,
            None => chosen_client(None, args.wrong.as_deref()).await?,
        };
        smoke::probe(&client).await?;
        Ok(Arc::new(client))
    })
    .await?;
    let in_memory = matches!(*client, Client::Reference(_)) && !args.sockets;
    let (jobs, keep) = affordable(args.jobs.map_or(DEFAULT_JOBS, usize::from));
    let profile = args.profile;
    let cases = cases(args);
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let info = RunInfo {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        digest: String::new(),
        client: client.info(),
        seed,
        strict: args.strict,
        transport: if in_memory { "memory" } else { "sockets" },
        shard: None,
        cases: first.len(),
        program: called::program(),
        replay_arguments: replay_arguments(args),
        files,
    };
    let time = args.max_time.map(Clock::new);
    let options = Options {
        seed,
        cases: cases.clone(),
        shard,
        profile,
        strict: args.strict,
        settings: Settings {
            jobs,
            // A trial's server stays for a while, so that late calls are seen.
            keep: keep.min(jobs),
            timeout_multiplier: args.timeout_multiplier,
            fail_fast: false,
            in_memory,
            first_trial: 0,
        },
        enough: Arc::new(move || time.is_some_and(Clock::is_over)),
    };
    let page = page();
    say(&header(&info, &options, args, &speed, &page));
    let clock = Clock::new(Duration::ZERO);
    let mut show = Show {
        bar: bar(args, &cases, first.len()),
        clock,
        page,
        info,
        folder,
        profile,
        errors: Vec::new(),
        saved: 0,
        firsts: Vec::new(),
    };
    let mut outcome = fuzz::fuzz(first, &client, &options, interrupted(), |event| {
        show.event(&event);
    })
    .await;
    show.bar.finish_and_clear();
    let notes = client.take_notes().await;
    if !args.no_shrink && !outcome.interrupted {
        outcome.interrupted = show.shrink(&client, &options.settings).await;
        // A client that is still busy with a case that has lost is told off by notes that mean nothing.
        let _ = client.take_notes().await;
    }
    if !outcome.interrupted {
        tell_notes(&notes);
    }
    if let Some(client) = Arc::into_inner(client) {
        client.shutdown().await;
    }
    for error in &show.errors {
        complain(&format!("error: {}", harmless(error)));
    }
    say(&show.ending(&outcome));
    // A failure that could not be kept is lost, and that must not pass for a good end.
    Ok(if show.errors.is_empty() {
        outcome.exit()
    } else {
        outcome.exit().and(Exit::Harness)
    })
}

/// Makes the client quicker if its manifest says how, and says which back-off was used.
fn speed(args: &FuzzArgs, manifest: &mut Manifest) -> String {
    if args.real_speed || !manifest.hurry() {
        return "the client's own back-off".to_owned();
    }
    let env: Vec<String> = (manifest.env.iter())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("its back-off shortened by [speed]: {}", env.join(" "))
}

/// The numbers of the cases.
fn cases(args: &FuzzArgs) -> Range<u64> {
    match (args.case, args.cases, args.max_time) {
        (Some(number), ..) => number..number.saturating_add(1),
        (None, Some(count), _) => 0..count,
        (None, None, Some(_)) => 0..u64::MAX,
        (None, None, None) => 0..CASES,
    }
}

/// What makes it this client again.
fn replay_arguments(args: &FuzzArgs) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(path) = &args.client {
        words.extend(["--client".to_owned(), path.display().to_string()]);
    }
    if let Some(bug) = &args.wrong {
        words.extend(["--wrong".to_owned(), bug.clone()]);
    }
    if args.sockets {
        words.push("--sockets".to_owned());
    }
    if args.real_speed {
        words.push("--real-speed".to_owned());
    }
    if args.strict {
        words.push("--strict".to_owned());
    }
    words
}

/// A moment that comes, on the real clock: how long a run may go on is no matter of a trial's time.
#[derive(Clone, Copy)]
struct Clock {
    began: Instant,
    time: Duration,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it takes is the user's time, on the wall"
    )]
    fn new(time: Duration) -> Self {
        Self {
            began: Instant::now(),
            time,
        }
    }

    fn is_over(self) -> bool {
        self.began.elapsed() >= self.time
    }
}

fn header(info: &RunInfo, options: &Options, args: &FuzzArgs, speed: &str, page: &Page) -> String {
    let palette = page.palette;
    let client = &info.client;
    let mut who = client.name.clone();
    if let Some(version) = &client.version {
        who.push_str(&format!(" {version}"));
    }
    let number = |range: &Range<u64>| match (args.case, range.end) {
        (Some(number), _) => format!("case {number}"),
        (None, u64::MAX) => "cases until the time is over".to_owned(),
        (None, end) => format!("{} cases", thousands(end)),
    };
    let strict = if info.strict { ", strict" } else { "" };
    let shard = args
        .shard
        .map_or_else(String::new, |shard| format!(" (shard {shard} of them)"));
    let over = if options.settings.in_memory {
        "in memory, on a clock of its own".to_owned()
    } else {
        format!("over sockets, {} at a time", options.settings.jobs)
    };
    let mut rows = vec![
        ("client", harmless(&who)),
        (
            "fuzz",
            format!(
                "{} of seed {}{shard}, profile {}, {over}{strict}",
                number(&options.cases),
                info.seed,
                options.profile.name()
            ),
        ),
    ];
    if !speed.is_empty() {
        rows.push(("speed", harmless(speed)));
    }
    if info.cases > 0 {
        let first = count(
            info.cases,
            "case that failed before",
            "cases that failed before",
        );
        rows.push(("first", first));
    }
    let mut out = format!(
        "{}\n",
        paint(
            palette.bold,
            &format!("CreateOS conformance {}", info.suite)
        )
    );
    for (label, text) in rows {
        for (at, line) in wrap(&text, page.width - 8).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            out.push_str(&format!("{}{line}\n", paint(palette.dim, &pad(label, 8))));
        }
    }
    out.push('\n');
    out
}

fn bar(args: &FuzzArgs, cases: &Range<u64>, first: usize) -> ProgressBar {
    let bounded = cases.end != u64::MAX;
    let of = u64::from(args.shard.unwrap_or(Shard::WHOLE).of());
    let length = bounded.then(|| (cases.end - cases.start) / of + first as u64);
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let template = match (bounded, args.max_time) {
        (true, _) => "{bar:24} {human_pos}/{human_len} {per_sec} {msg}",
        (false, _) => "{spinner} {human_pos} in {elapsed} {per_sec} {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// Tells and keeps what is found while it goes.
struct Show {
    bar: ProgressBar,
    clock: Clock,
    page: Page,
    info: RunInfo,
    folder: Folder,
    profile: Profile,
    /// What could not be written.
    errors: Vec<String>,
    /// Failures that were kept.
    saved: usize,
    /// The first kept failure of each kind.
    firsts: Vec<First>,
}

/// A failure to make smaller.
struct First {
    signature: Signature,
    case: Arc<Case>,
    source: Source,
    /// Where it is kept.
    path: PathBuf,
}

impl Show {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Failed(failure) => self.failed(failure),
            Event::Judged(_, counts) => {
                self.bar.inc(1);
                if counts.failed > 0 {
                    self.bar
                        .set_message(format!("{} failed", thousands(counts.failed)));
                }
            }
        }
    }

    fn failed(&mut self, failure: &fuzz::Failure) {
        if failure.earlier == 0 {
            let text = story(&failure.judged, &[], &self.info, &self.page, false);
            self.bar.suspend(|| say(&text));
        }
        let Origin::Case(number) = failure.origin else {
            return;
        };
        // What could not be judged is no failure of the client, and would be none the next time.
        if failure.earlier >= KEPT || failure.status == CheckStatus::NotExercised {
            return;
        }
        let replay = crate::report::story::replay_command(&failure.judged.case, &self.info);
        let source = Source::new(self.info.seed, number, self.profile, replay);
        match self
            .folder
            .keep(&failure.judged, &failure.signature, &source, &self.info)
        {
            Ok(path) => {
                self.saved += 1;
                if failure.earlier == 0 {
                    let line = format!("saved as {}\n\n", path.display());
                    self.bar.suspend(|| say(&line));
                    if failure.status == CheckStatus::Fail {
                        self.firsts.push(First {
                            signature: failure.signature.clone(),
                            case: Arc::clone(&failure.judged.case),
                            source,
                            path,
                        });
                    }
                }
            }
            Err(error) => self.errors.push(error.to_string()),
        }
    }

    /// Makes a scenario file of the first failure of each kind; tells whether it was interrupted.
    async fn shrink(&mut self, client: &Arc<Client>, settings: &Settings) -> bool {
        let firsts = std::mem::take(&mut self.firsts);
        let left_out = firsts.len().saturating_sub(MOST_SHRUNK);
        let mut stop = pin!(interrupted());
        let mut told: Vec<(Plan, PathBuf)> = Vec::new();
        for first in firsts.iter().take(MOST_SHRUNK) {
            let bar = spinner();
            let comments = vec![format!(
                "Found by `fuzz`: version {}, seed {}, case {}, profile {}.",
                first.source.suite, first.source.seed, first.source.case, first.source.profile
            )];
            let is_interrupted = Cell::new(false);
            let over = async {
                tokio::select! {
                    () = stop.as_mut() => is_interrupted.set(true),
                    () = tokio::time::sleep(SHRINK_TIME) => {}
                }
            };
            let settings = Settings {
                first_trial: settings.first_trial + SHRINK_TRIALS,
                ..settings.clone()
            };
            let found = smallest(
                &first.case,
                &first.signature,
                client,
                &settings,
                comments,
                over,
                |tried| bar.set_message(format!("shrinking {}: {tried} tried", first.signature)),
            )
            .await;
            bar.finish_and_clear();
            say(&match found {
                Some(found) => self.keep_smallest(first, &found, &mut told),
                None => format!(
                    "{}: the case did not fail when it was played again\n\n",
                    harmless(&first.signature.to_string())
                ),
            });
            if is_interrupted.get() {
                return true;
            }
        }
        if left_out > 0 {
            let more = count(left_out, "kind of failure was", "kinds of failure were");
            say(&format!("{more} not made smaller\n\n"));
        }
        false
    }

    /// Writes a scenario file beside the failure that it is from; what is told of it.
    fn keep_smallest(
        &mut self,
        first: &First,
        found: &Smallest,
        told: &mut Vec<(Plan, PathBuf)>,
    ) -> String {
        let name = first.path.with_extension("toml");
        let name = name
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let path = match self.folder.write(&name.unwrap_or_default(), &found.text) {
            Ok(path) => path,
            Err(error) => {
                self.errors.push(error.to_string());
                return String::new();
            }
        };
        let is_smallest = if found.shrunk.is_smallest {
            "as small as it gets"
        } else {
            "as small as the time allowed"
        };
        let mut out = format!(
            "{}\n{is_smallest} ({} tried), saved as {}\n\n",
            paint(
                self.page.palette.bold,
                &harmless(&first.signature.to_string())
            ),
            count(found.shrunk.tried, "smaller case", "smaller cases"),
            path.display()
        );
        let plan = Plan {
            id: String::new(),
            title: String::new(),
            seed: 0,
            ..found.shrunk.plan.clone()
        };
        // Two ways to fail that come down to one are one bug most likely.
        if let Some((_, same)) = told.iter().find(|(known, _)| *known == plan) {
            out.push_str(&format!("    the same as {}\n", same.display()));
        } else {
            for line in found.text.lines() {
                out.push_str(format!("    {}", harmless(line)).trim_end());
                out.push('\n');
            }
            told.push((plan, path));
        }
        out.push('\n');
        out
    }

    /// The last lines: what failed in which way, how many cases, the seed once more, and the exit.
    fn ending(&self, outcome: &Outcome) -> String {
        let palette = self.page.palette;
        let counts = &outcome.counts;
        let mut out = String::new();
        for (signature, group) in outcome.groups.iter() {
            let line = self.group(signature, group);
            for line in wrap(&harmless(&line), self.page.width) {
                out.push_str(&format!("{line}\n"));
            }
        }
        if !outcome.groups.is_empty() {
            out.push('\n');
        }
        let ms = u64::try_from(self.clock.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let a_second = counts.cases.saturating_mul(1000) / ms.max(1);
        out.push_str(&format!(
            "{} in {} ({} a second), seed {}\n",
            numbers(counts),
            seconds(ms),
            thousands(a_second),
            self.info.seed
        ));
        if self.saved > 0 {
            let kept = count(self.saved, "failing case", "failing cases");
            out.push_str(&format!(
                "{kept} saved in {}, to be tried first the next time\n",
                self.folder.path().display()
            ));
        }
        let exit = outcome.exit();
        let style = match exit {
            Exit::AsExpected => palette.good,
            Exit::Incomplete | Exit::Interrupted => palette.warn,
            _ => palette.bad,
        };
        out.push_str(&format!("{}\n", paint(style, &format!("exit {exit}"))));
        out
    }

    fn group(&self, signature: &Signature, group: &Group) -> String {
        let first: Vec<String> = group
            .first
            .iter()
            .map(|origin| match origin {
                Origin::Case(number) => number.to_string(),
                Origin::Regression(_) => "one that failed before".to_owned(),
            })
            .collect();
        let more = match group.count - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{}: {signature}; cases {}{more}",
            count(group.count, "time", "times"),
            first.join(", ")
        )
    }
}

/// The cases by what became of them.
fn numbers(counts: &Counts) -> String {
    let mut parts = vec![format!("{} passed", thousands(counts.passed))];
    for (number, word) in [
        (counts.failed, "failed"),
        (counts.not_exercised, "not exercised"),
        (counts.adapter_errors, "adapter errors"),
        (counts.harness_errors, "harness errors"),
        (counts.not_applicable, "not applicable"),
    ] {
        if number > 0 {
            parts.push(format!("{} {word}", thousands(number)));
        }
    }
    format!("{} cases: {}", thousands(counts.cases), parts.join(", "))
}
