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
    pub(in crate::judge) fn seen(&self) -> String {
        let way = if self.live { " handed over live" } else { "" };
        let at = common(&self.expected, &self.seen);
        format!(
            "{}{way}: {} (they part at byte {at})",
            self.stream,
            words::bytes(around(&self.seen, &self.expected)),
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
