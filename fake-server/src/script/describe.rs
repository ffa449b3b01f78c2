//! Faults and steps in plain words, for what people read: the banner of the server, `show`, stories.

use super::model::{
    Attempts, Behaviour, Break, BreakPlace, Chunks, Content, Cut, CutPoint, Effect, End, Fault,
    FrameRef, Redirect, Segments, Span, Step, Until,
};

/// `connect, 2nd: answers 502`.
#[must_use]
pub fn fault(fault: &Fault) -> String {
    format!("{}: {}", selector(fault), behaviour(&fault.behaviour))
}

/// Which calls a fault meets: `connect, 2nd`, `any call, every time`, `connect, 1st, on a reused connection`.
#[must_use]
pub fn selector(fault: &Fault) -> String {
    let call = fault.on.map_or("any call", |call| call.name());
    let mut text = format!("{call}, {}", attempts(fault.attempts));
    if let Some(after) = fault.when_after {
        text.push_str(&format!(", with after={after}"));
    }
    if let Some(kind) = fault.on_connection {
        text.push_str(match kind {
            super::model::ConnectionUse::Fresh => ", on a fresh connection",
            super::model::ConnectionUse::Reused => ", on a reused connection",
        });
    }
    text
}

fn attempts(attempts: Attempts) -> String {
    match attempts {
        Attempts::Nth(n) => ordinal(n),
        Attempts::Range(from, to) => format!("{} to {}", ordinal(from), ordinal(to)),
        Attempts::From(from) => format!("{} and later", ordinal(from)),
        Attempts::Every => "every time".to_owned(),
    }
}

/// `1st`, `2nd`, `3rd`, `11th`.
#[must_use]
pub fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// What happens instead of the faithful answer, in one line.
#[must_use]
pub fn behaviour(behaviour: &Behaviour) -> String {
    let mut parts = Vec::new();
    if let Some(ms) = behaviour.delay_ms {
        parts.push(format!("waits {}", duration(ms)));
    }
    if behaviour.refuse {
        parts.push("the port refuses the connection".to_owned());
    }
    if let Some(Cut { at, reset }) = behaviour.cut {
        let how = if reset { "resets" } else { "closes" };
        let when = match at {
            CutPoint::Accept => "right after accepting",
            CutPoint::HeadRead => "after the request's head",
            CutPoint::BodyRead => "after the whole request, without an answer",
        };
        parts.push(format!("{how} the connection {when}"));
    } else if let Some(ms) = behaviour.hold_ms {
        parts.push(format!(
            "holds the request {} without an answer",
            duration(ms)
        ));
    } else if !behaviour.refuse {
        parts.push(answer(behaviour));
    }
    match behaviour.effect {
        Some(Effect::Done) => parts.push("the call took effect all the same".to_owned()),
        Some(Effect::None) => parts.push("the call took no effect".to_owned()),
        None => {}
    }
    parts.join(", ")
}

fn answer(behaviour: &Behaviour) -> String {
    let mut parts = Vec::new();
    if let Some(status) = behaviour.status {
        parts.push(format!("answers {status}"));
    }
    match &behaviour.content {
        Content::Faithful => {}
        Content::Data { with, without } => {
            let mut changes: Vec<String> = with
                .iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            changes.extend(without.iter().map(|key| format!("without {key}")));
            parts.push(format!("success with {}", changes.join(", ")));
        }
        Content::Text(text) => parts.push(format!("the text {}", short(text.as_bytes()))),
        Content::Json(value) => {
            parts.push(format!("the JSON {}", short(value.to_string().as_bytes())))
        }
        Content::Bytes(bytes) => parts.push(format!("{} raw bytes", bytes.len())),
        Content::Endless(byte) => parts.push(format!("'{}' without end", byte.escape_ascii())),
        Content::Stream(list) => parts.push(steps(list)),
        Content::Redirect(to) => parts.push(
            match to {
                Redirect::OtherOrigin => "a redirect to another origin (the trap)",
                Redirect::SameOrigin => "a redirect to another path here",
                Redirect::Loop => "a redirect to the same URL",
                Redirect::Downgrade => "a redirect to plain http",
            }
            .to_owned(),
        ),
    }
    for (name, values) in &behaviour.headers {
        parts.push(format!("{name}: {}", values.join(", ")));
    }
    if behaviour.http10 {
        parts.push("as HTTP/1.0".to_owned());
    }
    if let Some(delta) = behaviour.content_length {
        parts.push(format!("Content-Length off by {delta:+}"));
    }
    if behaviour.transfer_encoding_also {
        parts.push("Transfer-Encoding beside Content-Length".to_owned());
    }
    if let Some(encoding) = behaviour.encoding {
        parts.push(
            if encoding.lie {
                "says gzip but is plain"
            } else {
                "gzip, unasked"
            }
            .to_owned(),
        );
    }
    parts.extend(cuts(behaviour));
    if let Some(broken) = behaviour.break_at {
        parts.push(break_off(broken));
    }
    if parts.is_empty() {
        "answers faithfully".to_owned()
    } else {
        parts.join(", ")
    }
}

