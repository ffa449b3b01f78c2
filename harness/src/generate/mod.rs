//! Generated schedules: plans that nobody wrote a scenario for, and what becomes of the ones that fail.
//!
//! proptest draws a plan, the oracle says what is right, a failing plan is made smaller until a person can read it.

/// How far the generated schedules go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Little output and few deviations in a plan: many plans a second.
    #[default]
    Quick,
    /// More output, more connections and more deviations in a plan.
    Deep,
}
