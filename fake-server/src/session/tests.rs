use super::*;
use crate::{
    script::{
        expand::Piece,
        model::{
            Attempts, Effect, End, Redirect, Segments, Span, Step, Truth, TruthExit, TruthFrame,
        },
    },
    wire::{Op, StreamName},
    world::{
        healthy,
        tests::{names, plan},
    },
};
use serde_json::{Map, Value, json};

const PROCESSES: &str = "/v1/sandboxes/sb-first/processes";
const PROCESS: &str = "/v1/sandboxes/sb-first/processes/proc_first";

struct Trial {
    session: Session,
    now_ms: u64,
}

impl Trial {
    fn of(plan: Plan) -> Self {
        Self {
            session: Session::new(Arc::new(plan), names()),
            now_ms: 0,
        }
    }

    fn new(op: Op) -> Self {
        Self::of(plan(op, healthy(false)))
    }

    fn with(op: Op, faults: Vec<Fault>) -> Self {
        Self::of(Plan {
            faults,
            ..plan(op, healthy(false))
        })
    }

    fn decide(&mut self, method: &str, target: &str, body: &str) -> Decision {
        self.session.handle(
            &request(method, target, body),
            ConnectionUse::Fresh,
            self.now_ms,
        )
    }

    fn ask(&mut self, method: &str, target: &str, body: &str) -> (u16, Value) {
        let answer = self.answer(method, target, body);
        let body = serde_json::from_slice(&answer.body).unwrap();
        (answer.status, body)
    }

    fn answer(&mut self, method: &str, target: &str, body: &str) -> Answer {
        match self.decide(method, target, body).act {
            Act::Answer(answer) => answer,
            other => panic!("{method} {target}: {other:?}"),
        }
    }

    fn status(&mut self, method: &str, target: &str, body: &str) -> u16 {
        self.answer(method, target, body).status
    }

    fn raw(&mut self, target: &str) -> RawAnswer {
        match self.decide("GET", target, "").act {
            Act::Raw(raw) => raw,
            other => panic!("{target}: {other:?}"),
        }
    }

