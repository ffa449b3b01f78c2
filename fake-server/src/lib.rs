//! A scriptable fake CreateOS server: faithful by default, wrong exactly as a scenario says.

mod canonical;
pub mod journal;
pub mod ledger;
#[cfg(feature = "net")]
pub mod net;
pub mod script;
pub mod session;
pub mod wire;
pub mod wirelog;
pub mod world;
