//! Clients under test: adapters, command-line programs, and the reference client that is built in.

pub mod job;
