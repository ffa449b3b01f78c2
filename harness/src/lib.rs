//! Judges any CreateOS client against scenario files: what it said and what it did on the wire.

#[cfg(feature = "run")]
pub mod audit;
pub mod case;
#[cfg(feature = "run")]
pub mod cli;
pub mod client;
pub mod contract;
pub mod coverage;
pub mod events;
pub mod exit;
#[cfg(feature = "run")]
pub mod fuzz;
pub mod generate;
pub mod judge;
pub mod machine;
pub mod observed;
pub mod profile;
pub mod report;
#[cfg(feature = "run")]
pub mod run;
pub mod saved;
pub mod select;
pub mod stability;
pub mod standing;
pub mod suite;
pub mod summary;
