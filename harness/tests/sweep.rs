//! The cut sweep: the reference client delivers the same from every cut, and wrong clients are caught at their bytes.

use fake_server::script::{framing::PartOf, model::Plan, parse};
use harness::{
    client::{
        Client,
        reference::{Bug, Reference},
    },
    events::{Deaf, RunEvent, Sink},
    exit::Exit,
    generate::sweep::{At, By, Cut, Outcome, Shape, Sweep, Wanted, play, unbroken},
    report::{
        sweep::{object, report},
        text::Page,
    },
    run::Settings,
    standing::Standing,
    suite::{Suite, embedded},
    summary::{Judged, RunInfo},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::Arc,
};

const SHORT: &str = r#"
title = "Two short frames, a part of a character in each"
requirements = ["data/exact"]
fault-kinds = []
why = "The example of a test."
op = "follow"

[process]
output = [{ stdout-base64 = "4oI=" }, { stdout-base64 = "rAo=" }]
exit = { code = 7 }
"#;

const DROPPED: &str = r#"
[[fault]]
on = "connect"
stream = [{ send = 1 }, { send = 2, bytes = 20 }, { end = "reset" }]
"#;

fn plan(text: &str) -> Plan {
    parse("short.toml", "test/short", text, None)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 1)
}

fn embedded_plan(id: &str) -> Plan {
    let suite = Suite::load(&[embedded()]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    suite.get(id).expect("a scenario").scenario.plan(0, 1)
}

fn settings() -> Settings {
    Settings {
        jobs: 2,
        keep: 0,
        timeout_multiplier: 1.0,
        fail_fast: false,
        in_memory: true,
        first_trial: 0,
    }
}

struct Done {
    sweep: Sweep,
    outcome: Outcome,
    info: RunInfo,
    cuts: Vec<Cut>,
}

/// Sweeps a plan in memory.
fn swept(plan: &Plan, reference: Reference, wanted: &Wanted, sink: &mut dyn Sink) -> Done {
    let client = Arc::new(Client::Reference(reference));
    let sweep = Sweep::new(plan, client.promises()).expect("a stream");
    let cuts = sweep.cuts(wanted);
    let info = RunInfo {
        suite: "0.0.0".to_owned(),
        digest: String::new(),
        client: client.info(),
        program: vec!["createos-conformance".to_owned()],
        seed: 1,
        strict: false,
        transport: "memory",
        shard: None,
        cases: cuts.len(),
        replay_arguments: vec!["--in-memory".to_owned()],
        files: BTreeMap::new(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut outcome = runtime.block_on(async {
        let whole = unbroken(plan, &client, &info, &settings(), pending())
            .await
            .expect("played");
        assert_eq!(whole.standing, Standing::Passed);
        let said = &whole.case.trial.as_ref().expect("a trial").observed;
        play(
            &sweep,
            &cuts,
            said,
            &client,
            &info,
            &settings(),
            pending(),
            sink,
        )
        .await
    });
    outcome.took_ms = 0;
    Done {
        sweep,
        outcome,
        info,
        cuts,
    }
}

fn shown(done: &Done) -> String {
    report(
        &done.sweep,
        &done.outcome,
        &done.info,
        &Page::new(100, false),
        false,
    )
}

fn wanted(by: &[By], at: At, shapes: &[Shape]) -> Wanted {
    Wanted {
        by: by.iter().copied().collect(),
        at,
        shapes: shapes.iter().copied().collect(),
    }
}

/// Looks at the receipt of every case.
#[derive(Default)]
struct Receipts {
    broken: BTreeSet<String>,
    split: usize,
}

impl Sink for Receipts {
    fn event(&mut self, event: &RunEvent) {
        let RunEvent::CaseFinished { judged, .. } = event else {
            return;
        };
        let trial = judged.case.trial.as_ref().expect("it was played");
        for exchange in &trial.log.exchanges {
            let fault = exchange.fault.and_then(|number| {
                let faults = &judged.case.plan.faults;
                faults.iter().find(|fault| fault.number == number)
            });
            let Some(fault) = fault else { continue };
            match fault.behaviour.break_at {
                // A client that has read the exit may leave before the rest was sent byte by byte.
                Some(_) if exchange.broke_off.is_none() && exchange.segmented.is_some() => {}
                Some(wanted) => {
                    assert_eq!(exchange.broke_off, Some(wanted), "{}", judged.case.id());
                    self.broken.insert(judged.case.id().to_owned());
                }
                None => self.split += usize::from(exchange.segmented.is_some()),
            }
        }
    }
}

#[test]
fn the_reference_client_delivers_the_same_from_every_byte_on() {
    let mut receipts = Receipts::default();
    let done = swept(
        &plan(SHORT),
        Reference::conformant(),
        &Wanted::default(),
        &mut receipts,
    );
    let total = done.outcome.total();
    assert_eq!(done.outcome.exit(), Exit::AsExpected, "{}", shown(&done));
    assert!(total.cuts > 2_500, "{total:?}");
    assert_eq!(total.cuts, done.cuts.len());
    // Only silence that nothing would end is not asked.
    assert_eq!(
        total.not_applicable,
        done.outcome.kinds[&By::Silence].not_applicable
    );
    assert_eq!(total.same, total.cuts - total.not_applicable);
    // All but those after the exit, byte by byte.
    let broken = done.cuts.iter().filter(|cut| cut.by.break_at(0).is_some());
    let unproven = broken.count() - total.not_applicable - receipts.broken.len();
    assert!(unproven < 50, "{unproven}");
    assert!(receipts.split > 190, "{}", receipts.split);
}

#[test]
fn scenarios_with_faults_of_their_own_are_swept_on_every_connect() {
    for plan in [
        plan(&format!("{SHORT}{DROPPED}")),
        embedded_plan("stream/two-drops-with-progress"),
        embedded_plan("sequence/gap-in-the-middle"),
        embedded_plan("raw/healthy-connect"),
    ] {
        let done = swept(
            &plan,
            Reference::conformant(),
            &wanted(By::ALL, At::Edges, &[Shape::Own, Shape::Bytes]),
            &mut Deaf,
        );
        assert_eq!(done.outcome.exit(), Exit::AsExpected, "{}", shown(&done));
        let attempts: BTreeSet<u32> = done.cuts.iter().map(|cut| cut.attempt).collect();
        assert_eq!(attempts.len(), done.sweep.streams.len());
    }
}

/// The bytes at which a wrong client fails, by kind.
fn failing(bug: Bug, by: &[By], shapes: &[Shape]) -> (Done, BTreeMap<By, BTreeSet<u64>>) {
    let done = swept(
        &plan(SHORT),
        Reference::wrong(bug),
        &wanted(by, At::Bytes, shapes),
        &mut Deaf,
    );
    assert_eq!(done.outcome.exit(), Exit::Failed, "{}", shown(&done));
    let mut failing: BTreeMap<By, BTreeSet<u64>> = BTreeMap::new();
    for group in &done.outcome.groups {
        for cut in &group.cuts {
            failing.entry(cut.by).or_default().insert(cut.at);
        }
    }
    (done, failing)
}

/// Where the exit's line can be read, in bytes of the lines.
fn exit_is_whole(done: &Done) -> u64 {
    done.sweep.streams[0].payload as u64 - 1
}

#[test]
fn a_client_that_takes_an_end_for_the_end_fails_wherever_the_exit_is_missing() {
    let (done, failing) = failing(Bug::EndIsSuccess, &[By::Clean], &[Shape::Own]);
    let until_the_exit: BTreeSet<u64> = (0..exit_is_whole(&done)).collect();
    assert_eq!(failing[&By::Clean], until_the_exit);
}

#[test]
fn a_client_that_loses_what_has_no_line_feed_fails_where_the_exit_has_none() {
    let (done, failing) = failing(Bug::WaitsForEnd, &[By::Fin, By::Silence], &[Shape::Own]);
    // Once the exit has been said, nothing else is waited for.
    let wire = done.sweep.streams[0].layout.bytes.len() as u64;
    let after_the_exit: BTreeSet<u64> = (wire - 7..wire).collect();
    assert_eq!(failing[&By::Silence], after_the_exit);
}

#[test]
fn a_client_that_uses_a_part_of_a_line_fails_inside_lines_only() {
    let (done, failing) = failing(Bug::PartialLineUsed, &[By::NoZeroChunk], &[Shape::Own]);
    let bytes: Vec<u8> = done.sweep.streams[0]
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            fake_server::script::expand::Piece::Bytes { bytes, .. } => Some(bytes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let bytes_of = &failing[&By::NoZeroChunk];
    assert!(!bytes_of.is_empty());
    for at in bytes_of {
        let at = usize::try_from(*at).expect("an index");
        assert!(at > 0 && bytes[at - 1] != b'\n', "between lines: {at}");
    }
}

#[test]
fn a_client_for_which_a_read_is_a_frame_fails_wherever_a_line_is_parted() {
    let (done, failing) = failing(Bug::ReadIsAFrame, &[By::Split], &[Shape::Own]);
    let layout = &done.sweep.streams[0].layout;
    let parted: BTreeSet<u64> = (1..layout.bytes.len())
        .filter(|at| {
            // Some of a line stands before, some after, its LF not counted.
            layout.part_at(*at).is_some_and(|part| {
                matches!(part.what, PartOf::Payload { .. })
                    && (part.from + 1..part.to - 1).contains(at)
            })
        })
        .map(|at| at as u64)
        .collect();
    assert!(
        parted.is_subset(&failing[&By::Split]),
        "{:?}",
        parted.difference(&failing[&By::Split])
    );
}

#[test]
fn the_report_shows_the_byte_and_its_frame() {
    let done = swept(
        &plan(SHORT),
        Reference::wrong(Bug::PartialLineUsed),
        &wanted(
            &[By::Fin, By::Clean],
            At::Bytes,
            &[Shape::Own, Shape::Bytes],
        ),
        &mut Deaf,
    );
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("sweep", shown(&done)));
    let object = object(&done.sweep, &done.outcome, &done.info);
    assert_eq!(object["exit"]["code"], 1);
    assert_eq!(object["all"]["cuts"], done.cuts.len());
    let replay = object["wrong"][0]["replay"].as_str().expect("a command");
    let (_, cut) = replay.rsplit_once("--cut ").expect("a cut");
    assert_eq!(cut.parse::<Cut>(), Ok(done.outcome.groups[0].cuts[0]));
}

/// A result of the harness's own, to see what is told of it.
#[test]
fn a_cut_that_reached_nobody_is_no_pass() {
    let plan = plan(SHORT);
    let client = Client::Reference(Reference::conformant());
    let sweep = Sweep::new(&plan, client.promises()).expect("a stream");
    let cut = sweep.cuts(&wanted(&[By::Fin], At::Bytes, &[Shape::Own]))[9];
    let mut done = swept(
        &plan,
        Reference::conformant(),
        &wanted(&[By::Rst], At::Edges, &[Shape::Own]),
        &mut Deaf,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let whole = runtime
        .block_on(unbroken(
            &plan,
            &Arc::new(client),
            &done.info,
            &settings(),
            pending(),
        ))
        .expect("played");
    let said = whole.case.trial.as_ref().expect("a trial").observed.clone();
    let unmet = Judged {
        standing: Standing::NotExercised,
        ..whole
    };
    done.outcome.take(&sweep, &cut, &unmet, &said, false);
    assert_eq!(done.outcome.exit(), Exit::Incomplete);
    assert!(shown(&done).contains("1 not exercised"));
}
