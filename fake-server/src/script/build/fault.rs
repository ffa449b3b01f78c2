//! Faults: which call they meet, what it gets, and which parts go together.

use super::{Around, attempts, attempts::Claim, base64, positive, steps};
use crate::{
    script::{
        forms::Cuts,
        mistakes::Gather,
        model::{
            Attempts, Behaviour, Chunks, Content, Cut, CutPoint, Encoding, Fault, Segments, Step,
            Truth,
        },
        placeholders,
        raw::{RawBody, RawEncoding, RawFault, RawFile},
        read::{At, Free, Table as _},
        scenario::Random,
        words::Flush,
    },
    wire::{Blob, Call, Op, call::Capability, frame},
};
use serde_json::Map;
use std::{collections::BTreeSet, ops::Range};

/// Longest line that is written a byte at a time.
const BYTEWISE_LINE: usize = 64 << 10;

/// What the faults of a file are compared with.
pub(super) struct Facts<'a> {
    pub(super) op: Op,
    /// Nothing when the truth has mistakes of its own.
    pub(super) truth: Option<&'a Truth>,
}

pub(super) fn build(
    raw: &RawFile,
    op: Op,
    truth: Option<&Truth>,
    needs: &mut BTreeSet<Capability>,
    around: &mut Around<'_>,
    gather: &mut Gather,
) -> (Vec<Fault>, Vec<Random>) {
    let facts = Facts { op, truth };
    let list = raw.fault.as_ref().map_or(&[][..], |fault| &fault.value);
    let mut claims: Vec<Claim> = Vec::new();
    let mut faults = Vec::new();
    let mut random = Vec::new();
    for (index, at) in list.iter().enumerate() {
        let raw = &at.value;
        let Some(on) = raw.on.as_ref().map(|on| on.value.0.0) else {
            continue;
        };
        let attempts = match &raw.attempt {
            Some(attempt) => attempt.value,
            None => attempts::next(&claims, on, &at.span, gather),
        };
        let behaviour = behaviour(raw, on, attempts, &facts, needs, around, gather);
        let claim = claim(at, on, attempts, &behaviour);
        if let Some(Cuts::Random) = raw.segments.as_ref().map(|at| &at.value) {
            random.push(Random::Segments(faults.len()));
        }
        if let Some(Cuts::Random) = raw.chunks.as_ref().map(|at| &at.value) {
            random.push(Random::Chunks(faults.len()));
        }
        check_guards(raw, on, &facts, gather);
        faults.push(Fault {
            number: index + 1,
            on,
            attempts,
            when_after: claim.when_after,
            on_connection: claim.on_connection,
            bait: raw.bait.as_ref().is_some_and(|bait| bait.value),
            behaviour,
        });
        claims.push(claim);
    }
    for (claim, at) in claims
        .iter()
        .zip(list.iter().filter(|at| at.value.on.is_some()))
    {
        // A faithful answer to one attempt makes sense inside a range or `every` of another fault.
        let exception = claims.iter().any(|other| {
            other.place != claim.place
                && other.on == claim.on
                && other.attempts.covers(claim.attempts.first())
        });
        if claim.parts.is_empty() && !exception && at.clean {
            gather
                .at(&at.span, "this fault changes nothing")
                .help("say what happens: `status`, `stream`, `reset`, `delay` ..");
        }
    }
    attempts::contradictions(&claims, gather);
    (faults, random)
}

fn claim(at: &At<RawFault>, on: Option<Call>, attempts: Attempts, behaviour: &Behaviour) -> Claim {
    let raw = &at.value;
    let mut parts = raw.present();
    parts.retain(|(key, _)| !matches!(*key, "on" | "attempt" | "when" | "on-connection" | "bait"));
    Claim {
        on,
        attempts,
        place: raw
            .attempt
            .as_ref()
            .map_or_else(|| at.span.clone(), |attempt| attempt.span.clone()),
        when_after: raw
            .when
            .as_ref()
            .and_then(|when| when.value.after.as_ref())
            .map(|after| after.value),
        on_connection: raw.on_connection.as_ref().map(|used| used.value.0),
        parts,
        silent: behaviour.hold_ms.is_some()
            || behaviour.cut.is_some_and(|cut| cut.at != CutPoint::Accept),
    }
}

fn check_guards(raw: &RawFault, on: Option<Call>, facts: &Facts<'_>, gather: &mut Gather) {
    let Some(when) = &raw.when else {
        return;
    };
    if on != Some(Call::Connect) {
        gather
            .at(&when.key, "only a connect has a cursor")
            .help("`attempt` chooses among other calls");
    }
    if let (Some(after), Some(truth)) = (&when.value.after, facts.truth) {
        let newest = truth.first_seq - 1 + truth.frames.len() as u64;
        if after.value > newest {
            gather
                .at(
                    &after.span,
                    format!(
                        "no right client asks for {}: the last true frame is {newest}",
                        after.value
                    ),
                )
                .help(format!("a cursor from 0 to {newest}"));
        }
    }
}

