//! The things that can be seen in a trial, and how.

use crate::{
    contract::oracle::Expected,
    judge::{
        Violation,
        acceptor::{created_id, is_identifier},
        answer::{Answer, Ending},
        raw::shown,
        walk::Walk,
        wire::known_tries,
    },
    observed::{JobResult, Reply},
    profile::OutputForm,
};
use fake_server::{
    script::model::{Content, End, Step},
    wire::{Call, Op, call::Capability},
    wirelog::{Exchange, Micros},
};

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;
/// Quiet, in milliseconds, in which an impatient client shows itself; the shortest that a scenario about it asks for is longer.
const QUIET_MS: u64 = 1_000;

/// A trial as far as it was judged.
pub(in crate::judge) struct Shown<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) violations: &'a [Violation],
    expected: &'a Expected,
}

/// Something that a rule wants to have been there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// A request of any kind.
    Request,
    /// A connect.
    Connect,
    /// A second connect, or one that met a closed port.
    SecondConnect,
    /// Two tries to connect whose times are known.
    TwoTries,
    /// A second connect, of a client that promises more than one.
    Retry,
    /// As many connects as every right client makes.
    PredictedConnects,
    /// A create.
    Create,
    /// One create, and a process that surely exists.
    TheOneCreate,
    /// A try to write or close stdin.
    Stdin,
    /// A delete, or one that met a closed port.
    Delete,
    /// A result that says that cleanup could not be confirmed.
    Unconfirmed,
    /// A result that says that the process ended.
    Exited,
    /// That, or output that was handed over.
    HandedOver,
    /// Output handed over as it came, as bytes.
    LiveOutput,
    /// A deadline that struck, or was long enough.
    Deadline,
    /// A cancel that met a running call.
    Cancelled,
    /// An answer that leads elsewhere.
    Redirect,
    /// An answer that is no success.
    AnError,
    /// An answer to a `wait` of a client that recovers the exit by it.
    WaitForExit,
    /// A stream that stood still for a while.
    Quiet,
    /// An answer to the call that the op is.
    TheCall,
    /// The same upload once more.
    PutAgain,
    /// The call of a lease that changes something, or one that met a closed port.
    LeaseCall,
    /// A destroy of a sandbox, or one that met a closed port.
    Destroy,
    /// An acquisition that failed.
    NoLease,
    /// That, of a client that says whether another try may help.
    Classified,
    /// A second acquisition by a policy.
    AnotherLease,
    /// Raw: all that was sent, dealt with.
    Events,
    /// Raw: a line of that rule, dealt with.
    ALine(&'static str),
    /// Raw: the end of the stream by the server, or a reason to leave before it.
    EndOfStream,
    /// Raw: a caller that stopped, and the connection closed.
    StoppedByCaller,
}

impl<'a> Shown<'a> {
    pub(in crate::judge) const fn new(
        walk: &'a Walk<'a>,
        expected: &'a Expected,
        violations: &'a [Violation],
    ) -> Self {
        Self {
            walk,
            violations,
            expected,
        }
    }

    fn result(&self) -> Option<&JobResult> {
        match &self.walk.observed.reply {
            Reply::Result(result) => Some(result),
            _ => None,
        }
    }

    fn has_outcome(&self, outcome: &str) -> bool {
        self.result()
            .is_some_and(|result| result.outcome == outcome)
    }

    fn made(&self, calls: &[Call]) -> bool {
        let exchanges = self.walk.log.exchanges.iter();
        exchanges
            .filter_map(|exchange| exchange.call)
            .any(|call| calls.contains(&call))
    }

    fn answered(&self, is_it: impl Fn(u16) -> bool) -> bool {
        let exchanges = self.walk.log.exchanges.iter();
        exchanges
            .filter_map(|exchange| self.answer(exchange).status)
            .any(is_it)
    }

    fn answer(&self, exchange: &Exchange) -> Answer {
        Answer::of(exchange, &self.walk.plan.truth, self.walk.observed.ended_us)
    }

