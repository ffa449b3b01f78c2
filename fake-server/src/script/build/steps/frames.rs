//! Steps that send frames of the truth.

use super::Reader;
use crate::{
    script::{
        build::answer::object,
        forms::Send,
        model::{FrameRef, Span, Step, Truth, TruthExit},
        raw::RawStep,
        read::Table as _,
        suggest::{instead, short},
    },
    wire::frame,
};
use std::ops::Range;

impl Reader<'_, '_> {
    pub(super) fn send(&mut self, raw: &RawStep) -> Option<Step> {
        let send = raw.send.as_ref()?;
        let extras: Vec<_> = raw
            .present()
            .into_iter()
            .filter(|(key, _)| *key != "send")
            .collect();
        let frame = match send.value {
            Send::One(frame) => frame,
            Send::Many(span) => {
                if let Some((key, place)) = extras.first() {
                    self.gather
                        .at(
                            place,
                            format!("`{key}` changes one frame, and this sends several"),
                        )
                        .help("a step for that frame alone: { send = 3, bytes = 20 }");
                    return None;
                }
                return self.span(span, &send.span).then_some(Step::Send(span));
            }
        };
        if !self.known(frame, &send.span) {
            return None;
        }
        if let Some(bytes) = &raw.bytes {
            if let Some((key, place)) = extras.iter().find(|(key, _)| *key != "bytes") {
                self.gather
                    .at(place, format!("`{key}` beside `bytes`"))
                    .help("a part is always of the true line; send a changed one whole");
                return None;
            }
            let length = self.facts.truth.and_then(|truth| line_length(truth, frame));
            if let Some(length) = length
                && bytes.value >= length
            {
                let help = if bytes.value == length {
                    format!(
                        "the whole line is {{ send = {} }}; {} bytes are all but its LF",
                        name(frame),
                        length - 1
                    )
                } else {
                    format!("0 to {}", length - 1)
                };
                self.gather
                    .at(
                        &bytes.span,
                        format!(
                            "the line of frame {} has {length} bytes with its LF",
                            name(frame)
                        ),
                    )
                    .help(help);
            }
            return Some(Step::Part {
                frame,
                bytes: usize::try_from(bytes.value).ok()?,
            });
        }
        self.sent(frame);
        if raw.with.is_none() && raw.without.is_none() {
            return Some(Step::SendOne(frame));
        }
        let with = match &raw.with {
            None => serde_json::Map::new(),
            Some(with) => object(&with.value, self.gather)?,
        };
        let without: Vec<_> = raw
            .without
            .iter()
            .flat_map(|without| &without.value)
            .collect();
        let fields: &[&str] = match frame {
            FrameRef::Seq(_) => &["type", "seq", "stream", "data_base64"],
            FrameRef::Exit => &["type", "exit_code", "signal"],
        };
        for field in &without {
            if !fields.contains(&field.value.as_str()) {
                self.gather
                    .at(
                        &field.span,
                        format!(
                            "frame {} has no field `{}`",
                            name(frame),
                            short(&field.value)
                        ),
                    )
                    .help(instead(&field.value, fields));
            } else if with.contains_key(&field.value) {
                self.gather
                    .at(
                        &field.span,
                        format!("`{}` is set and left out", field.value),
                    )
                    .help("one of the two");
            }
        }
        Some(Step::Edited {
            frame,
            with,
            without: without
                .into_iter()
                .map(|field| field.value.clone())
                .collect(),
        })
    }

    /// Whether a run of frames lies in the truth.
    pub(super) fn span(&mut self, span: Span, place: &Range<usize>) -> bool {
        match span {
            Span::Rest => {
                self.newest = u64::MAX;
                self.exited |= self
                    .facts
                    .truth
                    .is_none_or(|truth| truth.exit != TruthExit::Never);
                true
            }
            Span::UpTo(to) => {
                self.sent(FrameRef::Seq(to));
                self.known(FrameRef::Seq(to), place)
            }
            Span::Range(from, to) => {
                self.sent(FrameRef::Seq(to));
                self.known(FrameRef::Seq(from), place) && self.known(FrameRef::Seq(to), place)
            }
        }
    }

    /// Whether the truth has a frame; notes it if not.
    pub(super) fn known(&mut self, frame: FrameRef, place: &Range<usize>) -> bool {
        let Some(truth) = self.facts.truth else {
            return true;
        };
        let (first, count) = (truth.first_seq, truth.frames.len() as u64);
        match frame {
            FrameRef::Exit if truth.exit == TruthExit::Never => {
                self.gather
                    .at(place, "the truth has no exit: the process never ends")
                    .help("{ exit = { code = 0 } } sends one all the same");
                false
            }
            FrameRef::Exit => true,
            FrameRef::Seq(seq) if seq >= first && seq - first < count => true,
            FrameRef::Seq(seq) => {
                let range = match count {
                    0 => "the truth has no frames: `output` in [process] is empty".to_owned(),
                    1 => format!("the truth has frame {first} only"),
                    _ => format!("the truth has frames {first} to {}", first + count - 1),
                };
                self.gather
                    .at(place, format!("there is no true frame {seq}"))
                    .label(range)
                    .help("write it into `output` in [process], or forge it: { frame = { type = \"data\", .. } }");
                false
            }
        }
    }

    pub(super) fn sent(&mut self, frame: FrameRef) {
        match frame {
            FrameRef::Exit => self.exited = true,
            FrameRef::Seq(seq) => self.newest = self.newest.max(seq),
        }
    }

    pub(super) fn is(&mut self, raw: &RawStep) -> Option<FrameRef> {
        let is = raw.is.as_ref()?;
        self.sent(is.value);
        self.known(is.value, &is.span).then_some(is.value)
    }
}

fn name(frame: FrameRef) -> String {
    match frame {
        FrameRef::Seq(seq) => seq.to_string(),
        FrameRef::Exit => "\"exit\"".to_owned(),
    }
}

/// Bytes of a true line with its LF.
fn line_length(truth: &Truth, of: FrameRef) -> Option<u64> {
    let line = match of {
        FrameRef::Seq(seq) => {
            let index = usize::try_from(seq.checked_sub(truth.first_seq)?).ok()?;
            let one = truth.frames.get(index)?;
            frame::data_line(one.seq, one.stream, &one.data)
        }
        FrameRef::Exit => match &truth.exit {
            TruthExit::Status { code, signal, .. } => frame::exit_line(*code, signal.as_deref()),
            TruthExit::Never => return None,
        },
    };
    Some(line.len() as u64)
}
