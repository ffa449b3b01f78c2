//! The wrong clients: one small deviation each, so that the suite itself can be tested. A bug is switched
//! on in exactly one place; everything else stays the conformant client.

use super::Reference;
use crate::profile::OutputForm;
use fake_server::wire::call::Capability;
use std::fmt;

macro_rules! bugs {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $mutant:literal, $caught:literal;)+) => {
        /// One deliberate mistake of the reference client. `M..` is its number in the list of mutants
        /// that the fault taxonomy ends with; the bugs without a number are neighbours of those.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Bug { $($(#[doc = $doc])+ $variant,)+ }

        impl Bug {
            /// Every bug, in the order of the list of mutants.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name, for the command line and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The bug with that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }

            /// Its number in the list of mutants (`M01`), or `own`.
            #[must_use]
            pub const fn mutant(self) -> &'static str {
                match self { $(Self::$variant => $mutant,)+ }
            }

            /// What it does, in a sentence.
            #[must_use]
            pub const fn does(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+),)+ }
            }

            /// The requirement that it breaks.
            #[must_use]
            pub const fn caught_by(self) -> &'static str {
                match self { $(Self::$variant => $caught,)+ }
            }
        }
    };
}

bugs! {
    /// A clean end of the body without an exit frame is success.
    EndIsSuccess = "end-is-success", "M01", "stream/drop-is-not-the-end";
    /// An exit frame without a status means 0.
    MissingStatusIsZero = "missing-status-is-zero", "M02", "exit/missing";
    /// An exit by signal means 0.
    SignalIsZero = "signal-is-zero", "M03", "exit/signal";
    /// Code 0 is tested for truth and so read as missing.
    ZeroIsMissing = "zero-is-missing", "M04", "exit/code";
    /// The signal's name is dropped and a code invented (-1).
    SignalIsMinusOne = "signal-is-minus-one", "M05", "exit/signal";
    /// Every 200 renews the retry budget.
    AnswerRenewsBudget = "answer-renews-budget", "M06", "stream/retry-budget";
    /// Heartbeats and duplicates renew the retry budget.
    HeartbeatRenewsBudget = "heartbeat-renews-budget", "M07", "stream/retry-budget";
    /// New data renews the retry budget although the profile says never.
    ProgressRenewsBudget = "progress-renews-budget", "M08", "stream/progress-renews";
    /// No reconnects allowed means any number of them.
    ZeroRetriesIsUnlimited = "zero-retries-is-unlimited", "M09", "stream/retry-budget";
    /// A connect that fails is asked again at once, for ever.
    HotLoop = "hot-loop", "own", "stream/retry-budget";
    /// One connect fewer than promised.
    OneConnectTooFew = "one-connect-too-few", "M10", "stream/retry-transient";
    /// One connect more than promised.
    OneConnectTooMany = "one-connect-too-many", "M10", "stream/retry-budget";
    /// No wait between two connects.
    NoDelay = "no-delay", "M11", "stream/retry-delay";
    /// Retry-After is obeyed whatever it says, past every deadline.
    RetryAfterUncapped = "retry-after-uncapped", "M12", "stream/retry-after";
    /// 410 is tried again.
    GoneIsRetried = "gone-is-retried", "M13", "journal/410";
    /// 401, 404 and 409 are tried again.
    PermanentIsRetried = "permanent-is-retried", "M14", "stream/permanent-status";
    /// 429 is final.
    TooManyIsFinal = "too-many-is-final", "M15", "stream/retry-transient";
    /// A connection that breaks in mid-body is fatal; only statuses are tried again.
    BreakIsFatal = "break-is-fatal", "M16", "stream/drop-is-not-the-end";
    /// A clean end without exit is fatal; only broken connections are tried again.
    CleanEndIsFatal = "clean-end-is-fatal", "M17", "stream/drop-is-not-the-end";
    /// A reconnect leaves `after` out.
    ReconnectWithoutCursor = "reconnect-without-cursor", "M18", "stream/resume-cursor";
    /// A reconnect sends the first cursor for ever.
    ReconnectAtFirstCursor = "reconnect-at-first-cursor", "M19", "stream/resume-cursor";
    /// A reconnect asks one frame too late.
    ReconnectOneLate = "reconnect-one-late", "M20", "stream/resume-cursor";
    /// A reconnect asks one frame too early.
    ReconnectOneEarly = "reconnect-one-early", "M20", "stream/resume-cursor";
    /// A connection that brought no data loses the cursor.
    EmptyConnectionLosesCursor = "empty-connection-loses-cursor", "M21", "stream/resume-cursor";
    /// The cursor moves before the payload is checked, and a bad frame is stepped over by reconnecting.
    CursorBeforeCheck = "cursor-before-check", "M22", "data/base64";
    /// A seq on a heartbeat, an error or an exit moves the cursor.
    CursorFromAnyFrame = "cursor-from-any-frame", "M23", "sequence/only-data";
    /// A seq in a partial last line moves the cursor.
    CursorFromPartialLine = "cursor-from-partial-line", "M24", "frames/last-line";
    /// `after` is left out when it is 0.
    ZeroCursorOmitted = "zero-cursor-omitted", "M25", "stream/first-cursor";
    /// seq goes through a 64-bit float.
    SeqAsFloat = "seq-as-float", "M26", "sequence/valid";
    /// seq wraps at 32 bits.
    SeqWraps = "seq-wraps", "M27", "sequence/valid";
    /// A seq that is a string is read as a number.
    SeqCoerced = "seq-coerced", "M28", "sequence/valid";
    /// No check for gaps.
    NoGapCheck = "no-gap-check", "M29", "sequence/gap";
    /// No check for a gap at a connection's first frame.
    NoGapCheckAtStart = "no-gap-check-at-start", "M30", "sequence/gap";
    /// Gaps of one or two frames are tolerated.
    SmallGapsTolerated = "small-gaps-tolerated", "M31", "sequence/gap";
    /// No check for duplicates.
    NoDuplicateCheck = "no-duplicate-check", "M32", "sequence/duplicate";
    /// A frame is a duplicate if its payload equals that of the one before.
    DuplicatesByPayload = "duplicates-by-payload", "M33", "sequence/duplicate";
    /// A reconnect forgets what was seen.
    DuplicatesForgottenOnReconnect = "duplicates-forgotten-on-reconnect", "M34", "sequence/duplicate";
    /// Frames out of order are kept and sorted.
    FramesSorted = "frames-sorted", "M35", "sequence/gap";
    /// After `output_offset_expired` it goes on at the oldest frame there is.
    ResumesAtOldest = "resumes-at-oldest", "M36", "journal/expired-frame";
    /// An error frame is skipped.
    ErrorFrameSkipped = "error-frame-skipped", "M37", "frames/error-frame";
    /// A later exit rescues a stream that had an error frame or a malformed line.
    LateExitRescues = "late-exit-rescues", "M38", "frames/error-frame";
    /// An unknown event type is skipped.
    UnknownTypeSkipped = "unknown-type-skipped", "M39", "frames/unknown-type";
    /// An unknown field is refused.
    UnknownFieldRefused = "unknown-field-refused", "M40", "frames/extra-fields";
    /// A malformed line is skipped.
    MalformedLineSkipped = "malformed-line-skipped", "M41", "frames/invalid";
    /// Bytes after the last LF are lost at a clean end, and success is reported.
    LastLineLost = "last-line-lost", "M42", "frames/last-line";
    /// A partial last line is mended and used.
    PartialLineUsed = "partial-line-used", "M43", "frames/last-line";
    /// One read is taken for one frame.
    ReadIsAFrame = "read-is-a-frame", "M44", "frames/any-segmentation";
    /// Lines also end at U+2028, U+2029 and U+0085.
    UnicodeLineBreaks = "unicode-line-breaks", "M46", "frames/lines";
    /// Lines are cut at 64 KiB, silently.
    LinesCut = "lines-cut", "M47", "frames/long-line";
    /// The line buffer has no limit.
    LinesUnlimited = "lines-unlimited", "M48", "frames/long-line";
    /// A blank line, or a CR before LF, is malformed.
    BlankLineRefused = "blank-line-refused", "M49", "frames/lines";
    /// Base64 is read leniently: junk skipped, url-safe letters and missing padding accepted.
    LenientBase64 = "lenient-base64", "M50", "data/base64";
    /// An empty payload is taken for a missing one.
    EmptyPayloadRefused = "empty-payload-refused", "M51", "data/base64";
    /// One text decoder serves both streams (a client of text).
    SharedDecoder = "shared-decoder", "M52", "data/split-characters";
    /// The text decoder starts anew with each frame (a client of text).
    DecoderPerFrame = "decoder-per-frame", "M53", "data/split-characters";
    /// A character left open at the end is lost (a client of text).
    OpenTailLost = "open-tail-lost", "M54", "data/split-characters";
    /// Bytes that are no UTF-8 are replaced although the profile says bytes.
    BytesAsText = "bytes-as-text", "M55", "data/exact";
    /// After the exit frame it waits for the end of the body.
    WaitsForEnd = "waits-for-end", "M56", "stream/exit-ends-it";
    /// A connection that breaks after the exit frame turns success into failure.
    BreakAfterExitFails = "break-after-exit-fails", "M57", "stream/exit-ends-it";
    /// Frames after the exit frame still count.
    FramesAfterExit = "frames-after-exit", "M58", "exit/first-counts";
    /// A stream that is quiet for a second is given up, though heartbeats come later than that.
    ImpatientWithSilence = "impatient-with-silence", "M59", "stream/silence";
    /// A stream that is mute is never given up, whatever the profile says.
    NoStallDetection = "no-stall-detection", "M60", "stream/silence";
    /// Every heartbeat postpones the call's deadline.
    HeartbeatPostponesDeadline = "heartbeat-postpones-deadline", "M61", "time/deadline";
    /// The deadline is one for each read.
    DeadlinePerRead = "deadline-per-read", "M62", "time/deadline";
    /// The back-off does not hear a cancel.
    BackOffIgnoresCancel = "back-off-ignores-cancel", "M63", "time/cancel";
    /// The cleanup runs under the deadline that is over, so it never leaves.
    CleanupUnderSpentDeadline = "cleanup-under-spent-deadline", "M64", "cleanup/own-deadline";
    /// No cleanup after a sequence gap.
    NoCleanupAfterGap = "no-cleanup-after-gap", "M65", "cleanup/on-every-failure";
    /// No cleanup after 410.
    NoCleanupAfterGone = "no-cleanup-after-gone", "M65", "cleanup/on-every-failure";
    /// The cleanup does not say `grace_ms`.
    CleanupWithoutGrace = "cleanup-without-grace", "M66", "cleanup/on-every-failure";
    /// The cleanup's answer is not looked at.
    CleanupUnchecked = "cleanup-unchecked", "M67", "cleanup/confirmed";
    /// Any success envelope confirms the cleanup; `tree_exited` is not looked at.
    TreeExitedUnchecked = "tree-exited-unchecked", "M68", "cleanup/confirmed";
    /// An unconfirmed cleanup hides the first cause.
    CleanupHidesCause = "cleanup-hides-cause", "M69", "cleanup/cause-kept";
    /// A cleanup is confirmed by the text 404 in any refusal.
    GoneByText = "gone-by-text", "M70", "cleanup/confirmed";
    /// Any refusal of the cleanup counts as gone.
    AnyRefusalIsGone = "any-refusal-is-gone", "M71", "cleanup/confirmed";
    /// The cleanup goes to another process: the id's last character is lost.
    CleanupOfAnother = "cleanup-of-another", "own", "cleanup/on-every-failure";
    /// A create is repeated after 5xx or a broken connection.
    CreateRepeated = "create-repeated", "M72", "create/once";
    /// The HTTP layer sends a request again when its connection broke, a POST too.
    RequestResent = "request-resent", "M74", "create/once";
    /// The process id goes into URLs unchecked.
    IdUnchecked = "id-unchecked", "M76", "create/identifier";
    /// The envelope's status is not looked at.
    EnvelopeUnchecked = "envelope-unchecked", "M78", "cleanup/confirmed";
    /// Redirects are followed, with the key.
    RedirectsFollowed = "redirects-followed", "M82", "secrets/no-redirect";
    /// An error quotes the provider's body.
    ErrorQuotesBody = "error-quotes-body", "M84", "secrets/no-provider-text";
    /// An error quotes the request with its key.
    ErrorQuotesKey = "error-quotes-key", "M84", "secrets/key";
    /// The media type must equal `application/x-ndjson`, parameters and all.
    MediaTypeExact = "media-type-exact", "M86", "stream/content-type";
    /// The status is not looked at before the body is read as frames.
    StatusUnchecked = "status-unchecked", "M87", "stream/status-decides";
    /// 204 is success.
    NoContentIsSuccess = "no-content-is-success", "M88", "stream/permanent-status";
    /// After a quiet second it opens a second stream beside the first.
    SecondReader = "second-reader", "M89", "stream/one-reader";
    /// stderr is held back until the end.
    StderrHeldBack = "stderr-held-back", "M91", "data/order";
    /// At most four frames a read are handed over, the rest is dropped.
    DropsWhenFull = "drops-when-full", "M92", "data/exact";
    /// A response is left open after a failure.
    ResponseLeftOpen = "response-left-open", "M93", "stream/closed-after";
    /// The whole body is read before the first frame is looked at.
    BodyBuffered = "body-buffered", "M94", "data/live";
    /// Of two equal keys the first counts for the payload, the last for everything else.
    DuplicateKeysDiffer = "duplicate-keys-differ", "M100", "frames/duplicate-keys";
    /// What came in the same read as the exit frame is lost.
    ExitDiscardsBuffered = "exit-discards-buffered", "M102", "data/exact";
    /// 400 on a reconnect is read as a cursor in the future: it starts again at 0.
    BadRequestResetsCursor = "bad-request-resets-cursor", "M103", "stream/permanent-status";
    /// An unknown stream name is stdout.
    UnknownStreamIsStdout = "unknown-stream-is-stdout", "M107", "data/streams";
    /// A broken body (short, cut, reset) is an ordinary end, and success.
    BrokenBodyIsSuccess = "broken-body-is-success", "M109", "stream/drop-is-not-the-end";
    /// A JSON envelope instead of frames is an empty stream that ended well.
    EnvelopeIsEmptyStream = "envelope-is-empty-stream", "M112", "stream/content-type";
    /// An exit code above 127 is read as a signed byte.
    CodeIsSigned = "code-is-signed", "own", "exit/code";
    /// A reconnect forgets the key.
    ReconnectWithoutKey = "reconnect-without-key", "own", "stream/authenticated";
    /// 409 on closing stdin is a failure.
    StdinConflictFails = "stdin-conflict-fails", "own", "stdin/closed-already";
    /// Of input that is too long for one request only the beginning is sent.
    InputChopped = "input-chopped", "own", "stdin/exact";
    /// Every input is sent twice.
    InputTwice = "input-twice", "own", "stdin/exact";
    /// Input is sent in another order: the last first.
    InputReversed = "input-reversed", "own", "stdin/exact";
    /// Input goes in one request, however long it is.
    InputUnsplit = "input-unsplit", "own", "stdin/exact";
    /// Line feeds are typed as carriage returns.
    InputTranslated = "input-translated", "own", "stdin/exact";
    /// A new size is not sent.
    ResizeDropped = "resize-dropped", "own", "stdin/terminal-size";
    /// New sizes are sent before all input.
    ResizeFirst = "resize-first", "own", "stdin/terminal-size";
    /// Rows and columns change places.
    SizeTransposed = "size-transposed", "own", "stdin/terminal-size";
    /// Every terminal is created with 80 columns and 24 rows.
    SizeUsual = "size-usual", "own", "stdin/terminal-size";
    /// Whatever closing stdin answers is fine.
    StdinFailureIgnored = "stdin-failure-ignored", "own", "stdin/closed-already";
    /// 5xx on create is reported as an ordinary refusal.
    CreateFailureIsRefusal = "create-failure-is-refusal", "own", "create/once";
    /// The cleanup has no deadline of its own.
    CleanupUnbounded = "cleanup-unbounded", "own", "cleanup/own-deadline";
    /// What was read before the deadline is thrown away.
    PartialOutputLost = "partial-output-lost", "own", "time/deadline";
    /// A create of a sandbox is repeated after 5xx or a broken connection.
    LeaseRepeated = "lease-repeated", "M72", "lease/create-once";
    /// The next acquisition of a policy asks for the name of the one before.
    LeaseNameReused = "lease-name-reused", "own", "lease/create-once";
    /// A policy gets one acquisition more than it says.
    LeasePolicyOverrun = "lease-policy-overrun", "own", "lease/create-once";
    /// The next acquisition of a policy comes at once.
    LeasePolicyImpatient = "lease-policy-impatient", "own", "lease/create-once";
    /// A policy goes on after success, until its acquisitions are used up.
    LeasePolicyGreedy = "lease-policy-greedy", "own", "lease/create-once";
    /// A sandbox that does not answer yet is replaced by another one.
    LeaseReplaced = "lease-replaced", "M106", "lease/create-once";
    /// A sandbox that could not be paused or resumed is replaced by another one.
    FailedChangeReplaces = "failed-change-replaces", "own", "lease/create-once";
    /// A failed acquisition tells the status of the lookup that came after it.
    LeaseTellsLookup = "lease-tells-lookup", "own", "lease/diagnostic";
    /// A failed acquisition tells the status of the delete that came after it.
    LeaseTellsDelete = "lease-tells-delete", "own", "lease/diagnostic";
    /// A failed acquisition tells no status.
    LeaseTellsNothing = "lease-tells-nothing", "own", "lease/diagnostic";
    /// A policy that gives up tells the first cause, not the last.
    LeaseTellsFirstCause = "lease-tells-first-cause", "own", "lease/diagnostic";
    /// A refusal whose text holds 502 is called transient.
    LeaseTransientByText = "lease-transient-by-text", "own", "lease/transient";
    /// Every failure is called transient.
    LeaseAllTransient = "lease-all-transient", "own", "lease/transient";
    /// Only 502, 503 and 504 are called transient.
    LeaseOnlyGatewaysTransient = "lease-only-gateways-transient", "own", "lease/transient";
    /// A broken connection is called permanent.
    LeaseErrnoPermanent = "lease-errno-permanent", "own", "lease/transient";
    /// A failed acquisition is not classified, though the client says that it does.
    LeaseUnclassified = "lease-unclassified", "own", "lease/transient";
    /// A policy gives up after its first transient failure.
    LeasePolicyGivesUp = "lease-policy-gives-up", "own", "lease/transient";
    /// A failed acquisition quotes the provider's body.
    LeaseQuotesBody = "lease-quotes-body", "M84", "lease/no-provider-text";
    /// A failed acquisition quotes the URL.
    LeaseQuotesUrl = "lease-quotes-url", "M84", "lease/no-provider-text";
    /// A status that is none of HTTP's is handed on.
    LeaseStatusUnbounded = "lease-status-unbounded", "own", "lease/no-provider-text";
    /// The errno is taken from the body of the answer.
    LeaseErrnoFromBody = "lease-errno-from-body", "own", "lease/no-provider-text";
    /// A sandbox is forgotten when a later step of its acquisition fails.
    LeaseNotCleaned = "lease-not-cleaned", "own", "lease/cleanup";
    /// What the destroy of a lost acquisition's sandbox answers is not looked at.
    LeaseCleanupUnchecked = "lease-cleanup-unchecked", "M67", "lease/cleanup";
    /// A sandbox that may be left is not named.
    LeaseLeftUnnamed = "lease-left-unnamed", "own", "lease/cleanup";
    /// A sandbox is forgotten when its acquisition is stopped.
    LeaseStopForgets = "lease-stop-forgets", "M75", "lease/no-leak";
    /// An acquisition that is stopped before its create was answered says nothing of it.
    LeaseUnclearUntold = "lease-unclear-untold", "M75", "lease/no-leak";
    /// A sandbox that is still being created is handed over.
    CreatingIsRunning = "creating-is-running", "own", "lease/async-state";
    /// An accepted pause or resume is taken for done.
    AcceptedIsDone = "accepted-is-done", "M79", "lease/async-state";
    /// A sandbox that is in the wanted state already is a failure.
    AlreadyThereFails = "already-there-fails", "M80", "lease/async-state";
    /// A pause or resume that failed destroys the sandbox.
    FailedChangeDestroys = "failed-change-destroys", "M80", "lease/async-state";
    /// 409 is final.
    ConflictIsFinal = "conflict-is-final", "own", "lease/async-state";
    /// A state that lags behind an accepted change is a failure.
    LagIsFailure = "lag-is-failure", "own", "lease/async-state";
    /// A change whose state lags is asked for again.
    LagAskedAgain = "lag-asked-again", "own", "lease/async-state";
    /// States from which nothing leads on are polled for ever.
    DeadStatesPolled = "dead-states-polled", "M81", "lease/async-state";
    /// A sandbox in state `error` is not resumed.
    ErrorNotResumed = "error-not-resumed", "own", "lease/async-state";
    /// Answers about another sandbox are taken for the own one's.
    OtherSandboxAccepted = "other-sandbox-accepted", "M77", "lease/identity";
    /// After an answer about another sandbox another one is destroyed.
    OtherSandboxDestroyed = "other-sandbox-destroyed", "own", "lease/identity";
    /// The sandbox id goes into URLs unchecked.
    LeaseIdUnchecked = "lease-id-unchecked", "M76", "lease/identity";
    /// Whatever a destroy answers, it is done.
    ReleaseAnyAnswer = "release-any-answer", "M71", "lease/released";
    /// A destroy is confirmed by the text 404 in any refusal.
    ReleaseByText = "release-by-text", "M70", "lease/released";
    /// A sandbox that is gone already is a failure.
    ReleaseGoneFails = "release-gone-fails", "own", "lease/released";
    /// Any success status confirms a destroy.
    ReleaseUnread = "release-unread", "own", "lease/released";
    /// A destroy is confirmed by any state.
    ReleaseStateUnread = "release-state-unread", "own", "lease/released";
    /// A command is sent again after a 5xx or a broken connection.
    CommandRepeated = "command-repeated", "M73", "exec/once";
    /// A clean end of a command's stream without an exit code is success.
    CommandEndIsSuccess = "command-end-is-success", "own", "exec/frames";
    /// A command's stream that breaks off is success.
    CommandBreakIsSuccess = "command-break-is-success", "own", "exec/frames";
    /// A command's result without an exit code means 0.
    CommandWithoutStatusIsZero = "command-without-status-is-zero", "own", "exec/frames";
    /// Heartbeats of a command's stream are handed over as output.
    CommandHeartbeatDelivered = "command-heartbeat-delivered", "own", "exec/frames";
    /// What the server says of an error beside the exit code is not looked at.
    CommandErrorIgnored = "command-error-ignored", "own", "exec/frames";
    /// Of a frame with several keys the first output is read, and nothing else.
    CommandFirstKeyOnly = "command-first-key-only", "own", "exec/frames-combined";
    /// A frame that says heartbeat is dropped with all else that stands in it.
    CommandHeartbeatSwallows = "command-heartbeat-swallows", "own", "exec/frames-combined";
    /// A frame with the exit code is read for nothing else.
    CommandExitSwallows = "command-exit-swallows", "own", "exec/frames-combined";
    /// A file whose body is shorter than was announced is taken for whole.
    ShortFileAccepted = "short-file-accepted", "M96", "files/exact";
    /// A file whose body breaks off is taken for whole.
    CutFileAccepted = "cut-file-accepted", "M96", "files/exact";
    /// What was read of a file stays in its place although the download failed.
    PartialFileLeft = "partial-file-left", "own", "files/exact";
    /// A page or a JSON envelope with 200 is taken for the file.
    PageIsTheFile = "page-is-the-file", "M85", "files/exact";
    /// The bytes of a coded body are taken for the file's own.
    CodedFileTaken = "coded-file-taken", "own", "files/exact";
    /// The status is not looked at before the body is taken for the file.
    FileStatusUnchecked = "file-status-unchecked", "own", "files/exact";
    /// A part of a file (206) is taken for the whole.
    PartIsTheFile = "part-is-the-file", "own", "files/exact";
    /// An empty file is taken for a failure.
    EmptyFileRefused = "empty-file-refused", "own", "files/exact";
    /// A downloaded file goes through a text decoder.
    DownloadAsText = "download-as-text", "own", "files/exact";
    /// An uploaded file goes through a text decoder.
    UploadAsText = "upload-as-text", "own", "files/exact";
    /// A path goes into the query without escapes.
    PathUnescaped = "path-unescaped", "own", "files/exact";
    /// Any 2xx proves an upload; the answer's body is not looked at.
    UploadUnread = "upload-unread", "M97", "files/exact";
    /// How many bytes were stored is not looked at.
    UploadSizeUnchecked = "upload-size-unchecked", "M97", "files/exact";
    /// An upload is repeated from a source that was read to its end already: with no bytes.
    UploadRepeatedEmpty = "upload-repeated-empty", "own", "files/put-again";
    /// A raw stream that breaks ends as if it were over.
    RawBreakIsAnEnd = "raw-break-is-an-end", "own", "raw/truncation-visible";
    /// A raw stream that breaks is silently started again.
    RawRestarts = "raw-restarts", "own", "raw/no-hidden-retry";
    /// A raw refusal's body is read as events.
    RawStatusUnchecked = "raw-status-unchecked", "own", "raw/status-visible";
    /// Raw error frames are skipped.
    RawErrorSkipped = "raw-error-skipped", "own", "raw/error-frame-visible";
    /// A raw stream stays open when its caller stops early.
    RawLeftOpen = "raw-left-open", "own", "raw/closed-on-drop";
}

