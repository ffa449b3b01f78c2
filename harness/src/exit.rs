//! Exit codes: few, named, and never 0 when nothing was judged.
//!
//! Where several hold, the first of 130, 4, 2, 5, 1, 3, 0 is the one: a broken must is told as
//! such even if other cases could not be judged.

use std::fmt;

/// Why the program ended. The order of the variants is the order of precedence, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// Everything was as expected.
    AsExpected,
    /// Something could not be judged: a fault did not reach the client, an adapter died, or no case applied.
    Incomplete,
    /// The client broke the contract, or a known failure passed.
    Failed,
    /// The adapter failed its smoke probe; nothing else was judged.
    AdapterUnusable,
    /// The command line, a scenario or a manifest is wrong.
    Usage,
    /// The harness itself failed.
    Harness,
    /// Ctrl-C: what was known so far was printed.
    Interrupted,
}

impl Exit {
    /// Every exit, in the order of their codes.
    pub const ALL: &'static [Self] = &[
        Self::AsExpected,
        Self::Failed,
        Self::Usage,
        Self::Incomplete,
        Self::Harness,
        Self::AdapterUnusable,
        Self::Interrupted,
    ];

    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Incomplete => 3,
            Self::Harness => 4,
            Self::AdapterUnusable => 5,
            Self::Interrupted => 130,
        }
    }

    /// What the code means, for help texts and reports.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AsExpected => "as expected",
            Self::Failed => "the client broke the contract, or a known failure passes",
            Self::Usage => "wrong command line, scenario or manifest",
            Self::Incomplete => "incomplete: not exercised, adapter died, or no case applied",
            Self::Harness => "the harness itself failed",
            Self::AdapterUnusable => "adapter unusable: smoke failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The one that counts when both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.meaning())
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn precedence_is_130_4_2_5_1_3_0() {
        let mut all = Exit::ALL.to_vec();
        all.sort();
        all.reverse();
        let codes: Vec<u8> = all.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [130, 4, 2, 5, 1, 3, 0]);
    }

    #[test]
    fn a_broken_must_is_told_even_if_other_cases_are_incomplete() {
        assert_eq!(Exit::Incomplete.and(Exit::Failed), Exit::Failed);
        assert_eq!(Exit::Failed.and(Exit::AsExpected), Exit::Failed);
    }

    #[test]
    fn codes_are_distinct() {
        let codes: std::collections::BTreeSet<u8> =
            Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
    }
}
