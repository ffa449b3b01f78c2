//! What both servers serve: the same sandbox, the same frames.

use fake_server::{
    script,
    script::model::{Plan, TruthFrame},
    wire::{Blob, StreamName},
};

/// A plan by its name: `ticking`, a number of frames, or `armed-` and a number of frames.
pub(crate) fn named(name: &str) -> Result<Plan, Box<dyn std::error::Error>> {
    Ok(match name.strip_prefix("armed-") {
        Some(count) => armed(count.parse()?),
        None if name == "ticking" => ticking(),
        None => frames(name.parse()?),
    })
}

/// The same frames under a fault that waits for the last of them, which is changed.
fn armed(count: u64) -> Plan {
    let mut plan = frames(count);
    let fault = parse(&format!(
        "op = \"follow\"\n[process]\noutput = [{{ repeat = {count}, stdout = \"x\" }}]\n\
         [[fault]]\non = \"connect\"\nattempt = \"every\"\nstream = [{{ send = \"1..{}\" }}, \
         {{ send = {count}, with = {{ stream = \"stderr\" }} }}, {{ send = \"exit\" }}, {{ end = \"chunk\" }}]\n",
        count - 1
    ));
    plan.faults = fault.faults;
    plan
}

/// A process with so many frames of about 104 bytes a line.
fn frames(count: u64) -> Plan {
    let mut plan =
        parse("op = \"follow\"\n[process]\noutput = [{ stdout = \"x\" }]\njournal = \"1GiB\"\n");
    plan.truth.frames = (1..=count)
        .map(|seq| TruthFrame {
            seq,
            stream: StreamName::Stdout,
            data: Blob::from(format!("a line of output, number {seq:>10}\n").as_str()),
            pause_ms: 0,
        })
        .collect();
    plan
}

/// A process that writes a frame a second while it is watched, for an hour.
fn ticking() -> Plan {
    let mut plan = parse(
        "op = \"follow\"\n[process]\noutput = [{ stdout = \"x\" }]\nlive = true\nexit = \"never\"\n",
    );
    plan.truth.frames = (1..=3_600)
        .map(|seq| TruthFrame {
            seq,
            stream: StreamName::Stdout,
            data: Blob::from("a line of output, once a second\n"),
            pause_ms: if seq == 1 { 0 } else { 1_000 },
        })
        .collect();
    plan
}

fn parse(text: &str) -> Plan {
    let text = format!(
        "title = \"bench\"\nrequirements = [\"stream/exit-ends-it\"]\nwhy = \"speed\"\n{text}"
    );
    match script::parse("bench", "bench", &text, None) {
        Ok(scenario) => scenario.plan(0, 0),
        Err(mistakes) => panic!("the benchmark's own scenario: {mistakes}"),
    }
}
