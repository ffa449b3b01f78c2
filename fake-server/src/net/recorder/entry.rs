//! What left, and where on its connection: as it is kept, and as the log shows it.

use super::super::lines::Lines;
use crate::{
    script::model::{End, FrameRef, Until},
    wire::Blob,
    wirelog::{AnswerEnd, Payload, Sent},
};
use bytes::Bytes;

/// The place of an entry that has not left yet: beyond every acknowledgement.
pub(super) const NOWHERE: u64 = u64::MAX;

/// Everything that left in one exchange.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// An ordinary answer: most exchanges have one and nothing else, and there may be millions of them.
    pub(super) ordinary: Option<Ordinary>,
    /// Anything else.
    entries: Vec<Entry>,
}

/// An ordinary answer, whole.
#[derive(Debug)]
pub(super) struct Ordinary {
    pub(super) status: u16,
    pub(super) reason: &'static str,
    /// None where there was no room for them.
    pub(super) headers: Lines,
    /// The body, or what there was room for.
    pub(super) body: Bytes,
    /// There is a body.
    pub(super) has_body: bool,
    /// Where it ended on the connection, once it has left.
    pub(super) place: Option<u64>,
}

/// Something that left, and where on the connection.
#[derive(Debug)]
pub(super) enum Entry {
    Head {
        http10: bool,
        status: u16,
        reason: String,
        headers: Vec<(String, String)>,
    },
    Frames {
        from: u64,
        /// Last seq and place of each write.
        marks: Vec<(u64, u64)>,
    },
    Bytes {
        what: Payload,
        bytes: Vec<u8>,
        framed: bool,
        /// Length so far (of what was kept) and place of each write.
        marks: Vec<(usize, u64)>,
    },
    Waited(Until),
    End {
        how: AnswerEnd,
        place: u64,
        /// Known once and for all (a reset); else it follows from the place.
        acked: Option<bool>,
    },
}

impl Gone {
    /// The entries, to be gone on with.
    pub(super) fn entries(&mut self) -> &mut Vec<Entry> {
        if let Some(answer) = self.ordinary.take() {
            self.entries = answer.entries();
        }
        &mut self.entries
    }

    /// The ends that stand in it.
    pub(super) fn ends(&self) -> impl Iterator<Item = AnswerEnd> {
        let ordinary = self.ordinary.as_ref().and_then(|answer| answer.place);
        let said = self.entries.iter().filter_map(|entry| match entry {
            Entry::End { how, .. } => Some(*how),
            _ => None,
        });
        said.chain(ordinary.map(|_| AnswerEnd::Complete))
    }

    /// Data frames that the peer has acknowledged.
    pub(super) fn frames_acked(&self, acked: u64) -> u64 {
        self.entries
            .iter()
            .map(|entry| entry.frames_acked(acked))
            .sum()
    }

    /// As the log shows it.
    pub(super) fn show(&self, acked_place: u64) -> Vec<Sent> {
        let ordinary = self.ordinary.as_ref().map(Ordinary::entries);
        let entries = ordinary.as_ref().unwrap_or(&self.entries);
        let mut shown = Vec::with_capacity(entries.len());
        for entry in entries {
            entry.show(acked_place, &mut shown);
        }
        shown
    }
}

impl Ordinary {
    fn entries(&self) -> Vec<Entry> {
        let mut entries = vec![Entry::Head {
            http10: false,
            status: self.status,
            reason: self.reason.to_owned(),
            headers: self.headers.shown(),
        }];
        if self.has_body {
            entries.push(Entry::Bytes {
                what: Payload::Plain,
                bytes: self.body.to_vec(),
                framed: true,
                marks: vec![(self.body.len(), self.place.unwrap_or(NOWHERE))],
            });
        }
        if let Some(place) = self.place {
            entries.push(Entry::End {
                how: AnswerEnd::Complete,
                place,
                acked: None,
            });
        }
        entries
    }
}

pub(super) const fn is_hold(how: AnswerEnd) -> bool {
    matches!(how, AnswerEnd::Scripted(End::Hold))
}

impl Entry {
    /// Data frames in it that the peer has acknowledged.
    fn frames_acked(&self, acked: u64) -> u64 {
        match self {
            Self::Frames { from, marks } => arrived(marks, acked).map_or(0, |to| to + 1 - from),
            Self::Bytes { what, marks, .. } => {
                let is_frame = matches!(
                    what,
                    Payload::True(FrameRef::Seq(_))
                        | Payload::Edited(FrameRef::Seq(_))
                        | Payload::Forged(Some(FrameRef::Seq(_)))
                        | Payload::Raw(Some(FrameRef::Seq(_)))
                );
                u64::from(is_frame && marks.iter().all(|(_, place)| *place <= acked))
            }
            _ => 0,
        }
    }

    /// The entry as the log shows it: in two where only the beginning was acknowledged.
    fn show(&self, acked_place: u64, out: &mut Vec<Sent>) {
        match self {
            Self::Head {
                http10,
                status,
                reason,
                headers,
            } => out.push(Sent::Head {
                http10: *http10,
                status: *status,
                reason: reason.clone(),
                headers: headers.clone(),
            }),
            Self::Frames { from, marks } => {
                let last = marks.last().map_or(*from, |(to, _)| *to);
                let arrived = arrived(marks, acked_place);
                if let Some(to) = arrived {
                    let acked = true;
                    out.push(Sent::Frames {
                        from: *from,
                        to,
                        acked,
                    });
                }
                let from = arrived.map_or(*from, |to| to + 1);
                if from <= last {
                    out.push(Sent::Frames {
                        from,
                        to: last,
                        acked: false,
                    });
                }
            }
            Self::Bytes {
                what,
                bytes,
                framed,
                marks,
            } => {
                let arrived = arrived(marks, acked_place);
                let body = |bytes: &[u8], acked| Sent::Body {
                    what: *what,
                    bytes: Blob::from(bytes),
                    framed: *framed,
                    acked,
                };
                match arrived {
                    None => out.push(body(bytes, false)),
                    Some(all) if all == bytes.len() => out.push(body(bytes, true)),
                    Some(some) => {
                        out.push(body(&bytes[..some], true));
                        out.push(body(&bytes[some..], false));
                    }
                }
            }
            Self::Waited(until) => out.push(Sent::Waited(*until)),
            Self::End { how, place, acked } => out.push(Sent::End {
                how: *how,
                acked: acked.unwrap_or(*place <= acked_place),
            }),
        }
    }
}

/// The last mark that lies within what was acknowledged.
fn arrived<T: Copy>(marks: &[(T, u64)], acked: u64) -> Option<T> {
    marks
        .iter()
        .rev()
        .find(|(_, place)| *place <= acked)
        .map(|(mark, _)| *mark)
}
