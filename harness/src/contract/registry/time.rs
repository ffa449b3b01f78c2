//! `time` and `secrets`.

use super::{Requirement, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "time/deadline",
        "With a deadline the call ends soon after it as timed out, whatever trickles, stalls or heartbeats, and keeps the output so far.",
        "A limit for each read alone never ends a trickle (CT08 to CT10, HB01).",
    ),
    must(
        "time/cancel",
        "A cancelled call ends at once in any phase, and connects no more.",
        "A back-off that ignores cancel keeps a dead job alive (HB03).",
    ),
    must(
        "secrets/no-redirect",
        "No redirect is followed to another origin, and no request with the key reaches one.",
        "HTTP libraries drop only the headers they know; `X-Api-Key` is none of them (AR01, AR02).",
    ),
    must(
        "secrets/key",
        "Neither the API key nor the job's environment and stdin stand in any error text, log line or result, process output excepted.",
        "Error texts end in tickets and logs (AR05).",
    ),
    must(
        "secrets/no-provider-text",
        "No text of the provider's error body, reason phrase or headers stands in what is reported.",
        "An error body can echo the request with its secrets (AR05).",
    ),
    should(
        "secrets/responses-unread",
        "The body of an error answer is read in bounded memory and not for ever.",
        "An endless error page takes the client down (HS08, HD01).",
    ),
];