/// How writes and chunks are cut, where that is chosen: `byte by byte`, `one HTTP chunk`.
#[must_use]
pub fn cuts(behaviour: &Behaviour) -> Vec<String> {
    let segments = match &behaviour.segments {
        Segments::Frame => None,
        Segments::Byte => Some("byte by byte".to_owned()),
        Segments::Sizes(sizes) => Some(format!("in writes of {} bytes", list(sizes))),
        Segments::All => Some("in one write".to_owned()),
    };
    let chunks = match &behaviour.chunks {
        Chunks::Frame => None,
        Chunks::One => Some("one HTTP chunk".to_owned()),
        Chunks::Step => Some("an HTTP chunk a step".to_owned()),
        Chunks::Sizes(sizes) => Some(format!("HTTP chunks of {} bytes", list(sizes))),
    };
    segments.into_iter().chain(chunks).collect()
}

/// `breaks off at byte 117 on the wire, by FIN`.
#[must_use]
pub fn break_off(broken: Break) -> String {
    let place = match broken.at {
        BreakPlace::Wire(byte) => format!("at byte {byte} on the wire"),
        BreakPlace::Payload(byte) => format!("at byte {byte} of the lines"),
    };
    let by = match broken.by {
        End::Chunk => "with a clean end",
        End::Reset | End::ResetNow => "by RST",
        End::Hold => "by silence",
        End::Fin | End::TruncatedChunk | End::BadChunk => "by FIN",
    };
    format!("breaks off {place}, {by}")
}

fn list(sizes: &[usize]) -> String {
    let mut text: Vec<String> = sizes.iter().take(5).map(ToString::to_string).collect();
    if sizes.len() > 5 {
        text.push("..".to_owned());
    }
    text.join(", ")
}

