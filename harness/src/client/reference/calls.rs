//! The single calls around a stream: create a process, send it input, close its stdin, delete its tree.

use super::{
    bug::{Bug, Quirk},
    envelope::Success,
    failure::{Failure, Kind},
    fields::{Input, is_id},
    follow::quote,
    http::{Answer, Ask, Dial, Http},
};
use crate::profile::Profile;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Bytes that one input call carries at the most; the server refuses more.
const INPUT_BYTES: usize = 256 << 10;

/// Milliseconds that the process tree gets to end by itself before it is killed. Half of what the profile
/// allows the cleanup (`cleanup-timeout-ms` 1,000), since the answer waits for the tree.
const GRACE_MS: u32 = 500;

/// Starts a process and gives its id. One POST, whatever comes of it, unless the profile repeats it on a
/// status that says nothing was done.
///
/// # Errors
/// `http-error` where the server refused; `creation-unconfirmed` where it may have started something.
pub(super) async fn create<D: Dial>(
    http: &mut Http<'_, D>,
    processes: &str,
    body: &str,
    profile: &Profile,
    quirk: Quirk,
) -> Result<String, Failure> {
    let ask = post(processes.to_owned(), Some(body.to_owned()));
    let mut repeats = if quirk.is(Bug::CreateRepeated) {
        1
    } else if profile.retry_create_on.is_empty() {
        0
    } else {
        profile.max_reconnects
    };
    loop {
        let answer = http.send(&ask).await;
        let again = match &answer {
            Ok(answer) if quirk.is(Bug::CreateRepeated) => answer.status >= 500,
            Ok(answer) => profile.retry_create_on.contains(&answer.status),
            Err(_) => quirk.is(Bug::CreateRepeated),
        };
        if again && repeats > 0 {
            repeats -= 1;
            drop(answer);
            sleep(Duration::from_millis(profile.reconnect_delay_ms)).await;
            continue;
        }
        let answer = answer
            .map_err(|broken| unconfirmed(&Failure::broken(Kind::Transport, CREATING, &broken)))?;
        return created(http, answer, quirk).await;
    }
}

const CREATING: &str = "creating the process";

/// Reads the answer to a create.
async fn created<D: Dial>(
    http: &mut Http<'_, D>,
    mut answer: Answer<D::Socket>,
    quirk: Quirk,
) -> Result<String, Failure> {
    let status = answer.status;
    if !answer.is_success() {
        let refused = Failure::status(Kind::HttpError, CREATING, status);
        let refused = quote(refused, &mut answer, quirk).await;
        return Err(match status {
            500.. if !quirk.is(Bug::CreateFailureIsRefusal) => unconfirmed(&refused),
            _ => refused,
        });
    }
    let text = http
        .text(answer)
        .await
        .map_err(|broken| unconfirmed(&Failure::broken(Kind::Transport, CREATING, &broken)))?;
    Success::read(&text, quirk)
        .and_then(Success::object)
        .and_then(|data| data.text("process_id"))
        .filter(|id| is_id(id) || quirk.is(Bug::IdUnchecked))
        .ok_or_else(|| {
            unconfirmed(&Failure::new(
                Kind::InvalidResponse,
                "creating the process was answered without a usable process id",
            ))
        })
}

/// A creation whose result is not known, and why.
pub(super) fn unconfirmed(why: &Failure) -> Failure {
    Failure {
        kind: Kind::CreationUnconfirmed,
        message: format!("a process may have been created: {}", why.message),
        http_status: why.http_status,
        errno: why.errno,
        transient: None,
        cause: Some(Box::new(why.clone())),
    }
}

/// Sends one input, in as many calls as it takes. A process that does not read any more (409) is no failure.
///
/// # Errors
/// Any other refusal, a broken connection, or no success envelope.
pub(super) async fn input<D: Dial>(
    http: &mut Http<'_, D>,
    process: &str,
    input: &Input,
    quirk: Quirk,
) -> Result<(), Failure> {
    match input {
        Input::Bytes(bytes) => {
            let most = if quirk.is(Bug::InputUnsplit) {
                bytes.len().max(1)
            } else {
                INPUT_BYTES
            };
            let pieces = bytes.chunks(most);
            let pieces = pieces.take(if quirk.is(Bug::InputChopped) {
                1
            } else {
                usize::MAX
            });
            for piece in pieces {
                let body = json!({ "data_base64": STANDARD.encode(piece) });
                let target = format!("{process}/input");
                order(http, "sending input", &target, Some(&body), quirk).await?;
                if quirk.is(Bug::InputTwice) {
                    order(http, "sending input", &target, Some(&body), quirk).await?;
                }
            }
            Ok(())
        }
        Input::Size { rows, cols } => {
            let body = json!({ "rows": rows, "cols": cols });
            order(
                http,
                "resizing the terminal",
                &format!("{process}/resize"),
                Some(&body),
                quirk,
            )
            .await
        }
    }
}

