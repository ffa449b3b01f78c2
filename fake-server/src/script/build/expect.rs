//! What a file expects beyond what follows from the truth and the faults.

use super::base64;
use crate::{
    script::{
        mistakes::Gather,
        model::{Expect, Truth},
        placeholders,
        raw::{RawExpect, RawStreams},
        read::{At, Named, Table as _},
        suggest::short,
    },
    wire::{Blob, Call, StreamName},
};

pub(super) fn build(
    raw: Option<&At<RawExpect>>,
    truth: Option<&Truth>,
    gather: &mut Gather,
) -> Expect {
    raw.map(|at| expect(at, truth, false, gather))
        .unwrap_or_default()
}

fn expect(at: &At<RawExpect>, truth: Option<&Truth>, inner: bool, gather: &mut Gather) -> Expect {
    let raw = &at.value;
    if raw.present().is_empty() && at.clean {
        gather
            .at(&at.span, "nothing is expected here")
            .help("what follows from the truth and the faults is expected anyway: take it out");
    }
    if let Some(any_of) = &raw.any_of {
        if inner {
            gather
                .at(&any_of.key, "an alternative has no alternatives of its own")
                .help("one [[expect.any-of]] for each");
        } else if any_of.value.len() == 1 {
            gather
                .at(&any_of.key, "a single alternative is no choice")
                .help("write its keys into [expect], or add another [[expect.any-of]]");
        }
    }
    if let Some(connects) = &raw.connects
        && let Some(first) = connects.value.first()
        && first.value.0 == "same"
    {
        gather
            .at(&first.span, "there is no connect before the first")
            .help("the cursor of the first: 0");
    }
    if let Some(status) = &raw.http_status
        && !(100..=999).contains(&status.value)
    {
        gather
            .at(&status.span, format!("{} is no status", status.value))
            .help("three digits, as in 502");
    }
    let calls = raw.calls.iter().flat_map(|calls| &calls.value.0);
    let calls = calls
        .filter_map(|(name, count)| {
            Some((Named::<Call>::find(name, &count.key, gather)?, count.value))
        })
        .collect();
    let texts: Vec<String> = raw
        .never_reported
        .iter()
        .flat_map(|texts| &texts.value)
        .map(|text| {
            placeholders::check_at(text, gather);
            if text.value.is_empty() {
                gather
                    .at(&text.span, "nothing stands in every text")
                    .help("a text of some length, as in \"{canary}\"");
            }
            text.value.clone()
        })
        .collect();
    // A list whose only words were wrong has been answered already.
    let empty = [
        raw.outcome
            .as_ref()
            .filter(|list| list.value.is_empty() && list.clean)
            .map(|list| &list.span),
        raw.kind
            .as_ref()
            .filter(|list| list.value.is_empty() && list.clean)
            .map(|list| &list.span),
    ];
    for place in empty.into_iter().flatten() {
        gather
            .at(place, "an empty list lets nothing pass")
            .help("leave the key out to expect what follows from the faults");
    }
    Expect {
        outcome: raw.outcome.as_ref().map(|list| {
            list.value
                .iter()
                .map(|word| word.value.0.0.to_owned())
                .collect()
        }),
        kind: raw.kind.as_ref().map(|list| {
            list.value
                .iter()
                .map(|word| word.value.0.0.to_owned())
                .collect()
        }),
        http_status: raw.http_status.as_ref().map(|status| status.value),
        connects: raw.connects.as_ref().map(|list| {
            list.value
                .iter()
                .map(|cursor| cursor.value.0.clone())
                .collect()
        }),
        calls,
        output_at_least: streams(raw.output_at_least.as_ref(), truth, gather),
        output_at_most: streams(raw.output_at_most.as_ref(), truth, gather),
        never_reported: texts,
        trap: raw.trap.as_ref().map(|trap| trap.value),
        any_of: raw
            .any_of
            .iter()
            .flat_map(|any_of| &any_of.value)
            .map(|at| expect(at, truth, true, gather))
            .collect(),
    }
}

fn streams(
    raw: Option<&At<RawStreams>>,
    truth: Option<&Truth>,
    gather: &mut Gather,
) -> Vec<(StreamName, Blob)> {
    let Some(raw) = raw.map(|at| &at.value) else {
        return Vec::new();
    };
    let all = [
        (StreamName::Stdout, &raw.stdout, &raw.stdout_base64),
        (StreamName::Stderr, &raw.stderr, &raw.stderr_base64),
        (StreamName::Pty, &raw.pty, &raw.pty_base64),
    ];
    let mut read = Vec::new();
    for (stream, text, coded) in all {
        let (bytes, place) = match (text, coded) {
            (Some(text), None) => (text.value.clone().into_bytes(), &text.span),
            (None, Some(coded)) => match base64(coded, gather) {
                Some(bytes) => (bytes, &coded.span),
                None => continue,
            },
            (Some(text), Some(coded)) => {
                gather
                    .at(&coded.key, format!("{stream} as text and as base64"))
                    .context(&text.key, "the first one")
                    .help("one of them");
                continue;
            }
            (None, None) => continue,
        };
        if let Some(truth) = truth {
            check_prefix(stream, &bytes, place, truth, gather);
        }
        read.push((stream, Blob(bytes)));
    }
    read
}

/// What is handed over is always a beginning of the truth, so nothing else can be expected.
fn check_prefix(
    stream: StreamName,
    bytes: &[u8],
    place: &std::ops::Range<usize>,
    truth: &Truth,
    gather: &mut Gather,
) {
    let mut left = bytes;
    let mut written = 0_usize;
    for frame in truth.frames.iter().filter(|frame| frame.stream == stream) {
        let part = left.len().min(frame.data.len());
        if left[..part] != frame.data[..part] {
            let same = left
                .iter()
                .zip(frame.data.iter())
                .take_while(|(one, two)| one == two)
                .count();
            let true_part = String::from_utf8_lossy(&frame.data[same..]).into_owned();
            gather
                .at(place, format!("the process never writes this to {stream}"))
                .label(format!(
                    "differs after {} bytes, in frame {}",
                    written + same,
                    frame.seq
                ))
                .help(format!(
                    "a beginning of the true output, which goes on with \"{}\"",
                    short(&true_part)
                ));
            return;
        }
        left = &left[part..];
        written += part;
        if left.is_empty() {
            return;
        }
    }
    if !left.is_empty() {
        gather
            .at(place, format!("the process never writes this to {stream}"))
            .label(format!(
                "all it writes there is {written} bytes, this is {}",
                bytes.len()
            ))
            .help("a beginning of the true output");
    }
}
