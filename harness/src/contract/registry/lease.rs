//! `lease`, `exec` and `files`: sandboxes, one-shot commands and files.

use super::{Requirement, may, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "lease/create-once",
        "One acquisition makes at most one create whose result is unknown, and reports it instead of repeating it.",
        "An ambiguous create that is repeated leaves a sandbox nobody knows (SL01).",
    ),
    must(
        "lease/diagnostic",
        "A failed acquisition tells the status or errno of the create call, not of the lookup or delete that cleaned up after it.",
        "The reason of the failure is hidden by the tidying (SL01, SL08).",
    ),
    should(
        "lease/transient",
        "A client that classifies failures calls exactly the statuses and connection errors transient that another try may mend.",
        "Reading a status out of a message text misleads the caller's policy (SL01).",
    ),
    must(
        "lease/no-provider-text",
        "The diagnostic of a failed acquisition carries no text of the provider: no URL, host, body or key.",
        "Diagnostics are shown to users and stored (AR05).",
    ),
    must(
        "lease/cleanup",
        "A sandbox that the acquisition made and can name is destroyed when a later step fails, or is named as possibly left.",
        "Every forgotten sandbox is paid for (SL08).",
    ),
    must(
        "lease/no-leak",
        "At the end the server holds no sandbox but those that the results admit.",
        "Leaks show only on the bill (SL01, SL08).",
    ),
    must(
        "lease/async-state",
        "An accepted pause or resume is polled until the state is reached, and a state that cannot lead there ends it.",
        "202 is not completion, and a state may lag (SL03 to SL05).",
    ),
    must(
        "lease/identity",
        "An answer about another id than the one asked for is refused as `invalid-response`.",
        "Acting on another tenant's sandbox is the worst case (SL02).",
    ),
    must(
        "lease/released",
        "A destroy is done on a success envelope or 404, and everything else is reported.",
        "A failed destroy that nobody hears of is a leak (SL08).",
    ),
    must(
        "exec/once",
        "A command is never run again after a transport failure or a 5xx other than 503.",
        "The command may have run (SL12).",
    ),
    must(
        "exec/frames",
        "A stream of a one-shot command without an exit code is no success, and its heartbeats deliver nothing.",
        "A cut stream is half a result (SL12).",
    ),
    should(
        "exec/frames-combined",
        "The fields of a one-shot command's frame are read even when several stand in one frame.",
        "The wire leaves open whether they do (SL12).",
    ),
    must(
        "files/exact",
        "Upload and download are byte for byte, and a short, cut or longer body is an error that leaves no partial file in place.",
        "A truncated file looks like a file (SL10, SL11).",
    ),
    may(
        "files/put-again",
        "A PUT may be repeated with the same bytes.",
        "Overwriting with the same bytes is harmless (CT02).",
    ),
];
