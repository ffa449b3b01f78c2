//! What was handed over, against what a right client had accepted.

use super::{
    acceptor::{Acceptor, State, place},
    words,
};
use crate::{
    observed::{JobResult, Observed},
    profile::{OutputForm, Profile},
};
use fake_server::wire::StreamName;

/// Output as the client's caller got it.
#[derive(Debug)]
pub(super) struct Handed {
    /// In the result, by stream; absent fields are absent.
    result: [Option<Vec<u8>>; 3],
    /// Live, by stream.
    live: [Vec<u8>; 3],
    /// Something was handed over live.
    any_live: bool,
    form: OutputForm,
    capture: Option<u64>,
}

/// How much must have been handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything that was accepted.
    Whole,
    /// A beginning of it.
    Beginning,
}

/// Handed over and accepted output differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    stream: StreamName,
    live: bool,
    /// How.
    pub(super) difference: Difference,
    expected: Vec<u8>,
    seen: Vec<u8>,
}

/// How they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// More than was accepted.
    Extra,
    /// Less.
    Short,
    /// Something else.
    Other,
}

impl Handed {
    pub(super) fn new(observed: &Observed, result: &JobResult, profile: &Profile) -> Self {
        let mut live: [Vec<u8>; 3] = Default::default();
        for output in &observed.outputs {
            if let Some(stream) = StreamName::from_name(&output.stream) {
                live[place(stream)].extend_from_slice(&output.data);
            }
        }
        let field =
            |blob: &Option<fake_server::wire::Blob>| blob.as_ref().map(|blob| blob.0.clone());
        Self {
            result: [
                field(&result.stdout),
                field(&result.stderr),
                field(&result.pty),
            ],
            any_live: live.iter().any(|bytes| !bytes.is_empty()),
            live,
            form: profile.output,
            capture: profile.max_capture_chars,
        }
    }

    /// Bytes of each stream that the caller has in the end, by either way.
    pub(super) fn lengths(&self) -> [u64; 3] {
        [0, 1, 2].map(|at| {
            let result = self.result[at].as_ref().map_or(0, Vec::len);
            result.max(self.live[at].len()) as u64
        })
    }

    /// Whether it fits a state.
    ///
    /// # Errors
    /// The first stream that does not fit, and how.
    pub(super) fn fits(
        &self,
        acceptor: &Acceptor<'_>,
        state: &State,
        extent: Extent,
    ) -> Result<(), Box<Mismatch>> {
        for stream in [StreamName::Stdout, StreamName::Stderr, StreamName::Pty] {
            let accepted = acceptor.arena.output(state.tip, stream);
            let accepted = text_or_bytes(&accepted, self.form);
            let at = place(stream);
            let empty = Vec::new();
            if self.any_live {
                self.stream_fits(&accepted, &self.live[at], extent, false)
                    .map_err(|difference| {
                        mismatch(stream, true, difference, &accepted, &self.live[at])
                    })?;
            }
            let seen = match (&self.result[at], extent) {
                (Some(seen), _) => seen,
                // Absent: what was handed over live is all there is.
                (None, Extent::Whole) if !self.any_live => &empty,
                (None, _) => continue,
            };
            let tail_allowed = self.any_live || accepted.is_empty();
            self.stream_fits(&accepted, seen, extent, tail_allowed)
                .map_err(|difference| mismatch(stream, false, difference, &accepted, seen))?;
        }
        Ok(())
    }

    fn stream_fits(
        &self,
        accepted: &[u8],
        seen: &[u8],
        extent: Extent,
        tail_allowed: bool,
    ) -> Result<(), Difference> {
        let fits = match extent {
            Extent::Whole => accepted == seen,
            Extent::Beginning => accepted.starts_with(seen) || self.is_cut_text(accepted, seen),
        };
        if fits || (tail_allowed && self.is_tail(accepted, seen, extent)) {
            return Ok(());
        }
        Err(
            if seen.starts_with(accepted) || seen.len() > accepted.len() {
                Difference::Extra
            } else if accepted.starts_with(seen) {
                Difference::Short
            } else {
                Difference::Other
            },
        )
    }

    /// A beginning whose last character was left open and shown as U+FFFD.
    fn is_cut_text(&self, accepted: &[u8], seen: &[u8]) -> bool {
        self.form == OutputForm::Text
            && seen
                .strip_suffix("\u{fffd}".as_bytes())
                .is_some_and(|seen| accepted.starts_with(seen))
    }

