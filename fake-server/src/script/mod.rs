//! Scenario files: parsed with positions, checked, and turned into plans.

pub mod expand;
pub mod model;
