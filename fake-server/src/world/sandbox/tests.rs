use super::*;

fn sandbox(state: State, lag: u32) -> Sandbox {
    let made = CreateSandbox::read(br#"{"shape":"s-2vcpu-4gb","name":"box"}"#).unwrap();
    Sandbox::new("sb-1".into(), 1, made, state, lag, None, 0)
}

fn polled(sandbox: &mut Sandbox, times: usize) -> Vec<&'static str> {
    (0..times).map(|_| sandbox.poll(10).name()).collect()
}

#[test]
fn a_pause_is_accepted_lags_and_arrives() {
    let mut sandbox = sandbox(State::Running, 2);
    assert_eq!(sandbox.pause(), Ok(Accepted::Begun(State::Pausing)));
    assert_eq!(sandbox.check_running().unwrap_err().status(), 409);
    assert_eq!(sandbox.pause(), Ok(Accepted::Already(State::Pausing)));
    assert_eq!(
        polled(&mut sandbox, 4),
        ["running", "running", "paused", "paused"]
    );
    assert_eq!(sandbox.pause(), Ok(Accepted::Already(State::Paused)));
    assert!(sandbox.view(State::Paused).paused_at.is_some());
}

#[test]
fn a_resume_comes_from_paused_or_error_only() {
    for state in [State::Paused, State::Error] {
        let mut sandbox = sandbox(state, 0);
        assert_eq!(sandbox.resume(), Ok(Accepted::Begun(State::Resuming)));
        assert_eq!(sandbox.check_running(), Ok(()));
        assert_eq!(polled(&mut sandbox, 1), ["running"]);
        assert_eq!(sandbox.resume(), Ok(Accepted::Already(State::Running)));
    }
    for state in [State::Creating, State::Failed, State::Destroyed] {
        assert_eq!(
            sandbox(state, 1).resume().unwrap_err().status(),
            409,
            "{state}"
        );
        assert_eq!(
            sandbox(state, 1).pause().unwrap_err().status(),
            409,
            "{state}"
        );
    }
}

#[test]
fn a_boot_is_over_when_it_is_shown() {
    let mut sandbox = sandbox(State::Creating, 1);
    assert!(sandbox.check_running().is_err());
    assert_eq!(polled(&mut sandbox, 2), ["creating", "running"]);
    assert_eq!(sandbox.check_running(), Ok(()));
}

#[test]
fn a_destroyed_sandbox_is_shown_for_a_while_and_then_gone() {
    let mut sandbox = sandbox(State::Running, 1);
    assert!(sandbox.holds_name("box"));
    assert_eq!(
        sandbox.delete(Some(3), 5),
        Accepted::Begun(State::Destroying)
    );
    assert!(!sandbox.holds_name("box"));
    assert_eq!(
        sandbox.delete(Some(4), 5),
        Accepted::Already(State::Destroying)
    );
    assert_eq!(sandbox.deleted_by, Some(3));
    assert_eq!(polled(&mut sandbox, 2), ["running", "destroyed"]);
    assert_eq!(
        sandbox.delete(None, 20),
        Accepted::Already(State::Destroyed)
    );
    assert!(!sandbox.is_gone(60_009));
    assert!(sandbox.is_gone(60_010));
}

#[test]
fn deleting_what_never_came_up_says_so() {
    let mut sandbox = sandbox(State::Failed, 0);
    assert_eq!(sandbox.delete(None, 0), Accepted::Already(State::Failed));
}

#[test]
fn a_disk_only_grows() {
    let mut sandbox = sandbox(State::Running, 0);
    assert_eq!(sandbox.grow(1).unwrap_err().status(), 400);
    assert_eq!(sandbox.grow(20_480), Ok(()));
    assert_eq!(sandbox.view(State::Running).disk_mib, 20_480);
}

#[test]
fn a_view_has_every_field_that_a_decoder_needs() {
    let view = crate::wire::view::to_json(&sandbox(State::Running, 0).view(State::Running));
    for field in [
        "id",
        "status",
        "ip",
        "shape",
        "vcpu",
        "mem_mib",
        "disk_mib",
        "spawn_ms",
        "bandwidth_quota_bytes",
        "egress",
        "created_at",
        "ingress_enabled",
    ] {
        assert!(!view[field].is_null(), "{field}");
    }
    assert!(view.get("paused_at").is_none(), "absent, not null");
}

#[test]
fn what_is_told_is_never_stale() {
    let mut sandbox = sandbox(State::Running, 1);
    let tell = |sandbox: &mut Sandbox| {
        let state = sandbox.poll(10);
        let told = sandbox.told(state);
        let text = serde_json::to_string(&sandbox.view(state)).unwrap();
        assert_eq!(told.data(), text);
        assert_eq!(sandbox.told(state), told, "it is the same when asked again");
        text
    };
    let mut texts = vec![tell(&mut sandbox)];
    let patch = PatchSandbox::read(br#"{"ingress_enabled":true}"#).unwrap();
    sandbox.patch(patch);
    texts.push(tell(&mut sandbox));
    sandbox.grow(100_000).unwrap();
    texts.push(tell(&mut sandbox));
    sandbox.pause().unwrap();
    assert_eq!(Some(&tell(&mut sandbox)), texts.last(), "it lags");
    texts.push(tell(&mut sandbox));
    sandbox.resume().unwrap();
    tell(&mut sandbox);
    texts.push(tell(&mut sandbox));
    let _ = sandbox.delete(None, 11);
    tell(&mut sandbox);
    texts.push(tell(&mut sandbox));
    for (at, text) in texts.iter().enumerate() {
        assert!(!texts[..at].contains(text), "{text}");
    }
}
