//! Whatever a server does within these bounds, a right client passes: a small client of its own (not the reference
//! client, and no code of the judge) plays random plans, with random luck where a connection breaks.

use super::trial::{Trial, right};
use crate::contract::oracle::default_promises;
use fake_server::{
    script::model::{
        Attempts, Behaviour, Content, Cut, CutPoint, End, Fault, FrameRef, Plan, Span, Step,
    },
    wire::Call,
    wirelog::{AnswerEnd, Exchange, Sent},
};
use proptest::prelude::*;
use serde_json::Value;

const FRAMES: u64 = 5;

fn plan(faults: Vec<Behaviour>) -> Plan {
    let mut plan = Trial::of(
        "title = \"t\"\nop = \"follow\"\n[process]\noutput = [{ repeat = 5, stdout = \"line {n}\\n\" }]\nexit = { code = 3 }\n",
    )
    .plan;
    plan.faults = faults
        .into_iter()
        .enumerate()
        .map(|(index, behaviour)| Fault {
            number: index + 1,
            on: Some(Call::Connect),
            attempts: Attempts::Nth(u32::try_from(index + 1).unwrap()),
            when_after: None,
            on_connection: None,
            bait: true,
            behaviour,
        })
        .collect();
    plan
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..=FRAMES).prop_map(|to| Step::Send(Span::UpTo(to))),
        2 => (1..=FRAMES, 1..=FRAMES).prop_map(|(from, to)| Step::Send(Span::Range(from, to))),
        2 => Just(Step::Send(Span::Rest)),
        1 => (1..=FRAMES).prop_map(|seq| Step::SendOne(FrameRef::Seq(seq))),
        1 => (1..=FRAMES, 1..40_usize).prop_map(|(seq, bytes)| Step::Part { frame: FrameRef::Seq(seq), bytes }),
        1 => (0..3_u64).prop_map(Step::Heartbeat),
        1 => prop_oneof![Just("\n"), Just("\r\n"), Just("{}\n"), Just("null\n"), Just("x\n"), Just("{\"type\":\"log\"}\n")]
            .prop_map(|text| Step::Raw { bytes: text.into(), is: None }),
        1 => prop_oneof![Just("boom"), Just("output_offset_expired")]
            .prop_map(|code| Step::Error { code: code.to_owned(), oldest: None }),
        1 => prop_oneof![Just(Some(0)), Just(Some(255)), Just(None)]
            .prop_map(|code| Step::Exit { code, signal: None }),
    ]
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    let end = prop_oneof![
        Just(End::Chunk),
        Just(End::Fin),
        Just(End::Reset),
        Just(End::TruncatedChunk),
        Just(End::BadChunk),
    ];
    let stream = (proptest::collection::vec(step(), 0..5), end).prop_map(|(mut steps, end)| {
        steps.push(Step::End(end));
        Behaviour {
            content: Content::Stream(steps),
            ..Behaviour::default()
        }
    });
    let status = prop_oneof![
        Just(204_u16),
        Just(400),
        Just(404),
        Just(410),
        Just(429),
        Just(500),
        Just(502),
        Just(503),
    ]
    .prop_map(|status| Behaviour {
        status: Some(status),
        ..Behaviour::default()
    });
    let cut = any::<bool>().prop_map(|reset| Behaviour {
        cut: Some(Cut {
            at: CutPoint::BodyRead,
            reset,
        }),
        ..Behaviour::default()
    });
    prop_oneof![6 => stream, 2 => status, 1 => cut]
}

/// What a connection brought.
enum Got {
    Exit(Value, Value),
    Fail(&'static str),
    Again(&'static str),
}

/// A client of a few lines.
#[derive(Default)]
struct Client {
    cursor: u64,
    output: Vec<u8>,
}

impl Client {
    /// Reads an answer; `luck` of a hundred parts of a broken one arrive.
    fn read(&mut self, exchange: &Exchange, luck: usize) -> Got {
        let mut status = None;
        let mut body = Vec::new();
        let mut clean = false;
        for sent in &exchange.answer {
            match sent {
                Sent::Head { status: said, .. } => status = Some(*said),
                Sent::Body { bytes, .. } => body.extend_from_slice(bytes),
                Sent::End { how, .. } => {
                    clean = matches!(how, AnswerEnd::Complete | AnswerEnd::Scripted(End::Chunk));
                }
                _ => {}
            }
        }
        match status {
            Some(200) => {}
            Some(410) => return Got::Fail("output-evicted"),
            Some(429 | 500..=599) | None => return Got::Again("connection-failed"),
            Some(_) => return Got::Fail("http-error"),
        }
        if !clean {
            body.truncate(body.len() * luck / 100);
        }
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else {
                break;
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Some(got) = self.line(line) {
                return got;
            }
        }
        Got::Again("stream-ended")
    }

    fn line(&mut self, line: &[u8]) -> Option<Got> {
        let Ok(frame @ Value::Object(_)) = serde_json::from_slice::<Value>(line) else {
            return Some(Got::Fail("frame-invalid"));
        };
        match frame["type"].as_str() {
            Some("data") => {
                let seq = frame["seq"].as_u64().unwrap_or(0);
                if seq > self.cursor + 1 {
                    return Some(Got::Fail("sequence-gap"));
                }
                if seq == self.cursor + 1 {
                    self.cursor = seq;
                    let text = frame["data_base64"].as_str().unwrap_or_default();
                    let data: fake_server::wire::Blob = serde_json::from_value(text.into()).ok()?;
                    self.output.extend_from_slice(&data);
                }
                None
            }
            Some("exit") if frame["exit_code"].is_null() && frame["signal"].is_null() => {
                Some(Got::Fail("exit-status-missing"))
            }
            Some("exit") => Some(Got::Exit(
                frame["exit_code"].clone(),
                frame["signal"].clone(),
            )),
            Some("heartbeat") => None,
            Some("error") if frame["error"] == "output_offset_expired" => {
                Some(Got::Fail("output-evicted"))
            }
            Some("error") => Some(Got::Fail("stream-error")),
            _ => Some(Got::Fail("unknown-event")),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_right_client_passes_whatever_the_server_does(
        faults in proptest::collection::vec(behaviour(), 0..5),
        luck in proptest::collection::vec(0..=100_usize, 4),
    ) {
        let plan = plan(faults);
        let budget = default_promises(&plan).connect_budget();
        let mut trial = Trial::of_plan(plan);
        let mut client = Client::default();
        let mut last = Got::Again("connection-failed");
        for attempt in 0..budget {
            trial = trial.connect(client.cursor);
            let exchange = trial.log.exchanges.last().expect("an exchange").clone();
            last = client.read(&exchange, luck[attempt as usize]);
            if !matches!(last, Got::Again(_)) {
                break;
            }
        }
        let stdout = Some(client.output.into());
        let verdict = match last {
            Got::Exit(code, signal) => trial.answers(crate::observed::JobResult {
                outcome: "exited".to_owned(),
                exit_code: Some(code),
                signal: Some(signal),
                stdout,
                ..Default::default()
            }),
            Got::Fail(kind) | Got::Again(kind) => trial.answers(crate::observed::JobResult {
                outcome: "error".to_owned(),
                stdout,
                error: Some(crate::observed::ErrorReport { kind: kind.to_owned(), ..Default::default() }),
                ..Default::default()
            }),
        };
        right(&verdict);
    }
}
