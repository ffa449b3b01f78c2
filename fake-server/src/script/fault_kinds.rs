//! The taxonomy of faults: every kind a server or a network in between can show a client, by id and
//! name. Scenarios cite the ids (`fault-kinds`), reports count by them.

/// One kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultKind {
    /// Two characters of its group and a number, never reused.
    pub id: &'static str,
    /// What it is, in snake case.
    pub name: &'static str,
}

/// A family of fault kinds: their ids begin with its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first two characters of the ids.
    pub prefix: &'static str,
    /// What its kinds are about.
    pub title: &'static str,
    /// Its kinds, in order.
    pub kinds: &'static [FaultKind],
}

/// Every kind, in order.
pub fn all() -> impl Iterator<Item = &'static FaultKind> {
    GROUPS.iter().flat_map(|group| group.kinds)
}

/// The kind with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static FaultKind> {
    all().find(|kind| kind.id == id)
}

const fn kind(id: &'static str, name: &'static str) -> FaultKind {
    FaultKind { id, name }
}

/// Every family, in order.
pub const GROUPS: &[Group] = &[
    Group {
        prefix: "HS",
        title: "HTTP status on connect",
        kinds: &[
            kind("HS01", "connect_5xx_transient"),
            kind("HS02", "connect_5xx_exhausted"),
            kind("HS03", "connect_429"),
            kind("HS04", "connect_4xx_permanent"),
            kind("HS05", "connect_404"),
            kind("HS06", "connect_409"),
            kind("HS07", "connect_2xx_not_200"),
            kind("HS08", "error_status_with_valid_frames"),
        ],
    },
    Group {
        prefix: "HD",
        title: "Response headers",
        kinds: &[
            kind("HD01", "html_on_200"),
            kind("HD02", "json_envelope_on_200"),
            kind("HD03", "content_type_missing_or_variant"),
            kind("HD04", "content_coding"),
            kind("HD05", "content_length_lies"),
            kind("HD06", "retry_after_extremes"),
        ],
    },
    Group {
        prefix: "BE",
        title: "Body envelope",
        kinds: &[
            kind("BE01", "envelope_fail_on_200"),
            kind("BE02", "envelope_bad_identifier"),
            kind("BE03", "empty_stream_on_200"),
            kind("BE04", "foreign_object_in_stream"),
            kind("BE05", "foreign_text_in_stream"),
        ],
    },
    Group {
        prefix: "CT",
        title: "Connection and transport",
        kinds: &[
            kind("CT01", "refused_or_unresolvable"),
            kind("CT02", "close_before_headers"),
            kind("CT03", "reset_mid_frame"),
            kind("CT04", "eof_without_framing_proof"),
            kind("CT05", "clean_eof_without_exit"),
            kind("CT06", "drop_with_progress"),
            kind("CT07", "drop_without_progress"),
            kind("CT08", "stall_before_headers"),
            kind("CT09", "silent_stall"),
            kind("CT10", "trickle"),
            kind("CT11", "idle_cut"),
            kind("CT12", "transport_noise_after_exit"),
        ],
    },
    Group {
        prefix: "SG",
        title: "Chunking and segmentation",
        kinds: &[
            kind("SG01", "arbitrary_split"),
            kind("SG02", "coalesced"),
            kind("SG03", "split_inside_character_or_escape"),
            kind("SG04", "long_line"),
            kind("SG05", "endless_line"),
            kind("SG06", "line_ending_noise"),
            kind("SG07", "final_line_unterminated_complete"),
            kind("SG08", "final_line_unterminated_partial"),
            kind("SG09", "unicode_separators"),
            kind("SG10", "burst_delivery"),
        ],
    },
    Group {
        prefix: "FJ",
        title: "Frame JSON",
        kinds: &[
            kind("FJ01", "malformed_line"),
            kind("FJ02", "unknown_or_missing_type"),
            kind("FJ03", "field_missing_or_wrong_type"),
            kind("FJ04", "extra_fields"),
            kind("FJ05", "duplicate_keys"),
            kind("FJ06", "unknown_stream_name"),
            kind("FJ07", "in_band_error"),
        ],
    },
    Group {
        prefix: "SQ",
        title: "Sequence and cursor",
        kinds: &[
            kind("SQ01", "forward_gap"),
            kind("SQ02", "exact_duplicates"),
            kind("SQ03", "duplicate_with_other_bytes"),
            kind("SQ04", "full_replay"),
            kind("SQ05", "epoch_reset"),
            kind("SQ06", "big_seq"),
            kind("SQ07", "cursor_poison"),
            kind("SQ08", "after_parameter_semantics"),
            kind("SQ09", "out_of_order"),
        ],
    },
    Group {
        prefix: "B6",
        title: "data_base64 payload",
        kinds: &[
            kind("B601", "empty_payload"),
            kind("B602", "padding_missing"),
            kind("B603", "padding_misplaced_or_excess"),
            kind("B604", "url_safe_alphabet"),
            kind("B605", "whitespace_inside"),
            kind("B606", "invalid_character_or_length"),
            kind("B607", "nonzero_spare_bits"),
            kind("B608", "arbitrary_bytes"),
            kind("B609", "utf8_split_across_frames"),
        ],
    },
    Group {
        prefix: "EX",
        title: "Exit and terminal frames",
        kinds: &[
            kind("EX01", "zero_and_nonzero_exit"),
            kind("EX02", "exit_without_status"),
            kind("EX03", "exit_status_malformed"),
            kind("EX04", "signal_exit"),
            kind("EX05", "frames_after_exit"),
            kind("EX06", "exit_never_sent"),
            kind("EX07", "fabricated_exit"),
            kind("EX08", "exit_before_final_data"),
        ],
    },
    Group {
        prefix: "HB",
        title: "Heartbeat, timing, cancellation",
        kinds: &[
            kind("HB01", "heartbeats_forever"),
            kind("HB02", "long_quiet"),
            kind("HB03", "cancel_or_deadline"),
            kind("HB04", "retry_spacing"),
        ],
    },
    Group {
        prefix: "JR",
        title: "Journal, eviction, replica",
        kinds: &[
            kind("JR01", "gone_410"),
            kind("JR02", "in_band_offset_expired"),
            kind("JR03", "silent_tail_only"),
            kind("JR04", "exact_boundary"),
            kind("JR05", "replica_without_journal"),
            kind("JR06", "lagging_replica_or_future_after"),
            kind("JR07", "slow_reader_eviction"),
        ],
    },
    Group {
        prefix: "PL",
        title: "Process lifecycle and cleanup",
        kinds: &[
            kind("PL01", "create_ambiguous"),
            kind("PL02", "create_refused_or_unusable"),
            kind("PL03", "tree_not_exited"),
            kind("PL04", "delete_failing"),
            kind("PL05", "delete_hangs"),
            kind("PL06", "delete_404"),
            kind("PL07", "delete_unproven_success"),
            kind("PL08", "process_id_reused"),
        ],
    },
    Group {
        prefix: "SL",
        title: "Sandbox lifecycle, files, sync exec",
        kinds: &[
            kind("SL01", "sandbox_create_ambiguous"),
            kind("SL02", "identity_mismatch"),
            kind("SL03", "async_transition"),
            kind("SL04", "already_there_or_conflict"),
            kind("SL05", "transition_fails_or_sticks"),
            kind("SL06", "running_but_not_ready"),
            kind("SL07", "resumed_without_state"),
            kind("SL08", "sandbox_delete_outcomes"),
            kind("SL09", "vanishes_mid_stream"),
            kind("SL10", "file_put_unproven"),
            kind("SL11", "file_get_damaged"),
            kind("SL12", "sync_exec_ambiguous"),
        ],
    },
    Group {
        prefix: "AR",
        title: "Auth, redirect, secrets",
        kinds: &[
            kind("AR01", "redirect_cross_origin"),
            kind("AR02", "redirect_other"),
            kind("AR03", "auth_refused"),
            kind("AR04", "auth_expires_mid_run"),
            kind("AR05", "secret_echo"),
        ],
    },
    Group {
        prefix: "CO",
        title: "Concurrency, ordering, consumers",
        kinds: &[
            kind("CO01", "parallel_connections"),
            kind("CO02", "interleaved_streams"),
            kind("CO03", "slow_consumer"),
            kind("CO04", "leak_probe"),
        ],
    },
    Group {
        prefix: "H2",
        title: "HTTP/2 and TLS",
        kinds: &[
            kind("H201", "goaway_graceful"),
            kind("H202", "unprocessed_stream"),
            kind("H203", "reset_mid_body"),
            kind("H204", "calm_loop"),
            kind("H205", "dead_pooled_connection"),
            kind("H206", "tls_end_without_close_notify"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_120_kinds_and_each_is_in_its_group_once() {
        let ids: BTreeSet<_> = all().map(|kind| kind.id).collect();
        let names: BTreeSet<_> = all().map(|kind| kind.name).collect();
        assert_eq!((all().count(), ids.len(), names.len()), (120, 120, 120));
        for group in GROUPS {
            for (index, kind) in group.kinds.iter().enumerate() {
                assert_eq!(kind.id, format!("{}{:02}", group.prefix, index + 1));
            }
        }
    }

    #[test]
    fn a_kind_is_found_by_its_id() {
        assert_eq!(find("CT03").map(|kind| kind.name), Some("reset_mid_frame"));
        assert_eq!(find("CT99"), None);
    }
}
