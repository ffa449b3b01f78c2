//! Clients under test: adapters, command-line programs, and the reference client that is built in.
//!
//! A [`manifest::Manifest`] says how a client is started; [`Client::start`] starts it, [`Client::run`]
//! asks it one job and tells what it said. [`smoke`] finds out whether it can be asked at all.

pub mod errors;
pub mod job;
pub mod manifest;
