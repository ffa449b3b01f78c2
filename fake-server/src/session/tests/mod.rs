use super::*;
use crate::{
    script::{
        expand::Piece,
        model::{
            Attempts, Effect, End, Redirect, Segments, Span, Step, Truth, TruthExit, TruthFrame,
        },
    },
    wire::{Op, StreamName},
    world::{
        healthy,
        tests::{names, plan},
    },
};
use serde_json::{Map, Value, json};

mod before;
mod calls;
mod deviations;

const PROCESSES: &str = "/v1/sandboxes/sb-first/processes";
const PROCESS: &str = "/v1/sandboxes/sb-first/processes/proc_first";

struct Trial {
    session: Session,
    now_ms: u64,
}

impl Trial {
    fn of(plan: Plan) -> Self {
        Self {
            session: Session::new(Arc::new(plan), names()),
            now_ms: 0,
        }
    }

    fn new(op: Op) -> Self {
        Self::of(plan(op, healthy(false)))
    }

    fn with(op: Op, faults: Vec<Fault>) -> Self {
        Self::of(Plan {
            faults,
            ..plan(op, healthy(false))
        })
    }

    fn decide(&mut self, method: &str, target: &str, body: &str) -> Decision {
        self.session.handle(
            &request(method, target, body),
            ConnectionUse::Fresh,
            self.now_ms,
        )
    }

    fn ask(&mut self, method: &str, target: &str, body: &str) -> (u16, Value) {
        let answer = self.answer(method, target, body);
        let body = serde_json::from_slice(&answer.body).unwrap();
        (answer.status, body)
    }

    fn answer(&mut self, method: &str, target: &str, body: &str) -> Answer {
        match self.decide(method, target, body).act {
            Act::Answer(answer) => answer,
            other => panic!("{method} {target}: {other:?}"),
        }
    }

    fn status(&mut self, method: &str, target: &str, body: &str) -> u16 {
        self.answer(method, target, body).status
    }

    fn raw(&mut self, target: &str) -> RawAnswer {
        match self.decide("GET", target, "").act {
            Act::Raw(raw) => raw,
            other => panic!("{target}: {other:?}"),
        }
    }

    fn create(&mut self) -> String {
        let (status, body) = self.ask("POST", PROCESSES, r#"{"cmd":"sh"}"#);
        assert_eq!(status, 201);
        body["data"]["process_id"].as_str().unwrap().to_owned()
    }
}

fn request(method: &str, target: &str, body: &str) -> Request {
    Request {
        method: method.into(),
        target: target.into(),
        headers: vec![("x-api-key".into(), "skp_key".into())],
        body: body.into(),
        body_complete: true,
        ..Request::default()
    }
}

fn fault(on: Call, attempts: Attempts, behaviour: Behaviour) -> Fault {
    Fault {
        number: 1,
        on: Some(on),
        attempts,
        when_after: None,
        on_connection: None,
        bait: false,
        behaviour,
    }
}

fn numbered(number: usize, fault: Fault) -> Fault {
    Fault { number, ..fault }
}

fn text(raw: &RawAnswer) -> String {
    raw.body
        .clone()
        .into_pieces()
        .map(|piece| match piece {
            Piece::Bytes { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
            other => format!("<{other:?}>\n"),
        })
        .collect()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}
