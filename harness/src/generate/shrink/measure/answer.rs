//! What answers and the steps of streams weigh.

use super::{ENDS, STATUSES, bytes, number, time};
use fake_server::script::model::{
    Behaviour, Break, BreakPlace, Chunks, Content, End, Segments, Span, Step,
};
use serde_json::Value;

/// Steps, rounds of a loop each counted.
pub(super) fn count(step: &Step) -> u64 {
    match step {
        Step::Loop {
            count: rounds,
            steps,
        } => {
            let round = steps.iter().map(count).fold(0, u64::saturating_add);
            rounds.saturating_mul(round).saturating_add(1)
        }
        Step::Trickle { step, .. } | Step::Every { step, .. } => count(step).saturating_add(1),
        _ => 1,
    }
}

pub(super) fn behaviour(behaviour: &Behaviour) -> u64 {
    // All of them by name: a part that comes to the format has to be weighed.
    let Behaviour {
        delay_ms,
        refuse,
        cut,
        hold_ms,
        http10,
        content_length,
        transfer_encoding_also,
        encoding,
        status,
        reason,
        headers,
        content,
        effect,
        segments,
        chunks,
        break_at,
    } = behaviour;
    let segments = match segments {
        Segments::Frame => 0,
        Segments::All => 5,
        Segments::Byte => 6,
        Segments::Sizes(sizes) => 10 + sizes.len() as u64,
    };
    let chunks = match chunks {
        Chunks::Frame => 0,
        Chunks::One | Chunks::Step => 5,
        Chunks::Sizes(sizes) => 10 + sizes.len() as u64,
    };
    let headers = headers.iter().map(|(_, values)| 10 + values.len() as u64);
    let encoding = encoding.map_or(0, |encoding| {
        20 + u64::from(!encoding.flush_frames)
            + encoding.cut.map_or(0, |cut| 1 + number(cut))
            + number(encoding.extra)
            + u64::from(encoding.lie)
    });
    let known = |status| STATUSES.iter().position(|known| *known == status);
    let parts = [
        delay_ms.map_or(0, |ms| 5 + number(ms)),
        10 * u64::from(*refuse),
        cut.map_or(0, |cut| 8 + cut.at as u64 + u64::from(cut.reset)),
        hold_ms.map_or(0, |ms| 30 + number(ms)),
        10 * u64::from(*http10),
        content_length.map_or(0, |more| 10 + number(more.unsigned_abs())),
        10 * u64::from(*transfer_encoding_also),
        encoding,
        status.map_or(0, |status| {
            known(status).map_or(6, |place| 4 + place as u64)
        }),
        10 * u64::from(reason.is_some()),
        headers.sum(),
        5 * u64::from(effect.is_some()),
        segments,
        chunks,
        break_at.map_or(0, self::break_at),
        self::content(content),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

fn break_at(broken: Break) -> u64 {
    let at = match broken.at {
        BreakPlace::Payload(byte) => number(byte),
        BreakPlace::Wire(byte) => 1 + number(byte),
    };
    10 + at + end(broken.by)
}

/// Ends from the simplest on.
fn end(end: End) -> u64 {
    ENDS.iter()
        .position(|known| *known == end)
        .unwrap_or(ENDS.len()) as u64
        * 2
}

fn content(content: &Content) -> u64 {
    match content {
        Content::Faithful => 0,
        Content::Data { with, without } => {
            5 + 5 * without.len() as u64 + with.values().map(value).sum::<u64>()
        }
        Content::Text(text) => bytes(text.as_bytes()),
        Content::Json(json) => 20 + value(json),
        Content::Bytes(body) => 20 + bytes(body),
        Content::Endless(_) => 50,
        Content::Stream(steps) => steps.iter().map(step).fold(5, u64::saturating_add),
        Content::Redirect(_) => 20,
    }
}

/// A value of JSON: the shorter the better, text the worst.
fn value(json: &Value) -> u64 {
    match json {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(n) => 5 + n.as_u64().map_or(1 << 41, number),
        Value::String(text) => 6 + text.len() as u64,
        Value::Array(items) => 7 + items.iter().map(value).sum::<u64>(),
        Value::Object(fields) => 8 + fields.values().map(|field| 2 + value(field)).sum::<u64>(),
    }
}

/// What a step weighs beyond being one.
fn step(one: &Step) -> u64 {
    match one {
        Step::Send(Span::UpTo(_) | Span::Rest) => 0,
        Step::SendOne(_) => 1,
        Step::Send(Span::Range(from, to)) => 2 + number(to.saturating_sub(*from)),
        Step::Part { bytes, .. } => 5 + *bytes as u64,
        Step::Edited { with, without, .. } => {
            8 + 5 * without.len() as u64 + with.values().map(|field| 3 + value(field)).sum::<u64>()
        }
        Step::Frame { fields, is } => {
            let fields: u64 = fields.values().map(|field| 4 + value(field)).sum();
            15 + fields + u64::from(is.is_some())
        }
        Step::Raw { bytes: raw, is } => 15 + bytes(raw) + u64::from(is.is_some()),
        Step::Heartbeat(count) => number(*count),
        Step::Exit { code, signal } => {
            3 + code.map_or(0, |code| 1 + number(code.unsigned_abs())) + u64::from(signal.is_some())
        }
        Step::Error { code, oldest } => {
            let code = if code == "internal" {
                0
            } else {
                4 + code.len() as u64
            };
            code + oldest.as_ref().map_or(0, |oldest| 3 + value(oldest))
        }
        Step::Pause { ms } => time(*ms),
        Step::Trickle {
            bytes,
            every_ms,
            step: inner,
        } => 20 + number(*every_ms) + *bytes as u64 + step(inner),
        Step::Every {
            every_ms,
            step: inner,
        } => 20 + number(*every_ms) + step(inner),
        Step::Loop { count, steps } => {
            20 + number(*count) + steps.iter().map(step).fold(0, u64::saturating_add)
        }
        Step::Until(_) => 10,
        Step::End(end) => self::end(*end),
        Step::Journal { .. } => 20,
    }
}
