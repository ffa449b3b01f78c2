//! `frames` and `sequence`: lines, frames and their numbers.

use super::{Requirement, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "frames/any-segmentation",
        "The result does not depend on how the bytes were cut into reads, chunks and packets.",
        "One read is not one frame; cuts fall inside lines, characters, escapes and chunk headers (SG01 to SG03, SG10).",
    ),
    must(
        "frames/lines",
        "Lines end at LF only, so that CR before it, blank lines and JSON white space are harmless and Unicode line separators inside a string split nothing.",
        "Line readers that split at U+2028 or choke on CR break valid frames (SG06, SG09).",
    ),
    must(
        "frames/last-line",
        "A whole object at the end of the body without LF is used or fetched again, and a partial one is dropped without moving the cursor.",
        "The unterminated last line is lost or half parsed (SG07, SG08).",
    ),
    must(
        "frames/long-line",
        "A line of up to the promised length works, and a longer one fails as `frame-too-large` in bounded memory, also if LF never comes.",
        "Short buffers cut real output and unbounded ones exhaust memory (SG04, SG05).",
    ),
    must(
        "frames/invalid",
        "A line that is no JSON object fails the call as `frame-invalid`, and nothing after it counts.",
        "Skipping a malformed line loses output silently (FJ01, BE05).",
    ),
    must(
        "frames/unknown-type",
        "A frame of an unknown, missing or misspelt type fails the call as `unknown-event`, or is skipped without moving the cursor by a client that declares it.",
        "An event that is not understood may be the one that matters (FJ02, BE04, HD02).",
    ),
    must(
        "frames/extra-fields",
        "Fields that are not known are ignored, also when they are large or nested at least 64 levels deep.",
        "Servers add fields; a strict decoder breaks on the next release (FJ04).",
    ),
    should(
        "frames/duplicate-keys",
        "A frame with the same key twice is refused, or the last one wins, the same everywhere.",
        "Two readers of one frame must not see two things (FJ05).",
    ),
    must(
        "frames/heartbeat",
        "A heartbeat delivers nothing, moves no cursor, renews no budget and extends no deadline.",
        "Heartbeats keep a dead call alive for ever (HB01, HB02, CT07).",
    ),
    must(
        "frames/error-frame",
        "An error frame ends the call at once as a failure, and nothing that follows rescues it or delays it.",
        "Clients log the error, go on, and report the exit 0 that follows (FJ07).",
    ),
    must(
        "sequence/valid",
        "A sequence number is an integer from 1 to 2^53-1, and anything else fails as `sequence-invalid` and is never coerced or rounded.",
        "Floats round large numbers and text turns into numbers (SQ06, FJ03).",
    ),
    must(
        "sequence/duplicate",
        "A data frame whose number is not above the cursor delivers nothing.",
        "A server replays after a reconnect, and output would appear twice (SQ02 to SQ04).",
    ),
    must(
        "sequence/gap",
        "A data frame whose number leaves a hole fails the call as `sequence-gap`, and nothing at or after it is delivered.",
        "A silent hole is lost output (SQ01, SQ09, JR03).",
    ),
    must(
        "sequence/only-data",
        "Only an accepted data frame moves the cursor.",
        "A cursor taken from a rejected frame or an exit skips output on reconnect (SQ07).",
    ),
];
