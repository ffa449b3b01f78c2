//! A healthy `connect`, piece by piece as it is asked for: a stream of a million frames, or a thousand
//! streams of one, cost a place in the truth and nothing else.

use super::{
    expand::{Piece, true_line},
    model::{End, FrameRef, Truth, TruthExit},
};
use crate::{wire::frame, wirelog::Payload};
use std::{ops::Deref, sync::Arc};

/// The pieces of a healthy stream. Clones go on from the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Faithful<T = Arc<Truth>> {
    truth: T,
    place: Place,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The quiet before a frame, by index.
    Before(usize),
    /// That frame.
    Frame(usize),
    /// The exit line.
    Exit,
    /// The zero chunk.
    End,
    /// A process that never exits: heartbeats.
    Beats,
    /// Nothing.
    Over,
}

impl<T: Deref<Target = Truth>> Faithful<T> {
    /// What is left after a cursor.
    #[must_use]
    pub fn new(truth: T, after: u64) -> Self {
        let place = truth.frames.partition_point(|frame| frame.seq <= after);
        Self {
            truth,
            place: Place::Before(place),
        }
    }

    fn bytes(what: Payload, bytes: Vec<u8>) -> Piece {
        Piece::Bytes {
            step: 0,
            what,
            bytes,
        }
    }
}

impl<T: Deref<Target = Truth>> Iterator for Faithful<T> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            match self.place {
                Place::Before(index) => {
                    let (next, quiet_ms) = match (self.truth.frames.get(index), &self.truth.exit) {
                        (Some(frame), _) => (Place::Frame(index), frame.pause_ms),
                        (None, TruthExit::Status { pause_ms, .. }) => (Place::Exit, *pause_ms),
                        (None, TruthExit::Never) => {
                            self.place = Place::Beats;
                            return Some(Piece::Pause {
                                ms: self.truth.heartbeat_ms,
                                heartbeats: false,
                            });
                        }
                    };
                    self.place = next;
                    if self.truth.live && quiet_ms > 0 {
                        return Some(Piece::Pause {
                            ms: quiet_ms,
                            heartbeats: true,
                        });
                    }
                }
                Place::Frame(index) => {
                    self.place = Place::Before(index + 1);
                    let frame = self.truth.frames.get(index)?;
                    return Some(Self::bytes(
                        Payload::True(FrameRef::Seq(frame.seq)),
                        frame::data_line(frame.seq, frame.stream, &frame.data),
                    ));
                }
                Place::Exit => {
                    self.place = Place::End;
                    let line = true_line(&self.truth, FrameRef::Exit)?;
                    return Some(Self::bytes(Payload::True(FrameRef::Exit), line));
                }
                Place::End => {
                    self.place = Place::Over;
                    return Some(Piece::End(End::Chunk));
                }
                Place::Beats => {
                    self.place = Place::Over;
                    return Some(Piece::Every {
                        every_ms: self.truth.heartbeat_ms,
                        pieces: vec![Self::bytes(
                            Payload::Heartbeat,
                            frame::HEARTBEAT_LINE.to_vec(),
                        )],
                    });
                }
                Place::Over => return None,
            }
        }
    }
}