fn behaviour(
    raw: &RawFault,
    on: Option<Call>,
    attempts: Attempts,
    facts: &Facts<'_>,
    needs: &mut BTreeSet<Capability>,
    around: &mut Around<'_>,
    gather: &mut Gather,
) -> Behaviour {
    check_together(raw, on, gather);
    let status = raw.status.as_ref();
    if let Some(status) = status
        && !(200..=999).contains(&status.value)
    {
        gather
            .at(
                &status.span,
                format!("{} is no status of a whole answer", status.value),
            )
            .help("200 to 999");
    }
    if let (Some(status), Some(redirect)) = (status, &raw.redirect)
        && !(300..=399).contains(&status.value)
    {
        gather
            .at(&status.span, format!("{} is no redirect", status.value))
            .context(&redirect.key, "asked for here")
            .help("301, 302 (default), 303, 307 or 308");
    }
    if let Some(reason) = &raw.reason {
        check_field_text(reason, "a reason phrase", gather);
    }
    let cut = |raw: &Option<At<crate::script::raw::RawCut>>, reset| {
        let at = raw.as_ref()?.value.at.as_ref()?.value.0;
        Some(Cut { at, reset })
    };
    Behaviour {
        delay_ms: raw.delay.as_ref().map(|delay| delay.value.0),
        refuse: raw.refuse.as_ref().is_some_and(|refuse| refuse.value),
        cut: cut(&raw.close, false).or_else(|| cut(&raw.reset, true)),
        hold_ms: positive(
            raw.hold.as_ref().map(|hold| (hold.value.0, &hold.span)),
            gather,
        ),
        http10: raw.http.is_some(),
        content_length: raw.content_length.as_ref().map(|delta| delta.value.0),
        transfer_encoding_also: raw.transfer_encoding.is_some(),
        encoding: raw
            .encoding
            .as_ref()
            .and_then(|encoding| self::encoding(&encoding.value, gather)),
        status: status.map(|status| status.value),
        reason: raw.reason.as_ref().map(|reason| reason.value.clone()),
        headers: headers(raw, gather),
        content: content(raw, on, attempts, facts, needs, around, gather),
        effect: raw.effect.as_ref().map(|effect| effect.value.0),
        segments: segments(raw, on, facts, gather),
        chunks: match raw.chunks.as_ref().map(|at| &at.value) {
            Some(Cuts::Fixed(chunks)) => chunks.clone(),
            Some(Cuts::Random) | None => Chunks::default(),
        },
    }
}

