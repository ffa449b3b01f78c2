//! What a file says about the job, the truth, the matrix and the expectation.

use super::{HEAD, plan, read};
use fake_server::{
    script::model::{Cancel, CancelPoint, Chunks, Segments, TruthExit},
    wire::{Blob, Call, Op, ProcessKind, StreamName, call::Capability},
};
use serde_json::json;

#[test]
fn a_file_that_says_nothing_is_a_healthy_process() {
    let plan = plan("");
    assert_eq!(plan.id, "stream/example");
    assert_eq!(plan.op, Op::Execute);
    assert_eq!(plan.job.command, ["run.sh"]);
    assert_eq!(plan.deadline_ms, 10_000);
    assert_eq!(
        (plan.sandbox.state.as_str(), plan.sandbox.lag),
        ("running", 0)
    );
    assert_eq!(plan.truth.kind, ProcessKind::Pipe);
    assert_eq!(
        (plan.truth.heartbeat_ms, plan.truth.journal_bytes),
        (5_000, 1 << 20)
    );
    assert_eq!(
        plan.truth.exit,
        TruthExit::Status {
            code: Some(0),
            signal: None,
            pause_ms: 0
        }
    );
    assert!(plan.needs.is_empty() && plan.faults.is_empty() && !plan.truth.live);
}

#[test]
fn files_are_there_as_they_are_written() {
    let plan = plan(
        r#"
        op = "upload"
        [job]
        path = "/data/a b"
        data-fill = 300
        [[file]]
        path = "/text"
        text = "one\n{n}"
        [[file]]
        path = "/bytes"
        base64 = "/wD+"
        [[file]]
        path = "/fill"
        fill = "1KiB"
        [[file]]
        path = "/empty"
        "#,
    );
    let filling = |bytes: usize| (0..=250).cycle().take(bytes).collect::<Vec<u8>>();
    let files: Vec<(&str, Vec<u8>)> = plan
        .sandbox
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.data.to_vec()))
        .collect();
    assert_eq!(
        files,
        [
            ("/text", b"one\n{n}".to_vec()),
            ("/bytes", vec![255, 0, 254]),
            ("/fill", filling(1024)),
            ("/empty", Vec::new()),
        ]
    );
    assert_eq!(plan.job.extra["path"], json!("/data/a b"));
    assert_eq!(
        plan.job.extra["data_base64"],
        json!(Blob(filling(300)).to_base64())
    );
}

#[test]
fn the_head_is_kept_as_it_is() {
    let scenario = read(
        r#"
        title = "A reset"
        requirements = ["stream/resume-cursor", "data/exact"]
        fault-kinds = ["CT03", "B601"]
        why = "It hurts."
        op = "follow"
        deadline = "2m"
        "#,
    )
    .expect("a right file");
    assert_eq!(
        (scenario.id(), scenario.title(), scenario.why()),
        ("stream/example", "A reset", "It hurts.")
    );
    assert_eq!(
        scenario.requirements(),
        ["stream/resume-cursor", "data/exact"]
    );
    assert_eq!(scenario.fault_kinds(), ["CT03", "B601"]);
    assert_eq!((scenario.op(), scenario.instances()), (Op::Follow, 1));
    assert_eq!(scenario.plan(0, 3).deadline_ms, 120_000);
    assert_eq!(scenario.plan(0, 3).seed, 3);
}