    /// The tail that a client with a capture limit keeps.
    fn is_tail(&self, accepted: &[u8], seen: &[u8], extent: Extent) -> bool {
        let Some(limit) = self.capture else {
            return false;
        };
        let text = String::from_utf8_lossy(seen);
        let counts = [
            text.chars().count(),
            text.encode_utf16().count(),
            seen.len(),
        ];
        let full = counts
            .iter()
            .any(|count| u64::try_from(*count).is_ok_and(|count| count == limit));
        full && match extent {
            Extent::Whole => accepted.ends_with(seen),
            Extent::Beginning => {
                seen.is_empty() || accepted.windows(seen.len()).any(|part| part == seen)
            }
        }
    }

    /// Whether a state's amounts can fit the whole output at all (cheap, before comparing bytes).
    pub(super) fn may_be_whole(&self, acceptor: &Acceptor<'_>, state: &State) -> bool {
        if self.form == OutputForm::Text || self.capture.is_some() {
            return true;
        }
        let lengths = acceptor.arena.lengths(state.tip);
        (0..3).all(|at| {
            self.result[at]
                .as_ref()
                .is_none_or(|seen| seen.len() as u64 == lengths[at])
        })
    }
}

impl Mismatch {
    /// What would have been right.
    pub(super) fn expected(&self, extent: Extent) -> String {
        let how = match extent {
            Extent::Whole => "",
            Extent::Beginning => "at most ",
        };
        format!(
            "{}: {how}{}",
            self.stream,
            words::bytes(around(&self.expected, &self.seen))
        )
    }

    /// What was seen.
    pub(super) fn seen(&self) -> String {
        let way = if self.live { " handed over live" } else { "" };
        let at = common(&self.expected, &self.seen);
        format!(
            "{}{way}: {} (they part at byte {at})",
            self.stream,
            words::bytes(around(&self.seen, &self.expected)),
        )
    }

    /// Requirements that it may be counted under, given what was put to the test.
    pub(super) fn candidates(&self, touched: &[&'static str]) -> Vec<&'static str> {
        let (sure, possible): (&[&str], &[&str]) = match self.difference {
            Difference::Extra => (
                &["sequence/duplicate", "exit/first-counts"],
                &[
                    "sequence/gap",
                    "frames/invalid",
                    "frames/error-frame",
                    "stream/framing",
                    "stream/status-decides",
                    "stream/resume-cursor",
                    "stream/drop-is-not-the-end",
                    "data/split-characters",
                    "data/streams",
                    "frames/any-segmentation",
                ],
            ),
            Difference::Short => (
                &[],
                &[
                    "frames/last-line",
                    "frames/long-line",
                    "data/split-characters",
                    "data/streams",
                    "frames/any-segmentation",
                    "frames/lines",
                    "data/base64",
                    "stream/resume-cursor",
                    "stream/drop-is-not-the-end",
                ],
            ),
            Difference::Other => (
                &[],
                &[
                    "data/split-characters",
                    "data/base64",
                    "data/streams",
                    "frames/any-segmentation",
                    "frames/lines",
                    "frames/last-line",
                    "sequence/duplicate",
                    "stream/resume-cursor",
                ],
            ),
        };
        let was_touched = |id: &&str| touched.contains(id);
        let mut candidates: Vec<&'static str> = Vec::new();
        candidates.extend(sure.iter().copied().filter(was_touched));
        candidates.push("data/exact");
        candidates.extend(possible.iter().copied().filter(was_touched));
        candidates
    }
}

fn mismatch(
    stream: StreamName,
    live: bool,
    difference: Difference,
    expected: &[u8],
    seen: &[u8],
) -> Box<Mismatch> {
    Box::new(Mismatch {
        stream,
        live,
        difference,
        expected: expected.to_vec(),
        seen: seen.to_vec(),
    })
}

fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Of long bytes the part around the place where they part; short ones whole.
fn around<'b>(bytes: &'b [u8], other: &[u8]) -> &'b [u8] {
    const BEFORE: usize = 16;
    let at = common(bytes, other);
    if at <= BEFORE {
        bytes
    } else {
        &bytes[at - BEFORE..]
    }
}

/// Bytes as a client with this form hands them over.
pub(super) fn text_or_bytes(bytes: &[u8], form: OutputForm) -> Vec<u8> {
    match form {
        OutputForm::Bytes => bytes.to_vec(),
        OutputForm::Text => String::from_utf8_lossy(bytes).into_owned().into_bytes(),
    }
}
