//! Faithful answers, call by call.

use super::*;

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
    assert_eq!(trial.answer("GET", file, "").body, &b"x\0y"[..]);
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
