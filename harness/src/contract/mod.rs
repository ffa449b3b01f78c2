//! The contract as data: every requirement with its id, level and sentence.

/// How binding a requirement is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Recorded.
    May,
    /// Reported; fails only with `--strict`.
    Should,
    /// Breaking it fails the certification.
    Must,
}

/// One requirement of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// `area/name`, never reused.
    pub id: &'static str,
    /// How binding.
    pub level: Level,
    /// What a client does.
    pub sentence: &'static str,
}