#[test]
fn outputs_are_frames_numbered_in_order() {
    let plan = plan(
        r#"
        [process]
        first-seq = 41
        output = [
          { stdout = "one\n" },
          { stderr-base64 = "4oKs" },
          { repeat = 2, stdout = "line {n}\n" },
          { fill = "1KiB", byte = "y", stream = "stderr" },
          { fill = 3, byte = 0 },
          { stdout = "" },
        ]
        "#,
    );
    let frames: Vec<_> = plan
        .truth
        .frames
        .iter()
        .map(|frame| (frame.seq, frame.stream, frame.data.to_vec()))
        .collect();
    assert_eq!(
        frames,
        [
            (41, StreamName::Stdout, b"one\n".to_vec()),
            (42, StreamName::Stderr, "€".as_bytes().to_vec()),
            (43, StreamName::Stdout, b"line 1\n".to_vec()),
            (44, StreamName::Stdout, b"line 2\n".to_vec()),
            (45, StreamName::Stderr, vec![b'y'; 1024]),
            (46, StreamName::Stdout, vec![0; 3]),
            (47, StreamName::Stdout, Vec::new()),
        ]
    );
}

#[test]
fn pauses_stand_before_the_next_frame_or_the_exit() {
    let plan = plan(
        r#"
        [process]
        live = true
        heartbeat = "1s"
        output = [
          { pause = "5ms" },
          { stdout = "a" },
          { repeat = 2, stdout = "b", pause = "10ms" },
          { pause = "1s" },
          { pause = "1s" },
        ]
        exit = { signal = "SIGKILL" }
        "#,
    );
    let pauses: Vec<_> = plan
        .truth
        .frames
        .iter()
        .map(|frame| frame.pause_ms)
        .collect();
    assert_eq!(pauses, [5, 10, 10]);
    assert_eq!(
        plan.truth.exit,
        TruthExit::Status {
            code: None,
            signal: Some("SIGKILL".to_owned()),
            pause_ms: 2_000
        }
    );
    assert!(plan.truth.live);
    assert_eq!(plan.truth.heartbeat_ms, 1_000);
}

#[test]
fn a_process_can_be_a_terminal_with_children_and_a_small_journal() {
    let plan = plan(
        r#"
        op = "terminal"
        [job]
        cols = 100
        input = [{ text = "ls\n" }, { cols = 120, rows = 40 }, { base64 = "AA==" }]
        [process]
        output = [{ pty = "$ " }, { fill = 2 }]
        exit = "never"
        journal = "64KiB"
        children = 2
        "#,
    );
    assert_eq!(plan.truth.kind, ProcessKind::Pty);
    assert!(
        plan.truth
            .frames
            .iter()
            .all(|frame| frame.stream == StreamName::Pty)
    );
    assert_eq!(
        (
            plan.truth.exit,
            plan.truth.journal_bytes,
            plan.truth.children
        ),
        (TruthExit::Never, 65_536, 2)
    );
    assert!(plan.job.command.is_empty());
    let input =
        json!([{ "data_base64": "bHMK" }, { "cols": 120, "rows": 40 }, { "data_base64": "AA==" }]);
    assert_eq!(
        (&plan.job.extra["cols"], &plan.job.extra["rows"]),
        (&json!(100), &json!(24))
    );
    assert_eq!(plan.job.extra["input"], input);
}

#[test]
fn a_job_has_its_fields_and_they_imply_capabilities() {
    let plan = plan(
        r#"
        needs = ["live-output", "timeout"]
        [job]
        command = ["build.sh", "--fast"]
        cwd = "/work"
        env = { TOKEN = "t", A = "b" }
        stdin = "in"
        timeout = "2s"
        cancel = { on = "connect", attempt = 2, at = "frame 2", plus = "5ms" }
        "#,
    );
    assert_eq!(plan.job.command, ["build.sh", "--fast"]);
    assert_eq!(plan.job.cwd.as_deref(), Some("/work"));
    assert_eq!(
        plan.job.env,
        [
            ("TOKEN".to_owned(), "t".to_owned()),
            ("A".to_owned(), "b".to_owned())
        ]
    );
    assert_eq!(plan.job.stdin, Some(Blob::from("in")));
    assert_eq!(plan.job.timeout_ms, Some(2_000));
    assert_eq!(
        plan.job.cancel,
        Some(Cancel {
            on: Call::Connect,
            attempt: 2,
            at: CancelPoint::Frame(2),
            plus_ms: 5
        })
    );
    assert_eq!(
        plan.needs,
        [
            Capability::LiveOutput,
            Capability::Cancel,
            Capability::Timeout
        ]
    );
}

