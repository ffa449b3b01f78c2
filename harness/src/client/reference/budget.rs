//! How often and how soon a stream is asked for again, and which answers are worth it.

use super::bug::{Bug, Quirk};
use crate::profile::{BudgetRenewal, Profile, Promises};
use std::time::Duration;

/// The reconnects that are left.
#[derive(Debug)]
pub(super) struct Budget {
    used: u32,
    allowed: u32,
    renewal: BudgetRenewal,
    quirk: Quirk,
}

impl Budget {
    pub(super) fn new(promises: &Promises, quirk: Quirk) -> Self {
        let mut allowed = promises.connect_budget() - 1;
        match quirk.0 {
            Some(Bug::OneConnectTooFew) => allowed = allowed.saturating_sub(1),
            Some(Bug::OneConnectTooMany) => allowed += 1,
            Some(Bug::HotLoop) => allowed = u32::MAX,
            Some(Bug::ZeroRetriesIsUnlimited) if allowed == 0 => allowed = u32::MAX,
            _ => {}
        }
        Self {
            used: 0,
            allowed,
            renewal: promises.profile.budget_renewal,
            quirk,
        }
    }

    /// Takes one reconnect, if one is left.
    pub(super) const fn spend(&mut self) -> bool {
        if self.used == self.allowed {
            return false;
        }
        self.used += 1;
        true
    }

    /// New data was accepted.
    pub(super) fn progress(&mut self) {
        if self.renewal == BudgetRenewal::Progress || self.quirk.is(Bug::ProgressRenewsBudget) {
            self.used = 0;
        }
    }

    /// A stream was opened.
    pub(super) fn opened(&mut self) {
        if self.quirk.is(Bug::AnswerRenewsBudget) {
            self.used = 0;
        }
    }

    /// A heartbeat or an old frame came.
    pub(super) fn nothing_new(&mut self) {
        if self.quirk.is(Bug::HeartbeatRenewsBudget) {
            self.used = 0;
        }
    }
}

/// What a status of `connect` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The body is the stream.
    Stream,
    /// Ask again while the budget lasts.
    Again,
    /// The output is gone.
    Evicted,
    /// Nothing will change by asking again.
    Final,
    /// The process ended well (wrong clients only).
    Success,
    /// The cursor is wrong: start again at 0 (wrong clients only).
    StartAgain,
}

/// Reads a status.
pub(super) fn meaning(status: u16, profile: &Profile, quirk: Quirk) -> Meaning {
    match (quirk.0, status) {
        (Some(Bug::GoneIsRetried), 410) | (Some(Bug::PermanentIsRetried), 401 | 404 | 409) => {
            Meaning::Again
        }
        (Some(Bug::TooManyIsFinal), 429) => Meaning::Final,
        (Some(Bug::StatusUnchecked), 400..) => Meaning::Stream,
        (Some(Bug::NoContentIsSuccess), 204) => Meaning::Success,
        (Some(Bug::BadRequestResetsCursor), 400) => Meaning::StartAgain,
        (_, 200) => Meaning::Stream,
        (_, 410) => Meaning::Evicted,
        (_, status) if profile.retries_status(status) => Meaning::Again,
        _ => Meaning::Final,
    }
}

/// How long to wait before the next connect. `retry_after` is the header of the answer, if there was one;
/// it may lengthen the wait where the profile says so, never shorten it.
pub(super) fn delay(profile: &Profile, retry_after: Option<&str>, quirk: Quirk) -> Duration {
    /// Seconds that a Retry-After may ask for at the most; the call's deadline bounds it further.
    const LONGEST: u64 = 30;
    if quirk.any(&[Bug::NoDelay, Bug::HotLoop]) {
        return Duration::ZERO;
    }
    let own = Duration::from_millis(profile.reconnect_delay_ms);
    let asked = retry_after.and_then(|seconds| seconds.trim().parse::<u64>().ok());
    match asked {
        Some(seconds) if quirk.is(Bug::RetryAfterUncapped) => own.max(Duration::from_secs(seconds)),
        Some(seconds) if profile.honours_retry_after => {
            own.max(Duration::from_secs(seconds.min(LONGEST)))
        }
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::reference::Reference;

    #[test]
    fn three_reconnects_and_no_more() {
        let promises = Reference::conformant().promises;
        let mut budget = Budget::new(&promises, Quirk::default());
        budget.progress();
        let spent = (0..10).filter(|_| budget.spend()).count();
        assert_eq!(spent, 3);
    }

    #[test]
    fn progress_renews_where_promised() {
        let mut promises = Reference::conformant().promises;
        promises.profile.budget_renewal = BudgetRenewal::Progress;
        let mut budget = Budget::new(&promises, Quirk::default());
        while budget.spend() {}
        budget.nothing_new();
        assert!(!budget.spend());
        budget.progress();
        assert!(budget.spend());
    }

    #[test]
    fn statuses_are_read_as_the_contract_says() {
        let read = |status| meaning(status, &Profile::default(), Quirk::default());
        assert_eq!(read(200), Meaning::Stream);
        assert_eq!(read(410), Meaning::Evicted);
        for status in [429, 500, 502, 503, 504, 501, 599] {
            assert_eq!(read(status), Meaning::Again, "{status}");
        }
        for status in [
            101, 201, 202, 204, 206, 301, 302, 307, 400, 401, 403, 404, 408, 409, 425,
        ] {
            assert_eq!(read(status), Meaning::Final, "{status}");
        }
    }

    #[test]
    fn retry_after_only_lengthens_and_only_where_promised() {
        let mut profile = Profile::default();
        let millis =
            |profile: &Profile, header| delay(profile, header, Quirk::default()).as_millis();
        assert_eq!(millis(&profile, Some("5")), 250);
        profile.honours_retry_after = true;
        for (header, expected) in [
            ("2", 2000),
            ("0", 250),
            ("-1", 250),
            ("x", 250),
            ("9999999999", 30000),
        ] {
            assert_eq!(millis(&profile, Some(header)), expected, "{header}");
        }
    }
}
