//! What a process writes: bytes of every kind, cut into frames anywhere.

use super::super::{Profile, dice::Dice};
use fake_server::wire::StreamName;

/// Characters of one to four bytes, marks that join, separators that only Unicode calls lines.
const CHARACTERS: &[&str] = &[
    "a",
    "Z",
    "7",
    " ",
    "\n",
    "é",
    "ß",
    "€",
    "日",
    "本",
    "한",
    "𝄞",
    "🎉",
    "a\u{301}",
    "👩\u{200d}👧",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{feff}",
    "\u{fffd}",
];

/// Output that has fooled clients: escapes, control bytes, frames inside frames, bytes that are no text.
const ODD: &[&[u8]] = &[
    b"\0",
    b"\r\n",
    b"\r",
    b"\n\n\n",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"\x08\x7f",
    b"\xff\xfe",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x8e",
    b"\"\\\"",
    b"{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n",
    b"{\"type\":\"error\",\"error\":\"output_offset_expired\"}\n",
    b"data: {}\n\n",
    b"0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"{api-key}{canary}{n}",
    b"exit status 1\n",
];

/// The next frames' bytes: one frame mostly, several where a text is cut.
pub(super) fn next(
    dice: &mut Dice<'_>,
    profile: Profile,
    number: usize,
) -> Vec<(StreamName, Vec<u8>)> {
    #[derive(Clone, Copy)]
    enum Kind {
        Line,
        CutText,
        Any,
        Odd,
        Empty,
        Large,
    }
    let large = match profile {
        Profile::Quick => 3,
        Profile::Deep => 40,
    };
    let kind = dice.weighted(&[
        (450, Kind::Line),
        (200, Kind::CutText),
        (150, Kind::Any),
        (120, Kind::Odd),
        (60, Kind::Empty),
        (large, Kind::Large),
    ]);
    let stream = stream(dice);
    match kind {
        Kind::Line => vec![(stream, format!("line {number}\n").into_bytes())],
        Kind::CutText => cut_text(dice, stream),
        Kind::Any => {
            let length = dice.length(1, 40);
            vec![(stream, dice.bytes(length))]
        }
        Kind::Odd => vec![(stream, dice.one_of(ODD).to_vec())],
        Kind::Empty => vec![(stream, Vec::new())],
        Kind::Large => vec![(stream, large_one(dice, profile))],
    }
}

fn stream(dice: &mut Dice<'_>) -> StreamName {
    dice.weighted(&[(7, StreamName::Stdout), (3, StreamName::Stderr)])
}

const fn other(stream: StreamName) -> StreamName {
    match stream {
        StreamName::Stderr => StreamName::Stdout,
        _ => StreamName::Stderr,
    }
}

/// A text of wide characters, cut at any byte, perhaps with the other stream between the pieces.
fn cut_text(dice: &mut Dice<'_>, stream: StreamName) -> Vec<(StreamName, Vec<u8>)> {
    let count = dice.length(1, 8);
    let text: String = (0..count).map(|_| dice.one_of(CHARACTERS)).collect();
    let mut rest = text.into_bytes();
    let mut frames = Vec::new();
    for _ in 0..dice.length(1, 3) {
        let at = dice.length(0, rest.len());
        let tail = rest.split_off(at);
        frames.push((stream, std::mem::replace(&mut rest, tail)));
        if dice.percent(25) {
            frames.push((other(stream), "é|".into()));
        }
    }
    frames.push((stream, rest));
    frames
}

/// Around the sizes at which buffers end: a kilobyte, a pipe's 4 KiB, a writer's 64 KiB.
fn large_one(dice: &mut Dice<'_>, profile: Profile) -> Vec<u8> {
    let around = match profile {
        Profile::Quick => dice.weighted(&[(20, 1000), (20, 4096), (20, 16_384), (3, 65_536)]),
        Profile::Deep => dice.one_of(&[1000, 4096, 16_384, 49_152, 65_536]),
    };
    let length = dice.length(around - 3, around + 3);
    let byte = dice.one_of(b"x\n\xe2\0");
    vec![byte; length]
}
