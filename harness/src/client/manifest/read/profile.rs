//! `[profile]`: what a client promises. A promise that the contract does not leave to the client is a mistake.

use super::{Reader, Table, Value};
use crate::{
    client::manifest::ProfileKeys,
    profile::{BudgetRenewal, OutputForm},
};
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

/// Statuses on which a client may repeat a create (`create/once`).
const CREATE_AGAIN: &[i64] = &[429, 503];

impl<'t> Reader<'t> {
    pub(super) fn profile(&mut self, value: &Value<'t>) -> ProfileKeys {
        let Some(table) = self.table(value) else {
            return ProfileKeys::default();
        };
        self.keys(table, PROFILE_KEYS, "a profile has no key");
        ProfileKeys {
            max_reconnects: self
                .optional(table, "max-reconnects", |reader, value| {
                    reader.whole(value, 0..=u32::MAX.into())
                })
                .and_then(|count| u32::try_from(count).ok()),
            reconnect_delay_ms: self.count(table, "reconnect-delay-ms", 0),
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
            max_line_bytes: self.count(table, "max-line-bytes", 1),
            cleanup_timeout_ms: self.count(table, "cleanup-timeout-ms", 1),
            silence_limit_ms: self.count(table, "silence-limit-ms", 1),
            output: self.choice(
                table,
                "output",
                &[("bytes", OutputForm::Bytes), ("text", OutputForm::Text)],
            ),
            max_capture_chars: self.count(table, "max-capture-chars", 1),
        }
    }

    fn count(&mut self, table: &Table<'t>, key: &str, least: i64) -> Option<u64> {
        self.optional(table, key, |reader, value| {
            reader.whole(value, least..=i64::MAX)
        })
        .and_then(|count| u64::try_from(count).ok())
    }

    fn retry_status(&mut self, value: &Value<'t>) -> String {
        let status = match value.get_ref() {
            // A bare number is kindly taken for its text.
            DeValue::Integer(number) => number.as_str().to_owned(),
            _ => self.text(value),
        };
        let is_5xx = status == "5xx"
            || (status.len() == 3 && status.starts_with('5') && status.parse::<u16>().is_ok());
        if !is_5xx && !RETRIED_4XX.contains(&status.as_str()) {
            self.gather
                .at(
                    &value.span(),
                    format!(
                        "a connect that is answered `{status}` is not tried again by a right client"
                    ),
                )
                .help(format!(
                    "\"5xx\", a status from 500 to 599, or one of {}",
                    RETRIED_4XX.join(", ")
                ));
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
