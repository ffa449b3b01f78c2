//! Faults: which call they meet, what it gets, and which parts go together.

use super::{
    Around,
    answer::{check_field_text, content, headers},
    attempts,
    attempts::Claim,
    positive,
    together::check_together,
};
use crate::{
    script::{
        cuts::Cuts,
        mistakes::Gather,
        model::{
            Attempts, Behaviour, Break, BreakPlace, Chunks, Cut, CutPoint, Encoding, End, Fault,
            Segments, Truth,
        },
        raw::{RawBreak, RawCut, RawEncoding, RawFault, RawFile},
        read::{At, Table as _},
        scenario::Random,
        words::Flush,
    },
    wire::{Call, Op, call::Capability, frame},
};
use std::collections::BTreeSet;

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
    let cut = |raw: &Option<At<RawCut>>, reset| {
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
        break_at: raw.break_at.as_ref().and_then(|at| break_at(at, gather)),
    }
}

fn break_at(at: &At<RawBreak>, gather: &mut Gather) -> Option<Break> {
    let raw = &at.value;
    let place = match (&raw.byte, &raw.payload) {
        (Some(byte), None) => BreakPlace::Wire(byte.value),
        (None, Some(payload)) => BreakPlace::Payload(payload.value),
        (Some(byte), Some(payload)) => {
            gather
                .at(&payload.span, "`byte` and `payload`: it breaks off once")
                .context(&byte.span, "the first one")
                .help("one of them");
            return None;
        }
        // A place whose key was wrong has been answered already.
        (None, None) if !at.clean => return None,
        (None, None) => {
            gather
                .at(&at.span, "where does it break off?")
                .help("byte = 117 on the wire, or payload = 100 of the lines");
            return None;
        }
    };
    let by = raw.by.as_ref()?;
    match (by.value.0, place) {
        (End::Fin | End::Reset | End::Hold, _) | (End::Chunk, BreakPlace::Payload(_)) => {
            Some(Break {
                at: place,
                by: by.value.0,
            })
        }
        (End::Chunk, BreakPlace::Wire(_)) => {
            gather
                .at(&by.span, "a zero chunk in the middle of a chunk is data")
                .help("payload = 100 counts the bytes of the lines, in chunks that are right");
            None
        }
        _ => {
            gather
                .at(&by.span, "a body does not break off so")
                .help("\"fin\", \"reset\" or \"hold\"; at a byte of the payload \"chunk\" too");
            None
        }
    }
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
