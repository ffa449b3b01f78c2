//! Output that is not what it should be: what differs, and under which rule.

use super::{Extent, words};
use fake_server::wire::StreamName;

/// Handed over and accepted output differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judge) struct Mismatch {
    stream: StreamName,
    live: bool,
    /// How.
    pub(in crate::judge) difference: Difference,
    expected: Vec<u8>,
    seen: Vec<u8>,
}

/// How they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum Difference {
    /// More than was accepted.
    Extra,
    /// Less.
    Short,
    /// Something else.
    Other,
}

impl Mismatch {
    /// What would have been right.
    pub(in crate::judge) fn expected(&self, extent: Extent) -> String {
        if self.expected.is_empty() {
            return format!("nothing on {}", self.stream);
        }
        let more = match extent {
            Extent::Whole => "",
            Extent::Beginning => " at most",
        };
        format!(
            "{} {}{more}",
            self.stream,
            around(&self.expected, &self.seen)
        )
    }

    /// What was seen.
    pub(in crate::judge) fn seen(&self) -> String {
        let way = if self.live { " (live)" } else { "" };
        let at = common(&self.expected, &self.seen);
        let (expected, seen) = (self.expected.len(), self.seen.len());
        let difference = if at == seen {
            format!("{} missing", words::size((expected - seen) as u64))
        } else if at == expected {
            format!("{} too many", words::size((seen - expected) as u64))
        } else if at == 0 {
            "wrong from the start".to_owned()
        } else {
            format!("wrong after the first {}", words::size(at as u64))
        };
        if self.seen.is_empty() {
            return format!("nothing on {}{way}: {difference}", self.stream);
        }
        format!(
            "{}{way} {}: {difference}",
            self.stream,
            around(&self.seen, &self.expected),
        )
    }

    /// Requirements that it may be counted under, given what was put to the test.
    pub(in crate::judge) fn candidates(&self, touched: &[&'static str]) -> Vec<&'static str> {
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

pub(super) fn mismatch(
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

/// Of long bytes the part around the place where they part, in quotes; short ones whole.
fn around(bytes: &[u8], other: &[u8]) -> String {
    const BEFORE: usize = 16;
    let at = common(bytes, other);
    if at <= BEFORE {
        words::bytes(bytes)
    } else {
        format!("…{}", words::bytes(&bytes[at - BEFORE..]))
    }
}
