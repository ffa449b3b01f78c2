//! Deadline and cancel, in every phase, and the cleanup that still happens.

use super::*;

const DELETE: &str = "DELETE /p?grace_ms=500";

/// A job that is stuck at a place, and how many requests it has made by then.
fn stuck() -> Vec<(&'static str, Vec<Script>)> {
    let [a, ..] = frames();
    let trickle = || {
        let mut script = open(&[&a]);
        for _ in 0..1000 {
            script.extend([bytes(chunk(HEARTBEAT)), Pause(7)]);
        }
        script
    };
    vec![
        ("stdin", vec![created(), vec![Hold]]),
        ("connect", vec![created(), acknowledged(), vec![Hold]]),
        (
            "stream",
            vec![created(), acknowledged(), then(open(&[&a]), [Hold])],
        ),
        ("heartbeats", vec![created(), acknowledged(), trickle()]),
        (
            "back-off",
            vec![
                created(),
                acknowledged(),
                then(open(&[&a]), [Pause(400), Reset]),
            ],
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_deadline_or_cancel_ends_it_in_any_phase_and_cleans_up() {
    for (place, scripts) in stuck() {
        let mut scripts = scripts;
        scripts.push(deleted());
        let late = case(Op::Execute, scripts.clone()).timeout(500).run().await;
        let cancelled = case(Op::Execute, scripts).cancel(500).run().await;
        for (told, outcome) in [(late, "timed-out"), (cancelled, "cancelled")] {
            assert_eq!((told.outcome(), told.took), (outcome, 500), "{place}");
            assert_eq!(told.lines().last().unwrap(), DELETE, "{place}");
            let connects = told
                .lines()
                .iter()
                .filter(|line| line.contains("connect"))
                .count();
            assert_eq!(connects, usize::from(place != "stdin"), "{place}");
            let partial = if matches!(place, "stdin" | "connect") {
                ""
            } else {
                "a\n"
            };
            assert_eq!(told.stdout(), partial, "{place}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_stream_is_closed_before_the_cleanup() {
    let (_, mut scripts) = stuck().remove(2);
    scripts.push(deleted());
    let told = case(Op::Execute, scripts).timeout(500).run().await;
    assert_eq!(told.asked[2].closed, Some(500));
    assert_eq!(told.asked[3].at, 500);
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_creating_leaves_the_creation_unconfirmed() {
    let half = vec![
        bytes("HTTP/1.1 201 Created\r\nContent-Length: 40\r\n\r\n{"),
        Hold,
    ];
    for script in [vec![Hold], half] {
        let late = case(Op::Execute, vec![script.clone()])
            .timeout(100)
            .run()
            .await;
        let cancelled = case(Op::Execute, vec![script]).cancel(100).run().await;
        for told in [late, cancelled] {
            assert_eq!((told.kind(), told.took), ("creation-unconfirmed", 100));
            assert_eq!(told.asked.len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_anything_was_asked_is_just_that() {
    let told = case(Op::Execute, vec![]).timeout(0).run().await;
    assert_eq!((told.outcome(), told.asked.len()), ("timed-out", 0));
}

#[tokio::test(start_paused = true)]
async fn the_cleanup_has_a_deadline_of_its_own_also_when_the_answer_trickles() {
    let mut trickle = vec![bytes("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")];
    for _ in 0..1000 {
        trickle.extend([bytes(" "), Pause(50)]);
    }
    for slow in [vec![Hold], trickle] {
        let (_, mut scripts) = stuck().remove(2);
        scripts.push(slow);
        let told = case(Op::Execute, scripts).timeout(500).run().await;
        assert_eq!((told.kind(), told.took), ("cleanup-unconfirmed", 1500));
        assert_eq!(told.stdout(), "a\n");
        assert!(
            told.result
                .error
                .unwrap()
                .cause
                .unwrap()
                .message
                .contains("deadline")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn following_ends_without_a_cleanup() {
    let told = case(Op::Follow, vec![then(open(&[&frames()[0]]), [Hold])])
        .timeout(500)
        .run()
        .await;
    assert_eq!(
        (told.outcome(), told.stdout(), told.asked.len()),
        ("timed-out", "a\n", 1)
    );
    assert_eq!(told.asked[0].closed, Some(500));
}

#[tokio::test(start_paused = true)]
async fn output_is_handed_over_before_more_comes() {
    let [a, b, _] = frames();
    let script = then(open(&[&a]), [Pause(300), bytes(chunk(&b)), Hold]);
    let told = case(Op::Follow, vec![script]).cancel(200).run().await;
    assert_eq!((told.outcome(), told.live.len()), ("cancelled", 1));
}

#[tokio::test(start_paused = true)]
async fn a_promised_silence_limit_makes_a_mute_stream_a_drop() {
    let mut client = Reference::conformant();
    client.promises.profile.silence_limit_ms = Some(1000);
    let beating = then(
        open(&[]),
        (0..5).flat_map(|_| [Pause(900), bytes(chunk(HEARTBEAT))]),
    );
    let told = case(Op::Follow, vec![then(beating, [Hold]), whole(&[EXIT])])
        .client(client)
        .run()
        .await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    assert_eq!((told.asked[0].closed, told.asked[1].at), (Some(5500), 5750));
}
