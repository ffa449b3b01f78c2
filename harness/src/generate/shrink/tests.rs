use super::{Measure, candidates, runs, shrink, smaller};
use crate::{
    contract::oracle::{default_promises, expected, unreachable},
    generate::{Profile, case, settle},
    suite::{Suite, embedded},
};
use fake_server::script::{
    model::{Attempts, Content, Plan, Step},
    parse,
    print::can_say,
};
use std::{
    cell::Cell,
    future::{pending, poll_fn, ready},
    sync::Arc,
    task::{Poll, Waker},
};

/// Drives a future that is never left pending for good.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("it never ended");
}

fn hold(plan: &Plan) {
    let promises = default_promises(plan);
    let size = Measure::of(plan);
    for candidate in candidates(plan, &promises) {
        let id = &plan.id;
        assert!(Measure::of(&candidate) < size, "{id}: {candidate:#?}");
        assert!(can_say(&candidate), "{id}: {candidate:#?}");
        let right = expected(&candidate, &promises);
        assert!(
            !right.outcomes.iter().any(|end| end == "none"),
            "{id}: {candidate:#?}"
        );
        for number in unreachable(&candidate, &promises) {
            assert!(candidate.faults[number - 1].bait, "{id}: {candidate:#?}");
        }
    }
}

#[test]
fn every_candidate_of_a_drawn_plan_is_smaller_and_fit() {
    for profile in Profile::ALL {
        for number in 0..5 {
            hold(&case(3, number, *profile));
        }
    }
}

#[test]
fn every_candidate_of_a_written_plan_is_smaller_and_fit() {
    let suite = Suite::load(&[embedded()]).unwrap();
    for entry in suite.iter().step_by(25) {
        hold(&entry.scenario.plan(0, 1));
    }
}

fn follow(rest: &str) -> Plan {
    let text = format!("title = \"t\"\nrequirements = [\"data/exact\"]\nop = \"follow\"\n{rest}");
    let read = parse("t.toml", "t", &text, None);
    let mut plan = read
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 0);
    settle(&mut plan);
    plan
}

const LARGE: &str = r#"
[process]
output = [{ repeat = 30, stdout = "line {n}\n" }, { stderr-base64 = "/wD+" }]
exit = { code = 7 }
[[fault]]
on = "connect"
attempt = 1
status = 503
headers = { retry-after = ["1"] }
[[fault]]
on = "connect"
attempt = 2
segments = [7, 1, 300]
stream = [{ send = "..5" }, { heartbeat = 9 }, { send = "..12" }, { end = "reset" }]
[[fault]]
on = "connect"
attempt = 3
delay = "20ms"
stream = [{ send = "10..20" }, { pause = "30ms" }, { send = "..22" }, { end = "truncated-chunk" }]
"#;

/// Whether a stream of the plan sends a frame by its number.
fn sends_a_range(plan: &Plan) -> bool {
    plan.faults
        .iter()
        .any(|fault| match &fault.behaviour.content {
            Content::Stream(steps) => steps.iter().any(|step| {
                matches!(
                    step,
                    Step::Send(fake_server::script::model::Span::Range(..))
                )
            }),
            _ => false,
        })
}

#[test]
fn what_does_not_matter_goes_and_what_does_stays() {
    let plan = follow(LARGE);
    let promises = default_promises(&plan);
    let fails = |plan: Arc<Plan>| ready(sends_a_range(&plan));
    let shrunk = block_on(shrink(plan, &promises, 1, fails, pending()));
    assert!(shrunk.is_smallest);
    let wanted = follow(
        r#"
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }]
[[fault]]
on = "connect"
stream = [{ send = "1..2" }, { end = "chunk" }]
"#,
    );
    assert_eq!(shrunk.plan, wanted);
}

#[test]
fn the_first_in_order_wins_whichever_answers_first() {
    let plan = follow(LARGE);
    let promises = default_promises(&plan);
    let at_once = |plan: Arc<Plan>| ready(sends_a_range(&plan));
    let expected = block_on(shrink(plan.clone(), &promises, 1, at_once, pending()));
    for in_flight in [2, 7, 64] {
        let begun = Cell::new(0_u64);
        // Later ones answer sooner, some at once.
        let late = |plan: Arc<Plan>| {
            begun.set(begun.get() + 1);
            let mut left = (begun.get() * 7) % 11;
            poll_fn(move |_| {
                left = left.saturating_sub(1);
                if left > 0 {
                    Poll::Pending
                } else {
                    Poll::Ready(sends_a_range(&plan))
                }
            })
        };
        let shrunk = block_on(shrink(plan.clone(), &promises, in_flight, late, pending()));
        assert_eq!(shrunk, expected, "{in_flight} in flight");
    }
}

#[test]
fn it_can_be_stopped_and_keeps_the_best_so_far() {
    let plan = follow(LARGE);
    let promises = default_promises(&plan);
    let tried = Cell::new(0);
    let fails = |plan: Arc<Plan>| {
        tried.set(tried.get() + 1);
        ready(sends_a_range(&plan))
    };
    let stop = poll_fn(|_| {
        if tried.get() > 30 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    let shrunk = block_on(shrink(plan.clone(), &promises, 1, fails, stop));
    assert!(!shrunk.is_smallest && shrunk.steps > 0);
    assert!(Measure::of(&shrunk.plan) < Measure::of(&plan) && sends_a_range(&shrunk.plan));
}

#[test]
fn what_never_fails_again_is_left_as_it_is() {
    let plan = follow(LARGE);
    let promises = default_promises(&plan);
    let shrunk = block_on(shrink(
        plan.clone(),
        &promises,
        64,
        |_| ready(false),
        pending(),
    ));
    assert_eq!(
        (shrunk.plan, shrunk.steps, shrunk.is_smallest),
        (plan, 0, true)
    );
}

#[test]
fn later_attempts_move_up_when_an_earlier_one_goes() {
    let plan = follow(LARGE);
    let promises = default_promises(&plan);
    let found = candidates(&plan, &promises).find(|candidate| {
        candidate.faults.len() == 2 && candidate.faults[0].behaviour.status.is_none()
    });
    let attempts: Vec<Attempts> = found
        .expect("one without the first")
        .faults
        .iter()
        .map(|fault| fault.attempts)
        .collect();
    assert_eq!(attempts, [Attempts::Nth(1), Attempts::Nth(2)]);
}

#[test]
fn runs_go_from_all_to_each() {
    let of = |count| runs(count).collect::<Vec<_>>();
    assert!(of(0).is_empty());
    assert_eq!(of(2), [0..2, 1..2, 0..1]);
    assert_eq!(of(3), [0..3, 2..3, 0..2, 2..3, 1..2, 0..1]);
    assert_eq!(smaller(9, 1).collect::<Vec<_>>(), [1, 5, 8]);
    assert_eq!(smaller(1, 1).count(), 0);
}
