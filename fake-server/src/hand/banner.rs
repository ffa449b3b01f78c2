//! What is printed first: where the server is, how to talk to it, what will go wrong.

use super::live::{BOLD, DIM};
use fake_server::{
    script::{describe, model::Plan},
    wire::{Op, ProcessKind},
    wirelog::Names,
};
use serde_json::json;
use std::fmt::Write as _;

/// For people.
pub(super) fn text(plan: &Plan, names: &Names, scripted: bool) -> String {
    let mut out = String::new();
    let (bold, dim) = (BOLD.render(), DIM.render());
    let (bold_off, dim_off) = (BOLD.render_reset(), DIM.render_reset());
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{bold}fake-createos{bold_off}  {}", plan.title);
    if scripted {
        let _ = writeln!(out, "{dim}{}{dim_off}", plan.id);
    }
    let exists = matches!(plan.op, Op::Follow | Op::Connect);
    let process_note = if exists {
        "it exists already"
    } else {
        "the first process created gets this id"
    };
    let _ = write!(
        out,
        "\n  url      {}\n  key      {}\n  sandbox  {}\n  process  {}  {dim}({process_note}){dim_off}\n",
        names.base_url, names.api_key, names.sandbox_id, names.process_id
    );
    let _ = write!(
        out,
        "\n  export CREATEOS_SANDBOX_BASE_URL={}\n  export CREATEOS_API_KEY={}\n",
        names.base_url, names.api_key
    );
    let processes = format!(
        "$CREATEOS_SANDBOX_BASE_URL/v1/sandboxes/{}/processes",
        names.sandbox_id
    );
    if !exists {
        let body = if plan.truth.kind == ProcessKind::Pty {
            r#"{"pty":{"cols":120,"rows":30}}"#.to_owned()
        } else {
            let mut command = plan.job.command.iter();
            let cmd = command.next().map_or("true", String::as_str);
            json!({"cmd": cmd, "args": command.collect::<Vec<_>>()}).to_string()
        };
        let _ = write!(
            out,
            "\n  curl -s -X POST -H \"X-Api-Key: $CREATEOS_API_KEY\" -H 'Content-Type: application/json' \\\n    -d '{}' {processes}\n",
            body.replace('\'', "'\\''")
        );
    }
    let _ = write!(
        out,
        "\n  curl -sN -H \"X-Api-Key: $CREATEOS_API_KEY\" \\\n    \"{processes}/{}/connect?after={}\"\n",
        names.process_id, plan.job.after
    );
    if plan.faults.is_empty() {
        let _ = writeln!(out, "\n  nothing will go wrong");
    } else {
        let _ = writeln!(out, "\n  what will go wrong:");
        for fault in &plan.faults {
            let _ = writeln!(
                out,
                "    {dim}{}{dim_off} {}\n      {}",
                fault.number,
                describe::selector(fault),
                describe::behaviour(&fault.behaviour)
            );
        }
    }
    let _ = writeln!(
        out,
        "\n{dim}the wire, seconds since the start; Ctrl-C ends it{dim_off}"
    );
    out
}

/// For machines: one line.
pub(super) fn json(plan: &Plan, names: &Names) -> String {
    let faults: Vec<_> = plan
        .faults
        .iter()
        .map(|fault| json!({"fault": fault.number, "says": describe::fault(fault)}))
        .collect();
    json!({
        "event": "listening",
        "scenario": plan.id,
        "base_url": names.base_url,
        "api_key": names.api_key,
        "sandbox_id": names.sandbox_id,
        "process_id": names.process_id,
        "faults": faults,
    })
    .to_string()
        + "\n"
}
