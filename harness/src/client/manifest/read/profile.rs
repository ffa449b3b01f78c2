//! `[profile]`: what a client promises. A promise that the contract does not leave to the client is a mistake.

use super::{Reader, Table, Value};
use crate::{
    client::manifest::{ProfileKeys, Speed},
    profile::{BudgetRenewal, OutputForm},
};
use std::ops::RangeInclusive;
use toml::de::DeValue;

/// Keys of `[profile]`.
const PROFILE_KEYS: &[&str] = &[
    "max-reconnects",
    "reconnect-delay-ms",
    "retry-statuses",
    "budget-renewal",
    "retry-create-on",
    "honours-retry-after",
    "max-line-bytes",
    "cleanup-timeout-ms",
    "silence-limit-ms",
    "output",
    "max-capture-chars",
];

/// Statuses beyond 5xx on which a client may connect again (`stream/retry-transient`).
const RETRIED_4XX: &[&str] = &["408", "425", "429"];

/// Reconnects that can be promised: any number. Beyond some the deadline of a case comes first; such cases do not
/// apply.
const MOST_RECONNECTS: u32 = u32::MAX;

/// Times that can be promised: any.
const LONGEST_MS: i64 = i64::MAX;

/// Statuses on which a client may repeat a create (`create/once`).
const CREATE_AGAIN: &[i64] = &[429, 503];

impl<'t> Reader<'t> {
    /// `[speed]`: an environment, and the promise that goes with it.
    pub(super) fn speed(&mut self, value: &Value<'t>) -> Speed {
        let Some(table) = self.table(value) else {
            return Speed::default();
        };
        self.keys(table, &["env", "reconnect-delay-ms"], "[speed] has no key");
        let env = self.optional(table, "env", |reader, value| {
            let mut env = Vec::new();
            for (name, value) in reader.entries(value) {
                env.push((name.get_ref().to_string(), reader.text(value)));
            }
            env
        });
        Speed {
            env: env.unwrap_or_default(),
            reconnect_delay_ms: self.count(table, "reconnect-delay-ms", 0..=LONGEST_MS),
        }
    }

    pub(super) fn profile(&mut self, value: &Value<'t>) -> ProfileKeys {
        let Some(table) = self.table(value) else {
            return ProfileKeys::default();
        };
        self.keys(table, PROFILE_KEYS, "a profile has no key");
        ProfileKeys {
            max_reconnects: self
                .optional(table, "max-reconnects", |reader, value| {
                    reader.whole(value, 0..=MOST_RECONNECTS.into())
                })
                .and_then(|count| u32::try_from(count).ok()),
            reconnect_delay_ms: self.count(table, "reconnect-delay-ms", 0..=LONGEST_MS),
            retry_statuses: self.optional(table, "retry-statuses", |reader, value| {
                reader.list(value, "status", Self::retry_status)
            }),
            budget_renewal: self.choice(
                table,
                "budget-renewal",
                &[
                    ("never", BudgetRenewal::Never),
                    ("progress", BudgetRenewal::Progress),
                ],
            ),
            retry_create_on: self.optional(table, "retry-create-on", |reader, value| {
                reader
                    .list(value, "status", Self::create_status)
                    .into_iter()
                    .filter_map(|status| u16::try_from(status).ok())
                    .collect()
            }),
            honours_retry_after: self.optional(table, "honours-retry-after", Self::flag),
            max_line_bytes: self.count(table, "max-line-bytes", 1..=i64::MAX),
            cleanup_timeout_ms: self.count(table, "cleanup-timeout-ms", 1..=LONGEST_MS),
            silence_limit_ms: self.count(table, "silence-limit-ms", 1..=LONGEST_MS),
            output: self.choice(
                table,
                "output",
                &[("bytes", OutputForm::Bytes), ("text", OutputForm::Text)],
            ),
            max_capture_chars: self.count(table, "max-capture-chars", 1..=i64::MAX),
        }
    }

    fn count(&mut self, table: &Table<'t>, key: &str, range: RangeInclusive<i64>) -> Option<u64> {
        self.optional(table, key, |reader, value| reader.whole(value, range))
            .and_then(|count| u64::try_from(count).ok())
    }

    fn retry_status(&mut self, value: &Value<'t>) -> String {
        let status = match value.get_ref() {
            // A bare number is kindly taken for its text.
            DeValue::Integer(number) => number.as_str().to_owned(),
            _ => self.text(value),
        };
        if !is_retried(&status) {
            self.gather
                .at(
                    &value.span(),
                    format!(
                        "a connect that is answered `{status}` is not tried again by a right client"
                    ),
                )
                .help(retried());
        }
        status
    }

    fn create_status(&mut self, value: &Value<'t>) -> i64 {
        let status = self.whole(value, 0..=i64::MAX);
        if !CREATE_AGAIN.contains(&status) {
            self.gather
                .at(
                    &value.span(),
                    format!("a create that is answered {status} is not repeated by a right client"),
                )
                .help("429 and 503 may stand here");
        }
        status
    }
}

impl ProfileKeys {
    /// What a hello must not promise, in words. A manifest is held to the same, with places.
    pub(crate) fn mistake(&self) -> Option<String> {
        let out_of_range = |key: &str, said: Option<u64>, range: RangeInclusive<i64>| {
            let said = said?;
            let fits = i64::try_from(said).is_ok_and(|said| range.contains(&said));
            let (least, most) = range.into_inner();
            (!fits).then(|| match most {
                i64::MAX => format!("`{key}` is {said}; it is a whole number from {least} on"),
                _ => format!("`{key}` is {said}; it is a whole number from {least} to {most}"),
            })
        };
        let times = [
            ("reconnect-delay-ms", self.reconnect_delay_ms, 0),
            ("cleanup-timeout-ms", self.cleanup_timeout_ms, 1),
            ("silence-limit-ms", self.silence_limit_ms, 1),
        ];
        let sizes = [
            ("max-line-bytes", self.max_line_bytes),
            ("max-capture-chars", self.max_capture_chars),
        ];
        out_of_range(
            "max-reconnects",
            self.max_reconnects.map(u64::from),
            0..=MOST_RECONNECTS.into(),
        )
        .or_else(|| {
            times
                .iter()
                .find_map(|&(key, said, least)| out_of_range(key, said, least..=LONGEST_MS))
        })
        .or_else(|| {
            sizes
                .iter()
                .find_map(|&(key, said)| out_of_range(key, said, 1..=i64::MAX))
        })
        .or_else(|| {
            let mut statuses = self.retry_statuses.iter().flatten();
            statuses
                .find(|status| !is_retried(status))
                .map(|status| format!("`retry-statuses` holds `{status}`; it holds {}", retried()))
        })
        .or_else(|| {
            let mut statuses = self.retry_create_on.iter().flatten();
            statuses
                .find(|&&status| !CREATE_AGAIN.contains(&status.into()))
                .map(|status| format!("`retry-create-on` holds {status}; it holds 429 and 503"))
        })
    }
}

/// Whether a right client may connect again after this answer.
fn is_retried(status: &str) -> bool {
    status == "5xx"
        || (status.len() == 3 && status.starts_with('5') && status.parse::<u16>().is_ok())
        || RETRIED_4XX.contains(&status)
}

/// What may stand in `retry-statuses`.
fn retried() -> String {
    format!(
        "\"5xx\", a status from 500 to 599, or one of {}",
        RETRIED_4XX.join(", ")
    )
}
