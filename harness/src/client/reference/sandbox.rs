//! The single calls about a sandbox: make one, look at it, find one by its name, change it, destroy it.

use super::{
    bug::{Bug, Quirk},
    envelope::Success,
    failure::{Failure, Kind},
    fields::is_id,
    http::{Answer, Ask, Dial, Http},
    object::Object,
};
use crate::profile::Profile;
use hyper::Method;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Between two looks at a state.
pub(super) const POLL: Duration = Duration::from_millis(100);

/// Rows of a list that are looked through for a name; more a server does not send.
const LIST: &str = "/v1/sandboxes?limit=500";

/// A sandbox as an answer tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) id: String,
    pub(super) state: String,
}

/// Makes a sandbox: one POST, unless the profile repeats it on a status that says nothing was done.
///
/// # Errors
/// `http-error` where the server refused; `creation-unconfirmed` where it may have made one.
pub(super) async fn create<D: Dial>(
    http: &mut Http<'_, D>,
    body: &str,
    profile: &Profile,
    quirk: Quirk,
) -> Result<Told, Failure> {
    let ask = Ask {
        body: Some(body.to_owned().into()),
        ..Ask::new(Method::POST, "/v1/sandboxes".to_owned())
    };
    let mut repeats = if quirk.is(Bug::LeaseRepeated) {
        1
    } else if profile.retry_create_on.is_empty() {
        0
    } else {
        profile.max_reconnects
    };
    loop {
        let answer = http.send(&ask).await;
        let again = match &answer {
            Ok(answer) if quirk.is(Bug::LeaseRepeated) => answer.status >= 500,
            Ok(answer) => profile.retry_create_on.contains(&answer.status),
            Err(_) => quirk.is(Bug::LeaseRepeated),
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

const CREATING: &str = "creating the sandbox";

async fn created<D: Dial>(
    http: &mut Http<'_, D>,
    mut answer: Answer<D::Socket>,
    quirk: Quirk,
) -> Result<Told, Failure> {
    let status = answer.status;
    if !answer.is_success() {
        let mut refused = refusal(CREATING, status, quirk);
        let reads = [
            Bug::LeaseQuotesBody,
            Bug::LeaseErrnoFromBody,
            Bug::LeaseTransientByText,
        ];
        if quirk.any(&reads) {
            misread(&mut refused, &mut answer, quirk).await;
        }
        return Err(match status {
            300..=399 | 408 | 500.. => unconfirmed(&refused),
            _ => refused,
        });
    }
    let text = http
        .text(answer)
        .await
        .map_err(|broken| unconfirmed(&Failure::broken(Kind::Transport, CREATING, &broken)))?;
    told(&text, quirk)
        .filter(|told| is_id(&told.id) || quirk.is(Bug::LeaseIdUnchecked))
        .ok_or_else(|| {
            unconfirmed(&Failure::new(
                Kind::InvalidResponse,
                "creating the sandbox was answered without a usable sandbox id",
            ))
        })
}

/// A status that is none of HTTP's is not handed on.
fn refusal(doing: &str, status: u16, quirk: Quirk) -> Failure {
    if matches!(status, 100..=599) || quirk.is(Bug::LeaseStatusUnbounded) {
        return Failure::status(Kind::HttpError, doing, status);
    }
    Failure::new(
        Kind::HttpError,
        format!("{doing} was answered with a status that is none"),
    )
}

/// What wrong clients make of a refusal's body.
async fn misread<S: super::http::Wire>(
    refused: &mut Failure,
    answer: &mut Answer<S>,
    quirk: Quirk,
) {
    let Ok(Some(text)) = answer.body.chunk().await else {
        return;
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    if quirk.is(Bug::LeaseQuotesBody) {
        refused.message = format!("{}: {text}", refused.message);
    }
    if quirk.is(Bug::LeaseErrnoFromBody) {
        let body: Option<Value> = serde_json::from_str(&text).ok();
        let code = body.as_ref().and_then(|body| body.get("code"));
        refused.errno = match code.and_then(Value::as_str) {
            Some("ECONNRESET") => Some("ECONNRESET"),
            Some(_) => Some("EWEIRD"),
            None => None,
        };
    }
    if quirk.is(Bug::LeaseTransientByText) && text.contains("502") {
        refused.transient = Some(true);
    }
}

/// The data of a success about a sandbox.
fn told(text: &[u8], quirk: Quirk) -> Option<Told> {
    let data = Success::read(text, quirk).and_then(Success::object)?;
    Some(Told {
        id: data.text("id")?,
        // Some servers leave it out of the answer to a create.
        state: data.text("status").unwrap_or_default(),
    })
}

/// A creation whose result is not known, and why.
pub(super) fn unconfirmed(why: &Failure) -> Failure {
    Failure {
        kind: Kind::CreationUnconfirmed,
        message: format!("a sandbox may have been created: {}", why.message),
        http_status: why.http_status,
        errno: why.errno,
        transient: why.transient,
        cause: Some(Box::new(why.clone())),
    }
}

/// Reads the state, as often as it takes to get an answer: it changes nothing.
///
/// # Errors
/// A refusal, an answer about another sandbox or none at all.
pub(super) async fn look<D: Dial>(
    http: &mut Http<'_, D>,
    id: &str,
    profile: &Profile,
    quirk: Quirk,
) -> Result<String, Failure> {
    const DOING: &str = "reading the sandbox's state";
    let mut repeats = profile.max_reconnects;
    loop {
        let looked = ask_for(
            http,
            Method::GET,
            format!("/v1/sandboxes/{id}"),
            DOING,
            quirk,
        )
        .await;
        let again = match &looked {
            Ok(_) => false,
            Err(failure) => match failure.http_status {
                Some(status) => status == 429 || status >= 500,
                None => failure.kind == Kind::Transport,
            },
        };
        if again && repeats > 0 {
            repeats -= 1;
            sleep(POLL).await;
            continue;
        }
        let (told, _) = looked?;
        return own(told, id, DOING, quirk).map(|told| told.state);
    }
}

/// Asks for a pause or a resume.
///
/// # Errors
/// As [`look`]; it is asked once.
pub(super) async fn submit<D: Dial>(
    http: &mut Http<'_, D>,
    id: &str,
    verb: &str,
    quirk: Quirk,
) -> Result<(String, u16), Failure> {
    let doing = format!("asking for the {verb}");
    let target = format!("/v1/sandboxes/{id}/{verb}");
    let (told, status) = ask_for(http, Method::POST, target, &doing, quirk).await?;
    own(told, id, &doing, quirk).map(|told| (told.state, status))
}

/// An answer about another sandbox is none.
fn own(told: Told, id: &str, doing: &str, quirk: Quirk) -> Result<Told, Failure> {
    if told.id == id || quirk.is(Bug::OtherSandboxAccepted) {
        return Ok(told);
    }
    Err(Failure::new(
        Kind::InvalidResponse,
        format!("{doing} was answered about another sandbox"),
    ))
}

async fn ask_for<D: Dial>(
    http: &mut Http<'_, D>,
    method: Method,
    target: String,
    doing: &str,
    quirk: Quirk,
) -> Result<(Told, u16), Failure> {
    let broken = |broken| Failure::broken(Kind::Transport, doing, &broken);
    let answer = http.send(&Ask::new(method, target)).await.map_err(broken)?;
    let status = answer.status;
    if !answer.is_success() {
        return Err(refusal(doing, status, quirk));
    }
    let text = http.text(answer).await.map_err(broken)?;
    told(&text, quirk)
        .map(|told| (told, status))
        .ok_or_else(|| {
            Failure::new(
                Kind::InvalidResponse,
                format!("{doing} was answered without a sandbox"),
            )
        })
}

/// Looks for a sandbox by its name.
///
/// # Errors
/// As [`look`], once.
pub(super) async fn find<D: Dial>(
    http: &mut Http<'_, D>,
    name: &str,
    quirk: Quirk,
) -> Result<Option<String>, Failure> {
    const DOING: &str = "looking for the sandbox";
    let broken = |broken| Failure::broken(Kind::Transport, DOING, &broken);
    let ask = Ask::new(Method::GET, LIST.to_owned());
    let answer = http.send(&ask).await.map_err(broken)?;
    if !answer.is_success() {
        return Err(refusal(DOING, answer.status, quirk));
    }
    let text = http.text(answer).await.map_err(broken)?;
    let data = Success::read(&text, quirk).and_then(Success::object);
    let rows = data.as_ref().and_then(|data| data.raw("data"));
    let rows: Vec<Value> = rows
        .and_then(|rows| serde_json::from_str(rows).ok())
        .ok_or_else(|| {
            Failure::new(
                Kind::InvalidResponse,
                "looking for the sandbox was answered without a list",
            )
        })?;
    let text = |row: &Value, field: &str| row.get(field)?.as_str().map(str::to_owned);
    Ok(rows
        .iter()
        .filter(|row| text(row, "name").as_deref() == Some(name))
        .find_map(|row| text(row, "id").filter(|id| is_id(id))))
}

/// Destroys a sandbox, within a time of its own. Only a success envelope that says so, or 404, confirms.
///
/// # Errors
/// What was answered instead.
pub(super) async fn destroy<D: Dial>(
    http: &mut Http<'_, D>,
    id: &str,
    profile: &Profile,
    quirk: Quirk,
) -> Result<(), Failure> {
    let limit = Duration::from_millis(profile.cleanup_timeout_ms);
    let confirmed = timeout(limit, confirm(http, id, quirk)).await;
    confirmed.unwrap_or_else(|_| {
        Err(Failure::new(
            Kind::CleanupUnconfirmed,
            "the sandbox may still be there: destroying it was not answered in time",
        ))
    })
}

async fn confirm<D: Dial>(http: &mut Http<'_, D>, id: &str, quirk: Quirk) -> Result<(), Failure> {
    const DOING: &str = "destroying the sandbox";
    let broken = |broken| Failure::broken(Kind::Transport, DOING, &broken);
    let ask = Ask::new(Method::DELETE, format!("/v1/sandboxes/{id}"));
    let mut answer = http.send(&ask).await.map_err(broken)?;
    let status = answer.status;
    if quirk.is(Bug::ReleaseAnyAnswer) || (status == 404 && !quirk.is(Bug::ReleaseGoneFails)) {
        return Ok(());
    }
    if !answer.is_success() {
        if quirk.is(Bug::ReleaseByText)
            && let Ok(Some(text)) = answer.body.chunk().await
            && String::from_utf8_lossy(&text).contains("404")
        {
            return Ok(());
        }
        return Err(refusal(DOING, status, quirk));
    }
    let text = http.text(answer).await.map_err(broken)?;
    if quirk.is(Bug::ReleaseUnread) {
        return Ok(());
    }
    let unproven = || {
        Failure::new(
            Kind::InvalidResponse,
            format!("{DOING} was answered without a proof"),
        )
    };
    let data = Success::read(&text, quirk).and_then(Success::object);
    let told: Object<'_> = data.ok_or_else(unproven)?;
    let own = told.text("id").is_none_or(|told| told == id);
    let goes = told
        .text("status")
        .is_some_and(|state| matches!(state.as_str(), "destroying" | "destroyed"));
    if (own || quirk.is(Bug::OtherSandboxAccepted)) && (goes || quirk.is(Bug::ReleaseStateUnread)) {
        Ok(())
    } else {
        Err(unproven())
    }
}
