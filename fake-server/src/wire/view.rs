//! Resources as answers show them. Every field that any public client's decoder needs is always
//! sent; what is optional for all of them is left out when absent, never `null`.

use super::{ProcessKind, catalog};
use serde::Serialize;
use serde_json::{Value, json};

/// A sandbox.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SandboxView {
    /// Id.
    pub id: String,
    /// Status.
    pub status: String,
    /// Address inside the network.
    pub ip: String,
    /// Virtual CPUs.
    pub vcpu: u32,
    /// Memory, MiB.
    pub mem_mib: u32,
    /// Disk, MiB.
    pub disk_mib: u64,
    /// RFC 3339.
    pub created_at: String,
    /// Whether it can be reached from outside.
    pub ingress_enabled: bool,
    /// Where from, with a literal `<port>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_url_template: Option<String>,
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_at: Option<String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed_at: Option<String>,
    /// Milliseconds the boot took.
    pub spawn_ms: f64,
    /// Shape.
    pub shape: String,
    /// Root file system.
    pub rootfs: String,
    /// Region.
    pub region: String,
    /// Outgoing rules; empty allows all.
    pub egress: Vec<String>,
    /// Names of its variables, never their values.
    pub envs: Vec<String>,
    /// SSH keys.
    pub ssh_pubkeys: Vec<String>,
    /// Who made it.
    pub created_by: String,
    /// Bytes left to send; -1 is unmetered.
    pub bandwidth_quota_bytes: i64,
    /// Bytes received.
    pub bandwidth_ingress_bytes: i64,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_resumed_at: Option<String>,
    /// The sandbox it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Seconds of quiet until it pauses itself; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_pause_after_seconds: Option<u64>,
}

/// A managed process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessView {
    /// Id.
    pub process_id: String,
    /// Pipe or terminal.
    pub kind: ProcessKind,
    /// Its number inside the sandbox.
    pub pid: u32,
    /// `running`, `terminating`, `exited`.
    pub state: &'static str,
    /// The leader has exited.
    pub leader_exited: bool,
    /// It and all its descendants have.
    pub tree_exited: bool,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Exit code, `null` while it runs or if a signal ended it.
    pub exit_code: Option<i64>,
    /// Signal name or `null`.
    pub signal: Option<String>,
    /// Program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Working folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What runs in the terminal's foreground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreground: Option<Foreground>,
    /// Its journal.
    pub output: OutputView,
}

/// What runs in a terminal's foreground.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Foreground {
    /// Its number.
    pub pid: u32,
    /// Program.
    pub cmd: String,
    /// Arguments.
    pub args: Vec<String>,
}

/// A journal in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutputView {
    /// Oldest seq kept, 0 if nothing was written.
    pub oldest_seq: u64,
    /// Newest seq, 0 if nothing was written.
    pub newest_seq: u64,
    /// Raw bytes kept.
    pub bytes: u64,
}

/// A view as JSON.
#[must_use]
pub fn to_json(view: &impl Serialize) -> Value {
    // Views hold strings, numbers and lists only: nothing in them can fail to serialise.
    serde_json::to_value(view).unwrap_or_default()
}

/// One page of rows as `data` of a list answer.
#[must_use]
pub fn page(rows: Vec<Value>, limit: usize, offset: usize) -> Value {
    let total = rows.len();
    let rows: Vec<Value> = rows.into_iter().skip(offset).take(limit).collect();
    let count = rows.len();
    json!({
        "data": rows,
        "pagination": { "total": total, "limit": limit, "offset": offset, "count": count },
    })
}

/// Where a sandbox is reached from outside.
#[must_use]
pub fn ingress_url_template(id: &str) -> String {
    format!("https://<port>-{id}.{}.sandbox.invalid", catalog::REGION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_what_it_shows_and_what_there_is() {
        let rows: Vec<Value> = (0..5).map(Value::from).collect();
        let page = page(rows, 2, 4);
        assert_eq!(page["data"], json!([4]));
        assert_eq!(
            page["pagination"],
            json!({ "total": 5, "limit": 2, "offset": 4, "count": 1 })
        );
    }
}
