//! Files: what is asked, and what an answer says of the file.

use super::reading::{Envelope, Right, envelope, fails, foreign};
use crate::{
    contract::Level,
    judge::{
        Place,
        answer::{Answer, body},
        findings::{Findings, Wrong},
        walk::Walk,
        words,
    },
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fake_server::{
    script::model::{Job, Plan},
    wire::Op,
    wirelog::Exchange,
};
use serde_json::Value;

/// The path that the job names.
pub(crate) fn path(job: &Job) -> &str {
    job.extra
        .get("path")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The bytes that the job uploads.
pub(crate) fn contents(job: &Job) -> Vec<u8> {
    let coded = job.extra.get("data_base64").and_then(Value::as_str);
    STANDARD
        .decode(coded.unwrap_or_default())
        .unwrap_or_default()
}

/// Judges one request: the path as the job names it, the bytes as they are.
pub(super) fn request(walk: &Walk<'_>, index: usize, findings: &mut Findings<'_>) {
    let (plan, exchange) = (walk.plan, &walk.log.exchanges[index]);
    let wanted = path(&plan.job);
    let paths: Vec<&str> = exchange.request.query_values("path").collect();
    if paths.as_slice() != [wanted] {
        let seen = match paths.as_slice() {
            [] => "no `path`".to_owned(),
            paths => format!("path {}", words::short(&paths.join(" and "))),
        };
        findings.add(
            Wrong::new(
                &["files/exact"],
                Place::Exchange(index),
                format!("the path {}, escaped", words::short(wanted)),
                seen,
            )
            .always(),
        );
    }
    let logged = exchange.request.body_complete && walk.log.dropped_bytes == 0;
    if plan.op != Op::Upload || !logged {
        return;
    }
    let (data, sent) = (contents(&plan.job), &exchange.request.body);
    if **sent != *data {
        let candidates: &[&str] = if exchange.attempt > 1 {
            &["files/put-again"]
        } else {
            &["files/exact"]
        };
        findings.add(
            Wrong::new(
                candidates,
                Place::Exchange(index),
                format!("the file's bytes: {}", told(&data)),
                told(sent),
            )
            .at_level(Level::Must)
            .always(),
        );
    }
}

/// Bytes and their number, the beginning of them.
pub(super) fn told(data: &[u8]) -> String {
    // usize is at most 64 bits wide.
    let size = words::size(data.len() as u64);
    let quoted = words::bytes(data);
    if data.is_empty() {
        size
    } else if quoted.ends_with(')') {
        // A long text is cut, and tells its size.
        quoted
    } else {
        format!("{size}, {quoted}")
    }
}

/// What a whole success leaves of an upload. Only an envelope that says success, and names no other size, proves it.
pub(super) fn stored(plan: &Plan, exchange: &Exchange, status: u16) -> Vec<Right> {
    let unproven = foreign(status, "it is no success envelope");
    match envelope(exchange) {
        Envelope::Success(data) => {
            let sent = contents(&plan.job).len() as u64;
            match data.get("bytes").map(Value::as_u64) {
                Some(Some(bytes)) if bytes != sent => vec![foreign(
                    status,
                    "it tells of another number of bytes than were sent",
                )],
                None | Some(Some(_)) => vec![Right::Stored],
                Some(None) => vec![Right::Stored, unproven],
            }
        }
        Envelope::Refusal => vec![unproven],
        // No body at all neither proves nor denies it.
        Envelope::None if body(exchange).is_empty() || is_bare_success(exchange) => {
            vec![Right::Stored, unproven]
        }
        Envelope::None => vec![unproven],
    }
}

/// Whether an answer says success and nothing else.
fn is_bare_success(exchange: &Exchange) -> bool {
    let body: Value = serde_json::from_slice(&body(exchange)).unwrap_or_default();
    body.get("status").and_then(Value::as_str) == Some("success")
        && body.get("data").is_none_or(Value::is_null)
}

/// What a whole success leaves of a download: the bytes, if they can be the file.
pub(super) fn file(exchange: &Exchange, answer: &Answer, status: u16) -> Vec<Right> {
    let whole = Right::File(body(exchange));
    let media = answer.header("content-type").unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    let is = |known: &str| media.eq_ignore_ascii_case(known);
    match status {
        204..=206 => return vec![foreign(status, "its status says that it is not the file")],
        200 => {}
        _ => return vec![whole, foreign(status, "its status is not that of a file")],
    }
    if is("text/html") || is("application/xhtml+xml") {
        return vec![foreign(status, "it is a page and not the file")];
    }
    if is("application/json") {
        let other = foreign(status, "it is JSON and not the file");
        return match envelope(exchange) {
            Envelope::Refusal => vec![other],
            Envelope::Success(_) | Envelope::None => vec![whole, other],
        };
    }
    if is("application/octet-stream") || media.is_empty() {
        return vec![whole];
    }
    vec![
        whole,
        fails(
            &["invalid-response", "http-error"],
            Some(status),
            "its media type is another",
        ),
    ]
}
