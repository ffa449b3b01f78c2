//! The report of repeats: what did not stay the same, and one last line.

use super::text::{Page, count, harmless, paint, wrap};
use crate::{
    exit::Exit,
    stability::{Aspect, Repeats, Unstable, Variant},
};
use std::fmt::Write as _;

/// Unstable cases that are told in full; of those beyond, only their names.
const SHOWN: usize = 20;
/// Variants that are counted apart.
const VARIANTS: usize = 6;

/// The whole report; `exit` is that of all runs together.
#[must_use]
pub fn report(repeats: &Repeats, exit: Exit, page: &Page) -> String {
    let palette = page.palette;
    let mut out = String::new();
    for (place, one) in repeats.unstable.iter().enumerate() {
        let title = match repeats.counts(one) {
            true => paint(
                palette.bad,
                &format!("UNSTABLE {} of {}", one.aspect.name(), one.id),
            ),
            false => paint(
                palette.warn,
                &format!("changed {} of {}", one.aspect.name(), one.id),
            ),
        };
        let _ = writeln!(out, "{title}");
        if place < SHOWN {
            changed(&mut out, one, repeats.repeats + 1, page);
        }
    }
    let again = &repeats.tried_again;
    if let Some(first) = again.first() {
        let told = format!(
            "{} tried once more, because the fault did not reach the client (the first: {first}); the last trial counts",
            count(again.len(), "trial was", "trials were"),
        );
        for line in wrap(&told, page.width) {
            let _ = writeln!(out, "{}", paint(palette.warn, &line));
        }
    }
    let style = if repeats.is_stable() && repeats.repeats == repeats.wanted {
        palette.good
    } else {
        palette.bad
    };
    for line in wrap(&ending(repeats), page.width) {
        let _ = writeln!(out, "{}", paint(style, &line));
    }
    // The code has more than one meaning; the one that holds here is the line above.
    let _ = match exit {
        Exit::Failed if !repeats.is_stable() => writeln!(out, "exit {}: unstable", exit.code()),
        _ => writeln!(out, "exit {exit}"),
    };
    out
}

/// One sentence.
fn ending(repeats: &Repeats) -> String {
    let done = if repeats.repeats == repeats.wanted {
        count(repeats.repeats, "repeat", "repeats")
    } else {
        format!("{} of {} repeats", repeats.repeats, repeats.wanted)
    };
    let left_out = match repeats.not_applicable {
        0 => String::new(),
        some => format!(
            " ({} not applicable)",
            count(some, "case more is", "cases more are")
        ),
    };
    let subject = format!(
        "{}, {}{left_out}, {done} each",
        count(repeats.scenarios, "scenario", "scenarios"),
        count(repeats.cases, "case", "cases"),
    );
    if repeats.repeats == 0 {
        return format!("{subject}: nothing was compared");
    }
    if repeats.unstable.is_empty() {
        return format!("{subject}: no verdict and no wire log changed");
    }
    let of = |aspect| {
        repeats
            .unstable
            .iter()
            .filter(|one| one.aspect == aspect)
            .count()
    };
    let changed: Vec<String> = [
        (of(Aspect::Verdict), "verdict", "verdicts"),
        (of(Aspect::WireLog), "wire log", "wire logs"),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, one, many)| count(number, one, many))
    .collect();
    let changed = changed.join(" and ");
    if repeats.is_stable() {
        return format!(
            "{subject}: no verdict changed; {changed} did, as a client may (--strict: a failure)"
        );
    }
    format!("{subject}: UNSTABLE, {changed} changed")
}

/// How often each variant came, and where the first two part.
fn changed(out: &mut String, one: &Unstable, trials: usize, page: &Page) {
    let palette = page.palette;
    for line in wrap(&variants(&one.variants, trials), page.width - 2) {
        let _ = writeln!(out, "  {line}");
    }
    for line in one.difference.lines() {
        let style = match line.as_bytes().first() {
            Some(b'-') => palette.bad,
            Some(b'+') => palette.good,
            _ => palette.dim,
        };
        let _ = writeln!(out, "    {}", paint(style, &harmless(line)));
    }
    out.push('\n');
}

/// How often each variant came.
fn variants(variants: &[Variant], trials: usize) -> String {
    let mut told = Vec::new();
    for (place, variant) in variants.iter().take(VARIANTS).enumerate() {
        told.push(if place == 0 {
            format!("{} of {trials} trials as the first", variant.times)
        } else {
            format!(
                "{} as in repeat {} ({})",
                variant.times,
                variant.first_in,
                if place == 1 { "below" } else { "another" }
            )
        });
    }
    if variants.len() > VARIANTS {
        told.push(format!("{} more variants", variants.len() - VARIANTS));
    }
    told.join(", ")
}
