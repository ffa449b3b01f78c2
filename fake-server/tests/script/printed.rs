//! A plan that is printed and read again is the same plan, and looks like a file that somebody wrote.

use super::files;
use fake_server::{
    script::{
        self,
        model::{FrameRef, Plan, Step, TruthFrame},
        print::{Header, can_say, print},
    },
    wire::{Blob, StreamName},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::{fs, path::Path};

/// What the printed plan reads back as, under the id of the plan.
fn read_back(plan: &Plan, text: &str) -> Plan {
    let read = script::parse("printed.toml", "printed", text, None);
    let read = read.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
    Plan {
        id: plan.id.clone(),
        ..read.plan(0, plan.seed)
    }
}

#[test]
fn every_plan_of_the_repository_is_printed_and_read_back() {
    let mut cases = 0;
    for (id, scenario) in files::all() {
        for plan in scenario.plans(7) {
            let text = print(&plan, &Header::of(&plan));
            assert_eq!(read_back(&plan, &text), plan, "{id}\n{text}");
            assert!(can_say(&plan), "{id}");
            cases += 1;
        }
    }
    assert!(cases > 600, "only {cases} cases");
}

/// Files that say what they say in the words of this printer, down to the byte: of those without a
/// matrix, a seed and comments the most.
#[test]
fn most_files_of_the_repository_are_printed_as_they_were_written() {
    let (mut same, mut unlike) = (0, Vec::new());
    for (id, scenario) in files::all() {
        let written = fs::read_to_string(files::root().join(format!("{id}.toml"))).expect("text");
        let plain = !written.lines().skip(1).any(|line| line.contains('#'));
        if !plain || written.contains("[matrix") || written.contains("\"random\"") {
            continue;
        }
        let plan = scenario.plan(0, 0);
        let header = Header {
            schema: Some("../scenario.schema.json".to_owned()),
            ..Header::of(&plan)
        };
        if print(&plan, &header) == written {
            same += 1;
        } else {
            unlike.push(id);
        }
    }
    // The others differ in ways that are a matter of taste: one line or several, text or escapes, the order of keys.
    assert!(
        same > 2 * unlike.len(),
        "{same} the same, unlike: {unlike:?}"
    );
}

fn plan(text: &str) -> Plan {
    let text = format!("{}{text}", super::HEAD);
    script::parse("plan.toml", "plan", &text, None)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 0)
}

fn snapshot(name: &str, plan: &Plan, header: &Header) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/print"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, print(plan, header)));
    assert_eq!(
        Plan {
            title: plan.title.clone(),
            requirements: plan.requirements.clone(),
            fault_kinds: plan.fault_kinds.clone(),
            why: plan.why.clone(),
            ..read_back(plan, &print(plan, header))
        },
        *plan
    );
}

#[test]
fn output_of_every_kind() {
    let text = r#"
op = "follow"
[process]
live = true
first-seq = 10
journal = "64KiB"
heartbeat = "1s"
children = 2
output = [
  { stdout = "one\n" },
  { stdout-base64 = "/wD+" },
  { stderr = "a \"quoted\" word\n" },
  { stdout = "é€𝄞 \u2028 \u200b\n" },
  { stdout-base64 = "e2NhbmFyeX0K" },
  { repeat = 100, stdout = "line {n} of 100\n", pause = "5ms" },
  { repeat = 9, stdout = "." },
  { repeat = 4, fill = "64KiB", byte = 0, stream = "stderr" },
  { stdout = "" },
  { pause = "2s" },
]
exit = { code = 137, signal = "SIGKILL" }
"#;
    let plan = plan(text);
    let header = Header {
        comments: vec!["Seed 7, case 12.\nShrunk from 40 steps.".to_owned()],
        title: "Output of\nevery kind".to_owned(),
        why: "A \"why\" with quotes.".to_owned(),
        ..Header::of(&plan)
    };
    snapshot("output", &plan, &header);
}

