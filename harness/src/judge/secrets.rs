//! No secret and no text of the provider in what is reported.

use super::{
    Place,
    findings::{Findings, Wrong},
    walk::Walk,
    words,
};
use crate::{
    contract::Level,
    observed::{ErrorReport, JobResult, Reply},
};
use fake_server::{
    script::expand::substitute,
    wire::{Call, Op},
    wirelog::{Exchange, Payload, Sent},
};

/// Texts shorter than this stand in honest messages by chance.
const TELLING: usize = 8;

/// Of what a failed acquisition tells.
const LEASE: &str = "lease/no-provider-text";

/// A text that must not be reported.
struct Secret {
    /// What it is.
    name: String,
    text: String,
    requirement: &'static str,
}

/// Looks for secrets in everything that was reported, process output excepted.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let secrets = secrets(walk);
    let level = |requirement: &str| {
        // An SDK's own ops may quote their provider; follow, execute and terminal may not.
        let lenient = requirement == "secrets/no-provider-text"
            && !matches!(
                walk.plan.op,
                Op::Follow | Op::Execute | Op::Terminal | Op::Acquire
            );
        if lenient { Level::Should } else { Level::Must }
    };
    // The diagnostic of a failed acquisition has a rule of its own.
    let rules = |requirement: &'static str| -> Vec<&'static str> {
        match (walk.plan.op, requirement) {
            (Op::Acquire, "secrets/no-provider-text") => vec![LEASE, requirement],
            (Op::Acquire, _) => vec![requirement, LEASE],
            _ => vec![requirement],
        }
    };
    if let Reply::Result(result) = &walk.observed.reply {
        for (place, text) in reported(result) {
            for secret in &secrets {
                if text.contains(&secret.text) {
                    findings.add(
                        Wrong::new(
                            &rules(secret.requirement),
                            Place::Result,
                            format!("{} is not reported", secret.name),
                            format!("it stands in the {place}"),
                        )
                        .at_level(level(secret.requirement))
                        .always(),
                    );
                }
            }
        }
    }
    for leak in &walk.observed.leaks {
        let requirement = if leak.contains("canary") {
            "secrets/no-provider-text"
        } else {
            "secrets/key"
        };
        findings.add(
            Wrong::new(
                &rules(requirement),
                Place::End,
                "no secret in what the client prints",
                format!("the client's log held {}", words::short(leak)),
            )
            .at_level(level(requirement))
            .always(),
        );
    }
    for secret in &secrets {
        if walk.observed.stderr.contains(&secret.text) {
            findings.add(
                Wrong::new(
                    &rules(secret.requirement),
                    Place::End,
                    format!("{} is not printed", secret.name),
                    "it stands in the client's log",
                )
                .at_level(level(secret.requirement))
                .always(),
            );
        }
    }
}

/// Every text of a result that is not process output, with a name for it.
fn reported(result: &JobResult) -> Vec<(&'static str, String)> {
    let mut texts = vec![("outcome", result.outcome.clone())];
    if let Some(signal) = &result.signal {
        texts.push(("signal", signal.to_string()));
    }
    let mut next = result.error.as_ref();
    let mut names = ("error's kind", "error's message", "error's errno");
    while let Some(ErrorReport {
        kind,
        message,
        errno,
        cause,
        ..
    }) = next
    {
        texts.push((names.0, kind.clone()));
        texts.push((names.1, message.clone()));
        if let Some(errno) = errno {
            texts.push((names.2, errno.clone()));
        }
        next = cause.as_deref();
        names = ("cause's kind", "cause's message", "cause's errno");
    }
    texts
}

