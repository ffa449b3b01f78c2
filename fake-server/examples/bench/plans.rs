//! What both servers serve: the same sandbox, the same frames.

use fake_server::{
    script,
    script::model::{Plan, TruthFrame},
    wire::{Blob, StreamName},
};

/// A process with so many frames of about 104 bytes a line.
pub(crate) fn frames(count: u64) -> Plan {
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
pub(crate) fn ticking() -> Plan {
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
