//! What a right client does, in words.

use super::ways::{Moment, Ways};
use crate::{judge::answer::Ending, profile::Promises};
use fake_server::{script::model::Plan, wire::Call};

/// The most usual right way, step by step.
pub(super) fn steps(plan: &Plan, promises: &Promises, ways: &Ways) -> Vec<String> {
    let mut steps = Vec::new();
    let mut connects = 0;
    for moment in &ways.path {
        match moment {
            Moment::Call {
                call: Call::Connect,
                after,
                status,
                ending,
                cursor,
                ..
            } => {
                connects += 1;
                steps.push(connect(
                    promises, connects, *after, *status, *ending, *cursor,
                ));
            }
            Moment::Call { call, status, .. } => steps.push(other(*call, *status)),
            Moment::Unseen(call) => steps.push(format!("{call}: meets a closed connection")),
            Moment::Outcome(outcome) => steps.push(outcome_words(outcome)),
        }
    }
    let others: Vec<String> = ways
        .outcomes
        .iter()
        .filter(|outcome| {
            !ways
                .path
                .iter()
                .any(|moment| matches!(moment, Moment::Outcome(usual) if usual == *outcome))
        })
        .map(|outcome| outcome_words(outcome))
        .collect();
    if !others.is_empty() && plan.op != fake_server::wire::Op::Connect {
        steps.push(format!("also right: {}", others.join("; ")));
    }
    steps
}

fn connect(
    promises: &Promises,
    number: u32,
    after: u64,
    status: Option<u16>,
    ending: Ending,
    cursor: u64,
) -> String {
    let again = if number == 1 {
        format!("connects with after={after}")
    } else {
        format!(
            "connects again with after={after}, at least {} ms later",
            promises.profile.reconnect_delay_ms
        )
    };
    let got = match status {
        None => "gets no answer".to_owned(),
        Some(200) => {
            let read = if cursor > after {
                if cursor == after + 1 {
                    format!("accepts frame {cursor}")
                } else {
                    format!("accepts frames {} to {cursor}", after + 1)
                }
            } else {
                "accepts nothing new".to_owned()
            };
            let end = match ending {
                Ending::Clean => "the body ends",
                Ending::CloseDelimited => "the server closes",
                Ending::Unclean => "the stream breaks off",
                Ending::Left | Ending::Open => "the stream stays open",
            };
            format!("{read}, {end}")
        }
        Some(status) => format!("gets {status}"),
    };
    format!("{again}: {got}")
}

fn other(call: Call, status: Option<u16>) -> String {
    let what = match call {
        Call::CreateProcess => "creates the process",
        Call::StdinClose => "closes its stdin",
        Call::Input => "writes its stdin",
        Call::ResizeProcess => "resizes the terminal",
        Call::DeleteProcess => "deletes the process with `grace_ms`",
        Call::Exec => "runs the command",
        Call::PutFile => "uploads the file",
        Call::GetFile => "downloads the file",
        Call::CreateSandbox => "creates the sandbox",
        Call::GetSandbox => "reads its state",
        Call::ListSandboxes => "looks for it by its name",
        Call::DeleteSandbox => "destroys the sandbox",
        Call::Pause => "asks for the pause",
        Call::Resume => "asks for the resume",
        _ => call.name(),
    };
    status.map_or_else(
        || format!("{what}: gets no answer"),
        |status| format!("{what}: gets {status}"),
    )
}

fn outcome_words(outcome: &str) -> String {
    match outcome.split_once(':') {
        Some((_, kind)) => format!("fails with {kind}"),
        None => match outcome {
            "exited" => "reports the exit and all output".to_owned(),
            "ok" => "reports that it is done".to_owned(),
            "timed-out" => "reports timed-out with the output so far".to_owned(),
            "cancelled" => "reports cancelled".to_owned(),
            "ended" => "hands over every event, and how the stream ended".to_owned(),
            _ => "waits: nothing ends this call".to_owned(),
        },
    }
}
