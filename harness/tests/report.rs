//! What people read, from cases made by hand: the pictures are under `snapshots/report/`.

mod support;

use fake_server::{
    script::model::{
        Attempts, Behaviour, Content, End, Expect, Fault, FrameRef, Job, Plan, SandboxTruth, Step,
        Truth, TruthExit, TruthFrame,
    },
    wire::{Blob, Call, Op, ProcessKind, StreamName},
    wirelog::{AnswerEnd, Exchange, Names, Payload, Request, Sent, WireLog},
};
use harness::{
    case::{Case, Trial},
    client::reference::{Bug, Reference},
    contract::Level,
    judge::{Check, CheckStatus, Place, Verdict, Violation},
    observed::{JobResult, Observed, Reply},
    report::{console, text::Page},
    select::Pattern,
    standing::Standing,
    summary::{ClientInfo, Judged, RunInfo, Stopped, Summary},
};
use std::sync::Arc;

fn info(cases: usize) -> RunInfo {
    RunInfo {
        suite: "0.1.0".to_owned(),
        digest: String::new(),
        client: ClientInfo {
            name: "acme-createos".to_owned(),
            version: Some("2.1.0".to_owned()),
            language: Some("python".to_owned()),
        },
        seed: 7,
        strict: false,
        transport: "sockets",
        shard: None,
        cases,
        program: vec!["createos-conformance".to_owned()],
        replay_arguments: vec!["--client".to_owned(), "clients/acme/client.toml".to_owned()],
        files: std::collections::BTreeMap::new(),
    }
}

fn plan(id: &str, title: &str) -> Plan {
    Plan {
        id: id.to_owned(),
        title: title.to_owned(),
        requirements: vec!["stream/resume-cursor".to_owned()],
        fault_kinds: vec!["CT03".to_owned()],
        why: "A client that asks from the beginning again hands its caller the same output twice."
            .to_owned(),
        op: Op::Follow,
        needs: Vec::new(),
        deadline_ms: 10_000,
        job: Job::default(),
        sandbox: SandboxTruth {
            state: "running".to_owned(),
            lag: 0,
            files: Vec::new(),
        },
        truth: Truth {
            kind: ProcessKind::Pipe,
            first_seq: 1,
            frames: vec![
                frame(1, StreamName::Stdout, b"one\n"),
                frame(
                    2,
                    StreamName::Stderr,
                    b"careful: this line is rather long, and \x1b[31mred\x1b[0m\n",
                ),
                frame(3, StreamName::Stdout, b"\xe2\x82"),
            ],
            exit: TruthExit::Status {
                code: Some(0),
                signal: None,
                pause_ms: 0,
            },
            heartbeat_ms: 5_000,
            journal_bytes: 1 << 20,
            children: 0,
            live: false,
        },
        faults: vec![Fault {
            number: 1,
            on: Some(Call::Connect),
            attempts: Attempts::Nth(1),
            when_after: None,
            on_connection: None,
            bait: false,
            behaviour: Behaviour {
                content: Content::Stream(vec![Step::End(End::Reset)]),
                ..Behaviour::default()
            },
        }],
        expect: Expect::default(),
        seed: 7,
    }
}

fn frame(seq: u64, stream: StreamName, data: &[u8]) -> TruthFrame {
    TruthFrame {
        seq,
        stream,
        data: Blob::from(data),
        pause_ms: 0,
    }
}

fn connect(attempt: u32, after: u64, at_us: u64, answer: Vec<Sent>) -> Exchange {
    Exchange {
        connection: attempt,
        number: 1,
        call: Some(Call::Connect),
        attempt,
        request: Request {
            method: "GET".to_owned(),
            target: format!("/v1/sandboxes/sb-1/processes/p-1/connect?after={after}"),
            body_complete: true,
            query: vec![("after".to_owned(), after.to_string())],
            ..Request::default()
        },
        fault: (attempt == 1).then_some(1),
        answer,
        head_us: at_us,
        last_sent_us: Some(at_us + 1_500),
        client_closed_us: None,
        open: false,
        segmented: None,
        broke_off: None,
    }
}

fn head() -> Sent {
    Sent::Head {
        http10: false,
        status: 200,
        reason: "OK".to_owned(),
        headers: vec![("content-type".to_owned(), "application/x-ndjson".to_owned())],
    }
}

fn check(requirement: &str, status: CheckStatus, reason: &str) -> Check {
    let level =
        harness::contract::requirement(requirement).map_or(Level::Must, |known| known.level);
    Check {
        requirement: requirement.to_owned(),
        level,
        status,
        reason: reason.to_owned(),
    }
}