/// Notes keys that do not go together, or not with this call.
fn check_together(raw: &RawFault, on: Option<Call>, gather: &mut Gather) {
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
    if let (Some((_, http)), Some(stream)) = (of(&["http"]), &raw.stream) {
        for step in &stream.value {
            let Some(end) = step.value.end.as_ref() else {
                continue;
            };
            let end_word = end.value.0;
            if matches!(
                end_word,
                crate::script::model::End::TruncatedChunk | crate::script::model::End::BadChunk
            ) {
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

fn headers(raw: &RawFault, gather: &mut Gather) -> Vec<(String, Vec<String>)> {
    let Some(headers) = &raw.headers else {
        return Vec::new();
    };
    let mut seen: Vec<(String, Range<usize>)> = Vec::new();
    for (name, values) in &headers.value.0 {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || !name.bytes().all(token) {
            gather
                .at(&values.key, "this is no name of a header")
                .help("letters, digits and hyphens, as in retry-after");
        } else if let Some((_, first)) = seen.iter().find(|(known, _)| *known == lower) {
            gather
                .at(&values.key, format!("`{lower}` is here twice"))
                .context(first, "first here")
                .help(format!("{lower} = [\"one\", \"two\"] sends it twice"));
        }
        match lower.as_str() {
            "content-length" if !values.value.is_empty() => {
                gather
                    .at(&values.key, "the body's length is not set by a header")
                    .help("content-length = \"+10\" in the fault announces ten bytes more than there are");
            }
            "transfer-encoding" if !values.value.is_empty() => {
                gather
                    .at(&values.key, "the transfer coding is not set by a header")
                    .help(
                        "transfer-encoding = \"also\" in the fault sends it beside Content-Length",
                    );
            }
            _ => {}
        }
        for value in &values.value {
            check_field_text(value, "the value of a header", gather);
        }
        seen.push((lower, values.key.clone()));
    }
    let plain = |values: &[At<String>]| values.iter().map(|value| value.value.clone()).collect();
    let headers = headers.value.0.iter();
    headers
        .map(|(name, values)| (name.clone(), plain(&values.value)))
        .collect()
}

/// Text that goes into a response's head.
fn check_field_text(text: &At<String>, what: &str, gather: &mut Gather) {
    if text.value.contains(['\r', '\n', '\0']) {
        gather
            .at(&text.span, format!("{what} is one line"))
            .help("CR, LF and NUL would end the head early");
    }
    placeholders::check_at(text, gather);
}

fn content(
    raw: &RawFault,
    on: Option<Call>,
    attempts: Attempts,
    facts: &Facts<'_>,
    needs: &mut BTreeSet<Capability>,
    around: &mut Around<'_>,
    gather: &mut Gather,
) -> Content {
    if let Some(stream) = &raw.stream {
        let steps: Vec<Step> = steps::build(stream, on, attempts, facts, needs, gather);
        return Content::Stream(steps);
    }
    if let Some(redirect) = &raw.redirect {
        return Content::Redirect(redirect.value.0);
    }
    if let Some(body) = &raw.body {
        return self::body(body, around, gather).unwrap_or_default();
    }
    if raw.data.is_some() || raw.without.is_some() {
        let with = raw
            .data
            .as_ref()
            .and_then(|data| object(&data.value, gather));
        let without = raw.without.iter().flat_map(|without| &without.value);
        for field in without.clone() {
            if let Some((_, set)) = raw
                .data
                .iter()
                .flat_map(|data| &data.value.0)
                .find(|(name, _)| *name == field.value)
            {
                gather
                    .at(
                        &field.span,
                        format!(
                            "`{}` is set and left out",
                            crate::script::suggest::short(&field.value)
                        ),
                    )
                    .context(&set.key, "set here")
                    .help("one of the two");
            }
        }
        return Content::Data {
            with: with.unwrap_or_default(),
            without: without.map(|field| field.value.clone()).collect(),
        };
    }
    Content::Faithful
}

/// Fields of the author's choice as JSON.
pub(super) fn object(
    fields: &Free<crate::script::node::Node>,
    gather: &mut Gather,
) -> Option<Map<String, serde_json::Value>> {
    let mut object = Map::new();
    let mut whole = true;
    for (name, field) in &fields.0 {
        match field.value.to_json(gather) {
            Some(value) => {
                placeholders::check_json(&value, &field.span, gather);
                object.insert(name.clone(), value);
            }
            None => whole = false,
        }
    }
    whole.then_some(object)
}

fn body(at: &At<RawBody>, around: &mut Around<'_>, gather: &mut Gather) -> Option<Content> {
    let raw = &at.value;
    match raw.present().as_slice() {
        [_] => {}
        // A body whose only key was wrong has been answered already.
        [] if !at.clean => return None,
        [] => {
            gather
                .at(&at.span, "what is the body?")
                .help("{ text = \"..\" }, { json = .. }, { base64 = \"..\" }, { file = \"..\" } or { endless = \"x\" }");
            return None;
        }
        [(first, first_place), (second, place), ..] => {
            gather
                .at(
                    place,
                    format!("`{first}` and `{second}`: an answer has one body"),
                )
                .context(first_place, "the first one")
                .help("one of them");
            return None;
        }
    }
    if let Some(text) = &raw.text {
        placeholders::check_at(text, gather);
        return Some(Content::Text(text.value.clone()));
    }
    if let Some(json) = &raw.json {
        let value = json.value.to_json(gather)?;
        placeholders::check_json(&value, &json.span, gather);
        return Some(Content::Json(value));
    }
    if let Some(text) = &raw.base64 {
        return base64(text, gather).map(|bytes| Content::Bytes(Blob(bytes)));
    }
    if let Some(path) = &raw.file {
        return match (around.files)(&path.value) {
            Ok(bytes) => Some(Content::Bytes(Blob(bytes))),
            Err(reason) => {
                gather
                    .at(&path.span, format!("this file cannot be read: {reason}"))
                    .help("a path from the folder of this file, as in \"bodies/page.html\"");
                None
            }
        };
    }
    raw.endless
        .as_ref()
        .map(|byte| Content::Endless(byte.value.0))
}

fn encoding(raw: &RawEncoding, gather: &mut Gather) -> Option<Encoding> {
    let lie = raw.lie.as_ref().is_some_and(|lie| lie.value);
    if lie
        && let Some((key, place)) = raw
            .present()
            .into_iter()
            .find(|(key, _)| matches!(*key, "flush" | "cut" | "extra"))
    {
        gather
            .at(
                &place,
                format!("`{key}` of a body that is not coded at all"),
            )
            .help("with lie = true only the header names the coding");
    }
    Some(Encoding {
        coding: raw.coding.as_ref()?.value.0,
        flush_frames: raw
            .flush
            .as_ref()
            .is_none_or(|flush| flush.value.0 == Flush::Frame),
        cut: positive(raw.cut.as_ref().map(|cut| (cut.value, &cut.span)), gather),
        lie,
        extra: raw.extra.as_ref().map_or(0, |extra| extra.value),
    })
}

fn segments(raw: &RawFault, on: Option<Call>, facts: &Facts<'_>, gather: &mut Gather) -> Segments {
    let Some(at) = &raw.segments else {
        return Segments::default();
    };
    let Cuts::Fixed(segments) = &at.value else {
        return Segments::default();
    };
    if *segments == Segments::Byte
        && on == Some(Call::Connect)
        && let Some(truth) = facts.truth
        && let Some(long) = truth
            .frames
            .iter()
            .find(|one| frame::data_line(one.seq, one.stream, &one.data).len() > BYTEWISE_LINE)
    {
        gather
            .at(
                &at.span,
                format!(
                    "frame {} is too long to be written a byte at a time",
                    long.seq
                ),
            )
            .help("\"byte\" is for lines up to 64 KiB; segments = [1000] cuts longer ones");
    }
    segments.clone()
}
