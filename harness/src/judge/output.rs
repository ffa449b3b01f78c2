//! What was handed over, against what a right client had accepted.

mod mismatch;

use super::{
    acceptor::{Acceptor, State, place},
    words,
};
use crate::{
    observed::{JobResult, Observed},
    profile::{OutputForm, Profile},
};
use fake_server::wire::StreamName;
use mismatch::mismatch;
pub(super) use mismatch::{Difference, Mismatch};

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

/// Bytes as a client with this form hands them over.
pub(super) fn text_or_bytes(bytes: &[u8], form: OutputForm) -> Vec<u8> {
    match form {
        OutputForm::Bytes => bytes.to_vec(),
        OutputForm::Text => String::from_utf8_lossy(bytes).into_owned().into_bytes(),
    }
}