#[test]
fn answers_and_connections_of_every_kind() {
    let text = r#"
deadline = "30s"
needs = ["resume-stream", "timeout"]
[job]
command = ["build.sh", "--all"]
env = { TOKEN = "secret", "A.B" = "'" }
cancel = { on = "connect", at = "frame 1", plus = "50ms" }
timeout = "90s"
stdin = "in\n"
[process]
output = [{ stdout = "one\n" }]
exit = "never"
[sandbox]
state = "paused"
lag = 2
[[fault]]
on = "create-process"
status = 502
reason = "Bad {canary}"
headers = { retry-after = ["1"], "x.y" = [], content-type = ["text/html"] }
body = { text = '<a href="{trap-url}">' }
effect = "done"
[[fault]]
on = "create-process"
attempt = 2
bait = true
data = { process_id = "proc_twice", n = 1.5, list = [1, { a = true }] }
without = ["state"]
[[fault]]
on = "connect"
attempt = "every"
delay = "200ms"
encoding = { coding = "gzip", flush = "never", cut = 3, extra = 2 }
segments = "random"
chunks = [1000, 1]
[[fault]]
on = "connect"
attempt = 3
[[fault]]
on = "connect"
attempt = "4..6"
when = { after = 1 }
on-connection = "reused"
redirect = "other-origin"
status = 307
[[fault]]
on = "delete-process"
reset = { at = "head-read" }
[[fault]]
on = "any"
attempt = 40
http = "1.0"
content-length = "-3"
body = { endless = 0 }
[expect]
outcome = ["error"]
connects = [0, "0..1", "same"]
calls = { delete-process = 1 }
output-at-most = { stdout = "one\n", stderr = "" }
never-reported = ["{canary}"]
trap = 0
[[expect.any-of]]
kind = ["transport"]
[[expect.any-of]]
kind = ["http-error"]
http-status = 502
"#;
    let plan = plan(text);
    snapshot("answers", &plan, &Header::of(&plan));
}

#[test]
fn steps_of_every_kind() {
    let text = r#"
op = "follow"
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }, { stdout = "three\n" }]
[[fault]]
on = "connect"
stream = [
  { send = "..2" },
  { send = "1..2" },
  { send = 3, bytes = 20 },
  { send = 2, with = { data_base64 = "Zm9yZ2Vk", "a b" = [] }, without = ["stream"] },
  { send = 2, with = {} },
  { frame = { type = "data", seq = 18446744073709551615 } },
  { line = '{"type":"data","seq":3}', is = 3 },
  { text = "half" },
  { text = "two\nlines\n" },
  { text = "\n" },
  { base64 = "//4=" },
  { heartbeat = 3 },
  { exit = {} },
  { exit = { code = -1, signal = "kill" } },
  { error = "output_offset_expired", oldest = 42 },
  { pause = "1500ms" },
  { trickle = 7, every = "1ms", step = { send = "exit" } },
  { loop = 5, steps = [{ heartbeat = 1 }, { until = "acked" }] },
  { until = "delivered", seq = 2 },
  { journal = { oldest = 2, newest = 3 } },
  { send = "rest" },
  { end = "truncated-chunk" },
]
[[fault]]
on = "connect"
attempt = 2
stream = [{ every = "1s", step = { heartbeat = 1 } }]
"#;
    let plan = plan(text);
    snapshot("steps", &plan, &Header::of(&plan));
}

#[test]
fn what_the_format_cannot_say_is_told() {
    let mut plan = plan(
        "op = \"follow\"\n[process]\noutput = [{ stdout = \"one\\n\" }]\n[[fault]]\non = \"connect\"\nstream = [{ frame = { type = \"data\" } }, { end = \"fin\" }]\n",
    );
    assert!(can_say(&plan));
    let fake_server::script::model::Content::Stream(steps) = &mut plan.faults[0].behaviour.content
    else {
        panic!("a stream");
    };
    steps[0] = Step::Frame {
        fields: Map::from_iter([("seq".to_owned(), Value::Null)]),
        is: None,
    };
    assert!(!can_say(&plan), "TOML has no null");
    steps_of(&mut plan)[0] = Step::SendOne(FrameRef::Seq(2));
    assert!(!can_say(&plan), "there is no frame 2");
}

fn steps_of(plan: &mut Plan) -> &mut Vec<Step> {
    match &mut plan.faults[0].behaviour.content {
        script::model::Content::Stream(steps) => steps,
        _ => unreachable!("the plan has a stream"),
    }
}