fn case(
    plan: Plan,
    trial: Option<Trial>,
    checks: Vec<Check>,
    violations: Vec<Violation>,
) -> Arc<Case> {
    Arc::new(Case {
        plan: Arc::new(plan),
        trial,
        verdict: Verdict {
            checks,
            violations,
            notes: Vec::new(),
            expected: vec![
                "connects with after=0".to_owned(),
                "connects again with after=2, or from a lower cursor that nothing was handed over past".to_owned(),
                "reports exited with code 0 and all 3 frames".to_owned(),
            ],
        },
    })
}

fn observed(reply: Reply, ended_us: u64) -> Observed {
    Observed {
        reply,
        outputs: Vec::new(),
        events: Vec::new(),
        ended_us,
        cancelled_us: None,
        late_us: 0,
        stderr: String::new(),
        leaks: Vec::new(),
        stopped: None,
    }
}

/// The client asks from the beginning after a reset.
fn wrong_cursor() -> Judged {
    let log = WireLog {
        names: Names {
            api_key: "sk-very-secret".to_owned(),
            base_url: "http://127.0.0.1:40001".to_owned(),
            ..Names::default()
        },
        exchanges: vec![
            connect(
                1,
                0,
                2_000,
                vec![
                    head(),
                    Sent::Frames {
                        from: 1,
                        to: 2,
                        acked: true,
                    },
                    Sent::Body {
                        what: Payload::Part(FrameRef::Seq(3)),
                        bytes: Blob::from("{\"type\":\"data\",\"seq\":3"),
                        framed: true,
                        acked: true,
                    },
                    Sent::End {
                        how: AnswerEnd::Scripted(End::Reset),
                        acked: true,
                    },
                ],
            ),
            connect(
                2,
                0,
                254_000,
                vec![
                    head(),
                    Sent::Frames {
                        from: 1,
                        to: 3,
                        acked: true,
                    },
                    Sent::Body {
                        what: Payload::True(FrameRef::Exit),
                        bytes: Blob::default(),
                        framed: true,
                        acked: true,
                    },
                    Sent::End {
                        how: AnswerEnd::Complete,
                        acked: true,
                    },
                ],
            ),
        ],
        ..WireLog::default()
    };
    let reply = Reply::Result(JobResult {
        outcome: "exited".to_owned(),
        exit_code: Some(0.into()),
        stdout: Some(Blob::from(&b"one\none\n\xe2\x82"[..])),
        ..JobResult::default()
    });
    let violations = vec![
        Violation {
            requirement: "stream/resume-cursor".to_owned(),
            level: Level::Must,
            expected: "after=2, the last whole frame sent (between 0 and 2, never below what was handed over live)".to_owned(),
            seen: "after=0".to_owned(),
            place: Place::Exchange(1),
            invariant: false,
        },
        Violation {
            requirement: "data/exact".to_owned(),
            level: Level::Must,
            expected: "stdout \"one\\n\\xe2\\x82\"".to_owned(),
            seen: "stdout \"one\\none\\n\\xe2\\x82\"".to_owned(),
            place: Place::Result,
            invariant: true,
        },
    ];
    Judged {
        case: case(
            plan(
                "stream/reset-inside-a-frame[how=reset]",
                "A reset inside frame 3, then a good reconnect",
            ),
            Some(Trial {
                log,
                observed: observed(reply, 256_000),
            }),
            vec![
                check("stream/resume-cursor", CheckStatus::Fail, ""),
                check("stream/drop-is-not-the-end", CheckStatus::Pass, ""),
                check("data/exact", CheckStatus::Fail, ""),
            ],
            violations,
        ),
        standing: Standing::Failed,
        took_ms: 260,
    }
}

/// The adapter's program ends in the middle.
fn died() -> Judged {
    let log = WireLog {
        names: Names {
            api_key: "sk-very-secret".to_owned(),
            ..Names::default()
        },
        exchanges: vec![connect(1, 0, 2_000, vec![head()])],
        ..WireLog::default()
    };
    let mut observed = observed(Reply::AdapterDied("exit status 1".to_owned()), 30_000);
    observed.stderr = "Traceback (most recent call last):\n  File \"adapter.py\", line 40\nKeyError: 'sk-very-secret'\n".to_owned();
    let why = "the adapter's program ended: exit status 1";
    Judged {
        case: case(
            plan("frames/array-as-a-line", "A line that is a JSON array"),
            Some(Trial { log, observed }),
            vec![check("frames/invalid", CheckStatus::AdapterError, why)],
            Vec::new(),
        ),
        standing: Standing::AdapterError,
        took_ms: 30,
    }
}

