//! Claims about single lines.

use super::{Alternative, Meaning, Reader, Streams};

const READER: Reader = Reader {
    streams: Streams::Pipe,
    tolerates_unknown: false,
    max_line: 1 << 20,
};

/// The meanings of a line in short words.
fn words(line: impl AsRef<[u8]>) -> Vec<String> {
    words_of(READER, line, false)
}

fn words_of(reader: Reader, line: impl AsRef<[u8]>, first: bool) -> Vec<String> {
    let mut words: Vec<String> = reader
        .read(line.as_ref(), first)
        .alternatives
        .iter()
        .flat_map(word)
        .collect();
    words.sort();
    words.dedup();
    words
}

fn word(alternative: &Alternative) -> Vec<String> {
    let mark = alternative.blemish.map_or("", |_| "?");
    match &alternative.meaning {
        Meaning::Nothing => vec![format!("nothing{mark}")],
        Meaning::Heartbeat => vec![format!("heartbeat{mark}")],
        Meaning::Data(data) if data.problems.is_empty() => vec![format!(
            "data {} {} {:?}{mark}",
            data.seq.unwrap(),
            data.stream,
            String::from_utf8_lossy(&data.bytes)
        )],
        Meaning::Data(data) => data
            .problems
            .iter()
            .map(|p| format!("{}{mark}", p.kind))
            .collect(),
        Meaning::Exit(exit) => vec![format!("exit {:?} {:?}{mark}", exit.code, exit.signal)],
        Meaning::Broken(problems) => problems
            .iter()
            .map(|p| format!("{}{mark}", p.kind))
            .collect(),
    }
}

