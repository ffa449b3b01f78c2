//! The words for what the server sent, and whether a faithful server would have sent it.

use super::{
    Act, SHOWN,
    frames::{frames_words, payload_words},
};
use crate::report::text::{count, cut, harmless};
use fake_server::{
    script::model::{Cut, CutPoint, End, FrameRef, Truth, Until},
    wire::Call,
    wirelog::{AnswerEnd, Exchange, Payload, Sent},
};

/// How a stream's body ended where it ended cleanly: with or without the exit frame that makes it an end.
pub(super) fn clean_end(exchange: &Exchange) -> Option<Act> {
    let ends = |sent: &Sent| {
        matches!(
            sent,
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            }
        )
    };
    let is_stream = exchange.call == Some(Call::Connect)
        && matches!(
            exchange.answer.first(),
            Some(Sent::Head { status: 200, .. })
        );
    if !is_stream || !exchange.answer.iter().any(ends) {
        return None;
    }
    let is_exit = |sent: &Sent| {
        matches!(
            sent,
            Sent::Body {
                what: Payload::Exit
                    | Payload::Error
                    | Payload::True(FrameRef::Exit)
                    | Payload::Edited(FrameRef::Exit)
                    | Payload::Forged(_)
                    | Payload::Raw(_),
                ..
            }
        )
    };
    Some(if exchange.answer.iter().any(is_exit) {
        Act::Faithful("the body ends".to_owned())
    } else {
        Act::Deviates("the body ends, no exit frame".to_owned())
    })
}

/// A whole answer as every server would give it, in one line.
pub(super) fn ordinary_words(exchange: &Exchange) -> Option<String> {
    let [
        Sent::Head {
            status,
            http10: false,
            ..
        },
        rest @ ..,
    ] = &exchange.answer[..]
    else {
        return None;
    };
    if exchange.fault.is_some() || exchange.call == Some(Call::Connect) {
        return None;
    }
    match rest {
        [
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(status.to_string()),
        [
            Sent::Body {
                what: Payload::Plain,
                bytes,
                ..
            },
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(format!("{status}, {}", count(bytes.len(), "byte", "bytes"))),
        _ => None,
    }
}

/// What was sent, in words; nothing for the end of an ordinary answer.
pub(super) fn sent_words(sent: &Sent, exchange: &Exchange, truth: &Truth) -> Vec<Act> {
    let scripted = exchange.fault.is_some();
    let is_stream = exchange.call == Some(Call::Connect);
    let http10 = matches!(
        exchange.answer.first(),
        Some(Sent::Head { http10: true, .. })
    );
    match sent {
        Sent::Head {
            http10,
            status,
            reason,
            headers,
        } => {
            vec![head_words(
                *http10, *status, reason, headers, scripted, is_stream,
            )]
        }
        Sent::Frames { from, to, acked } => frames_words(*from, *to, *acked, truth)
            .into_iter()
            .map(Act::Faithful)
            .collect(),
        Sent::Body {
            what,
            bytes,
            framed,
            acked,
        } => {
            let (mut words, faithful) = payload_words(*what, bytes, truth);
            if !framed {
                words.push_str(", beyond the framing");
            }
            if !acked {
                words.push_str(", not acknowledged");
            }
            let faithful = faithful && *framed && !(scripted && *what == Payload::Plain);
            vec![if faithful {
                Act::Faithful(words)
            } else {
                Act::Deviates(words)
            }]
        }
        Sent::Waited(until) => vec![Act::Faithful(match until {
            Until::Acked => "waited until all was acknowledged".to_owned(),
            Until::Delivered(seq) => format!("waited until frame {seq} was handed over"),
            Until::Closed => "waited until the client closed".to_owned(),
        })],
        Sent::End {
            how: AnswerEnd::Complete,
            ..
        } => Vec::new(),
        Sent::End { how, acked } => vec![end_words(*how, *acked, http10)],
    }
}

fn head_words(
    http10: bool,
    status: u16,
    reason: &str,
    headers: &[(String, String)],
    scripted: bool,
    is_stream: bool,
) -> Act {
    const USUAL: &[&str] = &[
        "content-type",
        "content-length",
        "transfer-encoding",
        "connection",
        "date",
        "x-request-id",
    ];
    let mut words = status.to_string();
    if status >= 300 && !reason.is_empty() {
        words.push_str(&harmless(&format!(" {reason}")));
    }
    if http10 {
        words.push_str(" (HTTP/1.0)");
    }
    for (name, value) in headers {
        let told = is_stream && name == "content-length";
        if told || !USUAL.contains(&name.as_str()) {
            words.push_str(&harmless(&format!(", {name}: {}", cut(value, SHOWN))));
        }
    }
    if scripted && (http10 || status >= 300) {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}

pub(super) fn cut_words(cut: Cut) -> String {
    let how = if cut.reset { "resets" } else { "closes" };
    let when = match cut.at {
        CutPoint::Accept => "as soon as it is accepted",
        CutPoint::HeadRead => "once the head was read",
        CutPoint::BodyRead => "once the request was read",
    };
    format!("{how} the connection {when}, no answer")
}

fn end_words(how: AnswerEnd, acked: bool, http10: bool) -> Act {
    let (words, deviates) = match how {
        AnswerEnd::Complete => ("ends the body", false),
        AnswerEnd::CloseDelimited => ("closes the connection, which ends the body", false),
        AnswerEnd::Scripted(End::Chunk) => ("ends the body cleanly (last chunk)", true),
        AnswerEnd::Scripted(End::Fin) if http10 => {
            ("closes (FIN), which ends an HTTP/1.0 body", true)
        }
        AnswerEnd::Scripted(End::Fin) => ("closes (FIN) before the body's end", true),
        AnswerEnd::Scripted(End::Reset) => {
            ("resets (RST) once all before it was acknowledged", true)
        }
        AnswerEnd::Scripted(End::ResetNow) => ("resets (RST) at once", true),
        AnswerEnd::Scripted(End::Hold) => ("falls silent, keeps the connection open", true),
        AnswerEnd::Scripted(End::TruncatedChunk) => ("closes (FIN) inside a chunk", true),
        AnswerEnd::Scripted(End::BadChunk) => {
            ("sends a chunk size that is no number, closes (FIN)", true)
        }
        AnswerEnd::Cut(cut) => return Act::Deviates(cut_words(cut)),
        AnswerEnd::Held => ("holds the request without an answer, then closes", true),
        AnswerEnd::Short => ("closes (FIN) before Content-Length is reached", true),
        AnswerEnd::TrialOver => ("(the trial is over)", false),
    };
    let promised = matches!(how, AnswerEnd::Scripted(End::Reset)) && !acked;
    let words = if promised {
        "resets (RST) before all was acknowledged".to_owned()
    } else {
        words.to_owned()
    };
    if deviates {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}
