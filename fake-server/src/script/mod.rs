//! Scenario files: parsed with positions, checked, and turned into plans.
//!
//! A file is text, then a tree of values that know where they stand (`node`), then raw tables
//! whose unknown keys are denied and from which the JSON Schema is made (`raw`), then the checked
//! [`model`]. Every step goes on after a mistake, so that an author sees all of them at once.
//! No IO, no clock; the only randomness comes from the seed of [`Scenario::plan`].

mod build;
mod cuts;
pub mod describe;
pub mod expand;
mod faithful;
pub mod fault_kinds;
mod fill;
mod forms;
pub mod framing;
mod matrix;
mod mistakes;
pub mod model;
mod node;
mod placeholders;
pub mod print;
mod raw;
mod read;
mod scenario;
mod schema;
mod suggest;
mod units;
mod words;

pub use build::{SHAPE, default_truth, filling};
pub use mistakes::{Gather, Mistake, Mistakes, Note};
pub use scenario::{Scenario, parse, parse_with};
pub use schema::schema;
pub use words::{ERROR_KINDS, OUTCOMES, STATES};
