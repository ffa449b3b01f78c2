//! The command line as it is typed.

use crate::generate::{
    Profile,
    sweep::{By, Cut, Shape},
};
use crate::shard::Shard;
use clap::{Args, Parser, Subcommand};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Judges a CreateOS client: what it said and what it did on the wire.
#[derive(Debug, Parser)]
#[command(
    name = "createos-conformance",
    version,
    about = "Judges any CreateOS client, in any language: what it said and what it did on the wire.",
    disable_help_subcommand = true,
    after_help = AFTER_HELP
)]
pub(super) struct Cli {
    /// What to do; without one: `run`.
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const AFTER_HELP: &str = "\
Examples:
  createos-conformance                                the built-in client, everything
  createos-conformance 'stream/*'                     only one area
  createos-conformance run --client my/client.toml    judge your client
  createos-conformance run --wrong end-is-success     a client that is wrong on purpose
  createos-conformance show stream/retry-budget       what is asked, by which scenarios

A bare argument with `/` or `*`, or ending in .toml, is a pattern for `run`;
any other must be a verb.

Exit codes:
    0  as expected
    1  the client broke the contract, or a known failure passes
    2  wrong command line, scenario or manifest
    3  incomplete: not exercised, adapter died, or no case applied
    4  the harness itself failed
    5  adapter unusable: smoke failed
  130  interrupted";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Judge a client (the default)
    Run(RunArgs),
    /// Judge a client by the whole suite, and write a certificate that can be verified
    Certify(CertifyArgs),
    /// Verify a certificate: judge its trials again, and find whatever was changed
    Verify(VerifyArgs),
    /// Judge saved trials again, without a network
    Judge(JudgeArgs),
    /// Make JUnit, Markdown, GitHub annotations or one HTML file from the events of runs
    Report(ReportArgs),
    /// Show what is not the same in two runs, case by case
    Diff(DiffArgs),
    /// Join the events of shards into those of one run
    Merge(MergeArgs),
    /// Cut the streams of one scenario at every byte, in every way
    Sweep(SweepArgs),
    /// List scenarios, one a line, the id first
    List(ListArgs),
    /// Explain a scenario, a requirement or an area
    Show(ShowArgs),
    /// Show which scenarios are about each requirement and each kind of fault
    Coverage(CoverageArgs),
    /// Audit the suite: every client that is wrong on purpose must fail it
    Audit(AuditArgs),
    /// Judge a client by generated schedules, which nobody wrote
    Fuzz(FuzzArgs),
    /// Check the scenarios themselves: parse all, play each without its faults
    Check(CheckArgs),
    /// Ask an adapter one job of each kind, to see whether it can be judged at all
    Smoke(SmokeArgs),
    /// Run the set-up commands of a client's manifest
    Setup(SetupArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance run                                 the built-in client, everything
  createos-conformance run 'data/*' sequence/largest-seq   an area and a scenario
  createos-conformance run '**/*reset*'                    every id that says `reset`
  createos-conformance run my-outage.toml                  a scenario of your own
  createos-conformance run --client my/client.toml --jobs 1 -v stream/drop-and-resume
  createos-conformance run --verify-stability 50           each case 50 times more, always the same?
  createos-conformance run --shard 2/8 --events 2.jsonl    an eighth of the cases, for `merge`

With --verify-stability, a verdict that changes is a failure too (exit 1). So is a wire log that
changes, for the built-in client and with --strict; other clients may choose what they ask.")]
pub(super) struct RunArgs {
    /// Ids, patterns (`*` one component, `**` many) or .toml files; none means everything
    #[arg(value_name = "PATTERN")]
    pub(super) patterns: Vec<String>,
    /// Manifest of the client to judge; without it: the built-in reference client
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["wrong", "in_memory"])]
    pub(super) client: Option<PathBuf>,
    /// Judge the reference client with one deliberate bug (`--wrong list` names them)
    #[arg(long, value_name = "BUG")]
    pub(super) wrong: Option<String>,
    /// Cases at a time; mostly they wait, so this may be far more than there are cores
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    #[command(flatten)]
    pub(super) pace: PaceArgs,
    /// Repeat every case N times more and report any change of a verdict or of the wire log
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) verify_stability: Option<u16>,
    /// Write what happens into this file, a JSON object a line; `report` makes every report from it
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(super) events: Option<PathBuf>,
    #[command(flatten)]
    pub(super) outputs: OutputArgs,
    /// Only this part of the cases, as in 2/8: by a hash of the id, the same on every machine; `merge` joins the events
    #[arg(long, value_name = "N/OF", conflicts_with = "fail_fast")]
    pub(super) shard: Option<Shard>,
    /// Save each trial in a file of this folder, in the place of this client's earlier ones; `judge` judges them again
    #[arg(long, value_name = "DIR")]
    pub(super) save: Option<PathBuf>,
    /// Stop at the first failure
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Shoulds count too
    #[arg(long)]
    pub(super) strict: bool,
    /// Name every case, tell every story in full
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Write JSON lines to standard output instead of the report (with --verbose: plans and wire logs too)
    #[arg(long)]
    pub(super) json: bool,
    /// No sockets, no waiting: the built-in client over a network in memory with a clock of its own
    #[arg(long)]
    pub(super) in_memory: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// What random choices follow from, and how patient the harness is.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PaceArgs {
    /// Everything random follows from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Wait this many times longer for the client than a scenario says (slow machines)
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = multiplier)]
    pub(super) timeout_multiplier: f64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance run --client my/client.toml --save trials    play, judge, save
  createos-conformance judge trials                                 judge again
  createos-conformance judge trials/stream/*.json -v                some, told in full

Exits as the run did (0, 1 or 3); 1, too, if a verdict is not the one that was saved,
and 2 if a file can't be judged.")]
pub(super) struct JudgeArgs {
    /// Files that `run --save` wrote, or folders of them
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Name every case, tell every story in full
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Write JSON lines as `run --json` does, then one about what changed
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance sweep stream/healthy-follow --in-memory       the built-in client, every cut
  createos-conformance sweep data/every-byte --at edges              at the ends of lines and chunks only
  createos-conformance sweep my-outage.toml --client my/client.toml  a scenario of your own, your client
  createos-conformance sweep stream/healthy-follow --by fin --by rst --segments bytes
  createos-conformance sweep stream/healthy-follow --cut 1:fin@117   one cut: connect 1, by FIN, before byte 117

Ways to cut (--by):
  fin            FIN at a byte on the wire, chunk sizes and zero chunk counted
  rst            RST there, once everything before it was acknowledged
  silence        nothing more from there on, the socket stays open
  no-zero-chunk  the lines end at a byte, in chunks that are right; then FIN
  clean          the lines end at a byte, and the body ends as if that were all
  split          nothing is missing; what stands before and after a byte are two segments
  whole          nothing is missing; the whole stream in each of the shapes

Shapes (--segments): own, frames and bytes (these three unless said), all, twos, threes, uneven,
one-chunk, byte-chunks, small-chunks-in-bytes.

Exits 2 if the scenario has no stream that can be cut, 1 or 3 if it does not pass unbroken.")]
pub(super) struct SweepArgs {
    /// Id of a scenario (all instances of its matrix), of a case, or a .toml file
    #[arg(value_name = "ID")]
    pub(super) id: String,
    /// Manifest of the client to judge; without it: the built-in reference client
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["wrong", "in_memory"])]
    pub(super) client: Option<PathBuf>,
    /// Judge the reference client with one deliberate bug (`run --wrong list` names them)
    #[arg(long, value_name = "BUG")]
    pub(super) wrong: Option<String>,
    /// How to cut: fin, rst, silence, no-zero-chunk, clean, split or whole; may be given more than once; default: all
    #[arg(long, value_name = "KIND", value_parser = kind_of_cut)]
    pub(super) by: Vec<By>,
    /// At all bytes, or at edges only
    #[arg(long, value_name = "PLACES", default_value = "bytes", value_parser = ["bytes", "edges"])]
    pub(super) at: String,
    /// How the stream that is cut is written; may be given more than once
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    pub(super) segments: Vec<Shape>,
    /// One cut, by its name in a report; may be given more than once
    #[arg(long, value_name = "CUT", conflicts_with_all = ["by", "at", "segments"])]
    pub(super) cut: Vec<Cut>,
    /// Refuse to make more cuts than this of one case
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(super) most: usize,
    /// Cuts at a time; mostly they wait, so this may be far more than there are cores
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    #[command(flatten)]
    pub(super) pace: PaceArgs,
    /// Stop at the first failure
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Shoulds count too
    #[arg(long)]
    pub(super) strict: bool,
    /// Tell every story in full
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Write one JSON object a case to standard output instead of the report
    #[arg(long)]
    pub(super) json: bool,
    /// No sockets, no waiting: the built-in client over a network in memory with a clock of its own
    #[arg(long)]
    pub(super) in_memory: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// Which reports are written.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reports")]
pub(super) struct OutputArgs {
    /// Write JUnit XML: a testcase a check
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Write Markdown, as for $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE")]
    pub(super) markdown: Option<PathBuf>,
    /// Write one HTML file that needs no network: the matrix, and every exchange as a diagram
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Print annotations for GitHub Actions
    #[arg(long)]
    pub(super) github: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance run --client my/client.toml --events run.jsonl
  createos-conformance report run.jsonl --html run.html --junit run.xml
  createos-conformance report run.jsonl --markdown \"$GITHUB_STEP_SUMMARY\" --github
  createos-conformance report python.jsonl go.jsonl rust.jsonl --html matrix.html

Several files are several clients, side by side. Without a report it prints the verdicts.
Exits 0 when the reports are written, whatever they say: the verdict is the exit code of `run`.")]
pub(super) struct ReportArgs {
    /// Event files, as `run --events` writes them
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) outputs: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance certify --client my/client.toml --out certificate
  createos-conformance certify --client my/client.toml --out certificate --build \"$GITHUB_SHA\"
  createos-conformance verify certificate

The verdict is `conformant`, `conformant with known deviations` (every must held, a should or a may did
not) or `not conformant`. A broken must is never certified, whatever the manifest admits, and what could
not be judged is no pass. Exits 0 if the client is certified, otherwise as `run` does, and 1 if a must
is broken.")]
pub(super) struct CertifyArgs {
    /// Manifest of the client to judge; without it: the built-in reference client
    #[arg(long, value_name = "MANIFEST", conflicts_with = "wrong")]
    pub(super) client: Option<PathBuf>,
    /// Judge the reference client with one deliberate bug (`run --wrong list` names them)
    #[arg(long, value_name = "BUG")]
    pub(super) wrong: Option<String>,
    /// The folder to write: an empty one, or that of an earlier certificate of this client
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: PathBuf,
    /// What the certificate calls the build of the client that is judged, as a commit
    #[arg(long, value_name = "ID")]
    pub(super) build: Option<String>,
    /// Cases at a time; mostly they wait, so this may be far more than there are cores
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    #[command(flatten)]
    pub(super) pace: PaceArgs,
    /// Print annotations for GitHub Actions
    #[arg(long)]
    pub(super) github: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance verify certificate

Every trial is judged again, and everything else in the folder made again from them, without a network.
Exits as `certify` did if all is as it says, 1 if anything is not, and 2 if the certificate is none or of
another suite.")]
pub(super) struct VerifyArgs {
    /// What `certify --out FOLDER` wrote
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance run --client my/client.toml --shard 2/8 --events 2.jsonl   on the second of 8 machines
  createos-conformance merge 1.jsonl 2.jsonl 3.jsonl -o run.jsonl
  createos-conformance report run.jsonl --html run.html

Refuses (exit 2) a shard that is missing or there twice, and shards of different suites, clients, seeds or
selections; a shard that was stopped or killed is incomplete (exit 3). Otherwise it exits as the whole run
would have.")]
pub(super) struct MergeArgs {
    /// Event files of all shards, as `run --shard N/OF --events FILE` writes them
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance diff before.jsonl after.jsonl    one client, before and after
  createos-conformance diff python.jsonl go.jsonl       two clients
  createos-conformance diff old-certificate certificate

Exits 1 if a case has another verdict, or is in one run only.")]
pub(super) struct DiffArgs {
    /// An event file, or the folder of a certificate
    #[arg(value_name = "A")]
    pub(super) before: PathBuf,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub(super) after: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// A folder of scenarios that adds to the embedded ones, and replaces those of the same id
    #[arg(long, value_name = "DIR")]
    pub(super) scenarios: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance coverage              a line each, with the first scenario
  createos-conformance coverage --verbose    with every scenario
  createos-conformance coverage --json

Exits 1 if a must or a kind of fault has no scenario.")]
pub(super) struct CoverageArgs {
    /// Name every scenario, not the first only
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// One JSON object instead of the tables
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance audit                          every wrong client, every must
  createos-conformance audit 'stream/*'               those of one area
  createos-conformance audit end-is-success --full    one, in every case
  createos-conformance audit --sockets                what is killed in memory, over real sockets too
  createos-conformance audit --generated              by generated cases only, and after how many

Clients play in memory. With --sockets each one that was killed there plays the two scenarios that
killed it in the shortest time over sockets as well, and the same requirement has to fail.

With --generated no scenario is played: each wrong client meets generated cases (those that `fuzz`
draws) until it fails one. What they can't show is listed with the reason.

Exits 1 if a wrong client survives, or if a must has no wrong client that fails it; with --generated if
fewer than 95 % of those within reach are caught, or one is caught that is said to be out of reach.")]
pub(super) struct AuditArgs {
    /// Bugs, requirements or patterns over both; none means everything
    #[arg(value_name = "PATTERN")]
    pub(super) patterns: Vec<String>,
    /// Let every wrong client play every case, not only those that are about the requirement it breaks
    #[arg(long)]
    pub(super) full: bool,
    /// Play two killers of each wrong client over real sockets too
    #[arg(long)]
    pub(super) sockets: bool,
    /// Play generated cases instead of scenarios
    #[arg(long, conflicts_with_all = ["full", "sockets", "scenarios"])]
    pub(super) generated: bool,
    /// With --generated: how many each wrong client is given at most
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 20_000,
        requires = "generated"
    )]
    pub(super) cases: u64,
    /// Threads; without it: one a core
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Everything random follows from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// One JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance fuzz                                       the built-in client, 1,000 cases in memory
  createos-conformance fuzz --client my/client.toml --cases 5000  your client, 64 cases at a time
  createos-conformance fuzz --client my/client.toml --max-time 10m --profile deep
  createos-conformance fuzz --seed 17 --case 4711                 one case again
  createos-conformance fuzz --seed 17 --cases 80000 --shard 2/8   an eighth of them

Failing cases are written into the folder of --save as they are found, and are tried first the next time.
In the end one of each kind is made as small as it can be, and written there as a scenario file.
A case is the same for the same version, seed, number and profile. Exit codes are those of `run`.")]
pub(super) struct FuzzArgs {
    /// Manifest of the client to judge; without it: the built-in reference client
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["wrong", "in_memory", "sockets"])]
    pub(super) client: Option<PathBuf>,
    /// Judge the reference client with one deliberate bug (`run --wrong list` names them)
    #[arg(long, value_name = "BUG")]
    pub(super) wrong: Option<String>,
    /// How many cases; without it: 1,000, or as many as --max-time allows
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) cases: Option<u64>,
    /// Everything random follows from it; without it: another one each time, which is told
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    /// Begin no more cases after this time, as in 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) max_time: Option<Duration>,
    /// Cases at a time over sockets; mostly they wait, so this may be far more than there are cores
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// How far the schedules go: quick (little output, many cases) or deep (more of everything)
    #[arg(long, value_name = "PROFILE", default_value = "quick", value_parser = profile)]
    pub(super) profile: Profile,
    /// Where failing cases are kept; without it: `regressions` in the client's folder, or here
    #[arg(long, value_name = "DIR")]
    pub(super) save: Option<PathBuf>,
    /// Only keep what fails, make nothing smaller of it
    #[arg(long)]
    pub(super) no_shrink: bool,
    /// Leave the client's back-off as it is, whatever [speed] in its manifest says
    #[arg(long, requires = "client")]
    pub(super) real_speed: bool,
    /// Only this part of the cases, as in 2/8, by their numbers; the same --seed for all of them
    #[arg(long, value_name = "N/OF", requires = "seed", conflicts_with = "case")]
    pub(super) shard: Option<Shard>,
    /// Only this case of the seed
    #[arg(long, value_name = "N", requires = "seed", conflicts_with_all = ["cases", "max_time"])]
    pub(super) case: Option<u64>,
    /// Wait this many times longer for the client than a case says (slow machines)
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = multiplier)]
    pub(super) timeout_multiplier: f64,
    /// Shoulds count too
    #[arg(long)]
    pub(super) strict: bool,
    /// No sockets, no waiting (the default for the built-in client): a network in memory with a clock of its own
    #[arg(long, conflicts_with = "sockets")]
    pub(super) in_memory: bool,
    /// The built-in client over sockets, in real time
    #[arg(long)]
    pub(super) sockets: bool,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Ids or patterns; none means everything
    #[arg(value_name = "PATTERN")]
    pub(super) patterns: Vec<String>,
    /// List the requirements of the contract instead: id, level, scenarios, sentence
    #[arg(long, conflicts_with_all = ["patterns", "fault_kinds"])]
    pub(super) requirements: bool,
    /// List the kinds of fault instead: id, scenarios, name
    #[arg(long, conflicts_with = "patterns")]
    pub(super) fault_kinds: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createos-conformance show stream/drop-and-resume    a scenario, explained
  createos-conformance show stream/retry-budget       a requirement, and who asks it
  createos-conformance show stream                    an area")]
pub(super) struct ShowArgs {
    /// A scenario's id, a requirement's id, or an area
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Ids, patterns or .toml files; none means everything
    #[arg(value_name = "PATTERN")]
    pub(super) patterns: Vec<String>,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct SmokeArgs {
    /// Manifest of the client
    #[arg(long, value_name = "MANIFEST")]
    pub(super) client: PathBuf,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct SetupArgs {
    /// Manifest of the client
    #[arg(value_name = "MANIFEST")]
    manifest: Option<PathBuf>,

    /// The same, as the other verbs take it
    #[arg(long, value_name = "MANIFEST")]
    client: Option<PathBuf>,
}

impl SetupArgs {
    /// The manifest, however it was given.
    pub(super) fn client(&self) -> &Path {
        let given = self.manifest.as_deref().or(self.client.as_deref());
        given.unwrap_or_else(|| Path::new(""))
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    let known = |profile: &&Profile| profile.name() == text;
    Profile::ALL
        .iter()
        .find(known)
        .copied()
        .ok_or_else(|| "quick or deep".to_owned())
}

/// A time as in `90s`, `10m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let time = units.iter().find_map(|(unit, seconds)| {
        let number: u32 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(Duration::from_secs(u64::from(number) * seconds))
    });
    match time {
        Some(time) if !time.is_zero() => Ok(time),
        _ => Err("a whole number with its unit, as in 90s, 10m or 2h".to_owned()),
    }
}

fn kind_of_cut(text: &str) -> Result<By, String> {
    text.parse()
        .map_err(|()| one_of(By::ALL.iter().map(|by| by.name())))
}

fn shape(text: &str) -> Result<Shape, String> {
    text.parse()
        .map_err(|()| one_of(Shape::ALL.iter().map(|shape| shape.name())))
}

fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    format!("one of {}", names.collect::<Vec<_>>().join(", "))
}

fn multiplier(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (0.1..=100.0).contains(&factor) => Ok(factor),
        _ => Err("a number from 0.1 to 100".to_owned()),
    }
}

/// Puts the default verb where none was typed: before a pattern or an option of `run`, or at the end.
pub(super) fn with_default_verb(mut words: Vec<String>) -> Vec<String> {
    let global = ["-h", "--help", "-V", "--version"];
    let verb_is_missing = match words.get(1) {
        None => true,
        Some(first) => {
            (first.starts_with('-') && !global.contains(&first.as_str()))
                || crate::select::looks_like_pattern(first)
        }
    };
    if verb_is_missing {
        words.insert(words.len().min(1), "run".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        let words = line.split(' ').map(str::to_owned).collect();
        Cli::try_parse_from(with_default_verb(words))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_default_verb_is_run() {
        for line in [
            "x",
            "x stream/*",
            "x --strict a/b",
            "x mine.toml",
            "x run a/b",
        ] {
            assert!(matches!(parsed(line).unwrap().verb, Verb::Run(_)), "{line}");
        }
    }

    #[test]
    fn a_bare_word_that_is_no_verb_is_an_error() {
        assert!(parsed("x lst").unwrap_err().to_string().contains("list"));
    }

    #[test]
    fn bugs_that_the_help_names_exist() {
        let (_, after) = AFTER_HELP.split_once("--wrong ").unwrap();
        let name = after.split(' ').next().unwrap();
        assert!(
            crate::client::reference::Bug::from_name(name).is_some(),
            "{name}"
        );
    }

    #[test]
    fn exit_codes_of_the_help_are_those_of_the_program() {
        for exit in crate::exit::Exit::ALL {
            let line = format!("{:>5}  {}", exit.code(), exit.meaning());
            assert!(AFTER_HELP.contains(&line), "{line}");
        }
    }
}
