//! What a client's own words mean: the manifest's `[errors]`, a regular expression over the message
//! and the kind of error it stands for.

use crate::observed::{ErrorReport, JobResult};
use regex::{Regex, bytes};

/// `[errors]`, in the file's order: the first that matches counts.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<(Regex, bytes::Regex, String)>);

impl Patterns {
    /// Adds a pattern behind the others.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn push(&mut self, pattern: &str, kind: &str) -> Result<(), regex::Error> {
        let text = Regex::new(pattern)?;
        let bytes = bytes::Regex::new(pattern)?;
        self.0.push((text, bytes, kind.to_owned()));
        Ok(())
    }

    /// The kind that a message stands for.
    #[must_use]
    pub fn classify(&self, message: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(pattern, ..)| pattern.is_match(message))
            .map(|(.., kind)| kind.as_str())
    }

    /// The kind that a program's last words stand for; they need not be UTF-8.
    #[must_use]
    pub fn classify_bytes(&self, words: &[u8]) -> Option<&str> {
        self.0
            .iter()
            .find(|(_, pattern, _)| pattern.is_match(words))
            .map(|(.., kind)| kind.as_str())
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
}
