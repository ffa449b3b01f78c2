//! Simpler answers, connections and jobs.

use super::{
    Edits, edited,
    measure::{DEADLINE_MS, ENDS, STATUSES},
    runs, smaller,
};
use fake_server::{
    script::model::{
        Attempts, Behaviour, Break, BreakPlace, Chunks, Content, Cut, CutPoint, Expect, Fault, Job,
        Plan, Segments,
    },
    wire::{Blob, Call, Op},
};
use serde_json::{Map, Value};

pub(super) fn simpler(plan: &Plan) -> Edits<'_> {
    let job = jobs(plan).into_iter();
    let faults = plan
        .faults
        .iter()
        .enumerate()
        .flat_map(move |(index, fault)| {
            let guards = guards(fault).into_iter();
            let behaviours = behaviours(fault).into_iter().map(|behaviour| Fault {
                behaviour,
                ..fault.clone()
            });
            guards
                .chain(behaviours)
                .map(move |simpler| edited(plan, |plan| plan.faults[index] = simpler))
        });
    Box::new(job.chain(faults))
}

/// What the client is asked, and the rest of the head.
fn jobs(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    let around = plan
        .faults
        .iter()
        .any(|fault| fault.on != Some(Call::Connect));
    if plan.op == Op::Execute && !around {
        plans.push(edited(plan, |plan| {
            plan.op = Op::Follow;
            plan.job = Job {
                timeout_ms: plan.job.timeout_ms,
                cancel: plan.job.cancel.clone(),
                ..Job::default()
            };
        }));
    }
    let mut job =
        |change: &dyn Fn(&mut Job)| plans.push(edited(plan, |plan| change(&mut plan.job)));
    let command = if plan.op == Op::Execute {
        vec!["run.sh".to_owned()]
    } else {
        Vec::new()
    };
    job(&|job| {
        *job = Job {
            command: command.clone(),
            ..Job::default()
        };
    });
    job(&|job| job.command.clone_from(&command));
    job(&|job| job.cwd = None);
    job(&|job| job.env.clear());
    job(&|job| job.stdin = None);
    job(&|job| job.stdin = Some("x".into()));
    job(&|job| job.after = 0);
    job(&|job| job.timeout_ms = None);
    job(&|job| job.cancel = None);
    if let Some(cancel) = &plan.job.cancel {
        for plus in smaller(cancel.plus_ms, 0) {
            job(&|job| {
                if let Some(cancel) = &mut job.cancel {
                    cancel.plus_ms = plus;
                }
            });
        }
    }
    if let Some(timeout) = plan.job.timeout_ms {
        for round in [500, 1_000, 2_000] {
            if round < timeout {
                job(&|job| job.timeout_ms = Some(round));
            }
        }
    }
    plans.extend(extras(plan));
    plans.push(edited(plan, |plan| plan.expect = Expect::default()));
    plans.push(edited(plan, |plan| plan.deadline_ms = DEADLINE_MS));
    plans.push(edited(plan, |plan| {
        plan.sandbox.lag = 0;
        plan.sandbox.state = if plan.op == Op::Resume {
            "paused"
        } else {
            "running"
        }
        .to_owned();
    }));
    plans
}

