//! Faults that meet connections before any request is read.

use super::*;

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
        let _ = trial.session.answer(&arrival, &request.body, 0);
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
