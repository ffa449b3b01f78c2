//! Which frames of the truth a client has handed over so far, told from how much of each stream it handed over.
//! The server's `until = "delivered"` waits for this.

use crate::{
    observed::{ClientEvent, LiveOutput},
    profile::OutputForm,
};
use fake_server::{script::model::Plan, wire::StreamName};
use std::collections::VecDeque;

/// Counts what is handed over, stream by stream.
#[derive(Debug)]
pub(super) struct Delivery {
    streams: Vec<Stream>,
}

#[derive(Debug)]
struct Stream {
    name: StreamName,
    /// Bytes handed over.
    handed: usize,
    /// Frames that are not handed over yet: seq, and how many bytes of this stream there are up to its end.
    pending: VecDeque<(u64, usize)>,
}

impl Delivery {
    /// Nothing is handed over yet.
    pub(super) fn new(plan: &Plan, form: OutputForm) -> Self {
        let mut streams: Vec<Stream> = Vec::new();
        for &name in StreamName::ALL {
            let mut bytes = Vec::new();
            let mut pending = VecDeque::new();
            for frame in &plan.truth.frames {
                if frame.stream == name && frame.seq > plan.job.after {
                    bytes.extend_from_slice(&frame.data);
                    pending.push_back((frame.seq, length(&bytes, form)));
                }
            }
            streams.push(Stream {
                name,
                handed: 0,
                pending,
            });
        }
        Self { streams }
    }

    /// Takes an `output` message; the frames that are whole now.
    pub(super) fn output(&mut self, output: &LiveOutput) -> Vec<u64> {
        let Some(stream) = self
            .streams
            .iter_mut()
            .find(|stream| stream.name.name() == output.stream)
        else {
            return Vec::new();
        };
        stream.handed += output.data.len();
        let mut whole = Vec::new();
        while let Some(&(seq, end)) = stream.pending.front()
            && end <= stream.handed
        {
            whole.push(seq);
            stream.pending.pop_front();
        }
        whole
    }
}

/// The frame that an `event` message hands over, if it is one.
pub(super) fn delivered_by(event: &ClientEvent) -> Option<u64> {
    if event.kind != "data" {
        return None;
    }
    event.seq.as_deref()?.parse().ok()
}

/// Bytes of these bytes as they are handed over. As text, a character that is still incomplete is held back.
fn length(bytes: &[u8], form: OutputForm) -> usize {
    match form {
        OutputForm::Bytes => bytes.len(),
        OutputForm::Text => {
            let mut length = 0;
            for chunk in bytes.utf8_chunks() {
                length += chunk.valid().len();
                let bad = chunk.invalid();
                let incomplete = bytes.ends_with(bad)
                    && std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none());
                if !bad.is_empty() && !incomplete {
                    length += char::REPLACEMENT_CHARACTER.len_utf8();
                }
            }
            length
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_as_its_reader_gets_it() {
        assert_eq!(length("a€".as_bytes(), OutputForm::Text), 4);
        // Two bytes of three: held back until the third comes.
        assert_eq!(length(b"a\xe2\x82", OutputForm::Text), 1);
        assert_eq!(length(b"a\xff", OutputForm::Text), 4);
        assert_eq!(length(b"a\xffb", OutputForm::Text), 5);
    }
}