/// What ops beyond a command are asked.
fn extras(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut with = |change: &dyn Fn(&mut Plan)| plans.push(edited(plan, change));
    let extra = &plan.job.extra;
    if extra.contains_key("policy") {
        with(&|plan| {
            plan.job.extra.remove("policy");
        });
        let number = |name: &str| extra["policy"][name].as_u64().unwrap_or(0);
        for attempts in smaller(number("attempts"), 1) {
            with(&|plan| plan.job.extra["policy"]["attempts"] = attempts.into());
        }
        for delay in smaller(number("min_delay_ms"), 0) {
            with(&|plan| plan.job.extra["policy"]["min_delay_ms"] = delay.into());
        }
    }
    for (name, usual) in [("cols", 80), ("rows", 24)] {
        if extra.contains_key(name) {
            with(&|plan| plan.job.extra[name] = usual.into());
        }
    }
    if extra.contains_key("path") {
        with(&|plan| {
            plan.job.extra["path"] = FILE.into();
            for file in &mut plan.sandbox.files {
                FILE.clone_into(&mut file.path);
            }
        });
    }
    let items = extra.get("input").and_then(Value::as_array);
    for run in runs(items.map_or(0, Vec::len)) {
        with(&|plan| {
            if let Some(Value::Array(items)) = plan.job.extra.get_mut("input") {
                items.drain(run.clone());
            }
            if plan.job.extra["input"]
                .as_array()
                .is_some_and(Vec::is_empty)
            {
                plan.job.extra.remove("input");
            }
        });
    }
    let data = extra.get("data_base64");
    let data: Option<Blob> = data.and_then(|data| serde_json::from_value(data.clone()).ok());
    for shorter in data.iter().flat_map(|data| super::detail::shorter(data)) {
        let coded = Blob(shorter).to_base64();
        with(&|plan| plan.job.extra["data_base64"] = coded.as_str().into());
    }
    for (index, file) in plan.sandbox.files.iter().enumerate() {
        for shorter in super::detail::shorter(&file.data) {
            with(&|plan| plan.sandbox.files[index].data = Blob(shorter.clone()));
        }
    }
    plans
}

/// The file that is sent or fetched in a scenario about something else.
pub(super) const FILE: &str = "/data/file.bin";

fn guards(fault: &Fault) -> Vec<Fault> {
    let with = |change: &dyn Fn(&mut Fault)| {
        let mut fault = fault.clone();
        change(&mut fault);
        fault
    };
    let mut faults = vec![
        with(&|fault| fault.when_after = None),
        with(&|fault| fault.on_connection = None),
    ];
    match fault.attempts {
        Attempts::From(n) | Attempts::Range(n, _) => {
            faults.push(with(&|fault| fault.attempts = Attempts::Every));
            faults.push(with(&|fault| fault.attempts = Attempts::Nth(n)));
        }
        Attempts::Every => faults.push(with(&|fault| fault.attempts = Attempts::Nth(1))),
        Attempts::Nth(_) => {}
    }
    faults
}

/// The same with less in it, part by part.
fn behaviours(fault: &Fault) -> Vec<Behaviour> {
    let whole = &fault.behaviour;
    let with = |change: &dyn Fn(&mut Behaviour)| {
        let mut behaviour = whole.clone();
        change(&mut behaviour);
        behaviour
    };
    let mut tries = Vec::new();
    if fault.on == Some(Call::Connect) && !matches!(whole.content, Content::Stream(_)) {
        tries.push(Behaviour {
            status: Some(STATUSES[0]),
            ..Behaviour::default()
        });
    }
    tries.push(plain(whole));
    tries.extend([
        with(&|behaviour| behaviour.delay_ms = None),
        with(&|behaviour| behaviour.refuse = false),
        with(&|behaviour| behaviour.http10 = false),
        with(&|behaviour| behaviour.content_length = None),
        with(&|behaviour| behaviour.transfer_encoding_also = false),
        with(&|behaviour| behaviour.encoding = None),
        with(&|behaviour| behaviour.reason = None),
        with(&|behaviour| behaviour.headers.clear()),
        with(&|behaviour| behaviour.effect = None),
        with(&|behaviour| behaviour.break_at = None),
        with(&|behaviour| behaviour.segments = Segments::Frame),
        with(&|behaviour| behaviour.segments = Segments::All),
        with(&|behaviour| behaviour.segments = Segments::Byte),
        with(&|behaviour| behaviour.segments = Segments::Sizes(vec![1])),
        with(&|behaviour| behaviour.chunks = Chunks::Frame),
        with(&|behaviour| behaviour.chunks = Chunks::One),
        with(&|behaviour| behaviour.chunks = Chunks::Sizes(vec![1])),
    ]);
    for index in 0..whole.headers.len() {
        tries.push(with(&|behaviour| {
            behaviour.headers.remove(index);
        }));
    }
    if let Segments::Sizes(sizes) = &whole.segments {
        tries.extend(
            fewer(sizes).into_iter().map(|sizes| {
                with(&|behaviour| behaviour.segments = Segments::Sizes(sizes.clone()))
            }),
        );
    }
    if let Chunks::Sizes(sizes) = &whole.chunks {
        tries.extend(
            fewer(sizes)
                .into_iter()
                .map(|sizes| with(&|behaviour| behaviour.chunks = Chunks::Sizes(sizes.clone()))),
        );
    }
    if whole.status.is_some() {
        for simpler in STATUSES {
            tries.push(with(&|behaviour| behaviour.status = Some(simpler)));
        }
        tries.push(with(&|behaviour| behaviour.status = None));
    }
    if let Some(cut) = whole.cut {
        let simple = Cut {
            at: CutPoint::HeadRead,
            reset: false,
        };
        for simpler in [
            simple,
            Cut {
                reset: false,
                ..cut
            },
        ] {
            tries.push(with(&|behaviour| behaviour.cut = Some(simpler)));
        }
    }
    if whole.hold_ms.is_some() {
        tries.push(with(&|behaviour| {
            behaviour.hold_ms = None;
            behaviour.cut = Some(Cut {
                at: CutPoint::HeadRead,
                reset: false,
            });
        }));
    }
    if let Some(broken) = whole.break_at {
        let ends = ENDS.into_iter().map(|by| Break { by, ..broken });
        let places = match broken.at {
            BreakPlace::Wire(byte) => smaller(byte, 0).map(BreakPlace::Wire).collect::<Vec<_>>(),
            BreakPlace::Payload(byte) => smaller(byte, 0).map(BreakPlace::Payload).collect(),
        };
        let places = places.into_iter().map(|at| Break { at, ..broken });
        tries.extend(
            ends.chain(places)
                .map(|simpler| with(&|behaviour| behaviour.break_at = Some(simpler))),
        );
    }
    for ms in whole.delay_ms.iter().flat_map(|ms| smaller(*ms, 1)) {
        tries.push(with(&|behaviour| behaviour.delay_ms = Some(ms)));
    }
    tries.extend(
        contents(&whole.content)
            .into_iter()
            .map(|content| with(&|behaviour| behaviour.content = content.clone())),
    );
    tries
}

