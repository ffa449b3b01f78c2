//! What a fault makes of an answer.

use super::*;

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
        r#"{"status":"error","message":"bad gateway","code":502}"#
    );
    let values: Vec<&str> = answer
        .headers
        .iter()
        .filter(|(name, _)| name == "retry-after")
        .map(|(_, value)| &**value)
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
        RawBody::Bytes("<html>CANARY skp_key</html>".into())
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
