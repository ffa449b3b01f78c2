//! `data`, `exit` and `journal`: what is handed over, how it ended, what was lost.

use super::{Requirement, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "data/base64",
        "`data_base64` is standard, padded base64 in a string, and anything else fails as `output-invalid`.",
        "Lenient decoders turn damaged text into other bytes (B601 to B607).",
    ),
    must(
        "data/exact",
        "Every byte arrives as it was sent, once and in order, or as its exact UTF-8 decoding where the client promises text.",
        "NUL, invalid UTF-8 and terminal escapes are output too (B608, CO03).",
    ),
    must(
        "data/split-characters",
        "A character that is cut between frames, across the other stream or across a reconnect costs no byte.",
        "Decoding frame by frame puts replacement characters into good text (B609).",
    ),
    must(
        "data/streams",
        "stdout and stderr stay apart and each in order, `pty` belongs to a terminal, and any other stream name fails as `output-invalid`.",
        "Output under a wrong name misleads, and a dropped name loses it (FJ06).",
    ),
    should(
        "data/order",
        "Output that is handed over live keeps the order of the frames across streams.",
        "A warning printed after the line it explains is useless (CO02).",
    ),
    should(
        "data/live",
        "A client that claims live output hands each frame over as it arrives.",
        "Buffering until the end hides a build that hangs (HB01, SG10).",
    ),
    must(
        "exit/code",
        "An exit code from 0 to 255 is reported as it is.",
        "Zero is read as missing, 255 becomes -1, large codes wrap (EX01).",
    ),
    must(
        "exit/signal",
        "An end by signal is reported by the signal's name, is no success, and no code is invented for it.",
        "A killed process reported as 0 or 137 hides what happened (EX04).",
    ),
    must(
        "exit/missing",
        "An exit frame with neither a valid code nor a valid signal fails as `exit-status-missing`, without a reconnect to look for another.",
        "A missing status that defaults to 0 turns a failed job green (EX02, EX03).",
    ),
    must(
        "exit/first-counts",
        "The first exit frame stands, and nothing after it is delivered.",
        "A second exit or late data contradicts what was reported (EX05).",
    ),
    must(
        "journal/410",
        "A 410 on connect fails as `output-evicted` at once, at any point, whatever its headers say.",
        "What is evicted does not come back by asking again (JR01).",
    ),
    must(
        "journal/expired-frame",
        "An error frame `output_offset_expired` fails as `output-evicted` and is never answered by reconnecting at the oldest available number.",
        "Jumping forward hides the hole (JR02).",
    ),
    must(
        "journal/boundary",
        "A journal whose oldest frame is the next one is whole, and one whose oldest frame is later has lost output.",
        "Off by one either loses a frame or refuses a good stream (JR03, JR04).",
    ),
];