fn simple(id: &str, checks: Vec<Check>, standing: Standing) -> Judged {
    Judged {
        case: case(plan(id, "A title"), None, checks, Vec::new()),
        standing,
        took_ms: 12,
    }
}

fn mixed() -> Vec<Judged> {
    vec![
        wrong_cursor(),
        died(),
        simple(
            "data/every-byte",
            vec![
                check("data/exact", CheckStatus::Pass, ""),
                check("data/streams", CheckStatus::Pass, ""),
            ],
            Standing::Passed,
        ),
        simple(
            "sequence/duplicate-at-once",
            vec![check("sequence/duplicate", CheckStatus::Fail, "")],
            Standing::KnownFailure {
                reasons: vec!["does not deduplicate, see https://example.org/acme/17".to_owned()],
            },
        ),
        simple(
            "exit/signal-only",
            vec![check("exit/signal", CheckStatus::Pass, "")],
            Standing::Fixed {
                keys: vec!["exit/*".to_owned()],
            },
        ),
        simple(
            "time/cancel-in-back-off",
            vec![check(
                "time/cancel",
                CheckStatus::NotApplicable,
                "the client does not claim capability `cancel`",
            )],
            Standing::NotApplicable,
        ),
    ]
}

fn told(judged: &[Judged], info: &RunInfo, stopped: Option<Stopped>, columns: usize) -> String {
    let summary = Summary::new(judged, info, stopped, 3_210);
    console::report(judged, &summary, info, &Page::new(columns, false), false)
}

fn assert_picture(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_mixed_run_at_80_columns() {
    let text = told(&mixed(), &info(6), None, 80);
    assert_picture("mixed-80", &text);
    for line in text.lines() {
        assert!(
            harness::report::text::columns(line) <= 80,
            "too wide: {line}"
        );
    }
}

#[test]
fn a_mixed_run_at_120_columns() {
    assert_picture("mixed-120", &told(&mixed(), &info(6), None, 200));
}

#[test]
fn a_green_run() {
    assert_picture("green", &told(&mixed()[2..3], &info(1), None, 80));
}

#[test]
fn an_interrupted_run_says_what_is_missing() {
    let text = told(&mixed()[..1], &info(6), Some(Stopped::Interrupted), 80);
    assert!(text.contains("5 not run"), "{text}");
    assert!(text.ends_with("exit 130: interrupted\n"), "{text}");
}

#[test]
fn the_key_never_stands_in_a_report() {
    assert!(!told(&mixed(), &info(6), None, 80).contains("sk-very-secret"));
}

#[test]
fn colours_change_nothing_but_colours() {
    let judged = mixed();
    let info = info(6);
    let summary = Summary::new(&judged, &info, None, 3_210);
    let colour = console::report(&judged, &summary, &info, &Page::new(80, true), false);
    assert!(colour.contains("\u{1b}["));
    println!("{colour}");
    let stripped = anstream::adapter::strip_str(&colour).to_string();
    let trimmed: Vec<&str> = stripped.lines().map(str::trim_end).collect();
    let plain = told(&judged, &info, None, 80);
    assert_eq!(
        trimmed,
        plain.lines().map(str::trim_end).collect::<Vec<_>>()
    );
}

/// The stories of a wrong client, played in memory, where time is the same on every machine.
fn real(bug: Bug, ids: &[&str]) -> String {
    let plans: Vec<_> = support::plans()
        .into_iter()
        .filter(|plan| ids.iter().any(|id| Pattern::new(id).matches(&plan.id)))
        .collect();
    let (judged, mut summary, info) = support::judged(&plans, Reference::wrong(bug), true);
    summary.took_ms = 0;
    console::report(&judged, &summary, &info, &Page::new(80, false), false)
}

#[test]
fn a_client_that_starts_again_from_its_first_cursor() {
    let text = real(Bug::ReconnectAtFirstCursor, &["stream/drop-and-resume"]);
    assert_picture("wrong-cursor", &text);
}

#[test]
fn a_client_that_does_not_clean_up_after_a_gap() {
    let text = real(Bug::NoCleanupAfterGap, &["cleanup/already-gone"]);
    assert_picture("no-cleanup", &text);
}

#[test]
fn a_client_that_drops_damaged_base64() {
    let text = real(Bug::LenientBase64, &["data/base64-white-space"]);
    assert_picture("lenient-base64", &text);
}