    fn connects(&self) -> impl Iterator<Item = &Exchange> {
        let connects = self.walk.connects.iter();
        connects.map(|index| &self.walk.log.exchanges[*index])
    }

    /// A stream that the server let stand for a while. From the plan, not from the clock: who left before that has parted.
    fn stood_still(&self) -> bool {
        let still = |step: &Step| match step {
            Step::Pause { ms } => *ms >= QUIET_MS,
            Step::End(end) => *end == End::Hold,
            _ => false,
        };
        self.connects().any(|exchange| {
            let mut faults = self.walk.plan.faults.iter();
            faults.any(|fault| {
                exchange.fault == Some(fault.number)
                    && matches!(&fault.behaviour.content,
                        Content::Stream(steps) if steps.iter().any(still))
            })
        })
    }

    /// One create, and its answer left no doubt that the process exists. (What the client does later may make the walk
    /// take a process for made that is not.)
    fn made_one_for_sure(&self) -> bool {
        let [create] = self.walk.creates.as_slice() else {
            return false;
        };
        let exchange = &self.walk.log.exchanges[*create];
        let answer = self.answer(exchange);
        matches!(answer.status, Some(200 | 201))
            && answer.ending == Ending::Clean
            && !(answer.coded() || answer.doubtful)
            && created_id(exchange).is_some_and(|id| is_identifier(&id))
    }

    fn deadline_mattered(&self) -> bool {
        let Some(timeout_ms) = self.walk.plan.job.timeout_ms else {
            return false;
        };
        self.has_outcome("exited")
            || self.has_outcome("ok")
            || self.walk.observed.ended_us + TIMER_US >= timeout_ms.saturating_mul(1000)
    }

    fn handed_over(&self) -> bool {
        let held = |blob: &Option<fake_server::wire::Blob>| {
            blob.as_ref().is_some_and(|blob| !blob.is_empty())
        };
        self.has_outcome("exited")
            || !self.walk.observed.outputs.is_empty()
            || self.result().is_some_and(|result| {
                held(&result.stdout) || held(&result.stderr) || held(&result.pty)
            })
    }

    fn met_a_closed_port(&self) -> bool {
        let log = &self.walk.log;
        !log.refusals.is_empty() || log.connections.iter().any(|one| one.cut.is_some())
    }

    fn hands_over_live(&self) -> bool {
        self.walk.promises.can(Capability::LiveOutput)
            // As text, a character that is still open is rightly held back.
            && self.walk.promises.profile.output == OutputForm::Bytes
            && !self.walk.observed.outputs.is_empty()
    }
}