/// Texts in which anything can stand that the notation treats otherwise.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~\\n\\t\"'\\\\#]{0,20}",
        2 => "\\PC{0,8}",
        1 => any::<String>(),
        1 => "\\$?\\{?(n|canary|canar|api-key|how|1)\\}?[0-9]?",
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => text().prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..200_usize).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

/// Anything that a frame may hold, but for null and for texts that name a value of a matrix.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no such number", |number| number.is_finite())
            .prop_map(Value::from),
        "[ -#%-z|~é€𝄞\\n\"'\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[ -#%-z|~é\"'.]{0,6}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_bytes_they_are_read_back(
        frames in proptest::collection::vec((bytes(), any::<bool>(), 0..3_usize), 0..6),
        raws in proptest::collection::vec((bytes(), any::<bool>()), 0..4),
        fields in proptest::collection::vec(("[a-z._ \"]{1,6}", value()), 0..4),
    ) {
        let mut plan = plan("op = \"follow\"\n[process]\nlive = true\n[[fault]]\non = \"connect\"\nstream = [{ end = \"fin\" }]\n");
        for (data, stderr, more) in frames {
            for _ in 0..=more * more {
                let seq = plan.truth.frames.len() as u64 + 1;
                plan.truth.frames.push(TruthFrame {
                    seq,
                    stream: if stderr { StreamName::Stderr } else { StreamName::Stdout },
                    data: Blob(data.clone()),
                    pause_ms: if stderr { 0 } else { more as u64 },
                });
            }
        }
        let steps = steps_of(&mut plan);
        for (bytes, line) in raws {
            let mut bytes = bytes;
            if line {
                bytes.push(b'\n');
            }
            steps.insert(0, Step::Raw { bytes: Blob(bytes), is: None });
        }
        steps.insert(0, Step::Frame { fields: fields.into_iter().collect(), is: None });
        prop_assert!(can_say(&plan), "{}", print(&plan, &Header::of(&plan)));
    }

    #[test]
    fn frames_that_count_are_one_item(from in 1..4_u64, count in 1..40_u64, before in "[a-z1 ]{0,4}", after in "[a-z1 ]{0,4}") {
        let mut plan = plan("op = \"follow\"\n");
        for n in from..from + count {
            let seq = plan.truth.frames.len() as u64 + 1;
            let data = Blob::from(format!("{before}{n}{after}\n").as_str());
            plan.truth.frames.push(TruthFrame { seq, stream: StreamName::Stdout, data, pause_ms: 0 });
        }
        let text = print(&plan, &Header::of(&plan));
        prop_assert!(can_say(&plan), "{text}");
        if from == 1 && count >= 4 {
            prop_assert!(text.contains(&format!("repeat = {count}")), "{text}");
        }
    }
}

#[test]
fn fields_keep_their_order() {
    let mut plan = plan(
        "op = \"follow\"\n[process]\noutput = [{ stdout = \"one\\n\" }]\n[[fault]]\non = \"connect\"\nstream = [{ send = \"rest\" }]\n",
    );
    let fields = json!({ "z": 1, "a": { "y": 2, "b": 3 } });
    steps_of(&mut plan).insert(
        0,
        Step::Frame {
            fields: fields.as_object().expect("an object").clone(),
            is: None,
        },
    );
    let text = print(&plan, &Header::of(&plan));
    assert!(
        text.contains("{ frame = { z = 1, a = { y = 2, b = 3 } } }"),
        "{text}"
    );
}

#[test]
fn where_a_stream_breaks_off_is_read_back() {
    for at in [
        "{ byte = 117, by = \"reset\" }",
        "{ payload = 0, by = \"chunk\" }",
    ] {
        let written =
            format!("op = \"follow\"\n[[fault]]\non = \"connect\"\nattempt = 1\nbreak-at = {at}\n");
        let plan = plan(&written);
        let text = print(&plan, &Header::of(&plan));
        assert!(text.contains(&format!("break-at = {at}")), "{text}");
        assert!(can_say(&plan), "{text}");
    }
}
