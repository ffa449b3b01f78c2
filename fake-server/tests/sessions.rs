//! Every scenario is played against a session by a blunt client that never stops: each fault fires,
//! the same requests get the same answers, and without faults the whole truth comes.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the scenarios it plays"
)]

use fake_server::{
    script::{
        self,
        expand::Piece,
        model::{ConnectionUse, CutPoint, FrameRef, Plan, TruthExit},
    },
    session::{Act, Decision, Session},
    wire::{Call, Op},
    wirelog::{Names, Payload, Request},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

const ROUNDS: usize = 6;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
}

/// Every instance of every scenario with what happened, played once for all tests.
fn played() -> &'static [(Arc<Plan>, Vec<Decision>)] {
    static PLAYED: OnceLock<Vec<(Arc<Plan>, Vec<Decision>)>> = OnceLock::new();
    PLAYED.get_or_init(|| {
        plans()
            .into_iter()
            .map(|plan| {
                let plan = Arc::new(plan);
                let decisions = play(&plan);
                (plan, decisions)
            })
            .collect()
    })
}

fn plans() -> Vec<Plan> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    found
        .iter()
        .flat_map(|path| {
            let id = path.strip_prefix(&root).expect("below").with_extension("");
            let id = id.to_str().expect("a plain name").replace('\\', "/");
            let text = fs::read_to_string(path).expect("text");
            let mut beside =
                |name: &str| fs::read(path.with_file_name(name)).map_err(|error| error.to_string());
            // What is wrong with a file is told by the test of the files.
            script::parse_with(&id, &id, &text, None, &mut beside)
                .map_or_else(|_| Vec::new(), |scenario| scenario.plans(7))
        })
        .collect()
}

fn names() -> Names {
    Names {
        api_key: "skp_key".into(),
        canary: "CANARY".into(),
        base_url: "http://127.0.0.1:1".into(),
        trap_url: "http://127.0.0.1:2".into(),
        sandbox_id: "sb-first".into(),
        process_id: "proc_first".into(),
    }
}

/// Calls in the order of a life, again and again.
fn script_of_a_blunt_client(plan: &Plan) -> Vec<Request> {
    let process = "/v1/sandboxes/sb-first/processes/proc_first";
    let after = plan.job.after;
    let round = [
        (
            "POST",
            "/v1/sandboxes/sb-first/processes".to_owned(),
            r#"{"cmd":"sh"}"#,
        ),
        (
            "POST",
            format!("{process}/input"),
            r#"{"data_base64":"YQ=="}"#,
        ),
        ("POST", format!("{process}/stdin/close"), ""),
        ("GET", format!("{process}/connect?after={after}"), ""),
        ("GET", process.to_owned(), ""),
        ("GET", format!("{process}/wait?timeout_ms=0"), ""),
        ("DELETE", format!("{process}?grace_ms=0"), ""),
    ];
    let request = |(method, target, body): &(&str, String, &str)| Request {
        method: (*method).to_owned(),
        target: target.clone(),
        headers: vec![("x-api-key".into(), "skp_key".into())],
        body: (*body).into(),
        body_complete: true,
        ..Request::default()
    };
    (0..ROUNDS)
        .flat_map(|_| round.iter().map(request))
        .collect()
}

fn play(plan: &Arc<Plan>) -> Vec<Decision> {
    let mut session = Session::new(Arc::clone(plan), names());
    script_of_a_blunt_client(plan)
        .iter()
        .map(|request| session.handle(request, ConnectionUse::Fresh, 0))
        .collect()
}

fn pieces(decision: &Decision) -> Vec<Piece> {
    match &decision.act {
        Act::Raw(raw) => raw.body.clone().into_pieces().collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_fault_that_a_blunt_client_can_meet_fires() {
    assert!(!played().is_empty());
    for (plan, decisions) in played() {
        let wanted: BTreeSet<usize> = plan
            .faults
            .iter()
            .filter(|fault| fault.when_after.is_none() && fault.on_connection.is_none())
            .filter(|fault| fault.attempts.first() as usize <= ROUNDS)
            .filter(|fault| !fault.behaviour.refuse)
            .filter(|fault| {
                fault
                    .behaviour
                    .cut
                    .is_none_or(|cut| cut.at != CutPoint::Accept)
            })
            .filter(|fault| {
                matches!(
                    fault.on,
                    None | Some(
                        Call::CreateProcess
                            | Call::Input
                            | Call::StdinClose
                            | Call::Connect
                            | Call::GetProcess
                            | Call::Wait
                            | Call::DeleteProcess
                    )
                )
            })
            .map(|fault| fault.number)
            .collect();
        let met: BTreeSet<usize> = decisions
            .iter()
            .filter_map(|decision| decision.fault)
            .collect();
        let missed: Vec<&usize> = wanted.difference(&met).collect();
        assert!(
            missed.is_empty(),
            "{}: faults {missed:?} never fire",
            plan.id
        );
    }
}

#[test]
fn the_same_requests_get_the_same_answers() {
    for (plan, decisions) in played() {
        assert!(play(plan) == *decisions, "{}", plan.id);
    }
}

#[test]
fn a_scripted_stream_says_how_it_goes_on_after_its_last_step() {
    for (plan, decisions) in played() {
        for decision in decisions {
            if let Some(last) = pieces(decision).last() {
                assert!(
                    matches!(last, Piece::End(_) | Piece::Every { .. } | Piece::Until(_)),
                    "{}: {last:?}",
                    plan.id
                );
            }
        }
    }
}

#[test]
fn without_faults_the_whole_truth_comes_in_order() {
    // A lease has no process, and a sandbox that is to be resumed answers nothing before.
    let follows = |plan: &Plan| {
        matches!(
            plan.op,
            Op::Execute | Op::Follow | Op::Connect | Op::Terminal
        )
    };
    for (plan, _) in played().iter().filter(|(plan, _)| follows(plan)) {
        let control = Arc::new(plan.control());
        let decisions = play(&control);
        let stream = decisions
            .iter()
            .find(|decision| decision.call == Some(Call::Connect))
            .expect("a connect was made");
        let mut right: Vec<FrameRef> = control
            .truth
            .frames
            .iter()
            .filter(|frame| frame.seq > control.job.after)
            .map(|frame| FrameRef::Seq(frame.seq))
            .collect();
        if control.truth.exit != TruthExit::Never {
            right.push(FrameRef::Exit);
        }
        if let Act::Answer(answer) = &stream.act {
            assert_eq!(answer.status, 410, "{}", control.id);
            continue;
        }
        let sent: Vec<FrameRef> = pieces(stream)
            .iter()
            .filter_map(|piece| match piece {
                Piece::Bytes {
                    what: Payload::True(frame),
                    ..
                } => Some(*frame),
                _ => None,
            })
            .collect();
        assert_eq!(sent, right, "{}", control.id);
    }
}
