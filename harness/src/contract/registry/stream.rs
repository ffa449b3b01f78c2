//! `stream`: connecting and reconnecting.

use super::{Requirement, may, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "stream/first-cursor",
        "The first connect carries the cursor it starts from (`after=0` unless asked otherwise) exactly once, as a plain integer.",
        "A server may give a missing cursor another meaning, such as live output only (SQ08).",
    ),
    must(
        "stream/resume-cursor",
        "Every later connect carries `after=` the number of the last data frame that was accepted, also after a connection that brought nothing new.",
        "A stale or skipped cursor repeats or loses output (SQ04, SQ08, CT06).",
    ),
    must(
        "stream/authenticated",
        "Every request carries the API key in `X-Api-Key`, reconnects included, and no other origin ever gets it.",
        "A key lost on reconnect breaks the stream, and a key sent elsewhere is stolen (AR01, AR03).",
    ),
    must(
        "stream/retry-transient",
        "A connect that fails by transport, by a 5xx or by 429 is tried again while the budget lasts.",
        "A proxy restarts or a rate limit strikes in every long run (HS01, HS03, CT01, CT02).",
    ),
    must(
        "stream/retry-budget",
        "Without progress there are at most as many connects as the client promises, and then the call fails.",
        "Endless reconnecting hides a dead process and hammers the server (HS02, CT07).",
    ),
    may(
        "stream/progress-renews",
        "Accepted data renews the retry budget or does not, as the client's profile says, and heartbeats and duplicates never do.",
        "A budget that heartbeats renew is no budget (CT06, CT07).",
    ),
    must(
        "stream/retry-delay",
        "Two connects are at least the promised delay apart, counted from the server's last byte of one to the request of the next.",
        "A hot loop of reconnects takes a struggling server down (HB04, CT01).",
    ),
    may(
        "stream/retry-after",
        "A Retry-After header may lengthen the wait but never shortens it, and an absurd value breaks nothing.",
        "Past dates, negative numbers and huge values have crashed clients or frozen them (HD06).",
    ),
    must(
        "stream/permanent-status",
        "A status that no retry can mend ends the call after one attempt as `http-error`, and a 2xx without an exit frame is never success.",
        "Repeating a refusal helps nobody, and an empty 204 is no finished process (HS04 to HS07, AR03).",
    ),
    must(
        "stream/status-decides",
        "The body of an answer that is not 2xx is never read as frames.",
        "A cached or forged error page can hold a perfect exit 0 (HS08).",
    ),
    must(
        "stream/drop-is-not-the-end",
        "A stream that ends without an exit frame, however cleanly, is a drop: the client reconnects, and fails when the budget is gone.",
        "Clients that take the end of the body for the end of the process report lost output as success (CT03 to CT05, CT11, BE03).",
    ),
    must(
        "stream/exit-ends-it",
        "An accepted exit frame ends the call with success at once, whatever the transport does afterwards.",
        "Waiting for the end of the body hangs behind proxies, and a reset after the exit is no failure (CT12).",
    ),
    should(
        "stream/one-reader",
        "At most one output stream is open at a time, and the old one is closed before the next begins.",
        "Two readers deliver twice (CO01).",
    ),
    must(
        "stream/closed-after",
        "When the job is over the client has closed, or read to its end, every response it opened.",
        "Forgotten connections use up the server's and the client's sockets (CO04).",
    ),
    may(
        "stream/recover-exit",
        "A client that asks `wait` for a missing exit status reports success only if its cursor equals the newest output and `wait` gave the status.",
        "A status without the whole output is half a result (EX06).",
    ),
    must(
        "stream/content-type",
        "The media type alone changes nothing of what frames mean, and an HTML page or a JSON envelope in place of the stream is never success.",
        "Login pages and gateways answer 200 (HD01 to HD03).",
    ),
    must(
        "stream/content-coding",
        "A coded body that nobody asked for is decoded exactly or refused, and a truncated one is never taken for complete.",
        "A cut gzip body decodes to a good beginning (HD04).",
    ),
    must(
        "stream/framing",
        "Bytes from outside the HTTP framing are never used.",
        "Bytes beyond the announced length belong to nobody and may be smuggled (HD05).",
    ),
    may(
        "stream/silence",
        "A mute stream is closed and counts as a drop after the client's declared silence limit, and without one only the deadline ends it.",
        "A quiet process is legal, a dead peer is not noticed otherwise (CT09, HB02).",
    ),
];