fn data(seq: &str, stream: &str, payload: &str) -> String {
    format!(r#"{{"type":"data","seq":{seq},"stream":{stream},"data_base64":{payload}}}"#)
}

#[test]
fn a_true_frame_has_one_meaning() {
    assert_eq!(
        words(data("7", "\"stderr\"", "\"aGk=\"")),
        ["data 7 stderr \"hi\""]
    );
    assert_eq!(
        words(format!("{}\r", data("7", "\"stderr\"", "\"aGk=\""))),
        ["data 7 stderr \"hi\""]
    );
    assert_eq!(words(r#"{"type":"heartbeat","seq":9}"#), ["heartbeat"]);
}

#[test]
fn noise_between_lines_is_harmless() {
    for line in ["", "\r", "  \t\r"] {
        assert_eq!(words(line), ["nothing"]);
    }
    for line in ["\u{feff}", "\u{b}", "\u{c}", "\u{a0}", "\u{2028}"] {
        assert_eq!(words(line), ["frame-invalid", "nothing"]);
    }
}

#[test]
fn a_mark_is_tolerated_only_where_a_body_begins() {
    let line = "\u{feff}{\"type\":\"heartbeat\"}";
    assert_eq!(words_of(READER, line, true), ["frame-invalid", "heartbeat"]);
    assert_eq!(words(line), ["frame-invalid"]);
}

#[test]
fn sequence_numbers_are_not_coerced() {
    for seq in ["\"5\"", "true", "null", "5.5", "0", "-1", "0.0", "[5]"] {
        assert_eq!(
            words(data(seq, "\"stdout\"", "\"\"")),
            ["sequence-invalid"],
            "{seq}"
        );
    }
    for seq in ["5.0", "5e0"] {
        assert_eq!(
            words(data(seq, "\"stdout\"", "\"\"")),
            ["data 5 stdout \"\"", "sequence-invalid"]
        );
    }
    assert_eq!(
        words(data("9007199254740993", "\"stdout\"", "\"\"")),
        [
            "data 9007199254740993 stdout \"\"",
            "frame-invalid",
            "sequence-invalid"
        ]
    );
    assert_eq!(
        words(r#"{"type":"data","stream":"stdout","data_base64":""}"#),
        ["sequence-invalid"]
    );
}

#[test]
fn several_broken_rules_leave_the_kind_open() {
    assert_eq!(
        words(data("0", "\"log\"", "5")),
        ["output-invalid", "sequence-invalid"]
    );
}

#[test]
fn streams_are_known_by_exact_name() {
    for stream in ["\"STDOUT\"", "\"\"", "\"stdin\"", "1", "\"pty\""] {
        assert_eq!(
            words(data("1", stream, "\"\"")),
            ["output-invalid"],
            "{stream}"
        );
    }
    let terminal = Reader {
        streams: Streams::Terminal,
        ..READER
    };
    assert_eq!(
        words_of(terminal, data("1", "\"pty\"", "\"\""), false),
        ["data 1 pty \"\""]
    );
    assert_eq!(
        words_of(terminal, data("1", "\"stdout\"", "\"\""), false),
        ["data 1 stdout \"\"", "output-invalid"]
    );
}

#[test]
fn spare_bits_are_either() {
    assert_eq!(
        words(data("1", "\"stdout\"", "\"Zh==\"")),
        ["data 1 stdout \"f\"", "output-invalid"]
    );
}

#[test]
fn exit_status_as_it_is_or_missing() {
    let exit = |fields: &str| words(format!(r#"{{"type":"exit",{fields}}}"#));
    assert_eq!(
        exit(r#""exit_code":0,"signal":null"#),
        ["exit Some(\"0\") Any"]
    );
    assert_eq!(exit(r#""exit_code":255"#), ["exit Some(\"255\") Any"]);
    assert_eq!(
        exit(r#""exit_code":-1"#),
        ["exit Some(\"-1\") Any", "exit-status-missing"]
    );
    assert_eq!(
        exit(r#""exit_code":7.0"#),
        ["exit Some(\"7.0\") Any", "exit-status-missing"]
    );
    assert_eq!(
        exit(r#""exit_code":null,"signal":"SIGKILL""#),
        ["exit None Is(\"SIGKILL\")"]
    );
    assert_eq!(
        exit(r#""exit_code":3,"signal":"SIGKILL""#),
        ["exit Some(\"3\") Is(\"SIGKILL\")"]
    );
    for fields in [
        r#""a":1"#,
        r#""exit_code":null,"signal":null"#,
        r#""exit_code":"0""#,
        r#""exit_code":7.5"#,
        r#""exit_code":true"#,
        r#""signal":"sigkill""#,
        r#""signal":"SIG""#,
        r#""signal":"SIGKILL ""#,
    ] {
        assert_eq!(exit(fields), ["exit-status-missing"], "{fields}");
    }
}

#[test]
fn error_frames_end_it() {
    assert_eq!(
        words(r#"{"type":"error","error":"output_offset_expired"}"#),
        ["output-evicted"]
    );
    assert_eq!(
        words(r#"{"type":"error","error":"boom"}"#),
        ["stream-error"]
    );
    assert_eq!(words(r#"{"type":"error"}"#), ["stream-error"]);
}

#[test]
fn unknown_types_fail_or_are_skipped_by_promise() {
    for line in [
        r#"{"type":"log"}"#,
        r#"{"type":"Data"}"#,
        r#"{"type":1}"#,
        r#"{"status":"fail"}"#,
        "{}",
    ] {
        assert_eq!(words(line), ["unknown-event"]);
        let tolerant = Reader {
            tolerates_unknown: true,
            ..READER
        };
        assert_eq!(words_of(tolerant, line, false), ["nothing"]);
    }
}

#[test]
fn doubles_are_refused_or_the_last_wins() {
    let line = r#"{"type":"heartbeat","type":"error","error":"x"}"#;
    assert_eq!(
        words(line),
        [
            "frame-invalid",
            "heartbeat?",
            "other",
            "stream-error",
            "unknown-event"
        ]
    );
    assert_eq!(
        words(r#"{"type":"heartbeat","x":1,"x":1}"#),
        ["frame-invalid", "heartbeat", "other"]
    );
}

#[test]
fn long_lines_work_up_to_the_limit() {
    let small = Reader {
        max_line: 100,
        ..READER
    };
    let line = |fill: usize, letter: &str| {
        format!(
            "{{\"type\":\"heartbeat\",\"x\":\"{}\"}}",
            letter.repeat(fill)
        )
    };
    assert_eq!(words_of(small, line(73, "x"), false), ["heartbeat"]);
    assert_eq!(line(73, "x").len(), 100);
    assert_eq!(words_of(small, line(74, "x"), false), ["frame-too-large"]);
    assert_eq!(
        words_of(small, line(40, "é"), false),
        ["frame-too-large", "heartbeat"]
    );
    assert_eq!(words_of(small, line(200, "é"), false), ["frame-too-large"]);
}

#[test]
fn deep_nesting_must_work_down_to_64_levels() {
    let line = |depth: usize| {
        format!(
            "{{\"type\":\"heartbeat\",\"x\":{}{}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(words(line(64)), ["heartbeat"]);
    assert_eq!(words(line(65)), ["frame-invalid", "heartbeat", "other"]);
}

#[test]
fn damaged_text_fails_or_is_replaced() {
    let line = [
        b"{\"type\":\"heartbeat\",\"x\":\"".as_slice(),
        &[0xff],
        b"\"}",
    ]
    .concat();
    assert_eq!(words(line), ["frame-invalid", "heartbeat"]);
    let line = [
        b"{\"type\":\"data\",\"seq\":1,\"stream\":\"stdout\",\"data_base64\":\"".as_slice(),
        &[0xff],
        b"\"}",
    ]
    .concat();
    assert_eq!(words(line), ["frame-invalid", "output-invalid"]);
}
