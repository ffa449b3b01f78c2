//! Keys of a fault that do not go together, or not with its call.

use crate::{
    script::{mistakes::Gather, model::End, raw::RawFault, read::Table as _},
    wire::Call,
};
use std::ops::Range;

/// Notes keys that do not go together, or not with this call.
pub(super) fn check_together(raw: &RawFault, on: Option<Call>, gather: &mut Gather) {
    let present = raw.present();
    let of = |keys: &[&str]| -> Option<(&'static str, Range<usize>)> {
        present.iter().find(|(key, _)| keys.contains(key)).cloned()
    };
    let bodies = [
        &["body"][..],
        &["data", "without"],
        &["redirect"],
        &["stream"],
    ];
    let found: Vec<_> = bodies.iter().filter_map(|keys| of(keys)).collect();
    if let [(first, first_place), (second, place), ..] = found.as_slice() {
        gather
            .at(
                place,
                format!("`{first}` and `{second}`: an answer has one body"),
            )
            .context(first_place, "the first one")
            .help("one of them; a second fault can answer another attempt");
    }
    let silent: Vec<_> = ["close", "reset", "hold"]
        .iter()
        .filter_map(|key| of(&[key]))
        .collect();
    if let [(first, first_place), (second, place), ..] = silent.as_slice() {
        gather
            .at(
                place,
                format!("`{first}` and `{second}`: a connection ends once"),
            )
            .context(first_place, "the first one")
            .help("one of them");
    }
    let answer = of(&[
        "status",
        "reason",
        "headers",
        "body",
        "data",
        "without",
        "redirect",
        "stream",
        "segments",
        "chunks",
        "http",
        "content-length",
        "transfer-encoding",
        "encoding",
        "break-at",
    ]);
    if let (Some((silent, silent_place)), Some((key, place))) = (silent.first(), answer) {
        let help = match *silent {
            "hold" => {
                "to answer late use `delay`; to answer and then stay silent, stream = [.., { end = \"hold\" }]"
            }
            _ => "to cut inside an answer use stream = [.., { end = \"fin\" }] or \"reset\"",
        };
        gather
            .at(
                &place,
                format!("`{key}` is never sent: `{silent}` leaves the request without an answer"),
            )
            .context(silent_place, "here")
            .help(help);
    }
    if let (Some((_, place)), Some(call)) = (of(&["effect"]), on)
        && !has_effect(call)
    {
        gather
            .at(
                &place,
                format!("{call} changes nothing, with or without an answer"),
            )
            .help("take `effect` out");
    }
    if let (Some((_, http)), Some((_, place))) =
        (of(&["http"]), of(&["chunks", "transfer-encoding"]))
    {
        gather
            .at(&place, "HTTP/1.0 has no chunks")
            .context(&http, "asked for here")
            .help("take one of the two out");
    }
    if let Some((_, place)) = of(&["break-at"]) {
        if on.is_some_and(|call| call != Call::Connect) {
            gather
                .at(&place, "only the stream of a connect breaks off at a byte")
                .help("take `break-at` out");
        }
        if let Some((key, other)) = of(&[
            "body",
            "data",
            "without",
            "redirect",
            "content-length",
            "encoding",
        ]) {
            gather
                .at(&place, format!("`break-at` and `{key}`"))
                .context(&other, "the other one")
                .help("`break-at` cuts a faithful or a scripted stream");
        }
    }
    if let (Some((_, http)), Some(stream)) = (of(&["http"]), &raw.stream) {
        for step in &stream.value {
            let Some(end) = step.value.end.as_ref() else {
                continue;
            };
            let end_word = end.value.0;
            if matches!(end_word, End::TruncatedChunk | End::BadChunk) {
                gather
                    .at(&end.span, "HTTP/1.0 has no chunks")
                    .context(&http, "asked for here")
                    .help("{ end = \"fin\" } ends such a body");
            }
        }
    }
}

const fn has_effect(call: Call) -> bool {
    !matches!(
        call,
        Call::GetSandbox
            | Call::ListSandboxes
            | Call::ListProcesses
            | Call::GetProcess
            | Call::Connect
            | Call::Wait
            | Call::GetFile
    )
}