fn secrets(walk: &Walk<'_>) -> Vec<Secret> {
    let names = &walk.log.names;
    let mut secrets = Vec::new();
    let mut add = |name: String, text: &str, requirement| {
        if text.chars().count() >= 4 {
            secrets.push(Secret {
                name,
                text: text.to_owned(),
                requirement,
            });
        }
    };
    add("the API key".to_owned(), &names.api_key, "secrets/key");
    add(
        "the marker in the provider's text".to_owned(),
        &names.canary,
        "secrets/no-provider-text",
    );
    for (key, value) in &walk.plan.job.env {
        if value.chars().count() >= 6 {
            add(format!("the job's variable {key}"), value, "secrets/key");
        }
    }
    if let Some(stdin) = &walk.plan.job.stdin {
        let text = String::from_utf8_lossy(stdin).trim().to_owned();
        if text.chars().count() >= TELLING {
            add("the job's stdin".to_owned(), &text, "secrets/key");
        }
    }
    for text in &walk.plan.expect.never_reported {
        let text = substitute(text.as_bytes(), names);
        let text = String::from_utf8_lossy(&text).into_owned();
        let requirement = if text.contains(&names.api_key) && !names.api_key.is_empty() {
            "secrets/key"
        } else {
            "secrets/no-provider-text"
        };
        add(format!("`{}`", words::short(&text)), &text, requirement);
    }
    for exchange in &walk.log.exchanges {
        for (name, text) in provider_texts(exchange) {
            add(name, &text, "secrets/no-provider-text");
        }
    }
    secrets
}

/// Texts of the provider that no honest message holds by chance: bodies of error answers, odd reason
/// phrases, codes of error frames that are no codes.
fn provider_texts(exchange: &Exchange) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut status = 0;
    let mut plain = Vec::new();
    for sent in &exchange.answer {
        match sent {
            Sent::Head {
                status: said,
                reason,
                ..
            } => {
                status = *said;
                if reason.len() >= TELLING && !is_usual_reason(reason) {
                    texts.push(("the reason phrase".to_owned(), reason.clone()));
                }
            }
            Sent::Body { what, bytes, .. } => match what {
                Payload::Plain => plain.extend_from_slice(bytes),
                Payload::Error | Payload::Forged(_) if exchange.call == Some(Call::Connect) => {
                    texts.extend(unquotable_code(bytes));
                }
                _ => {}
            },
            _ => {}
        }
    }
    if !(200..300).contains(&status) {
        let body = String::from_utf8_lossy(&plain).trim().to_owned();
        let is_envelope = body.starts_with('{');
        if body.chars().count() >= TELLING && !is_envelope && body.len() <= 4096 {
            texts.push(("the body of an error answer".to_owned(), body));
        }
    }
    texts
}

/// The code of an error frame, if it is none that may be quoted.
fn unquotable_code(line: &[u8]) -> Option<(String, String)> {
    let frame: serde_json::Value = serde_json::from_slice(line).ok()?;
    if frame.get("type")?.as_str()? != "error" {
        return None;
    }
    let code = frame.get("error")?.as_str()?;
    let quotable = (1..=64).contains(&code.len())
        && code
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    (!quotable && code.chars().count() >= TELLING)
        .then(|| ("the text of an error frame".to_owned(), code.to_owned()))
}

/// Reason phrases that clients print from their own tables.
fn is_usual_reason(reason: &str) -> bool {
    const USUAL: &[&str] = &[
        "Switching Protocols",
        "Created",
        "Accepted",
        "Non-Authoritative Information",
        "No Content",
        "Reset Content",
        "Partial Content",
        "Multiple Choices",
        "Moved Permanently",
        "Not Modified",
        "See Other",
        "Temporary Redirect",
        "Permanent Redirect",
        "Bad Request",
        "Unauthorized",
        "Payment Required",
        "Forbidden",
        "Not Found",
        "Method Not Allowed",
        "Not Acceptable",
        "Proxy Authentication Required",
        "Request Timeout",
        "Conflict",
        "Length Required",
        "Precondition Failed",
        "Payload Too Large",
        "Content Too Large",
        "URI Too Long",
        "Unsupported Media Type",
        "Range Not Satisfiable",
        "Expectation Failed",
        "Misdirected Request",
        "Unprocessable Entity",
        "Unprocessable Content",
        "Too Early",
        "Upgrade Required",
        "Precondition Required",
        "Too Many Requests",
        "Request Header Fields Too Large",
        "Unavailable For Legal Reasons",
        "Internal Server Error",
        "Not Implemented",
        "Bad Gateway",
        "Service Unavailable",
        "Gateway Timeout",
        "HTTP Version Not Supported",
        "Insufficient Storage",
        "Loop Detected",
        "Not Extended",
        "Network Authentication Required",
    ];
    USUAL.iter().any(|usual| usual.eq_ignore_ascii_case(reason))
}