    fn create(&mut self) -> String {
        let (status, body) = self.ask("POST", PROCESSES, r#"{"cmd":"sh"}"#);
        assert_eq!(status, 201);
        body["data"]["process_id"].as_str().unwrap().to_owned()
    }
}

fn request(method: &str, target: &str, body: &str) -> Request {
    Request {
        method: method.into(),
        target: target.into(),
        headers: vec![("x-api-key".into(), "skp_key".into())],
        body: body.into(),
        body_complete: true,
        ..Request::default()
    }
}

fn fault(on: Call, attempts: Attempts, behaviour: Behaviour) -> Fault {
    Fault {
        number: 1,
        on: Some(on),
        attempts,
        when_after: None,
        on_connection: None,
        bait: false,
        behaviour,
    }
}

fn numbered(number: usize, fault: Fault) -> Fault {
    Fault { number, ..fault }
}

fn text(raw: &RawAnswer) -> String {
    let RawBody::Pieces(pieces) = &raw.body else {
        panic!("{raw:?}")
    };
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Bytes { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("<{other:?}>\n"),
        })
        .collect()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn a_healthy_execute_goes_through() {
    let mut trial = Trial::new(Op::Execute);
    let (status, body) = trial.ask("POST", PROCESSES, r#"{"cmd":"sh","args":["-c","x"]}"#);
    assert_eq!(status, 201);
    let data = &body["data"];
    assert_eq!(data["process_id"], "proc_first");
    assert_eq!(data["state"], "running");
    assert_eq!(
        data["output"],
        json!({"oldest_seq":0,"newest_seq":0,"bytes":0})
    );
    assert_eq!(
        trial.ask("POST", &format!("{PROCESS}/stdin/close"), "null"),
        (200, json!({"status":"success","data":{"ok":true}}))
    );
    let raw = trial.raw(&format!("{PROCESS}/connect?after=0"));
    assert_eq!(raw.status, 200);
    assert!(
        raw.headers
            .contains(&("content-type".into(), "application/x-ndjson".into()))
    );
    assert_eq!(
        text(&raw),
        "{\"type\":\"data\",\"seq\":1,\"stream\":\"stdout\",\"data_base64\":\"aGVsbG8K\"}\n\
         {\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n<End(Chunk)>\n"
    );
    let (status, body) = trial.ask("DELETE", &format!("{PROCESS}?grace_ms=1000"), "");
    assert_eq!((status, &body["data"]["tree_exited"]), (200, &json!(true)));
}

#[test]
fn every_answer_carries_a_request_id_of_its_own() {
    let mut trial = Trial::new(Op::Execute);
    let id = |answer: Answer| {
        answer
            .headers
            .iter()
            .find(|(name, _)| name == "x-request-id")
            .unwrap()
            .1
            .clone()
    };
    let first = id(trial.answer("GET", "/v1/whoami", ""));
    let second = id(trial.answer("GET", "/nowhere", ""));
    assert_ne!(first, second);
    let raw = {
        trial.create();
        trial.raw(&format!("{PROCESS}/connect"))
    };
    assert!(raw.headers.iter().any(|(name, _)| name == "x-request-id"));
}

#[test]
fn the_key_is_needed_everywhere_but_at_the_open_doors() {
    let mut trial = Trial::new(Op::Follow);
    for (target, open) in [
        ("/healthz", true),
        ("/readyz", true),
        ("/v1/shapes", true),
        ("/v1/rootfs", true),
        ("/v1/whoami", false),
        ("/v1/sandboxes", false),
        (PROCESS, false),
        ("/v1/nowhere", false),
    ] {
        for key in [None, Some("skp_other")] {
            let mut request = request("GET", target, "");
            request.headers = key
                .map(|key| ("x-api-key".to_owned(), key.to_owned()))
                .into_iter()
                .collect();
            let Act::Answer(answer) = trial.session.handle(&request, ConnectionUse::Fresh, 0).act
            else {
                panic!("{target}")
            };
            assert_eq!(
                answer.status,
                if open { 200 } else { 401 },
                "{target} with {key:?}"
            );
        }
    }
}

#[test]
fn what_is_not_there_is_404_and_a_wrong_method_405() {
    let mut trial = Trial::new(Op::Follow);
    for target in [
        "/v1/sandboxes/other",
        "/v1/sandboxes/other/processes",
        "/v1/sandboxes/sb-first/processes/other",
        "/v1/sandboxes/sb-first/processes/other/connect",
        "/v1/sandboxes/sb-first/files?path=/none",
        "/v1/none",
    ] {
        let (status, body) = trial.ask("GET", target, "");
        assert_eq!(
            (status, &body["status"], &body["data"]["code"]),
            (404, &json!("fail"), &json!("not_found")),
            "{target}"
        );
    }
    let answer = trial.answer("PUT", "/v1/sandboxes", "");
    assert_eq!(answer.status, 405);
    assert!(
        answer
            .headers
            .contains(&("allow".into(), "GET, POST".into()))
    );
}

#[test]
fn bad_bodies_and_queries_are_400_with_what_is_wrong() {
    let mut trial = Trial::new(Op::Follow);
    for (method, target, body, field) in [
        ("POST", PROCESSES.to_owned(), "{", "body"),
        ("POST", PROCESSES.to_owned(), "{}", "cmd"),
        (
            "POST",
            PROCESSES.to_owned(),
            r#"{"cmd":"a","env":{"X":"1"}}"#,
            "env",
        ),
        ("GET", format!("{PROCESS}/connect?after=-1"), "", "after"),
        ("GET", format!("{PROCESS}/connect?after="), "", "after"),
        ("GET", format!("{PROCESS}/wait?scope=all"), "", "scope"),
        (
            "GET",
            format!("{PROCESS}/wait?timeout_ms=x"),
            "",
            "timeout_ms",
        ),
        ("DELETE", format!("{PROCESS}?grace_ms=1.5"), "", "grace_ms"),
        (
            "POST",
            format!("{PROCESS}/signal"),
            r#"{"signal":"KILL"}"#,
            "signal",
        ),
        (
            "POST",
            format!("{PROCESS}/input"),
            r#"{"data_base64":"*"}"#,
            "data_base64",
        ),
        (
            "POST",
            format!("{PROCESS}/resize"),
            r#"{"rows":1,"cols":1}"#,
            "process",
        ),
        ("POST", "/v1/sandboxes".to_owned(), "{}", "shape"),
        (
            "GET",
            "/v1/sandboxes?status=asleep".to_owned(),
            "",
            "status",
        ),
        ("GET", "/v1/sandboxes?limit=x".to_owned(), "", "limit"),
        (
            "PUT",
            "/v1/sandboxes/sb-first/files?path=a".to_owned(),
            "",
            "path",
        ),
        ("PUT", "/v1/sandboxes/sb-first/files".to_owned(), "", "path"),
        (
            "POST",
            "/v1/sandboxes/sb-first/exec".to_owned(),
            "{}",
            "cmd",
        ),
    ] {
        let (status, answer) = trial.ask(method, &target, body);
        assert_eq!(status, 400, "{method} {target}");
        assert!(
            answer["data"][field].is_string(),
            "{method} {target}: {answer}"
        );
    }
}

#[test]
fn ids_arrive_percent_encoded() {
    let mut trial = Trial::new(Op::Follow);
    let target = "/v1/sandboxes/sb%2Dfirst/processes/proc%5Ffirst";
    assert_eq!(trial.status("GET", target, ""), 200);
}

#[test]
fn an_evicted_cursor_is_410_and_the_boundary_is_not() {
    let mut truth = healthy(false);
    truth.journal_bytes = 10;
    truth.frames = (1..=3)
        .map(|seq| TruthFrame {
            seq,
            stream: StreamName::Stdout,
            data: "12345".into(),
            pause_ms: 0,
        })
        .collect();
    let mut trial = Trial::of(plan(Op::Follow, truth));
    let (status, body) = trial.ask("GET", &format!("{PROCESS}/connect?after=0"), "");
    assert_eq!(
        (status, &body["data"]["oldest_available_seq"]),
        (410, &json!(2))
    );
    assert_eq!(trial.raw(&format!("{PROCESS}/connect?after=1")).status, 200);
}

#[test]
fn a_wait_is_answered_when_the_world_changes_or_408_when_it_is_over() {
    let truth = Truth {
        exit: TruthExit::Never,
        ..healthy(false)
    };
    let mut trial = Trial::of(plan(Op::Follow, truth));
    let decision = trial.decide("GET", &format!("{PROCESS}/wait?timeout_ms=500"), "");
    let Act::Wait(waiting) = decision.act else {
        panic!("{decision:?}")
    };
    assert_eq!(waiting.until_ms, 500);
    let Act::Wait(waiting) = trial.session.resume(waiting, 499) else {
        panic!("too early")
    };
    let Act::Answer(answer) = trial.session.resume(waiting.clone(), 500) else {
        panic!("over")
    };
    assert_eq!(answer.status, 408);

    let before = trial.session.changes();
    let signal = format!("{PROCESS}/signal");
    assert_eq!(
        trial.status("POST", &signal, r#"{"signal":"SIGKILL"}"#),
        200
    );
    assert_ne!(trial.session.changes(), before);
    let Act::Answer(answer) = trial.session.resume(waiting, 100) else {
        panic!("it has exited")
    };
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        (answer.status, &body["data"]["signal"]),
        (200, &json!("SIGKILL"))
    );
}

#[test]
fn a_wait_knows_when_a_live_process_exits_by_itself() {
    let mut truth = healthy(false);
    truth.live = true;
    truth.frames[0].pause_ms = 300;
    let mut trial = Trial::of(plan(Op::Follow, truth));
    let Act::Wait(waiting) = trial.decide("GET", &format!("{PROCESS}/wait"), "").act else {
        panic!("it lives")
    };
    assert_eq!(waiting.until_ms, 300);
    assert!(
        matches!(trial.session.resume(waiting, 300), Act::Answer(answer) if answer.status == 200)
    );
}

#[test]
fn a_tree_outlives_its_leader_until_a_delete_has_had_its_grace() {
    let truth = Truth {
        children: 1,
        ..healthy(false)
    };
    let mut trial = Trial::of(plan(Op::Follow, truth));
    assert_eq!(
        trial.status("GET", &format!("{PROCESS}/wait?scope="), ""),
        200
    );
    assert_eq!(
        trial.status(
            "GET",
            &format!("{PROCESS}/wait?scope=tree&timeout_ms=0"),
            ""
        ),
        408
    );
    let Act::Wait(waiting) = trial
        .decide("DELETE", &format!("{PROCESS}?grace_ms=200"), "")
        .act
    else {
        panic!("its child needs killing")
    };
    assert_eq!(waiting.until_ms, 200);
    let Act::Answer(answer) = trial.session.resume(waiting, 200) else {
        panic!("the grace is over")
    };
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["data"]["tree_exited"], true);
}

#[test]
fn a_stream_follows_a_process_until_it_is_ended() {
    let truth = Truth {
        exit: TruthExit::Never,
        ..healthy(false)
    };
    let mut trial = Trial::of(plan(Op::Follow, truth));
    let raw = trial.raw(&format!("{PROCESS}/connect"));
    let follow = raw.follows.unwrap();
    assert_eq!(trial.session.exit_line(&follow, 5), None);
    assert_eq!(trial.status("DELETE", PROCESS, ""), 200);
    assert_eq!(
        trial.session.exit_line(&follow, 5).unwrap(),
        b"{\"type\":\"exit\",\"exit_code\":null,\"signal\":\"SIGTERM\"}\n"
    );
    // Whoever comes later reads the journal and then the same exit.
    let raw = trial.raw(&format!("{PROCESS}/connect?after=1"));
    assert!(text(&raw).starts_with("{\"type\":\"exit\""));
    assert_eq!(raw.follows, None);
}

#[test]
fn input_counts_and_too_much_of_it_is_413() {
    let mut trial = Trial::new(Op::Follow);
    let input = format!("{PROCESS}/input");
    for number in 1..=2 {
        let (_, body) = trial.ask("POST", &input, r#"{"data_base64":"YQ=="}"#);
        assert_eq!(body["data"]["input_seq"], number);
    }
    let large = json!({"data_base64": crate::wire::Blob(vec![0; (256 << 10) + 1]).to_base64()});
    assert_eq!(trial.status("POST", &input, &large.to_string()), 413);
    assert_eq!(
        trial.status("POST", &format!("{PROCESS}/stdin/close"), ""),
        200
    );
    assert_eq!(
        trial.status("POST", &format!("{PROCESS}/stdin/close"), ""),
        409
    );
}

#[test]
fn sandboxes_are_made_listed_paused_and_destroyed() {
    let mut trial = Trial::new(Op::Execute);
    let (status, body) = trial.ask(
        "POST",
        "/v1/sandboxes",
        r#"{"shape":"s-1vcpu-1gb","name":"n"}"#,
    );
    assert_eq!((status, &body["data"]["status"]), (200, &json!("running")));
    let id = body["data"]["id"].as_str().unwrap().to_owned();
    let one = format!("/v1/sandboxes/{id}");
    let (_, list) = trial.ask("GET", "/v1/sandboxes?limit=1&offset=1", "");
    assert_eq!(list["data"]["data"][0]["id"], id.as_str());
    assert_eq!(list["data"]["pagination"]["total"], 2);

    let answer = trial.answer("POST", &format!("{one}/pause"), "");
    assert_eq!(answer.status, 202);
    assert!(
        answer
            .headers
            .contains(&("x-poll-after".into(), "1".into()))
    );
    assert_eq!(trial.ask("GET", &one, "").1["data"]["status"], "paused");
    assert_eq!(trial.status("POST", &format!("{one}/pause"), ""), 200);
    assert_eq!(
        trial.status("POST", &format!("{one}/processes"), r#"{"cmd":"sh"}"#),
        409
    );
    let (_, paused) = trial.ask("GET", "/v1/sandboxes?status=paused", "");
    assert_eq!(paused["data"]["pagination"]["total"], 1);
    assert_eq!(trial.status("POST", &format!("{one}/resume"), ""), 202);
    let (_, patched) = trial.ask("PATCH", &one, r#"{"auto_pause_after_seconds":60}"#);
    assert_eq!(patched["data"]["auto_pause_after_seconds"], 60);

    let (status, body) = trial.ask("DELETE", &one, "");
    assert_eq!(
        (status, &body["data"]["status"]),
        (202, &json!("destroying"))
    );
    assert_eq!(trial.ask("GET", &one, "").1["data"]["status"], "destroyed");
    trial.now_ms = 120_000;
    assert_eq!(trial.status("GET", &one, ""), 404);
}

#[test]
fn files_are_kept_byte_for_byte() {
    let mut trial = Trial::new(Op::Upload);
    let file = "/v1/sandboxes/sb-first/files?path=%2Ftmp%2Fa+b";
    let (status, body) = trial.ask("PUT", file, "x\u{0}y");
    assert_eq!(
        (status, &body["data"]),
        (200, &json!({"bytes":3,"path":"/tmp/a b"}))
    );
    assert_eq!(trial.answer("GET", file, "").body, b"x\0y");
    assert_eq!(trial.status("PUT", file, "\"\""), 200);
}

#[test]
fn exec_says_hello_and_runs_nothing() {
    let mut trial = Trial::new(Op::Execute);
    let exec = "/v1/sandboxes/sb-first/exec";
    let (status, body) = trial.ask("POST", exec, r#"{"cmd":"rm","args":["-rf","/"]}"#);
    assert_eq!(
        (status, &body["data"]["result"]),
        (200, &json!({"stdout":"hello\n","stderr":"","exit_code":0}))
    );
    for (target, body) in [
        (format!("{exec}?stream=true"), r#"{"cmd":"x"}"#),
        (exec.to_owned(), r#"{"cmd":"x","stream":true}"#),
    ] {
        let Act::Raw(raw) = trial.decide("POST", &target, body).act else {
            panic!("a stream")
        };
        assert_eq!(
            text(&raw),
            "{\"stdout\":\"hello\\n\"}\n{\"exit_code\":0}\n<End(Chunk)>\n"
        );
    }
}

#[test]
fn identity_catalog_and_health_answer() {
    let mut trial = Trial::new(Op::Execute);
    assert_eq!(
        trial.ask("GET", "/v1/whoami", "").1["data"]["stats"],
        json!({"running":1,"paused":0,"other":0,"total":1})
    );
    assert_eq!(trial.ask("GET", "/healthz", "").1["data"]["up"], true);
    assert_eq!(trial.ask("GET", "/readyz", "").1["data"]["ready"], true);
    assert_eq!(
        trial.ask("GET", "/v1/rootfs", "").1["data"]["default"],
        "devbox:1"
    );
    let (_, shapes) = trial.ask("GET", "/v1/shapes?limit=500", "");
    assert_eq!(shapes["data"]["pagination"]["total"], 11);
}

#[test]
fn a_status_fault_has_an_envelope_and_no_effect() {
    let behaviour = Behaviour {
        status: Some(502),
        headers: vec![("Retry-After".into(), vec!["1".into(), "2".into()])],
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::CreateProcess, Attempts::Nth(1), behaviour)],
    );
    let answer = trial.answer("POST", PROCESSES, r#"{"cmd":"sh"}"#);
    assert_eq!(answer.status, 502);
    assert_eq!(
        answer.body,
        br#"{"status":"error","message":"bad gateway","code":502}"#
    );
    let values: Vec<&str> = answer
        .headers
        .iter()
        .filter(|(name, _)| name == "retry-after")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(values, ["1", "2"]);
    assert_eq!(trial.session.ledger(0).len(), 1);
    assert_eq!(trial.create(), "proc_first");
}

#[test]
fn an_effect_may_stand_against_the_answer() {
    let done = Behaviour {
        status: Some(504),
        effect: Some(Effect::Done),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::CreateProcess, Attempts::Nth(1), done)],
    );
    assert_eq!(trial.status("POST", PROCESSES, r#"{"cmd":"sh"}"#), 504);
    assert_eq!(trial.session.ledger(0)[1].made_by, Some(0));

    let none = Behaviour {
        effect: Some(Effect::None),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::CreateProcess, Attempts::Nth(1), none)],
    );
    assert_eq!(trial.create(), "proc_first");
    assert_eq!(trial.session.ledger(0).len(), 1);
}

#[test]
fn a_cut_before_the_body_can_still_take_effect() {
    let behaviour = Behaviour {
        cut: Some(Cut {
            at: CutPoint::HeadRead,
            reset: true,
        }),
        effect: Some(Effect::Done),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::CreateProcess, Attempts::Nth(1), behaviour)],
    );
    let decision = trial.decide("POST", PROCESSES, "");
    assert!(matches!(decision.act, Act::Cut(cut) if cut.reset));
    assert_eq!(trial.session.ledger(0).len(), 2);
}

#[test]
fn data_faults_change_the_faithful_envelope() {
    let behaviour = Behaviour {
        content: Content::Data {
            with: object(json!({"process_id": "../{canary}", "tree_exited": true})),
            without: vec!["output".into()],
        },
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::CreateProcess, Attempts::Nth(1), behaviour)],
    );
    let (status, body) = trial.ask("POST", PROCESSES, r#"{"cmd":"sh"}"#);
    assert_eq!(status, 201);
    assert_eq!(body["data"]["process_id"], "../CANARY");
    assert_eq!(body["data"]["cmd"], "sh");
    assert!(body["data"].get("output").is_none());
    assert_eq!(trial.session.ledger(0).len(), 2);
}

#[test]
fn a_stream_fault_expands_from_the_requests_cursor() {
    let mut truth = healthy(false);
    truth.frames = (1..=4)
        .map(|seq| TruthFrame {
            seq,
            stream: StreamName::Stdout,
            data: "x".into(),
            pause_ms: 0,
        })
        .collect();
    let behaviour = Behaviour {
        content: Content::Stream(vec![Step::Send(Span::UpTo(3)), Step::End(End::Reset)]),
        segments: Segments::Byte,
        ..Behaviour::default()
    };
    let mut trial = Trial::of(Plan {
        faults: vec![fault(Call::Connect, Attempts::Nth(2), behaviour)],
        ..plan(Op::Follow, truth)
    });
    assert!(trial.raw(&format!("{PROCESS}/connect")).follows.is_none());
    let raw = trial.raw(&format!("{PROCESS}/connect?after=2"));
    assert_eq!(raw.segments, Segments::Byte);
    let text = text(&raw);
    assert!(
        text.contains("\"seq\":3") && text.ends_with("<End(Reset)>\n"),
        "{text}"
    );
    assert!(
        !text.contains("\"seq\":2") && !text.contains("\"seq\":4"),
        "{text}"
    );
}

#[test]
fn redirects_name_their_target() {
    for (to, location) in [
        (Redirect::OtherOrigin, "http://127.0.0.1:2/v1/whoami?a=1"),
        (Redirect::Downgrade, "http://127.0.0.1:2/v1/whoami?a=1"),
        (Redirect::Loop, "http://127.0.0.1:1/v1/whoami?a=1"),
        (
            Redirect::SameOrigin,
            "http://127.0.0.1:1/v1/whoami?a=1&redirected=1",
        ),
    ] {
        let any = Fault {
            on: None,
            ..fault(
                Call::Exec,
                Attempts::Nth(1),
                Behaviour {
                    content: Content::Redirect(to),
                    ..Behaviour::default()
                },
            )
        };
        let answer = Trial::with(Op::Execute, vec![any]).answer("GET", "/v1/whoami?a=1", "");
        assert_eq!(answer.status, 302);
        assert!(
            answer
                .headers
                .contains(&("location".into(), location.into()))
        );
    }
}

#[test]
fn bodies_and_reasons_have_their_placeholders_replaced() {
    let behaviour = Behaviour {
        status: Some(500),
        reason: Some("Oops {canary}".into()),
        content: Content::Text("<html>{canary} {api-key}</html>".into()),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Follow,
        vec![fault(Call::Connect, Attempts::Every, behaviour)],
    );
    let raw = trial.raw(&format!("{PROCESS}/connect"));
    assert_eq!(raw.reason, "Oops CANARY");
    assert_eq!(
        raw.body,
        RawBody::Bytes(b"<html>CANARY skp_key</html>".to_vec())
    );
    assert!(
        raw.headers
            .contains(&("content-type".into(), "text/html; charset=utf-8".into()))
    );
}

#[test]
fn only_what_any_library_can_write_is_an_ordinary_answer() {
    let under = |change: fn(&mut Behaviour)| {
        let mut behaviour = Behaviour {
            status: Some(503),
            ..Behaviour::default()
        };
        change(&mut behaviour);
        let faults = vec![fault(Call::Connect, Attempts::Nth(1), behaviour)];
        let decision =
            Trial::with(Op::Follow, faults).decide("GET", &format!("{PROCESS}/connect"), "");
        matches!(decision.act, Act::Raw(_))
    };
    assert!(!under(|_| {}));
    assert!(under(|behaviour| behaviour.http10 = true));
    assert!(under(|behaviour| behaviour.content_length = Some(10)));
    assert!(under(|behaviour| behaviour.transfer_encoding_also = true));
    assert!(under(|behaviour| behaviour.status = Some(799)));
    assert!(under(
        |behaviour| behaviour.headers = vec![("content-length".into(), vec!["3".into()])]
    ));
    assert!(under(
        |behaviour| behaviour.headers = vec![("x-a".into(), vec!["a\u{1}".into()])]
    ));
    assert!(under(|behaviour| behaviour.content = Content::Endless(b'x')));
}

#[test]
fn holds_and_delays_are_told() {
    let hold = Behaviour {
        delay_ms: Some(30),
        hold_ms: Some(500),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Follow,
        vec![fault(Call::Connect, Attempts::Nth(1), hold)],
    );
    let decision = trial.decide("GET", &format!("{PROCESS}/connect"), "");
    assert_eq!(
        (decision.act, decision.delay_ms),
        (Act::Hold { ms: 500 }, 30)
    );
    assert_eq!(decision.fault, Some(1));
}

fn refuse(attempts: Attempts) -> Fault {
    let behaviour = Behaviour {
        refuse: true,
        ..Behaviour::default()
    };
    fault(Call::Connect, attempts, behaviour)
}

#[test]
fn a_refusal_stands_just_before_its_call() {
    let mut trial = Trial::with(Op::Execute, vec![refuse(Attempts::Nth(1))]);
    let send = |trial: &mut Trial, method: &str, target: &str, body: &str| {
        let request = request(method, target, body);
        let arrival = trial.session.arrive(&request, ConnectionUse::Fresh, 0);
        let _ = trial.session.answer(&arrival, &request, 0);
        arrival
    };
    let created = send(&mut trial, "POST", PROCESSES, r#"{"cmd":"sh"}"#);
    assert!(!trial.session.close_after(&created));
    trial.session.ended(&created);
    assert_eq!(trial.session.pending_refusal(), None);
    let closed = send(&mut trial, "POST", &format!("{PROCESS}/stdin/close"), "");
    assert!(trial.session.close_after(&closed));
    trial.session.ended(&closed);
    let due = trial.session.pending_refusal().unwrap();
    assert_eq!((due.fault, due.hold_ms), (1, 400));
    trial.session.refused(1);
    assert_eq!(trial.session.pending_refusal(), None);
    // The refused connection was no attempt.
    let connect = send(&mut trial, "GET", &format!("{PROCESS}/connect"), "");
    assert_eq!((connect.attempt, connect.fault), (1, None));
}

#[test]
fn refusals_in_a_row_add_up_and_ranges_refuse_as_often() {
    let faults = vec![
        refuse(Attempts::Nth(1)),
        numbered(2, refuse(Attempts::Range(1, 2))),
    ];
    let mut trial = Trial::with(Op::Follow, faults);
    let mut seen = Vec::new();
    while let Some(due) = trial.session.pending_refusal() {
        seen.push(due.fault);
        trial.session.refused(due.fault);
    }
    assert_eq!(seen, [1, 2, 2]);
}

#[test]
fn a_later_refusal_waits_for_the_attempt_before_it() {
    let mut trial = Trial::with(Op::Follow, vec![refuse(Attempts::Nth(2))]);
    assert_eq!(trial.session.pending_refusal(), None);
    let request = request("GET", &format!("{PROCESS}/connect"), "");
    let arrival = trial.session.arrive(&request, ConnectionUse::Fresh, 0);
    assert_eq!(trial.session.pending_refusal(), None);
    trial.session.ended(&arrival);
    assert!(trial.session.pending_refusal().is_some());
}

#[test]
fn a_connection_is_cut_at_accept_once() {
    let behaviour = Behaviour {
        cut: Some(Cut {
            at: CutPoint::Accept,
            reset: true,
        }),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Follow,
        vec![fault(Call::Connect, Attempts::Nth(1), behaviour)],
    );
    assert_eq!(trial.session.on_accept().map(|(number, _)| number), Some(1));
    assert_eq!(trial.session.on_accept(), None);
    assert_eq!(trial.raw(&format!("{PROCESS}/connect")).status, 200);
}

#[test]
fn refusing_a_delete_waits_for_what_brings_it_about() {
    let gone = fault(
        Call::Connect,
        Attempts::Nth(1),
        Behaviour {
            status: Some(410),
            ..Behaviour::default()
        },
    );
    let refused = Fault {
        on: Some(Call::DeleteProcess),
        ..numbered(2, refuse(Attempts::Nth(1)))
    };
    let mut trial = Trial::with(Op::Execute, vec![gone, refused]);
    trial.create();
    assert_eq!(trial.session.pending_refusal(), None);
    let request = request("GET", &format!("{PROCESS}/connect"), "");
    let arrival = trial.session.arrive(&request, ConnectionUse::Fresh, 0);
    trial.session.ended(&arrival);
    assert!(trial.session.pending_refusal().is_some());
}

#[test]
fn by_hand_the_scenario_starts_again_with_each_process() {
    let behaviour = Behaviour {
        status: Some(503),
        ..Behaviour::default()
    };
    let mut trial = Trial::with(
        Op::Execute,
        vec![fault(Call::Connect, Attempts::Nth(1), behaviour)],
    );
    trial.session.restart_per_process();
    for _ in 0..2 {
        let id = trial.create();
        let connect = format!("{PROCESSES}/{id}/connect");
        assert_eq!(trial.status("GET", &connect, ""), 503);
        assert_eq!(trial.raw(&connect).status, 200);
    }
}
