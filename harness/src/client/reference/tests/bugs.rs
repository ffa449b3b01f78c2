//! A wrong client differs from the right one where its bug says, and nowhere on a healthy server.

use super::*;
use crate::client::reference::Bug;

/// Bugs that show on a healthy run already.
const AT_ONCE: &[Bug] = &[Bug::ZeroIsMissing, Bug::ZeroCursorOmitted];

#[tokio::test(start_paused = true)]
async fn on_a_healthy_server_nearly_every_wrong_client_looks_right() {
    let [a, b, _] = frames();
    for bug in Bug::ALL.iter().filter(|bug| !AT_ONCE.contains(bug)) {
        let told = case(
            Op::Execute,
            vec![created(), acknowledged(), whole(&[&a, &b, EXIT])],
        )
        .client(Reference::wrong(*bug))
        .run()
        .await;
        assert_eq!(
            (told.outcome(), told.stdout()),
            ("exited", "a\nb\n"),
            "{bug}"
        );
        assert_eq!(
            told.lines(),
            ["POST ", "POST /p/stdin/close", "connect?after=0"],
            "{bug}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_bugs_do_what_they_say() {
    let [a, b, c] = frames();
    let wrong = |bug, scripts| {
        case(Op::Follow, scripts)
            .client(Reference::wrong(bug))
            .run()
    };
    assert_eq!(
        wrong(Bug::EndIsSuccess, vec![whole(&[&a])]).await.outcome(),
        "exited"
    );
    let told = wrong(Bug::AnswerRenewsBudget, vec![whole(&[]); 30]).await;
    assert!(told.asked.len() > 20);
    let told = wrong(Bug::OneConnectTooMany, vec![whole(&[]); 9]).await;
    assert_eq!(told.asked.len(), 5);
    let told = wrong(
        Bug::ReconnectOneLate,
        vec![whole(&[&a]), whole(&[&c, EXIT])],
    )
    .await;
    assert_eq!(told.lines()[1], "connect?after=2");
    let told = wrong(Bug::FramesSorted, vec![whole(&[&b, &c, &a, EXIT])]).await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nb\nc\n"));
    let told = wrong(
        Bug::CursorBeforeCheck,
        vec![whole(&[&a, &data(2, "!")]), whole(&[&c, EXIT])],
    )
    .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nc\n"));
    let told = wrong(
        Bug::DuplicatesForgottenOnReconnect,
        vec![whole(&[&a]), whole(&[&a, &b, EXIT])],
    )
    .await;
    assert_eq!(told.stdout(), "a\na\nb\n");
    let told = wrong(
        Bug::PartialLineUsed,
        vec![whole(&[&a, b.split_at(b.len() - 4).0]), whole(&[EXIT])],
    )
    .await;
    assert_eq!(told.lines()[1], "connect?after=2");
    let told = wrong(Bug::FramesAfterExit, vec![whole(&[&a, EXIT, &b])]).await;
    assert_eq!(told.stdout(), "a\nb\n");
    let joined = format!("{a}{b}{EXIT}");
    assert_eq!(
        wrong(Bug::ExitDiscardsBuffered, vec![whole(&[&joined])])
            .await
            .stdout(),
        ""
    );
    assert_eq!(
        wrong(Bug::ReadIsAFrame, vec![whole(&[&joined])])
            .await
            .kind(),
        "frame-invalid"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_reader_is_beside_the_first() {
    let slow = then(open(&[]), [Hold]);
    let told = case(Op::Follow, vec![slow, then(open(&[EXIT]), [Hold])])
        .client(Reference::wrong(Bug::SecondReader))
        .run()
        .await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    assert!(told.asked[0].closed.unwrap() >= told.asked[1].at);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_in_the_back_off_is_heard_too_late() {
    let told = case(Op::Follow, vec![vec![Reset]; 9])
        .client(Reference::wrong(Bug::BackOffIgnoresCancel))
        .cancel(100)
        .run()
        .await;
    assert_eq!((told.outcome(), told.asked.len()), ("cancelled", 2));
}
