//! `raw`: op `connect`, where the client hands over events and integrity is its caller's.

use super::{Requirement, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "raw/after-param",
        "The cursor asked for is sent once, as a plain integer, 0 included.",
        "A server may give a missing cursor another meaning (SQ08).",
    ),
    must(
        "raw/faithful",
        "Each event is handed over once, in order, with its fields unchanged: number, stream, bytes, status.",
        "The caller can only check what it is given (SQ06, B608).",
    ),
    must(
        "raw/segmentation",
        "The events do not depend on how the bytes were cut or joined.",
        "One read is not one frame (SG01 to SG03).",
    ),
    must(
        "raw/lines",
        "Lines end at LF only, noise between them is harmless, and a whole last line without LF is not lost.",
        "Line readers that split at U+2028 or drop the last line break valid frames (SG06, SG07, SG09).",
    ),
    must(
        "raw/base64-visible",
        "Bad base64 is an error or is told apart from data, and never becomes other bytes silently.",
        "Lenient decoders turn damaged text into other bytes (B602 to B607).",
    ),
    must(
        "raw/invalid-visible",
        "A line that is no JSON object is an error, not skipped and not an end.",
        "The caller cannot see what was skipped (FJ01, BE05).",
    ),
    should(
        "raw/unknown-visible",
        "An unknown event is handed over as such or is an error, and does not end the stream as if it were over.",
        "The caller decides what matters (FJ02, BE04).",
    ),
    must(
        "raw/exit-visible",
        "Exit code (0 included), signal and their absence are each visible as what they are.",
        "A missing status that reads as 0 turns a failed job green (EX01 to EX04).",
    ),
    must(
        "raw/error-frame-visible",
        "An error frame is visible as an error.",
        "Lost output must not look like a quiet process (FJ07, JR02).",
    ),
    must(
        "raw/truncation-visible",
        "An end without exit can be told from one with: a broken transport is an error, and a clean end shows no exit event.",
        "The caller must know whether to reconnect (CT03 to CT05).",
    ),
    must(
        "raw/status-visible",
        "An answer that is not 2xx is an error with its status, its body is never read as events, and 410 is told apart.",
        "The caller's reconnect depends on the status (HS01 to HS08, JR01).",
    ),
    must(
        "raw/no-hidden-retry",
        "A broken stream is not silently started again.",
        "A restart behind the caller's back delivers twice (CT03, SQ04).",
    ),
    must(
        "raw/closed-on-drop",
        "When the caller stops early, the connection is closed.",
        "Forgotten connections use up sockets (CO04).",
    ),
    should(
        "raw/long-stream",
        "A stream with heartbeats outlives the client's ordinary request timeout.",
        "A long build is longer than a request (HB02).",
    ),
    should(
        "raw/combined",
        "Heartbeats and unknown fields never swallow the data of other events.",
        "A decoder that looks for one key drops the rest (HB01, FJ04).",
    ),
];