/// The same answer, plainly served.
pub(super) fn plain(behaviour: &Behaviour) -> Behaviour {
    Behaviour {
        refuse: behaviour.refuse,
        cut: behaviour.cut,
        hold_ms: behaviour.hold_ms,
        status: behaviour.status,
        content: behaviour.content.clone(),
        effect: behaviour.effect,
        break_at: behaviour.break_at,
        ..Behaviour::default()
    }
}

/// One size, or half of the sizes.
fn fewer(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut tries: Vec<Vec<usize>> = sizes.iter().take(8).map(|size| vec![*size]).collect();
    tries.push(sizes[..sizes.len().div_ceil(2)].to_vec());
    tries.push(sizes[sizes.len() / 2..].to_vec());
    tries.retain(|fewer| fewer.len() < sizes.len());
    tries
}

fn contents(content: &Content) -> Vec<Content> {
    match content {
        Content::Faithful | Content::Stream(_) => Vec::new(),
        Content::Data { with, without } => {
            let mut tries = vec![Content::Faithful];
            tries.extend(with.keys().map(|gone| Content::Data {
                with: fields_without(with, gone),
                without: without.clone(),
            }));
            tries.extend(without.iter().map(|gone| {
                Content::Data {
                    with: with.clone(),
                    without: without
                        .iter()
                        .filter(|other| *other != gone)
                        .cloned()
                        .collect(),
                }
            }));
            tries
        }
        Content::Text(text) => {
            let mut tries = vec![Content::Faithful, Content::Text(String::new())];
            let shorter = super::detail::shorter(text.as_bytes());
            tries.extend(
                shorter
                    .filter_map(|bytes| String::from_utf8(bytes).ok())
                    .map(Content::Text),
            );
            tries
        }
        Content::Json(Value::Object(fields)) => {
            let mut tries = vec![Content::Faithful];
            tries.extend(
                fields
                    .keys()
                    .map(|gone| Content::Json(fields_without(fields, gone).into())),
            );
            tries
        }
        _ => vec![Content::Faithful, Content::Text(String::new())],
    }
}

fn fields_without(fields: &Map<String, Value>, gone: &str) -> Map<String, Value> {
    let kept = fields.iter().filter(|(name, _)| *name != gone);
    kept.map(|(name, field)| (name.clone(), field.clone()))
        .collect()
}