/// A stream's steps in one line.
#[must_use]
pub fn steps(steps: &[Step]) -> String {
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

/// One step in a few words.
#[must_use]
pub fn step(step: &Step) -> String {
    match step {
        Step::Send(Span::UpTo(last)) => format!("frames up to {last}"),
        Step::Send(Span::Range(first, last)) => format!("frames {first} to {last}"),
        Step::Send(Span::Rest) => "the rest with the exit".to_owned(),
        Step::SendOne(of) => frame(*of),
        Step::Part { frame: of, bytes } => format!("the first {bytes} bytes of {}", frame(*of)),
        Step::Edited {
            frame: of,
            with,
            without,
        } => {
            let mut changes: Vec<String> = with
                .iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            changes.extend(without.iter().map(|key| format!("no {key}")));
            format!("{} with {}", frame(*of), changes.join(", "))
        }
        Step::Frame { fields, .. } => {
            format!(
                "a forged frame {}",
                short(
                    serde_json::Value::Object(fields.clone())
                        .to_string()
                        .as_bytes()
                )
            )
        }
        Step::Raw { bytes, .. } => format!("raw {}", short(bytes)),
        Step::Heartbeat(1) => "a heartbeat".to_owned(),
        Step::Heartbeat(count) => format!("{count} heartbeats"),
        Step::Exit { code, signal } => match (code, signal) {
            (Some(code), None) => format!("exit {code}"),
            (None, Some(signal)) => format!("exit by {signal}"),
            (Some(code), Some(signal)) => format!("exit {code} and {signal}"),
            (None, None) => "an exit without a status".to_owned(),
        },
        Step::Error { code, oldest } => match oldest {
            None => format!("the error {code}"),
            Some(oldest) => format!("the error {code}, oldest {oldest}"),
        },
        Step::Pause { ms } => format!("{} of quiet", duration(*ms)),
        Step::Trickle {
            bytes,
            every_ms,
            step: inner,
        } => {
            format!(
                "{} ({bytes} bytes every {})",
                self::step(inner),
                duration(*every_ms)
            )
        }
        Step::Every {
            every_ms,
            step: inner,
        } => format!("{} every {}", self::step(inner), duration(*every_ms)),
        Step::Loop {
            count,
            steps: inner,
        } => format!("{count} times ({})", steps(inner)),
        Step::Until(Until::Acked) => "until acknowledged".to_owned(),
        Step::Until(Until::Delivered(seq)) => format!("until frame {seq} was handed over"),
        Step::Until(Until::Closed) => "until the client closes".to_owned(),
        Step::End(end) => self::end(*end).to_owned(),
        Step::Journal { oldest, newest } => format!("(this replica has {oldest} to {newest})"),
    }
}

/// An end in a few words.
#[must_use]
pub const fn end(end: End) -> &'static str {
    match end {
        End::Chunk => "a clean end",
        End::Fin => "FIN in the middle of the body",
        End::Reset => "a reset",
        End::ResetNow => "a reset at once",
        End::Hold => "then nothing, the socket stays open",
        End::TruncatedChunk => "a chunk cut short, FIN",
        End::BadChunk => "a broken chunk header, FIN",
    }
}

/// A frame by name: `frame 3`, `the exit frame`.
#[must_use]
pub fn frame(of: FrameRef) -> String {
    match of {
        FrameRef::Seq(seq) => format!("frame {seq}"),
        FrameRef::Exit => "the exit frame".to_owned(),
    }
}

/// Milliseconds as people write them: `250 ms`, `5 s`.
#[must_use]
pub fn duration(ms: u64) -> String {
    if ms >= 1_000 && ms.is_multiple_of(100) {
        let tenths = ms / 100;
        if tenths.is_multiple_of(10) {
            format!("{} s", tenths / 10)
        } else {
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
    } else {
        format!("{ms} ms")
    }
}

/// Bytes quoted on one line, at most 48 of them.
#[must_use]
pub fn short(bytes: &[u8]) -> String {
    const MOST: usize = 48;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)])
        .chars()
        .flat_map(|c| {
            if c.is_control() || c == '\u{2028}' || c == '\u{2029}' {
                c.escape_default().collect::<Vec<_>>()
            } else {
                vec![c]
            }
        })
        .collect::<String>();
    if bytes.len() > MOST {
        format!("`{text}..` ({} bytes)", bytes.len())
    } else {
        format!("`{text}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_steps_reads_as_a_sentence() {
        let list = [
            Step::Send(Span::UpTo(2)),
            Step::Part {
                frame: FrameRef::Seq(3),
                bytes: 20,
            },
            Step::End(End::Reset),
        ];
        assert_eq!(
            steps(&list),
            "frames up to 2, the first 20 bytes of frame 3, a reset"
        );
    }

    #[test]
    fn ordinals_are_english() {
        let words: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal).to_vec();
        assert_eq!(
            words,
            [
                "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"
            ]
        );
    }

    #[test]
    fn a_refusal_says_nothing_of_an_answer() {
        let refusing = Behaviour {
            refuse: true,
            ..Behaviour::default()
        };
        assert_eq!(behaviour(&refusing), "the port refuses the connection");
    }

    #[test]
    fn durations_keep_their_unit() {
        assert_eq!(
            [
                duration(250),
                duration(1_000),
                duration(1_500),
                duration(1_234)
            ],
            ["250 ms", "1 s", "1.5 s", "1234 ms"]
        );
    }
}
