//! The server on the left, the client on the right, in the order of time, and what was wrong across both.

use super::Writer;
use crate::{
    case::Case,
    judge::Violation,
    report::{
        redact::redact,
        text::{count, harmless, pad, paint, span_ms, wrap},
        timeline::{Act, Entry, timeline},
    },
};
use anstyle::Style;
use fake_server::wirelog::Micros;

/// Columns of the times on the left.
const CLOCK: usize = 9;

impl Writer<'_> {
    pub(super) fn side_by_side(&mut self, case: &Case, verbose: bool) {
        let mut entries = timeline(case);
        if entries.is_empty() {
            return;
        }
        let dim = self.page.palette.dim;
        let left = (self.page.width - CLOCK - 3) / 2;
        let right = self.page.width - CLOCK - 3 - left;
        self.out.push('\n');
        let head = format!("{}{} │ client did", pad("", CLOCK), pad("server did", left));
        self.line(&paint(dim, &head));
        let rule = format!("{}┼{}", "─".repeat(CLOCK + left + 1), "─".repeat(right + 1));
        self.line(&paint(dim, &rule));
        let omitted = if verbose { None } else { shorten(&mut entries) };
        let mut clock = None;
        for (at, entry) in entries.iter().enumerate() {
            if let Some((from, lines)) = omitted
                && from == at
            {
                let words = format!(
                    "{}... {} left out (--verbose)",
                    pad("", CLOCK),
                    count(lines, "line", "lines")
                );
                self.line(&paint(dim, &words));
            }
            self.entry(entry, &case.verdict.violations, &mut clock, left, right);
        }
        self.line(&paint(dim, &rule.replace('┼', "┴")));
    }

    fn entry(
        &mut self,
        entry: &Entry,
        violations: &[Violation],
        clock: &mut Option<String>,
        left: usize,
        right: usize,
    ) {
        let palette = self.page.palette;
        let (text, style, is_client) = match &entry.act {
            Act::Faithful(text) => (text, Style::new(), false),
            Act::Deviates(text) => (text, palette.warn, false),
            Act::Client(text) => (text, palette.client, true),
            Act::Wrong { first, violation } => {
                if let Some(violation) = violations.get(*violation) {
                    self.wrong(violation, *first);
                }
                return;
            }
        };
        // A time is said when it changes.
        let now = clock_words(entry.at_us);
        let told = if clock.as_ref() == Some(&now) {
            String::new()
        } else {
            now.clone()
        };
        *clock = Some(now);
        let text = redact(text, &self.names);
        let lines = wrap(&text, if is_client { right } else { left });
        for (at, line) in lines.iter().enumerate() {
            let told = if at == 0 { told.as_str() } else { "" };
            let time = paint(palette.dim, &format!("{told:>width$}  ", width = CLOCK - 2));
            let bar = paint(palette.dim, "│");
            let row = if is_client {
                format!("{time}{} {bar} {}", pad("", left), paint(style, line))
            } else {
                format!("{time}{} {bar}", paint(style, &pad(line, left)))
            };
            self.line(&row);
        }
    }

    /// The marker across both columns.
    fn wrong(&mut self, violation: &Violation, first: bool) {
        let palette = self.page.palette;
        let bar = paint(palette.bad, "▌");
        let title = if first {
            "here they part"
        } else {
            "also wrong"
        };
        let level = violation.level.name();
        let invariant = if violation.invariant {
            ", always checked"
        } else {
            ""
        };
        let head = format!("{title}: {} ({level}{invariant})", violation.requirement);
        self.line(&format!("{bar} {}", paint(palette.bad, &head)));
        for (label, text, style) in [
            ("expected", &violation.expected, palette.good),
            ("seen", &violation.seen, palette.bad),
        ] {
            let text = redact(&harmless(text), &self.names);
            for (at, line) in wrap(&text, self.page.width - 12).iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                let label = paint(palette.dim, &pad(label, 10));
                self.line(&format!("{bar} {label}{}", paint(style, line)));
            }
        }
    }
}

fn clock_words(at_us: Option<Micros>) -> String {
    at_us.map_or_else(|| "end".to_owned(), |us| span_ms(us / 1000))
}

/// Keeps the beginning, the neighbourhood of the first thing wrong, and the end of a long timeline. Gives the place
/// before which lines are missing, and how many.
fn shorten(entries: &mut Vec<Entry>) -> Option<(usize, usize)> {
    /// A screen or two.
    const MOST: usize = 48;
    const BEFORE: usize = 16;
    const AFTER: usize = 16;
    if entries.len() <= MOST {
        return None;
    }
    let parting = entries
        .iter()
        .position(|entry| matches!(entry.act, Act::Wrong { .. }))
        .unwrap_or(entries.len() - 1);
    let head = (MOST - BEFORE - AFTER).min(parting);
    let from = parting.saturating_sub(BEFORE).max(head);
    let missing = from - head;
    entries.drain(head..from);
    // What follows the parting is fallout; everything wrong is kept, of the rest only the beginning.
    let keep_until = (parting - missing) + AFTER;
    let mut at = 0;
    let mut cut = 0;
    let last = entries.len() - 1;
    entries.retain(|entry| {
        let keep = at <= keep_until || at == last || matches!(entry.act, Act::Wrong { .. });
        at += 1;
        cut += usize::from(!keep);
        keep
    });
    if missing > 0 {
        Some((head, missing + cut))
    } else {
        Some((keep_until.min(entries.len() - 1), cut)).filter(|(_, cut)| *cut > 0)
    }
}
