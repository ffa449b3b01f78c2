//! `create`, `stdin` and `cleanup`: a process that the client made itself.

use super::{Requirement, must, should};

pub(super) const REQUIREMENTS: &[Requirement] = &[
    must(
        "create/once",
        "A process is created by one POST, and when its answer leaves open whether it exists the call fails as `creation-unconfirmed` without a connect or a second POST.",
        "Repeating an ambiguous create runs the command twice (PL01).",
    ),
    must(
        "create/refused",
        "A create that is refused with 4xx fails as `http-error`, with nothing to clean up.",
        "A clear refusal must not look like a half-made process (PL02).",
    ),
    must(
        "create/identifier",
        "A process id outside `[A-Za-z0-9_-]{1,200}` never reaches a URL, and the call fails as `creation-unconfirmed`.",
        "An id with a slash or dots in it addresses something else (BE02).",
    ),
    must(
        "stdin/closed-already",
        "A 409 on closing stdin is fine, and any other failure of it ends the call and cleans up.",
        "A short process has closed its stdin before the client asks (PL01).",
    ),
    must(
        "stdin/exact",
        "What is typed into a terminal is sent byte for byte, once and in order, in requests of at most 256 KiB, all of it before the end is reported unless the server refuses it.",
        "A shell runs what it reads: half a line, a line twice or another order is another command (B608).",
    ),
    must(
        "stdin/terminal-size",
        "A terminal is created in the size that was asked for, and a new size is sent in its place among the input.",
        "A program that draws for another size draws over itself (B608).",
    ),
    must(
        "cleanup/on-every-failure",
        "Every failure after the creation, timeout and cancellation included, deletes the process tree with a grace period.",
        "Abandoned processes keep running and cost money (PL03, CO04).",
    ),
    must(
        "cleanup/confirmed",
        "Only a success envelope with `tree_exited: true`, or 404, proves the cleanup, and without proof the call fails as `cleanup-unconfirmed`.",
        "A 2xx alone does not say that the children are gone (PL03 to PL07).",
    ),
    should(
        "cleanup/cause-kept",
        "A cleanup that could not be confirmed does not hide the first cause.",
        "The reader needs both: what went wrong, and what may still run (PL04).",
    ),
    must(
        "cleanup/own-deadline",
        "Cleanup is tried although the call's deadline is over, and is bounded by a limit of its own.",
        "A delete sent with a spent deadline never leaves (HB03, PL05).",
    ),
    should(
        "cleanup/not-on-success",
        "After success nothing is deleted that the caller may still want, and a client that deletes does so once and successfully.",
        "A finished process is still there to be asked about (PL08).",
    ),
];
