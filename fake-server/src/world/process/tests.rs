use super::*;
use crate::{
    script::model::TruthFrame,
    wire::{Blob, StreamName},
};

fn truth(live: bool, exit: TruthExit) -> Truth {
    Truth {
        kind: ProcessKind::Pipe,
        first_seq: 1,
        frames: (1..=3)
            .map(|seq| TruthFrame {
                seq,
                stream: StreamName::Stdout,
                data: Blob(vec![b'x'; 10]),
                pause_ms: if live { 100 } else { 0 },
            })
            .collect(),
        exit,
        heartbeat_ms: 5000,
        journal_bytes: 1 << 20,
        children: 0,
        live,
    }
}

fn code(code: i64) -> TruthExit {
    TruthExit::Status {
        code: Some(code),
        signal: None,
        pause_ms: 50,
    }
}

fn process(truth: Truth) -> Process {
    let request = CreateProcess {
        cmd: Some("sh".into()),
        ..CreateProcess::default()
    };
    Process::new("p".into(), 42, Arc::new(truth), request, Some(0), 1000)
}

#[test]
fn a_finished_truth_shows_its_exit_but_takes_input_until_stdin_is_closed() {
    let mut process = process(truth(false, code(7)));
    let created = process.told_at_creation();
    assert!(created.data().contains(r#""state":"running""#));
    assert_eq!(process.told(1000).data(), to_text(&mut process, 1000));
    let view = process.view(1000);
    assert_eq!((view.state, view.exit_code), ("exited", Some(7)));
    assert_eq!(view.output.newest_seq, 3);
    assert_eq!(process.input(1001), Ok(1));
    assert_eq!(process.input(1001), Ok(2));
    assert_eq!(process.close_stdin(1002), Ok(()));
    assert_eq!(process.close_stdin(1003).unwrap_err().status(), 409);
    assert_eq!(process.input(1003).unwrap_err().status(), 409);
    assert_eq!(
        process.signal("SIGTERM", None, 1003).unwrap_err().status(),
        409
    );
}

#[test]
fn a_live_truth_is_written_as_time_goes() {
    let mut process = process(truth(true, code(0)));
    assert_eq!(process.view(1099).output.newest_seq, 0);
    assert_eq!(process.view(1250).output.newest_seq, 2);
    assert_eq!(process.view(1349).state, "running");
    let view = process.view(1350);
    assert_eq!((view.state, view.tree_exited), ("exited", true));
    assert_eq!(
        view.finished_at.as_deref(),
        Some("2026-01-01T00:00:01.350Z")
    );
    assert_eq!(process.close_stdin(1351).unwrap_err().status(), 409);
}

#[test]
fn watching_starts_a_live_truth_that_has_written_nothing() {
    let mut process = process(truth(true, code(0)));
    process.watched(1050);
    assert_eq!(process.natural_exit_ms(), Some(1400));
    process.watched(1200);
    assert_eq!(process.natural_exit_ms(), Some(1400));
}

#[test]
fn a_signal_ends_only_what_never_ends_by_itself() {
    let mut never = process(truth(true, TruthExit::Never));
    assert_eq!(never.signal("SIGWINCH", None, 1100), Ok(()));
    assert_eq!(never.exit(1100), None);
    assert_eq!(never.signal("SIGKILL", None, 1150), Ok(()));
    assert_eq!(never.exit(1150).unwrap().signal.as_deref(), Some("SIGKILL"));
    let shown = never.shown();
    assert_eq!(shown.frames.len(), 1);
    assert_eq!(
        never.signal("SIGKILL", None, 1160).unwrap_err().status(),
        409
    );

    let mut scripted = process(truth(true, code(0)));
    assert_eq!(scripted.signal("SIGKILL", None, 1100), Ok(()));
    assert_eq!(scripted.exit(1100), None);
}

#[test]
fn a_delete_ends_a_running_leader_at_once() {
    let mut process = process(truth(true, TruthExit::Never));
    assert_eq!(process.delete(1000, Some(5), 1200), Deleting::Done);
    let view = process.view(1200);
    assert_eq!(
        (view.state, view.tree_exited, view.signal.as_deref()),
        ("exited", true, Some("SIGTERM"))
    );
    assert_eq!(process.deleted_by, Some(5));
}

#[test]
fn descendants_outlive_the_leader_until_the_grace_is_over() {
    let mut with_children = truth(false, code(0));
    with_children.children = 1;
    let mut process = process(with_children);
    let view = process.view(1000);
    assert!(view.leader_exited && !view.tree_exited);
    let until_ms = 1500;
    assert_eq!(
        process.delete(500, None, 1000),
        Deleting::Grace { until_ms }
    );
    assert_eq!(process.view(1100).state, "terminating");
    assert_eq!(process.deleting(1499), Deleting::Grace { until_ms });
    assert_eq!(process.deleting(1500), Deleting::Done);
    assert!(process.view(1500).tree_exited);
}

#[test]
fn a_second_delete_may_shorten_the_grace() {
    let mut with_children = truth(false, code(0));
    with_children.children = 2;
    let mut process = process(with_children);
    let _ = process.delete(5000, None, 1000);
    assert_eq!(
        process.delete(9000, None, 1001),
        Deleting::Grace { until_ms: 6000 }
    );
    assert_eq!(process.delete(0, None, 1002), Deleting::Done);
}

#[test]
fn only_a_terminal_is_resized() {
    let size = Size { rows: 24, cols: 80 };
    let mut pipe = process(truth(false, code(0)));
    assert_eq!(pipe.resize(size, 1000).unwrap_err().status(), 400);
    let mut pty = truth(true, TruthExit::Never);
    pty.kind = ProcessKind::Pty;
    let mut pty = process(pty);
    assert_eq!(pty.resize(size, 1000), Ok(()));
    assert!(pty.view(1000).foreground.is_some());
    let _ = pty.delete(0, None, 1001);
    assert_eq!(pty.resize(size, 1002).unwrap_err().status(), 409);
}

#[test]
fn an_evicted_cursor_is_told_where_the_journal_begins() {
    let mut small = truth(false, code(0));
    small.journal_bytes = 20;
    let mut process = process(small);
    assert_eq!(process.check_cursor(1, 1000), Ok(()));
    assert_eq!(
        process.check_cursor(0, 1000),
        Err(Problem::Evicted {
            after: 0,
            oldest: 2
        })
    );
}

#[test]
fn what_is_told_is_never_stale() {
    let mut process = process(truth(true, TruthExit::Never));
    let mut seen = Vec::new();
    let mut tell = |process: &mut Process, now_ms| {
        let told = process.told(now_ms);
        assert_eq!(told.data(), to_text(process, now_ms));
        assert_eq!(
            process.told(now_ms),
            told,
            "it is the same when asked again"
        );
        if seen.last() != Some(&told) {
            seen.push(told);
        }
        seen.len()
    };
    assert_eq!(tell(&mut process, 1000), 1);
    // Frames are written as time goes, then somebody ends it.
    assert_eq!(tell(&mut process, 60_000), 2);
    let _ = process.delete(0, None, 60_001);
    assert_eq!(tell(&mut process, 60_001), 3);
}

fn to_text(process: &mut Process, now_ms: u64) -> String {
    serde_json::to_string(&process.view(now_ms)).unwrap()
}
