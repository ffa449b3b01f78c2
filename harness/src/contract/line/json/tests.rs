//! Claims about the reader.

use super::*;

fn object(line: &str) -> Object {
    match read(line.as_bytes()) {
        Line::Object(object) => object,
        Line::Invalid => panic!("invalid: {line}"),
    }
}

#[test]
fn digits_are_kept_as_they_stand() {
    let seen = object(r#" {"seq":9007199254740993,"f":5.0, "e":5e0 } "#);
    assert_eq!(
        seen.get("seq"),
        Some(&Value::Number("9007199254740993".into()))
    );
    assert_eq!(seen.get("f"), Some(&Value::Number("5.0".into())));
    assert_eq!(seen.get("e"), Some(&Value::Number("5e0".into())));
    assert!(!seen.huge_number);
}

#[test]
fn what_is_no_object_is_invalid() {
    for line in [
        "",
        "[]",
        "null",
        "5",
        "{}{}",
        "{} x",
        "{\"a\":1,}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{'a':1}",
        "{\"a\":\"\x01\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":tru}",
        "{\"a\":[1,]}",
        "{\"a\":{\"b\"}}",
        "{\"a\":[}]",
        "{\"a\"",
        "data: {}",
        "{\"a\":NaN}",
        "{\"a\":\"\\u12g4\"}",
        "\u{b}{}",
        "\u{feff}{}",
    ] {
        assert_eq!(read(line.as_bytes()), Line::Invalid, "{line:?}");
    }
}

#[test]
fn separators_inside_strings_are_characters() {
    let seen = object("{\"a\":\"x\u{2028}y\u{2029}z\u{85}\"}");
    assert_eq!(
        seen.get("a"),
        Some(&Value::Text("x\u{2028}y\u{2029}z\u{85}".into()))
    );
}

#[test]
fn escapes_are_undone_and_lone_surrogates_noticed() {
    let pair = object(r#"{"a":"\ud83d\ude00\n"}"#);
    assert_eq!(pair.get("a"), Some(&Value::Text("\u{1f600}\n".into())));
    assert!(!pair.damaged_text);
    assert!(object(r#"{"a":"\ud83d"}"#).damaged_text);
    assert!(object(r#"{"a":"\udc00x"}"#).damaged_text);
    assert!(object(r#"{"a":"\ud83d\u0041"}"#).damaged_text);
    let bytes = [b"{\"a\":\"".as_slice(), &[0xff], b"\"}"].concat();
    let Line::Object(seen) = read(&bytes) else {
        panic!("invalid")
    };
    assert!(seen.damaged_text);
}

#[test]
fn depth_counts_levels_inside_members() {
    assert_eq!(object(r#"{"a":1}"#).depth, 0);
    assert_eq!(object(r#"{"a":[1,{"b":[]}],"c":{}}"#).depth, 3);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(object(&deep).depth, 50_000);
}

#[test]
fn doubles_are_seen_and_the_last_one_wins() {
    let seen = object(r#"{"a":1,"b":2,"a":3}"#);
    assert!(seen.has_doubles());
    assert_eq!(seen.get("a"), Some(&Value::Number("3".into())));
    assert_eq!(seen.first_wins().get("a"), Some(&Value::Number("1".into())));
    assert!(!object(r#"{"a":{"b":1,"b":2}}"#).has_doubles());
}

#[test]
fn numbers_beyond_the_usual_parsers_are_noticed() {
    assert!(object(r#"{"a":1e400}"#).huge_number);
    assert!(object(r#"{"a":[18446744073709551616]}"#).huge_number);
    assert!(!object(r#"{"a":18446744073709551615,"b":-5}"#).huge_number);
}
