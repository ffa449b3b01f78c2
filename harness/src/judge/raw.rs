//! Op `connect`.

use super::{findings::Findings, walk::Walk};
use crate::contract::oracle::Expected;

pub(super) fn judge(_walk: &Walk<'_>, _expected: &Expected, _findings: &mut Findings<'_>) {}
