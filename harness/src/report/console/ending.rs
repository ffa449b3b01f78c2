//! The last lines: how many cases, how long, and why the exit code is what it is.

use crate::{
    exit::Exit,
    report::text::{Page, columns, count, paint, seconds, wrap},
    summary::{Stopped, Summary},
};

/// The last lines: cases, time, and what the exit code says.
#[must_use]
pub fn ending(summary: &Summary, page: &Page) -> String {
    let palette = page.palette;
    let cases = &summary.cases;
    let mut parts = Vec::new();
    for (number, words, style) in [
        (cases.passed, ["passed"; 2], palette.good),
        (cases.failed, ["failed"; 2], palette.bad),
        (
            cases.known_failures,
            ["known failure", "known failures"],
            palette.warn,
        ),
        (
            cases.fixed,
            ["known failure passes", "known failures pass"],
            palette.bad,
        ),
        (cases.not_applicable, ["not applicable"; 2], palette.dim),
        (cases.not_exercised, ["not exercised"; 2], palette.warn),
        (
            cases.adapter_errors,
            ["adapter error", "adapter errors"],
            palette.warn,
        ),
        (
            cases.harness_errors,
            ["harness error", "harness errors"],
            palette.bad,
        ),
        (cases.not_run, ["not run"; 2], palette.warn),
    ] {
        if number > 0 {
            parts.push((count(number, words[0], words[1]), style));
        }
    }
    let mut out = String::new();
    let mut used = 0;
    for (at, (text, style)) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { "," } else { "" };
        if used > 0 && used + columns(text) + 2 > page.width {
            out.push('\n');
            used = 0;
        }
        if used > 0 {
            out.push(' ');
        }
        used += columns(text) + 2;
        out.push_str(&format!("{}{comma}", paint(*style, text)));
    }
    if parts.is_empty() {
        out.push_str("no case was judged");
    }
    out.push_str(&paint(
        palette.dim,
        &format!("  in {}", seconds(summary.took_ms)),
    ));
    out.push('\n');
    let exit = summary.exit();
    let style = match exit {
        Exit::AsExpected => palette.good,
        Exit::Incomplete => palette.warn,
        _ => palette.bad,
    };
    if summary.stopped == Some(Stopped::FailFast) {
        out.push_str(&paint(
            palette.dim,
            "stopped at the first failure (--fail-fast)",
        ));
        out.push('\n');
    }
    for line in wrap(
        &format!("exit {}: {}", exit.code(), reason(summary)),
        page.width,
    ) {
        out.push_str(&format!("{}\n", paint(style, &line)));
    }
    out
}

/// Why the run ends with the code it ends with.
fn reason(summary: &Summary) -> String {
    let cases = &summary.cases;
    let told = match summary.exit() {
        Exit::Failed => [
            (cases.failed, "the client broke the contract"),
            (
                cases.fixed,
                "a known failure passes: take it out of the manifest",
            ),
        ],
        Exit::Incomplete => [
            (cases.not_exercised, "a fault did not reach the client"),
            (
                cases.adapter_errors,
                "the adapter broke its protocol or died",
            ),
        ],
        Exit::AsExpected => [
            (cases.known_failures, "as expected, known failures included"),
            (0, ""),
        ],
        _ => [(0, ""); 2],
    };
    let told: Vec<&str> = told
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(_, words)| words)
        .collect();
    if !told.is_empty() {
        return told.join("; ");
    }
    if summary.exit() == Exit::Incomplete {
        return if cases.not_run > 0 {
            "not every case was judged".to_owned()
        } else {
            "no case applied to this client, so nothing is proven".to_owned()
        };
    }
    summary.exit().meaning().to_owned()
}