/// Closes stdin. Closed already (409) is fine.
///
/// # Errors
/// As [`input`].
pub(super) async fn close_stdin<D: Dial>(
    http: &mut Http<'_, D>,
    process: &str,
    quirk: Quirk,
) -> Result<(), Failure> {
    let closed = order(
        http,
        "closing stdin",
        &format!("{process}/stdin/close"),
        None,
        quirk,
    )
    .await;
    if quirk.is(Bug::StdinFailureIgnored) {
        return Ok(());
    }
    closed
}

/// A POST that only acknowledges.
async fn order<D: Dial>(
    http: &mut Http<'_, D>,
    doing: &str,
    target: &str,
    body: Option<&Value>,
    quirk: Quirk,
) -> Result<(), Failure> {
    let ask = post(target.to_owned(), body.map(Value::to_string));
    let broken = |broken| Failure::broken(Kind::Transport, doing, &broken);
    let mut answer = http.send(&ask).await.map_err(broken)?;
    if answer.status == 409 && !quirk.is(Bug::StdinConflictFails) {
        return Ok(());
    }
    if !answer.is_success() {
        let refused = Failure::status(Kind::HttpError, doing, answer.status);
        return Err(quote(refused, &mut answer, quirk).await);
    }
    let text = http.text(answer).await.map_err(broken)?;
    match Success::read(&text, quirk) {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            Kind::InvalidResponse,
            format!("{doing} was answered without a success envelope"),
        )),
    }
}

/// Deletes the process tree, within a time of its own. Only a success envelope that says the tree has
/// exited, or 404, confirms.
///
/// # Errors
/// `cleanup-unconfirmed` for anything else.
pub(super) async fn delete<D: Dial>(
    http: &mut Http<'_, D>,
    process: &str,
    profile: &Profile,
    quirk: Quirk,
) -> Result<(), Failure> {
    let target = if quirk.is(Bug::CleanupWithoutGrace) {
        process.to_owned()
    } else if quirk.is(Bug::CleanupOfAnother) {
        let shorter = process.strip_suffix(|_: char| true).unwrap_or(process);
        format!("{shorter}?grace_ms={GRACE_MS}")
    } else {
        format!("{process}?grace_ms={GRACE_MS}")
    };
    let ask = Ask::new(Method::DELETE, target);
    let limit = if quirk.is(Bug::CleanupUnbounded) {
        Duration::MAX
    } else {
        Duration::from_millis(profile.cleanup_timeout_ms)
    };
    let confirmed = timeout(limit, confirm(http, &ask, quirk)).await;
    let confirmed = confirmed.unwrap_or_else(|_| {
        Err(Failure::new(
            Kind::CleanupUnconfirmed,
            "the process tree may still run: deleting it was not answered in time",
        ))
    });
    if quirk.is(Bug::CleanupUnchecked) {
        return Ok(());
    }
    confirmed
}

async fn confirm<D: Dial>(http: &mut Http<'_, D>, ask: &Ask, quirk: Quirk) -> Result<(), Failure> {
    const DOING: &str = "the process tree may still run: deleting it";
    let broken = |broken| Failure::broken(Kind::CleanupUnconfirmed, DOING, &broken);
    let mut answer = http.send(ask).await.map_err(broken)?;
    let status = answer.status;
    if status == 404 || (quirk.is(Bug::AnyRefusalIsGone) && status >= 300) {
        return Ok(());
    }
    if !answer.is_success() {
        if quirk.is(Bug::GoneByText)
            && let Ok(Some(text)) = answer.body.chunk().await
            && String::from_utf8_lossy(&text).contains("404")
        {
            return Ok(());
        }
        return Err(Failure::status(Kind::CleanupUnconfirmed, DOING, status));
    }
    let text = http.text(answer).await.map_err(broken)?;
    let success = Success::read(&text, quirk);
    let exited = success
        .and_then(Success::object)
        .is_some_and(|data| data.raw("tree_exited") == Some("true"));
    if exited || (quirk.is(Bug::TreeExitedUnchecked) && success.is_some()) {
        return Ok(());
    }
    Err(Failure {
        http_status: Some(status),
        ..Failure::new(
            Kind::CleanupUnconfirmed,
            "the process tree may still run: its end was not confirmed",
        )
    })
}

fn post(target: String, body: Option<String>) -> Ask {
    Ask {
        body: body.map(Into::into),
        ..Ask::new(Method::POST, target)
    }
}
