use super::*;
use crate::observed::LiveOutput;

fn desk(ids: &[&str]) -> Desk {
    let mut desk = Desk::default();
    for id in ids {
        desk.open(id);
    }
    desk
}

fn say(desk: &mut Desk, line: &str) -> Option<(String, Live)> {
    desk.handle_line(&Line::Whole(line.as_bytes().to_vec()))
}

fn exited(id: &str) -> String {
    format!(r#"{{"type":"result","id":"{id}","outcome":"exited","exit_code":0}}"#)
}

fn fault(replies: &[(String, Reply)]) -> Vec<(&str, &str)> {
    replies
        .iter()
        .map(|(id, reply)| match reply {
            Reply::AdapterFault(words) => (id.as_str(), words.as_str()),
            other => panic!("{id}: {other:?}"),
        })
        .collect()
}

#[test]
fn results_find_their_jobs_in_any_order() {
    let mut desk = desk(&["a", "b"]);
    say(&mut desk, &exited("b"));
    assert!(!desk.is_idle());
    say(&mut desk, &exited("a"));
    assert!(desk.is_idle());
    let replies = desk.flush();
    assert_eq!(replies.len(), 2);
    assert!(
        replies
            .iter()
            .all(|(_, reply)| matches!(reply, Reply::Result(_)))
    );
    assert_eq!(desk.flush(), []);
    assert_eq!(desk.take_notes(), Vec::<String>::new());
}

#[test]
fn a_second_result_right_behind_the_first_is_a_fault_of_that_job() {
    let mut desk = desk(&["a", "b"]);
    say(&mut desk, &exited("a"));
    say(&mut desk, &exited("a"));
    assert_eq!(fault(&desk.flush()), [("a", "a second result")]);
    assert!(!desk.is_idle());
}

#[test]
fn a_second_result_after_the_first_was_taken_is_noted_on_that_job() {
    let mut desk = desk(&["a"]);
    say(&mut desk, &exited("a"));
    assert_eq!(desk.flush().len(), 1);
    say(&mut desk, &exited("a"));
    assert_eq!(desk.flush(), []);
    assert_eq!(desk.take_late("a"), ["a second result"]);
}

#[test]
fn a_result_after_the_deadline_is_ignored_with_a_note() {
    let mut desk = desk(&["a"]);
    assert_eq!(desk.give_up("a"), None);
    assert!(desk.is_idle());
    say(&mut desk, &exited("a"));
    assert_eq!(desk.flush(), []);
    assert_eq!(
        desk.take_late("a"),
        ["a result after the deadline; ignored"]
    );
}

#[test]
fn a_result_for_an_unknown_job_is_noted() {
    let mut desk = desk(&["a"]);
    say(&mut desk, &exited("z"));
    assert_eq!(desk.flush(), []);
    assert_eq!(desk.take_notes(), ["a result for the unknown job \"z\""]);
}

#[test]
fn rubbish_that_names_nobody_may_belong_to_every_running_job() {
    let mut desk = desk(&["a", "b", "c"]);
    say(&mut desk, &exited("c"));
    desk.flush();
    say(&mut desk, "Traceback (most recent call last):");
    let replies = desk.flush();
    let blamed: Vec<&str> = fault(&replies).into_iter().map(|(id, _)| id).collect();
    assert_eq!(blamed, ["a", "b"]);
    assert!(fault(&replies)[0].1.contains("Traceback"), "{replies:?}");
}

#[test]
fn rubbish_that_names_a_running_job_is_its_own() {
    let mut desk = desk(&["j1", "j12"]);
    say(&mut desk, r#"{"type":"result","id":"j12","outcome":"exi"#);
    assert_eq!(fault(&desk.flush())[0].0, "j12");
    desk.handle_line(&Line::TooLong(
        br#"{"type":"result","id":"j1","std"#.to_vec(),
    ));
    assert_eq!(fault(&desk.flush())[0].0, "j1");
}

#[test]
fn rubbish_while_nothing_runs_is_noted() {
    let mut desk = desk(&[]);
    say(&mut desk, "ready!");
    assert_eq!(
        desk.take_notes(),
        ["a line that is no JSON (expected value at line 1 column 1): ready!"]
    );
}

#[test]
fn live_output_goes_to_its_job_until_its_end() {
    let mut desk = desk(&["a"]);
    let line = r#"{"type":"output","id":"a","stream":"stdout","data_base64":"aGk="}"#;
    let Some((id, Live::Output(LiveOutput { stream, data, .. }))) = say(&mut desk, line) else {
        panic!("no output");
    };
    assert_eq!(
        (id.as_str(), stream.as_str(), &data[..]),
        ("a", "stdout", &b"hi"[..])
    );
    say(&mut desk, &exited("a"));
    assert_eq!(say(&mut desk, line), None);
    assert_eq!(desk.take_late("a"), ["output or an event after its end"]);
}

#[test]
fn a_flood_ends_its_job() {
    let mut desk = desk(&["a"]);
    let megabyte = fake_server::wire::Blob(vec![0; 1 << 20]).to_base64();
    let line =
        format!(r#"{{"type":"output","id":"a","stream":"stdout","data_base64":"{megabyte}"}}"#);
    for _ in 0..64 {
        say(&mut desk, &line);
    }
    assert_eq!(
        fault(&desk.flush()),
        [("a", "it handed over more than 64 MiB live")]
    );
}

#[test]
fn unknown_messages_and_fields_are_ignored() {
    let mut desk = desk(&["a"]);
    assert_eq!(
        say(&mut desk, r#"{"type":"progress","id":"a","percent":5}"#),
        None
    );
    say(
        &mut desk,
        r#"{"type":"result","id":"a","outcome":"ok","mood":"good","x":{"y":[1e999]}}"#,
    );
    assert!(matches!(&desk.flush()[..], [(_, Reply::Result(result))] if result.outcome == "ok"));
}

#[test]
fn the_end_of_the_program_ends_what_still_runs() {
    let mut desk = desk(&["a", "b"]);
    say(&mut desk, &exited("a"));
    desk.end_all(&Reply::AdapterDied("exit status 3".to_owned()));
    let replies = desk.flush();
    assert!(matches!(replies[0].1, Reply::Result(_)));
    assert_eq!(replies[1].1, Reply::AdapterDied("exit status 3".to_owned()));
}
