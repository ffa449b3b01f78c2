//! What a client's own words mean: the manifest's `[errors]`, a regular expression over the message
//! and the kind of error it stands for.

use crate::observed::{ErrorReport, JobResult};
use regex::Regex;

/// `[errors]`, in the file's order: the first that matches counts.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<(Regex, String)>);

impl Patterns {
    /// Adds a pattern behind the others.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn push(&mut self, pattern: &str, kind: &str) -> Result<(), regex::Error> {
        self.0.push((Regex::new(pattern)?, kind.to_owned()));
        Ok(())
    }

    /// The kind that a message stands for.
    #[must_use]
    pub fn classify<'s>(&'s self, message: &str) -> Option<&'s str> {
        self.kinds(message).next()
    }

    /// What a program's last words tell, as an error of this kind if no pattern knows better. The words of a
    /// failed clean-up often tell the first failure too: a second kind that matches is the cause.
    #[must_use]
    pub fn report(&self, words: &str, kind: &str) -> ErrorReport {
        let mut report = ErrorReport {
            kind: self.classify(words).unwrap_or(kind).to_owned(),
            message: words.to_owned(),
            ..ErrorReport::default()
        };
        self.add_cause(&mut report);
        report
    }

    fn kinds<'s>(&'s self, message: &str) -> impl Iterator<Item = &'s str> {
        self.0
            .iter()
            .filter(|(pattern, _)| pattern.is_match(message))
            .map(|(_, kind)| kind.as_str())
    }

    /// Gives a kind to every error of a result that its client could only call `other`.
    pub fn apply(&self, result: &mut JobResult) {
        let mut error = result.error.as_mut();
        while let Some(report) = error {
            self.name(report);
            error = report.cause.as_deref_mut();
        }
    }

    fn name(&self, report: &mut ErrorReport) {
        if report.kind == "other"
            && let Some(kind) = self.classify(&report.message)
        {
            report.kind = kind.to_owned();
            self.add_cause(report);
        }
    }

    fn add_cause(&self, report: &mut ErrorReport) {
        if report.kind == "cleanup-unconfirmed" && report.cause.is_none() {
            let other = self
                .kinds(&report.message)
                .find(|kind| *kind != report.kind);
            report.cause = other.map(|kind| {
                Box::new(ErrorReport {
                    kind: kind.to_owned(),
                    message: report.message.clone(),
                    ..ErrorReport::default()
                })
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns() -> Patterns {
        let mut patterns = Patterns::default();
        for (pattern, kind) in [
            ("sequence gap", "sequence-gap"),
            ("(?i)output connection FAILED", "connection-failed"),
            ("connection failed", "transport"),
        ] {
            patterns.push(pattern, kind).unwrap();
        }
        patterns
    }

    #[test]
    fn the_first_pattern_that_matches_counts() {
        let patterns = patterns();
        assert_eq!(
            patterns.classify("process output connection failed"),
            Some("connection-failed")
        );
        assert_eq!(patterns.classify("connection failed"), Some("transport"));
        assert_eq!(patterns.classify("it broke"), None);
    }

    #[test]
    fn only_other_is_renamed_and_the_cause_too() {
        let mut result = JobResult {
            outcome: "error".to_owned(),
            error: Some(ErrorReport {
                kind: "cleanup-unconfirmed".to_owned(),
                message: "sequence gap".to_owned(),
                cause: Some(Box::new(ErrorReport {
                    kind: "other".to_owned(),
                    message: "output has a sequence gap".to_owned(),
                    ..ErrorReport::default()
                })),
                ..ErrorReport::default()
            }),
            ..JobResult::default()
        };
        patterns().apply(&mut result);
        let error = result.error.unwrap();
        assert_eq!(error.kind, "cleanup-unconfirmed");
        assert_eq!(error.cause.unwrap().kind, "sequence-gap");
    }

    #[test]
    fn the_words_of_a_failed_clean_up_tell_the_cause_too() {
        let mut patterns = patterns();
        patterns
            .push("termination is unconfirmed", "cleanup-unconfirmed")
            .unwrap();
        // The gap's pattern stands first in the file, so it would name the whole.
        let report = patterns.report("termination is unconfirmed, after: sequence gap", "other");
        assert_eq!((report.kind.as_str(), report.cause), ("sequence-gap", None));

        let mut patterns = Patterns::default();
        for (pattern, kind) in [
            ("termination is unconfirmed", "cleanup-unconfirmed"),
            ("sequence gap", "sequence-gap"),
        ] {
            patterns.push(pattern, kind).unwrap();
        }
        let report = patterns.report("termination is unconfirmed, after: sequence gap", "other");
        assert_eq!(report.kind, "cleanup-unconfirmed");
        assert_eq!(report.cause.unwrap().kind, "sequence-gap");
        let report = patterns.report("termination is unconfirmed", "other");
        assert_eq!(report.cause, None);
        assert_eq!(patterns.report("what?", "transport").kind, "transport");
    }
}
