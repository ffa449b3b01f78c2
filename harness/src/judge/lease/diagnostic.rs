//! What a failed acquisition tells of its cause.

use super::facts::{Cause, Failed};
use crate::{
    contract::Level,
    judge::{
        Place,
        findings::{Findings, Wrong},
        walk::Walk,
        words,
    },
    observed::{ErrorReport, JobResult},
};
use fake_server::wire::call::Capability;

/// Names of connection errors that mean something. Those of UND_ERR_ are a library's, and a whole family.
const ERRNOS: &[&str] = &[
    "ECONNRESET",
    "ECONNREFUSED",
    "ECONNABORTED",
    "EPIPE",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "ENOTFOUND",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCONN",
];

/// Judges the cause that an error tells, where the client failed as it may.
pub(super) fn judge(
    walk: &Walk<'_>,
    error: &ErrorReport,
    failed: &[&Failed],
    findings: &mut Findings<'_>,
) {
    let chain = chain(error);
    out_of_range(&chain, findings);
    let creates: Vec<&Cause> = failed
        .iter()
        .filter_map(|one| one.create.as_ref())
        .collect();
    if let Some(create) = creates.first() {
        of_create(&chain, create, &creates, findings);
        transient(walk, error, &creates, findings);
    } else if error.kind != "cleanup-unconfirmed" {
        of_step(error, failed, findings);
    }
}

/// An error and its causes, from the outermost.
fn chain(error: &ErrorReport) -> Vec<&ErrorReport> {
    std::iter::successors(Some(error), |error| error.cause.as_deref()).collect()
}

/// A number that is no status, a word that is no errno: the provider's, and not to be handed on.
fn out_of_range(chain: &[&ErrorReport], findings: &mut Findings<'_>) {
    for error in chain {
        if let Some(status) = error.http_status
            && !is_status(status)
        {
            findings.add(
                Wrong::new(
                    &["lease/no-provider-text"],
                    Place::Result,
                    "an http_status from 100 to 599, or none",
                    format!("http_status {status}"),
                )
                .always(),
            );
        }
        if let Some(errno) = &error.errno
            && !ERRNOS.contains(&errno.as_str())
            && !errno.starts_with("UND_ERR_")
        {
            findings.add(
                Wrong::new(
                    &["lease/no-provider-text"],
                    Place::Result,
                    "the errno of a connection, or none",
                    format!("errno {}", words::short(errno)),
                )
                .always(),
            );
        }
    }
}

const fn is_status(status: u16) -> bool {
    matches!(status, 100..=599)
}

/// The create failed: its status is told, or that it had none.
fn of_create(
    chain: &[&ErrorReport],
    create: &Cause,
    creates: &[&Cause],
    findings: &mut Findings<'_>,
) {
    // Of a cleanup that failed the cause says why there was one.
    let causes: Vec<&&ErrorReport> = chain
        .iter()
        .filter(|error| error.kind != "cleanup-unconfirmed")
        .collect();
    let told: Vec<u16> = causes
        .iter()
        .filter_map(|error| error.http_status)
        .collect();
    let errno = causes.iter().find_map(|error| error.errno.as_deref());
    let fits = |create: &&&Cause| match create.status {
        // An answer that was no success, or a success that was none: its status; of the latter none is right too.
        Some(status) if !is_status(status) => told.iter().all(|told| !is_status(*told)),
        Some(status) if status >= 300 => told.contains(&status),
        Some(status) => told.iter().all(|told| *told == status),
        None => told.is_empty(),
    };
    let known = errno.is_some_and(|errno| ERRNOS.contains(&errno));
    let wrong_errno = known && creates.iter().all(|create| !create.broken);
    if creates.iter().any(|create| fits(&create)) && !wrong_errno {
        if errno.is_none() && create.broken && told.is_empty() {
            findings.note("the failure of the connection is told without an errno");
        }
        return;
    }
    let expected = match create.status {
        Some(status) if is_status(status) => format!("the create's http_status {status}"),
        Some(_) => "no http_status: the create's was none".to_owned(),
        None => "no http_status: the create had none".to_owned(),
    };
    let seen = match (told.as_slice(), errno) {
        (_, Some(errno)) if wrong_errno => format!("errno {}", words::short(errno)),
        ([], _) => "no http_status".to_owned(),
        (told, _) => {
            let told: Vec<String> = told.iter().map(u16::to_string).collect();
            format!("http_status {}", told.join(" and "))
        }
    };
    findings.add(Wrong::new(
        &["lease/diagnostic"],
        Place::Result,
        expected,
        seen,
    ));
}

/// A later step failed: not the status of what cleaned up after it.
fn of_step(error: &ErrorReport, failed: &[&Failed], findings: &mut Findings<'_>) {
    let Some(told) = error.http_status else {
        return;
    };
    let mut statuses: Vec<String> = Vec::new();
    for one in failed {
        match one.cause.status {
            Some(status) if status == told => return,
            Some(status) => statuses.push(format!("http_status {status}")),
            None => statuses.push("no http_status".to_owned()),
        }
    }
    // A state that leads nowhere came with a success; that may be told.
    if (200..300).contains(&told) {
        return;
    }
    findings.add(Wrong::new(
        &["lease/diagnostic"],
        Place::Result,
        format!("{}: that of the step that failed", words::or(&statuses)),
        format!("http_status {told}"),
    ));
}

/// Whether another try may mend it, as the client says.
fn transient(
    walk: &Walk<'_>,
    error: &ErrorReport,
    creates: &[&Cause],
    findings: &mut Findings<'_>,
) {
    if !walk.promises.can(Capability::ClassifiesTransient) {
        return;
    }
    // A broken connection that is told by its errno is one of those.
    let has_errno = chain(error).iter().any(|error| error.errno.is_some());
    let right = creates.iter().map(|create| {
        let named = create.broken && has_errno && create.status.is_none();
        if named {
            Some(true)
        } else {
            create.is_transient()
        }
    });
    let right: Vec<Option<bool>> = right.collect();
    let said = chain(error).iter().find_map(|error| error.transient);
    let fits = match said {
        Some(said) => right
            .iter()
            .any(|right| right.is_none_or(|right| right == said)),
        None => false,
    };
    if !fits {
        let expected = match right.first().copied().flatten() {
            Some(right) => format!("transient {right}"),
            None => "transient true or false".to_owned(),
        };
        let seen = said.map_or_else(
            || "it does not say".to_owned(),
            |said| format!("transient {said}"),
        );
        findings.add(
            Wrong::new(&["lease/transient"], Place::Result, expected, seen).at_level(Level::Should),
        );
    }
}

/// Texts of the provider in what a failed acquisition tells: where it lives. (Its bodies, the marker and the key are looked
/// for in every op, see `secrets`.)
pub(super) fn provider(walk: &Walk<'_>, result: &JobResult, findings: &mut Findings<'_>) {
    let Some(error) = &result.error else { return };
    let base = walk.log.names.base_url.as_str();
    let host = base.split_once("://").map_or(base, |(_, host)| host);
    for error in chain(error) {
        for (name, text) in [("message", &error.message), ("kind", &error.kind)] {
            if !host.is_empty() && text.contains(host) {
                findings.add(
                    Wrong::new(
                        &["lease/no-provider-text"],
                        Place::Result,
                        "the provider's host is not reported",
                        format!("it stands in the error's {name}"),
                    )
                    .always(),
                );
            }
        }
    }
}
