//! Judges any CreateOS client against scenario files: what it said and what it did on the wire.

pub mod case;
pub mod client;
pub mod contract;
pub mod events;
pub mod exit;
pub mod judge;
pub mod observed;
pub mod profile;
pub mod report;
pub mod select;
pub mod standing;
pub mod suite;
pub mod summary;
