//! What the events and the end of a raw stream show: which lines the client has provably dealt with, and whether it
//! was there when the server ended the stream.
//!
//! An error alone shows little: a client that leaves after its first block and calls that a broken transport would
//! "see" every damaged line. So an error counts as an answer to a line only if everything before the line was handed
//! over, the line has arrived, and the error does not blame a transport that was whole. (No right client is told less
//! for that: blaming the transport for a bad line is a wrong kind, and `other` is not held against anybody.)

use super::{
    Answer, Ending, JobResult, Walk,
    events::{At, lines, positions},
    is_interrupted,
    spec::{RawLine, Spec, Way},
};
use crate::observed::Reply;
use fake_server::wirelog::{AnswerEnd, Exchange, Sent};
use std::collections::BTreeSet;

/// Error kinds that blame the connection and say nothing about a line.
const OF_THE_TRANSPORT: &[&str] = &["transport", "connection-failed", "stream-ended"];

/// The last stream of a trial, beside what was handed over of it.
struct Shown<'a> {
    walk: &'a Walk<'a>,
    result: &'a JobResult,
    answer: Answer,
    lines: Vec<RawLine>,
    /// Where the client may stand; empty if its events do not fit.
    at: BTreeSet<At>,
}

/// Whether the client has dealt with a line of which a rule speaks first.
pub(in crate::judge) fn a_line_of(walk: &Walk<'_>, rule: &str) -> bool {
    Shown::of(walk).is_some_and(|shown| {
        shown
            .lines
            .iter()
            .enumerate()
            .any(|(number, line)| line.rules.first() == Some(&rule) && shown.dealt_with(number))
    })
}

/// Whether the client has dealt with everything that it was sent: to the last line, to an exit, to a line at which it
/// rightly failed, or to where the connection broke.
pub(in crate::judge) fn everything(walk: &Walk<'_>) -> bool {
    Shown::of(walk).is_some_and(|shown| {
        shown.stopped_by_its_caller()
            || shown.answer.ending == Ending::Unclean
            // Of an answer that never began there is nothing to take.
            || (shown.answer.status.is_some() && shown.has_taken(|line| line == shown.lines.len()))
            || shown.had_an_exit()
            || (0..shown.lines.len()).any(|line| shown.failed_at(line))
    })
}

/// Whether the stream was over before the client left, or the client had a reason to leave.
pub(in crate::judge) fn its_end(walk: &Walk<'_>) -> bool {
    let Some(exchange) = last(walk) else {
        return walk.unseen_connects || walk.log.connections.iter().any(|one| one.cut.is_some());
    };
    if ended_by_the_server(exchange) {
        return true;
    }
    Shown::of(walk).is_some_and(|shown| {
        shown.stopped_by_its_caller()
            || shown.had_an_exit()
            // Refused for its status or its media type: the body need not be read.
            || (shown.refusable() && !shown.blames_the_transport())
            || (0..shown.lines.len()).any(|line| shown.failed_at(line))
    })
}

/// Whether the client handed over an exit of the last stream, or rightly ended with an error at one of its lines, its
/// event handed over or not: it need not have seen what followed.
pub(in crate::judge) fn is_done(walk: &Walk<'_>) -> bool {
    Shown::of(walk).is_some_and(|shown| {
        shown.had_an_exit()
            || (0..shown.lines.len()).any(|line| shown.failed_at(line) || shown.failed_with(line))
    })
}

fn last<'a>(walk: &Walk<'a>) -> Option<&'a Exchange> {
    walk.connects
        .last()
        .map(|index| &walk.log.exchanges[*index])
}

fn ended_by_the_server(exchange: &Exchange) -> bool {
    exchange
        .answer
        .iter()
        .any(|sent| matches!(sent, Sent::End { how, .. } if !matches!(how, AnswerEnd::TrialOver)))
}

impl<'a> Shown<'a> {
    fn of(walk: &'a Walk<'a>) -> Option<Self> {
        let Reply::Result(result) = &walk.observed.reply else {
            return None;
        };
        let answer = Answer::of(last(walk)?, &walk.plan.truth, walk.observed.ended_us);
        let is_stream = answer
            .status
            .is_some_and(|status| (200..300).contains(&status));
        let lines = if is_stream {
            lines(walk, &answer)
        } else {
            Vec::new()
        };
        let at = positions(&lines, &walk.observed.events).unwrap_or_default();
        Some(Self {
            walk,
            result,
            answer,
            lines,
            at,
        })
    }

    fn has_taken(&self, is_it: impl Fn(usize) -> bool) -> bool {
        self.at.iter().any(|(line, ..)| is_it(*line))
    }

    fn had_an_exit(&self) -> bool {
        self.at.iter().any(|(_, exit, _)| *exit)
    }

    fn stopped_by_its_caller(&self) -> bool {
        is_interrupted(self.walk, self.result)
    }

    fn dealt_with(&self, number: usize) -> bool {
        self.failed_at(number) || self.has_taken(|line| line > number)
    }

    /// The client raised an error at this line.
    fn failed_at(&self, number: usize) -> bool {
        self.may_fail_at(number) && self.has_taken(|line| line == number)
    }

    /// The client handed this line over, and then raised the error that it is.
    fn failed_with(&self, number: usize) -> bool {
        self.may_fail_at(number)
            && self.lines[number].ways.contains(&Way::Event(Spec::Error))
            && self.has_taken(|line| line == number + 1)
    }

    fn may_fail_at(&self, number: usize) -> bool {
        self.result.outcome == "error"
            && self.lines[number].ways.contains(&Way::Fail)
            && self.has_arrived(number)
            && !self.blames_the_transport()
    }

    fn has_arrived(&self, number: usize) -> bool {
        number < self.answer.acked
            || (number >= self.answer.lines.len() && self.answer.tail_acked > 0)
            // Its end came with it: what was sent before an end has left before it.
            || !matches!(self.answer.ending, Ending::Left | Ending::Open)
    }

    fn refusable(&self) -> bool {
        self.answer.status != Some(200) || !self.answer.is_ndjson()
    }

    fn blames_the_transport(&self) -> bool {
        let kind = self.result.error.as_ref().map(|error| error.kind.as_str());
        kind.is_some_and(|kind| OF_THE_TRANSPORT.contains(&kind))
    }
}
