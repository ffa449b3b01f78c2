//! How an answer's bytes are cut into writes and HTTP chunks, and how HTTP says where it ends.

use super::super::dice::Dice;
use fake_server::script::{
    expand::true_line,
    model::{Behaviour, Chunks, Coding, Content, Encoding, End, FrameRef, Segments, Step, Truth},
};

/// Bytes that are still written one at a time: a busy reader's system acknowledges each after 40 ms.
const BYTEWISE: usize = 160;

/// How a connection breaks.
pub(super) fn broken(dice: &mut Dice<'_>) -> End {
    dice.weighted(&[
        (30, End::Fin),
        (30, End::Reset),
        (10, End::TruncatedChunk),
        (10, End::BadChunk),
        (4, End::ResetNow),
    ])
}

/// How an answer ends in the middle of things: as HTTP ends it, or broken.
pub(super) fn any_end(dice: &mut Dice<'_>) -> End {
    if dice.percent(45) {
        End::Chunk
    } else {
        broken(dice)
    }
}

/// An answer of these steps, cut one way or another. The last step is its end.
pub(super) fn framed(dice: &mut Dice<'_>, truth: &Truth, steps: Vec<Step>) -> Behaviour {
    let end = match steps.last() {
        Some(Step::End(end)) => *end,
        _ => End::Hold,
    };
    let mut behaviour = Behaviour {
        delay_ms: dice.percent(4).then(|| dice.between(1, 25)),
        ..Behaviour::default()
    };
    match dice.below(100) {
        0..=3 if matches!(end, End::Chunk | End::Fin | End::Reset) => behaviour.http10 = true,
        4 if end == End::Chunk => behaviour.transfer_encoding_also = true,
        5 if end == End::Fin => behaviour.content_length = Some(10),
        6 if end == End::Chunk => {
            behaviour.encoding = Some(Encoding {
                coding: Coding::Gzip,
                flush_frames: dice.percent(50),
                cut: None,
                lie: false,
                extra: 0,
            });
        }
        7..=9 => {
            let media = dice.one_of(&[
                "application/x-ndjson; charset=utf-8",
                "Application/X-NDJSON",
                "application/octet-stream",
                "text/plain",
            ]);
            behaviour.headers = vec![("content-type".to_owned(), vec![media.to_owned()])];
        }
        _ => {}
    }
    behaviour.segments = segments(dice, truth, &steps);
    if !behaviour.http10 {
        behaviour.chunks = chunks(dice);
    }
    behaviour.content = Content::Stream(steps);
    behaviour
}

fn segments(dice: &mut Dice<'_>, truth: &Truth, steps: &[Step]) -> Segments {
    match dice.below(100) {
        0..=9 if is_short(truth, steps) && fits_bytewise(truth) => Segments::Byte,
        10..=29 => Segments::Sizes(sizes(dice)),
        30..=39 => Segments::All,
        _ => Segments::Frame,
    }
}

fn chunks(dice: &mut Dice<'_>) -> Chunks {
    match dice.below(100) {
        0..=11 => Chunks::One,
        12..=19 => Chunks::Step,
        20..=34 => Chunks::Sizes(sizes(dice)),
        _ => Chunks::Frame,
    }
}

/// A few sizes, used round and round: around a line's length, so that cuts fall anywhere in it.
fn sizes(dice: &mut Dice<'_>) -> Vec<usize> {
    (0..dice.length(1, 3))
        .map(|_| {
            let most = dice.one_of(&[120, 300, 2000]);
            dice.length(20, most)
        })
        .collect()
}

/// Whether no frame is too long for a file to say that it is written a byte at a time, met or not.
fn fits_bytewise(truth: &Truth) -> bool {
    const LONGEST: usize = 40_000;
    truth.frames.iter().all(|frame| frame.data.len() < LONGEST)
}

/// Whether an answer of these steps is short, whatever the cursor.
fn is_short(truth: &Truth, steps: &[Step]) -> bool {
    let one = |frame| true_line(truth, frame).map_or(0, |line| line.len());
    let whole: usize = truth
        .frames
        .iter()
        .map(|frame| 80 + frame.data.len().div_ceil(3) * 4)
        .sum();
    let length: usize = steps
        .iter()
        .map(|step| match step {
            Step::Send(_) => whole,
            Step::SendOne(frame) | Step::Part { frame, .. } => one(*frame),
            Step::Edited { frame, .. } => one(*frame) + 200,
            Step::Trickle { .. } => BYTEWISE,
            Step::Raw { bytes, .. } => bytes.len(),
            Step::Frame { is, .. } => 100 + is.map_or(0, one),
            Step::Heartbeat(count) => usize::try_from(count * 21).unwrap_or(BYTEWISE),
            _ => 100,
        })
        .sum();
    length <= BYTEWISE && one(FrameRef::Exit) <= BYTEWISE
}
