//! Reports: pure functions from the results of a run to text.
//!
//! `console` is for people: a table by area ([`console`]), then a [`story`] for each failure, told from its
//! [`timeline`]. `json` is for machines: the lines of `line`, which a [`record`] is read back from; [`junit`], [`markdown`],
//! [`github`] and [`html`] are made from records, [`mod@diff`] for two of them, [`stability`] for repeats, [`mod@sweep`] for cuts. `text` measures and wraps, `redact` keeps secrets out.

pub mod again;
#[cfg(feature = "run")]
pub mod audit;
pub mod console;
pub mod diff;
#[cfg(feature = "run")]
pub mod generated;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod line;
pub mod markdown;
pub mod record;
pub mod redact;
pub mod stability;
pub mod story;
pub mod sweep;
pub mod text;
pub mod timeline;
