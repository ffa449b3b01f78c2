use super::*;
use crate::script::model::{Expect, Job, SandboxTruth};

pub(crate) fn names() -> Names {
    Names {
        api_key: "skp_key".into(),
        canary: "CANARY".into(),
        base_url: "http://127.0.0.1:1".into(),
        trap_url: "http://127.0.0.1:2".into(),
        sandbox_id: "sb-first".into(),
        process_id: "proc_first".into(),
    }
}

pub(crate) fn plan(op: Op, truth: Truth) -> Plan {
    Plan {
        id: "test/plan".into(),
        title: String::new(),
        requirements: Vec::new(),
        fault_kinds: Vec::new(),
        why: String::new(),
        op,
        needs: Vec::new(),
        deadline_ms: 10_000,
        job: Job {
            command: vec!["build.sh".into()],
            ..Job::default()
        },
        sandbox: SandboxTruth {
            state: "running".into(),
            lag: 0,
            files: Vec::new(),
        },
        truth,
        faults: Vec::new(),
        expect: Expect::default(),
        seed: 0,
    }
}

fn request() -> CreateProcess {
    CreateProcess {
        cmd: Some("sh".into()),
        ..CreateProcess::default()
    }
}

fn scripted() -> Truth {
    Truth {
        exit: TruthExit::Status {
            code: Some(7),
            signal: None,
            pause_ms: 0,
        },
        ..healthy(false)
    }
}

#[test]
fn the_first_process_is_the_scenarios_and_others_are_healthy() {
    let mut world = World::new(&plan(Op::Execute, scripted()), &names());
    let first = world
        .create_process("sb-first", request(), Some(0), 5)
        .unwrap();
    assert_eq!(first.id(), "proc_first");
    assert_eq!(first.exit(5).unwrap().code, Some(7));
    let second = world
        .create_process("sb-first", request(), Some(1), 5)
        .unwrap();
    assert_ne!(second.id(), "proc_first");
    assert_eq!(second.exit(5).unwrap().code, Some(0));
}

#[test]
fn a_process_exists_already_for_ops_that_follow_one() {
    for (op, there) in [
        (Op::Follow, true),
        (Op::Connect, true),
        (Op::Execute, false),
    ] {
        let mut world = World::new(&plan(op, scripted()), &names());
        assert_eq!(
            world.process("sb-first", "proc_first", 0).is_ok(),
            there,
            "{op}"
        );
    }
}

#[test]
fn by_hand_every_process_is_the_scenarios() {
    let mut world = World::new(&plan(Op::Execute, scripted()), &names());
    world.script_all();
    for _ in 0..3 {
        let process = world
            .create_process("sb-first", request(), None, 0)
            .unwrap();
        assert_eq!(process.exit(0).unwrap().code, Some(7));
    }
}

#[test]
fn names_are_unique_among_the_living() {
    let mut world = World::new(&plan(Op::Execute, scripted()), &names());
    let named = || CreateSandbox::read(br#"{"shape":"s-1vcpu-1gb","name":"n"}"#).unwrap();
    let id = world
        .create_sandbox(named(), None, 0)
        .unwrap()
        .id()
        .to_owned();
    assert_eq!(
        world.create_sandbox(named(), None, 0).unwrap_err().status(),
        409
    );
    let _ = world.sandbox(&id, 0).unwrap().delete(None, 0);
    assert!(world.create_sandbox(named(), None, 0).is_ok());
}

#[test]
fn a_fork_has_its_own_id_and_the_sources_files() {
    let mut world = World::new(&plan(Op::Execute, scripted()), &names());
    world
        .files("sb-first", 0)
        .unwrap()
        .insert("/a".into(), b"x".to_vec());
    assert_eq!(
        world
            .fork("sb-first", Fork::default(), None, 0)
            .unwrap_err()
            .status(),
        409
    );
    let _ = world.sandbox("sb-first", 0).unwrap().pause();
    let child = world.fork("sb-first", Fork::default(), Some(4), 0).unwrap();
    assert_eq!(child.poll(1), State::Running);
    let id = child.id().to_owned();
    assert_eq!(world.files(&id, 0).unwrap()["/a"], b"x");
}

#[test]
fn deleting_a_sandbox_ends_its_processes_and_the_ledger_says_by_whom() {
    let mut world = World::new(&plan(Op::Execute, scripted()), &names());
    world
        .create_process("sb-first", request(), Some(2), 0)
        .unwrap();
    let _ = world.sandbox("sb-first", 0).unwrap().delete(Some(9), 1);
    let ledger = world.ledger(1);
    assert_eq!(ledger.len(), 2);
    assert!(ledger.iter().all(|entry| entry.deleted_by == Some(9)));
    assert_eq!(ledger[0].state, "destroyed");
    assert_eq!(
        (ledger[1].made_by, ledger[1].state.as_str()),
        (Some(2), "exited")
    );
}