#[test]
fn other_ops_have_fields_of_their_own() {
    let upload = plan("op = \"upload\"\n[job]\npath = \"/a\"\ndata-base64 = \"AAE=\"");
    assert_eq!(
        serde_json::Value::from(upload.job.extra),
        json!({ "path": "/a", "data_base64": "AAE=" })
    );
    let acquire = plan(
        "op = \"acquire\"\n[job]\nshape = \"s-1vcpu-1gb\"\npolicy = { attempts = 3, min-delay = \"1s\" }",
    );
    assert_eq!(
        acquire.job.extra["policy"],
        json!({ "attempts": 3, "min_delay_ms": 1_000 })
    );
    assert_eq!(acquire.needs, [Capability::LeasePolicy]);
    let resume = plan("op = \"resume\"\n[sandbox]\nlag = 3");
    assert_eq!(
        (resume.sandbox.state.as_str(), resume.sandbox.lag),
        ("paused", 3)
    );
    let follow =
        plan("op = \"follow\"\n[job]\nafter = 1\n[process]\noutput = [{ stdout = \"a\" }]");
    assert_eq!((follow.job.after, follow.job.command.len()), (1, 0));
}

#[test]
fn a_matrix_makes_an_instance_for_each_combination() {
    let scenario = read(&format!(
        r#"{HEAD}
        [matrix]
        how = ["fin", "reset"]
        seq = [1, 2]
        [process]
        output = [{{ stdout = "a" }}, {{ stdout = "b" }}]
        [[fault]]
        on = "connect"
        stream = [{{ send = "$seq" }}, {{ end = "$how" }}]
        "#
    ))
    .expect("a right file");
    let ids: Vec<_> = scenario.plans(0).into_iter().map(|plan| plan.id).collect();
    assert_eq!(scenario.instances(), 4);
    assert_eq!(
        ids,
        [
            "stream/example[how=fin,seq=1]",
            "stream/example[how=fin,seq=2]",
            "stream/example[how=reset,seq=1]",
            "stream/example[how=reset,seq=2]",
        ]
    );
}

