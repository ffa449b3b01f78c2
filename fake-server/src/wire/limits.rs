//! The protocol's numbers, each with its unit and where it is from.

/// Bytes of raw output a process's journal keeps before it evicts (public provider README; unit decided: raw bytes).
pub const JOURNAL_BYTES: u64 = 1 << 20;
/// Bytes of decoded stdin one `input` request may carry; more is answered 413.
pub const INPUT_BYTES: usize = 256 << 10;
/// Milliseconds between heartbeats on a quiet connect (documented for exec, assumed for connect).
pub const HEARTBEAT_MS: u64 = 5_000;
/// Milliseconds `wait` holds without `timeout_ms`.
pub const WAIT_DEFAULT_MS: u64 = 30_000;
/// Milliseconds `wait` holds at the most.
pub const WAIT_MAX_MS: u64 = 60_000;
/// Rows of a list answer without `limit`.
pub const LIST_DEFAULT: usize = 50;
/// Rows of a list answer at the most.
pub const LIST_MAX: usize = 500;
/// Characters of a sandbox's name at the most.
pub const NAME_CHARS: usize = 22;
/// Largest seq that a double holds exactly, and so the largest a client must carry.
pub const SEQ_MAX: u64 = (1 << 53) - 1;
