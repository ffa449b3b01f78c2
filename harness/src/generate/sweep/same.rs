//! Whether two plays delivered the same, from what the client said alone.

use crate::observed::{ClientEvent, JobResult, Observed, Reply};
use fake_server::wire::{Blob, Op};
use std::collections::BTreeMap;

/// Compares a play with the unbroken one, as far as both ended with everything delivered. `is_broken` says that the
/// stream broke off: of raw events then a beginning is all there can be.
///
/// # Errors
/// What differs.
pub fn same(op: Op, unbroken: &Observed, cut: &Observed, is_broken: bool) -> Result<(), String> {
    let (Reply::Result(wanted), Reply::Result(got)) = (&unbroken.reply, &cut.reply) else {
        return Ok(());
    };
    if op == Op::Connect {
        return events(&unbroken.events, &cut.events, is_broken);
    }
    if wanted.outcome != "exited" || got.outcome != "exited" {
        return Ok(());
    }
    results(wanted, got)?;
    let (wanted, got) = (live(unbroken), live(cut));
    if wanted != got {
        return Err(
            "the output handed over while it ran is not that of the unbroken play".to_owned(),
        );
    }
    Ok(())
}

/// Whether everything was delivered.
#[must_use]
pub fn delivered(observed: &Observed) -> bool {
    matches!(&observed.reply, Reply::Result(result) if matches!(result.outcome.as_str(), "exited" | "ended"))
}

fn results(wanted: &JobResult, got: &JobResult) -> Result<(), String> {
    if (&wanted.exit_code, &wanted.signal) != (&got.exit_code, &got.signal) {
        return Err("the exit is not that of the unbroken play".to_owned());
    }
    for (name, wanted, got) in [
        ("stdout", &wanted.stdout, &got.stdout),
        ("stderr", &wanted.stderr, &got.stderr),
        ("pty", &wanted.pty, &got.pty),
    ] {
        let (wanted, got) = (bytes(wanted.as_ref()), bytes(got.as_ref()));
        if wanted != got {
            let same = wanted.iter().zip(got).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "{name} differs from the unbroken play's from its byte {same} on"
            ));
        }
    }
    Ok(())
}

fn bytes(blob: Option<&Blob>) -> &[u8] {
    blob.map_or(&[], |blob| blob)
}

/// Output by stream, however it was parted.
fn live(observed: &Observed) -> BTreeMap<&str, Vec<u8>> {
    let mut live: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for output in &observed.outputs {
        live.entry(&output.stream)
            .or_default()
            .extend_from_slice(&output.data);
    }
    live
}

fn events(wanted: &[ClientEvent], got: &[ClientEvent], is_broken: bool) -> Result<(), String> {
    // Heartbeats may be left out, and an error tells of the break.
    let told = |events: &[ClientEvent]| -> Vec<ClientEvent> {
        events
            .iter()
            .filter(|event| matches!(event.kind.as_str(), "data" | "exit"))
            .map(|event| ClientEvent {
                at_us: 0,
                ..event.clone()
            })
            .collect()
    };
    let (wanted, got) = (told(wanted), told(got));
    let fits = if is_broken {
        wanted.starts_with(&got)
    } else {
        wanted == got
    };
    if fits {
        return Ok(());
    }
    let same = wanted.iter().zip(&got).take_while(|(a, b)| a == b).count();
    Err(format!(
        "the events differ from the unbroken play's from the {} on",
        fake_server::script::describe::ordinal(u32::try_from(same + 1).unwrap_or(u32::MAX))
    ))
}