#[test]
fn values_of_a_matrix_can_have_names_or_get_some() {
    let ids = |matrix: &str| -> Vec<String> {
        let text = format!("title = \"$v\"\nrequirements = [\"data/exact\"]\n[matrix]\n{matrix}");
        let scenario = read(&text).expect("a right file");
        scenario
            .plans(0)
            .into_iter()
            .map(|plan| {
                format!(
                    "{} {}",
                    plan.id.trim_start_matches("stream/example"),
                    plan.title
                )
            })
            .collect()
    };
    assert_eq!(
        ids(r#"v = ["text/plain; x", "text plain x", "=", "1.0"]"#),
        [
            "[v=text-plain-x] text/plain; x",
            "[v=text-plain-x-2] text plain x",
            "[v=signs] =",
            "[v=1.0] 1.0"
        ]
    );
    assert_eq!(
        ids(r#"v = { page = "<html>", word = "x" }"#),
        ["[v=page] <html>", "[v=word] x"]
    );
    let lists = plan(
        r#"
        [matrix.cut]
        small = [1, 2]
        [[fault]]
        on = "connect"
        segments = "$cut"
        "#,
    );
    assert_eq!(lists.id, "stream/example[cut=small]");
    assert_eq!(
        lists.faults[0].behaviour.segments,
        Segments::Sizes(vec![1, 2])
    );
}

#[test]
fn random_cuts_are_spent_by_seed_and_id() {
    let text = format!(
        "{HEAD}[matrix]\nhow = [\"fin\", \"reset\"]\n[[fault]]\non = \"connect\"\nsegments = \"random\"\nchunks = \"random\"\nstream = [{{ end = \"$how\" }}]"
    );
    let scenario = read(&text).expect("a right file");
    let cuts = |instance, seed| {
        let behaviour = &scenario.plan(instance, seed).faults[0].behaviour;
        let (Segments::Sizes(segments), Chunks::Sizes(chunks)) =
            (&behaviour.segments, &behaviour.chunks)
        else {
            panic!("random cuts are sizes");
        };
        assert!(
            segments
                .iter()
                .chain(chunks)
                .all(|size| (1..=4096).contains(size))
        );
        (segments.clone(), chunks.clone())
    };
    assert_eq!(cuts(0, 1), cuts(0, 1));
    assert_ne!(cuts(0, 1), cuts(0, 2), "another seed");
    assert_ne!(cuts(0, 1), cuts(1, 1), "another instance");
    assert_ne!(cuts(0, 1).0, cuts(0, 1).1, "chunks apart from writes");
}

#[test]
fn an_expectation_narrows_what_follows() {
    let expect = plan(
        r#"
        [process]
        output = [{ stdout = "one\n" }, { stderr = "x" }, { stdout = "two\n" }]
        [expect]
        outcome = ["error", "exited"]
        kind = ["sequence-gap"]
        http-status = 502
        connects = [0, "0..2", "same"]
        calls = { delete-process = 1, connect = 3 }
        output-at-least = { stdout = "one\ntw", stderr-base64 = "eA==" }
        output-at-most = { stdout = "one\ntwo\n" }
        never-reported = ["{api-key}"]
        trap = 0
        [[expect.any-of]]
        outcome = ["exited"]
        [[expect.any-of]]
        outcome = ["error"]
        kind = ["other"]
        "#,
    )
    .expect;
    assert_eq!(
        expect.outcome,
        Some(vec!["error".to_owned(), "exited".to_owned()])
    );
    assert_eq!(expect.kind, Some(vec!["sequence-gap".to_owned()]));
    assert_eq!((expect.http_status, expect.trap), (Some(502), Some(0)));
    assert_eq!(
        expect.connects,
        Some(vec!["0".to_owned(), "0..2".to_owned(), "same".to_owned()])
    );
    assert_eq!(expect.calls, [(Call::DeleteProcess, 1), (Call::Connect, 3)]);
    assert_eq!(
        expect.output_at_least,
        [
            (StreamName::Stdout, Blob::from("one\ntw")),
            (StreamName::Stderr, Blob::from("x"))
        ]
    );
    assert_eq!(
        expect.output_at_most,
        [(StreamName::Stdout, Blob::from("one\ntwo\n"))]
    );
    assert_eq!(expect.never_reported, ["{api-key}"]);
    assert_eq!(expect.any_of.len(), 2);
    assert_eq!(expect.any_of[1].kind, Some(vec!["other".to_owned()]));
}

#[test]
fn the_control_is_the_same_without_faults_and_expectation() {
    let plan = plan(
        "[process]\noutput = [{ stdout = \"a\" }]\n[[fault]]\non = \"connect\"\nstatus = 502\n[expect]\ntrap = 0",
    );
    let control = plan.control();
    assert!(control.faults.is_empty() && control.expect.trap.is_none());
    assert_eq!((control.truth, control.id), (plan.truth, plan.id));
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_change_nothing() {
    let text = format!("{HEAD}[process]\noutput = [\n  {{ stdout = \"one\\n\" }},\n]\n");
    let plain = read(&text).expect("a right file").plan(0, 1);
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(read(&windows).expect("the same file").plan(0, 1), plain);
    let wrong = read(&windows.replace("stdout", "stdot")).expect_err("a slip");
    let places: Vec<_> = wrong
        .iter()
        .map(|mistake| (mistake.line(), mistake.column()))
        .collect();
    assert_eq!(places, [(Some(5), Some(5))]);
}
