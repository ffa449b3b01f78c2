//! Nothing an author can write breaks the reader: it answers with a scenario or with mistakes, and
//! both can be shown.

use super::read;
use proptest::prelude::*;

/// A file with every construct in it.
const WHOLE: &str = r#"title = "Everything"
requirements = ["data/exact", "stream/resume-cursor"]
fault-kinds = ["CT03"]
why = "x"
op = "execute"
needs = ["live-output"]
deadline = "10s"

[matrix]
how = ["fin", "reset"]
named = { a = 1, b = 2 }

[job]
command = ["build.sh"]
env = { A = "b" }
stdin-base64 = "AA=="
timeout = "2s"
cancel = { on = "connect", attempt = 1, at = "frame 2", plus = "0ms" }

[process]
first-seq = 1
live = true
journal = "1MiB"
heartbeat = "5s"
output = [
  { stdout = "one\n" }, { stderr-base64 = "4oKs" }, { pause = "50ms" },
  { repeat = 10, stdout = "line {n}\n" }, { fill = 100, byte = "x" },
]
exit = { code = 0 }

[sandbox]
state = "running"
lag = 3

[[fault]]
on = "connect"
attempt = 1
segments = [7, 1, 300]
stream = [
  { send = "..2" }, { send = "$named", bytes = 20 }, { send = 2, with = { seq = 1 }, without = ["stream"] },
  { frame = { type = "data", seq = 5 }, is = 5 }, { line = "{api-key}" }, { base64 = "AA==" },
  { heartbeat = 3 }, { exit = { code = 0 } }, { error = "x", oldest = 4 }, { pause = "1ms" },
  { trickle = 1, every = "10ms", step = { send = 3 } }, { loop = 5, steps = [{ heartbeat = 1 }] },
  { until = "delivered", seq = 2 }, { journal = { oldest = 2, newest = 4 } }, { end = "$how" },
]

[[fault]]
on = "connect"
attempt = "2.."
when = { after = 2 }
on-connection = "fresh"
status = 502
reason = "Bad"
headers = { retry-after = ["1"] }
body = { json = { a = [1, 2.5, "x"] } }
encoding = { coding = "gzip", cut = 2 }

[[fault]]
on = "delete-process"
data = { tree_exited = false }
without = ["pid"]
effect = "none"

[[fault]]
on = "any"
attempt = "every"
delay = "1ms"

[expect]
outcome = ["error"]
connects = [0, "0..2", "same"]
calls = { delete-process = 1 }
output-at-least = { stdout = "one\n" }
[[expect.any-of]]
kind = ["other"]
[[expect.any-of]]
trap = 0
"#;

/// Pieces that authors put in wrong places.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "=",
    ",",
    "#",
    "\n",
    "\u{0}",
    "\u{feff}",
    "€",
    "-1",
    "0",
    "9223372036854775807",
    "18446744073709551616",
    "1e400",
    "nan",
    "true",
    "1979-05-27",
    "\"$how\"",
    "\"..\"",
    "\"1..\"",
    "\"every\"",
    "\"rest\"",
    "\"exit\"",
    "\"10x\"",
    "[matrix]",
    "[[fault]]",
    "{ end = \"fin\" }",
    "{ loop = 4000000000, steps = [{ heartbeat = 4000000000 }] }",
    "\\u0000",
];

fn answers(text: &str) {
    match read(text) {
        Ok(scenario) => {
            assert!(scenario.instances() > 0);
            let _ = scenario.plan(scenario.instances() - 1, 1);
        }
        Err(mistakes) => {
            assert!(mistakes.iter().next().is_some());
            for mistake in mistakes.iter() {
                assert!(
                    mistake
                        .line()
                        .is_some_and(|line| line >= 1 && line <= text.lines().count() + 1)
                );
                assert!(mistake.help.as_ref().is_none_or(|help| !help.is_empty()));
            }
            assert!(mistakes.render(true).contains("example.toml"));
        }
    }
}

/// The byte at this share of the text, moved to the border of a character.
fn border(text: &str, share: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "any place will do"
    )]
    let mut at = ((text.len() as f64) * share) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn the_whole_file_is_right() {
    if let Err(mistakes) = read(WHOLE) {
        panic!("\n{mistakes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_swap_or_insertion_is_answered(
        edits in prop::collection::vec((0.0..1.0_f64, 0..12_usize, 0..PIECES.len()), 1..4),
    ) {
        let mut text = WHOLE.to_owned();
        for (share, length, piece) in edits {
            let start = border(&text, share);
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, PIECES[piece]);
        }
        answers(&text);
    }

    #[test]
    fn any_value_of_any_key_is_answered(line in 0..70_usize, piece in 0..PIECES.len()) {
        let mut lines: Vec<String> = WHOLE.lines().map(str::to_owned).collect();
        let index = line.min(lines.len() - 1);
        if let Some((key, _)) = lines[index].split_once('=') {
            lines[index] = format!("{key}= {}", PIECES[piece]);
        }
        answers(&lines.join("\n"));
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        answers(&text);
    }
}

#[test]
fn every_file_without_one_of_its_lines_is_answered() {
    let lines: Vec<&str> = WHOLE.lines().collect();
    for left_out in 0..lines.len() {
        let rest: Vec<_> = lines
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != left_out)
            .map(|(_, line)| *line)
            .collect();
        answers(&rest.join("\n"));
    }
}