/// Why a wrong client need not fail anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exempt {
    /// It can't be told from the conformant client; the proof.
    Equivalent(&'static str),
    /// It does what the contract leaves to the client; where.
    Outside(&'static str),
}

impl Exempt {
    /// The proof, or the reason.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Equivalent(why) | Self::Outside(why) => why,
        }
    }
}

impl Bug {
    /// Why it need not fail anything, if so.
    #[must_use]
    pub const fn exempt(self) -> Option<Exempt> {
        match self {
            Self::ImpatientWithSilence => Some(Exempt::Outside(
                "stream/silence is a may: the client breaks only its own silence limit, which it did not promise; \
                 it reconnects at the right cursor and within its budget",
            )),
            Self::NoStallDetection => Some(Exempt::Equivalent(
                "the conformant client promises no silence limit and so has none to leave out: a stall is ended by \
                 the deadline in both",
            )),
            _ => None,
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Reference {
    /// The client with one bug. Its promises are those of the conformant one, but where the bug needs
    /// another kind of client to show at all (one of text, one without reconnects).
    #[must_use]
    pub fn wrong(bug: Bug) -> Self {
        let mut client = Self::conformant();
        match bug {
            Bug::SharedDecoder | Bug::DecoderPerFrame | Bug::OpenTailLost => {
                client.promises.profile.output = OutputForm::Text;
            }
            // What was handed over live is not lost, so this one does not hand over live.
            Bug::PartialOutputLost => {
                client.promises.capabilities.remove(&Capability::LiveOutput);
            }
            Bug::NoStallDetection => client.promises.profile.silence_limit_ms = None,
            Bug::ZeroRetriesIsUnlimited => client.promises.profile.max_reconnects = 0,
            _ => {}
        }
        client.bug = Some(bug);
        client
    }
}

/// The bug that is on, if any. Asked at each place where one can be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quirk(pub(super) Option<Bug>);

impl Quirk {
    /// Whether this bug is on.
    pub(super) fn is(self, bug: Bug) -> bool {
        self.0 == Some(bug)
    }

    /// Whether one of these is on.
    pub(super) fn any(self, bugs: &[Bug]) -> bool {
        self.0.is_some_and(|bug| bugs.contains(&bug))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_lead_back() {
        let names: BTreeSet<_> = Bug::ALL.iter().map(|bug| bug.name()).collect();
        assert_eq!(names.len(), Bug::ALL.len());
        for bug in Bug::ALL {
            assert_eq!(Bug::from_name(bug.name()), Some(*bug));
        }
    }

    #[test]
    fn each_breaks_a_requirement_of_the_contract() {
        for bug in Bug::ALL {
            let id = bug.caught_by();
            assert!(crate::contract::requirement(id).is_some(), "{bug}: {id}");
        }
    }

    #[test]
    fn the_mutants_asked_for_are_there() {
        let there: BTreeSet<_> = Bug::ALL.iter().map(|bug| bug.mutant()).collect();
        for wanted in [
            "M01", "M04", "M06", "M10", "M13", "M15", "M19", "M20", "M22", "M24", "M29", "M30",
            "M32", "M38", "M41", "M42", "M44", "M50", "M53", "M58", "M64", "M65", "M68", "M72",
            "M82",
        ] {
            assert!(there.contains(wanted), "{wanted} is missing");
        }
    }
}
