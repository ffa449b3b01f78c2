//! What was read, kept for the result and handed over live, as bytes or as text.

use super::{
    bug::{Bug, Quirk},
    follower::Output,
};
use crate::{
    client::job::Live,
    observed::{JobResult, LiveOutput},
    profile::OutputForm,
};
use fake_server::wire::Blob;
use std::collections::BTreeMap;
use tokio::sync::mpsc::UnboundedSender;

/// Collects one job's output.
#[derive(Debug)]
pub(super) struct Capture {
    live: UnboundedSender<Live>,
    form: OutputForm,
    streams: BTreeMap<&'static str, Kept>,
    quirk: Quirk,
}

/// One stream's output so far.
#[derive(Debug, Default)]
struct Kept {
    /// As handed over.
    bytes: Vec<u8>,
    /// Of a client of text: the beginning of a character that is not whole yet.
    open: Vec<u8>,
    /// [`Bug::StderrHeldBack`]: not handed over live yet.
    held: Vec<u8>,
}

impl Capture {
    /// `streams` are the names of which the result always tells.
    pub(super) fn new(
        live: UnboundedSender<Live>,
        form: OutputForm,
        streams: &'static [&'static str],
        quirk: Quirk,
    ) -> Self {
        Self {
            live,
            form,
            streams: streams
                .iter()
                .map(|name| (*name, Kept::default()))
                .collect(),
            quirk,
        }
    }

    /// New output of a frame.
    pub(super) fn take(&mut self, output: Output) {
        let Output { stream, data } = output;
        let data = match self.form {
            OutputForm::Text => self.decode(stream, &data),
            OutputForm::Bytes if self.quirk.is(Bug::BytesAsText) => {
                String::from_utf8_lossy(&data).into_owned().into_bytes()
            }
            OutputForm::Bytes => data,
        };
        self.keep(stream, data);
    }

    /// No more output comes. If the process `exited`, a character left open becomes one U+FFFD; after a
    /// failure nobody knows how it would have gone on.
    pub(super) fn finish(&mut self, exited: bool) {
        for stream in ["stdout", "stderr", "pty"] {
            let Some(kept) = self.streams.get_mut(stream) else {
                continue;
            };
            let open = std::mem::take(&mut kept.open);
            let held = std::mem::take(&mut kept.held);
            self.hand_over(stream, held);
            if exited && !open.is_empty() && !self.quirk.is(Bug::OpenTailLost) {
                self.keep(
                    stream,
                    String::from_utf8_lossy(&open).into_owned().into_bytes(),
                );
            }
        }
    }

    /// Writes the output into a result.
    pub(super) fn tell(self, result: &mut JobResult) {
        if self.quirk.is(Bug::PartialOutputLost) && result.outcome == "timed-out" {
            return;
        }
        for (stream, kept) in self.streams {
            let bytes = Some(Blob(kept.bytes));
            match stream {
                "stdout" => result.stdout = bytes,
                "stderr" => result.stderr = bytes,
                _ => result.pty = bytes,
            }
        }
    }

    fn keep(&mut self, stream: &'static str, data: Vec<u8>) {
        let kept = self.streams.entry(stream).or_default();
        kept.bytes.extend_from_slice(&data);
        if self.quirk.is(Bug::StderrHeldBack) && stream == "stderr" {
            kept.held.extend_from_slice(&data);
        } else {
            self.hand_over(stream, data);
        }
    }

    fn hand_over(&self, stream: &str, data: Vec<u8>) {
        if data.is_empty() || self.quirk.is(Bug::PartialOutputLost) {
            return;
        }
        // Nobody may be listening; the result has it all the same.
        let _ = self.live.send(Live::Output(LiveOutput {
            stream: stream.to_owned(),
            data: Blob(data),
            at_us: 0,
        }));
    }

    /// Decodes as UTF-8 with U+FFFD for what is none, each stream by itself.
    fn decode(&mut self, stream: &'static str, data: &[u8]) -> Vec<u8> {
        let decoder = if self.quirk.is(Bug::SharedDecoder) {
            "stdout"
        } else {
            stream
        };
        let open = &mut self.streams.entry(decoder).or_default().open;
        open.extend_from_slice(data);
        let whole = if self.quirk.is(Bug::DecoderPerFrame) {
            open.len()
        } else {
            open.len() - unfinished(open)
        };
        let rest = open.split_off(whole);
        let text = String::from_utf8_lossy(open).into_owned().into_bytes();
        *open = rest;
        text
    }
}

/// How many bytes at the end begin a character that may still become whole.
fn unfinished(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so three at most can be waiting for the rest.
    (1..=bytes.len().min(3))
        .find(|back| {
            let tail = &bytes[bytes.len() - back..];
            matches!(std::str::from_utf8(tail), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::sync::mpsc;

    fn text_of(frames: &[(&'static str, &[u8])], quirk: Quirk) -> (Vec<u8>, Vec<u8>) {
        let (live, mut handed) = mpsc::unbounded_channel();
        let mut capture = Capture::new(live, OutputForm::Text, &["stdout", "stderr"], quirk);
        for (stream, data) in frames {
            capture.take(Output {
                stream,
                data: data.to_vec(),
            });
        }
        capture.finish(true);
        let mut result = JobResult::default();
        capture.tell(&mut result);
        let mut live_stdout = Vec::new();
        while let Ok(Live::Output(output)) = handed.try_recv() {
            if output.stream == "stdout" {
                live_stdout.extend_from_slice(&output.data);
            }
        }
        let stdout = result.stdout.unwrap().0;
        assert_eq!(stdout, live_stdout);
        (stdout, result.stderr.unwrap().0)
    }

    #[test]
    fn a_character_cut_between_frames_is_whole_with_the_other_stream_between() {
        let frames: [(&str, &[u8]); 4] = [
            ("stdout", b"\xe2\x82"),
            ("stderr", b"\xc3"),
            ("stdout", b"\xac!"),
            ("stderr", b"\xa9"),
        ];
        assert_eq!(
            text_of(&frames, Quirk::default()),
            ("€!".into(), "é".into())
        );
        for bug in [Bug::SharedDecoder, Bug::DecoderPerFrame] {
            assert_ne!(text_of(&frames, Quirk(Some(bug))).0, "€!".as_bytes());
        }
    }

    #[test]
    fn a_character_left_open_is_one_replacement() {
        let frames: [(&str, &[u8]); 1] = [("stdout", b"a\xe2\x82")];
        assert_eq!(text_of(&frames, Quirk::default()).0, "a\u{fffd}".as_bytes());
        assert_eq!(text_of(&frames, Quirk(Some(Bug::OpenTailLost))).0, b"a");
    }

    proptest! {
        #[test]
        fn text_does_not_depend_on_frames(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xe2), Just(0x82), Just(0xac)], 0..60),
            cut in 0usize..60,
        ) {
            let (a, b) = bytes.split_at(cut.min(bytes.len()));
            let (text, _) = text_of(&[("stdout", a), ("stdout", b)], Quirk::default());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes).into_owned().into_bytes());
        }
    }
}