impl Sight {
    /// Whether it was there.
    pub(super) fn is_there(self, shown: &Shown<'_>) -> bool {
        let walk = shown.walk;
        let again = walk.connects.len() >= 2 || walk.unseen_connects;
        match self {
            Self::Request => !walk.log.exchanges.is_empty() || !walk.log.connections.is_empty(),
            Self::Connect => !walk.connects.is_empty() || walk.unseen_connects,
            Self::SecondConnect => again,
            Self::TwoTries => known_tries(walk) >= 2,
            Self::Retry => again || walk.promises.connect_budget() == 1,
            Self::PredictedConnects => {
                let predicted = shown.expected.calls.iter();
                let least = predicted
                    .filter(|(call, _)| *call == Call::Connect)
                    .map(|(_, count)| *count as usize)
                    .max()
                    .unwrap_or(1);
                walk.connects.len() >= least.max(1)
            }
            Self::Create => shown.made(&[Call::CreateProcess]),
            Self::TheOneCreate => shown.made_one_for_sure(),
            // A connection that was cut before its request stands in no exchange.
            Self::Stdin => {
                shown.made(&[Call::StdinClose, Call::Input, Call::ResizeProcess])
                    || walk.acceptor.touched.contains(&"stdin/closed-already")
            }
            Self::Delete => !walk.deletes.is_empty() || walk.unseen_delete,
            Self::Unconfirmed => shown
                .result()
                .and_then(|result| result.error.as_ref())
                .is_some_and(|error| error.kind == "cleanup-unconfirmed"),
            Self::Exited => shown.has_outcome("exited"),
            Self::HandedOver => shown.handed_over(),
            Self::LiveOutput => shown.hands_over_live(),
            Self::Deadline => shown.deadline_mattered(),
            Self::Cancelled => {
                walk.observed.cancelled_us.is_some()
                    && !(shown.has_outcome("exited") || shown.has_outcome("ok"))
            }
            Self::Redirect => shown.answered(|status| (300..400).contains(&status)),
            Self::AnError => shown.answered(|status| !(200..300).contains(&status)),
            Self::WaitForExit => {
                walk.promises.can(Capability::RecoverExit) && shown.made(&[Call::Wait])
            }
            Self::Quiet => shown.stood_still(),
            Self::TheCall => !walk.singles.is_empty(),
            Self::PutAgain => walk.plan.op == Op::Upload && walk.singles.len() > 1,
            Self::LeaseCall => {
                let calls = [
                    Call::CreateSandbox,
                    Call::DeleteSandbox,
                    Call::Pause,
                    Call::Resume,
                    Call::GetSandbox,
                ];
                shown.made(&calls) || shown.met_a_closed_port()
            }
            Self::Destroy => shown.made(&[Call::DeleteSandbox]) || shown.met_a_closed_port(),
            Self::NoLease => shown.has_outcome("error"),
            Self::Classified => {
                shown.has_outcome("error") && walk.promises.can(Capability::ClassifiesTransient)
            }
            Self::AnotherLease => {
                let exchanges = walk.log.exchanges.iter();
                let creates = exchanges.filter(|one| one.call == Some(Call::CreateSandbox));
                walk.promises.can(Capability::LeasePolicy) && creates.count() > 1
            }
            Self::Events => shown::everything(walk),
            Self::ALine(rule) => shown::a_line_of(walk, rule),
            Self::EndOfStream => shown::its_end(walk),
            Self::StoppedByCaller => {
                walk.observed.cancelled_us.is_some()
                    && shown
                        .connects()
                        .any(|exchange| exchange.client_closed_us.is_some())
            }
        }
    }

    /// Whether its absence is no choice that the contract leaves: of a raw stream that the client was free to read, it
    /// has to show what it made of it.
    pub(super) fn settles_itself(self, shown: &Shown<'_>) -> bool {
        let of_raw = matches!(self, Self::Events | Self::ALine(_) | Self::EndOfStream);
        let broke = shown
            .connects()
            .any(|exchange| shown.answer(exchange).ending == Ending::Unclean);
        of_raw && shown.walk.plan.op == Op::Connect && !broke
    }

    /// In words that follow "without" and "before it came to".
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Request => "a request",
            Self::Connect | Self::PredictedConnects => "a connect",
            Self::TwoTries => "two connects whose times are known",
            Self::SecondConnect | Self::Retry => "a second connect",
            Self::Create | Self::TheOneCreate => "a create",
            Self::Stdin => "a try to write or close stdin",
            Self::Delete => "a delete",
            Self::Unconfirmed => "a cleanup that could not be confirmed",
            Self::Exited => "a success",
            Self::HandedOver => "output",
            Self::LiveOutput => "output handed over live, as bytes",
            Self::Deadline => "a deadline that mattered",
            Self::Cancelled => "a cancel that met a running call",
            Self::Redirect => "a redirect",
            Self::AnError => "an answer that is no success",
            Self::WaitForExit => "a `wait` for the exit",
            Self::Quiet => "a stream that stood still",
            Self::TheCall => "the call that it is about",
            Self::PutAgain => "a second upload",
            Self::LeaseCall => "a call about the sandbox",
            Self::Destroy => "a destroy of the sandbox",
            Self::NoLease => "an acquisition that failed",
            Self::Classified => "a failure that it classifies",
            Self::AnotherLease => "a second acquisition",
            Self::Events => "a stream taken to its end",
            Self::ALine(_) => "an answer to the line in question",
            Self::EndOfStream => "an end of the stream that the client was there for",
            Self::StoppedByCaller => "a caller that stopped",
        }
    }
}
