//! The server on the left, the client on the right, in the order of time, and what was wrong across both.

use super::{
    Writer,
    shorten::{Row, all, shorten},
};
use crate::{
    case::Case,
    judge::Violation,
    report::{
        redact::redact,
        text::{count, harmless, pad, paint, span_ms, thousands, wrap},
        timeline::{Act, Entry, timeline},
    },
};
use anstyle::Style;
use fake_server::wirelog::Micros;

/// Columns of the times on the left.
const CLOCK: usize = 9;

impl Writer<'_> {
    pub(super) fn side_by_side(&mut self, case: &Case, verbose: bool) {
        let entries = timeline(case);
        if entries.is_empty() {
            return;
        }
        let violations = &case.verdict.violations;
        let rows = if verbose {
            all(&entries)
        } else {
            shorten(&entries, violations)
        };
        let dim = self.page.palette.dim;
        // What the server did takes more words.
        let left = (self.page.width - CLOCK - 3) / 2 + 2;
        let right = self.page.width - CLOCK - 3 - left;
        self.out.push('\n');
        let head = format!("{}{} │ client did", pad("", CLOCK), pad("server did", left));
        self.line(&paint(dim, &head));
        let rule = format!("{}┼{}", "─".repeat(CLOCK + left + 1), "─".repeat(right + 1));
        self.line(&paint(dim, &rule));
        let mut clock = None;
        for row in rows {
            match row {
                Row::Told(entry) => self.entry(entry, &mut clock, left, right),
                Row::Wrong {
                    violation,
                    first,
                    times,
                } => {
                    if let Some(violation) = violations.get(violation) {
                        self.wrong(violation, first, times);
                    }
                }
                Row::LeftOut(rows) => {
                    let words = count(rows, "line", "lines");
                    self.line(&paint(
                        dim,
                        &format!("{:>CLOCK$}{words} left out (--verbose)", "⋮  "),
                    ));
                    clock = None;
                }
                Row::MoreWrong(more) => {
                    let words = count(more, "more thing", "more things");
                    self.line(&paint(dim, &format!("▌ {words} wrong (--verbose)")));
                }
            }
        }
        self.line(&paint(dim, &rule.replace('┼', "┴")));
    }

    fn entry(&mut self, entry: &Entry, clock: &mut Option<String>, left: usize, right: usize) {
        let palette = self.page.palette;
        let (text, style, is_client) = match &entry.act {
            Act::Faithful(text) => (text, Style::new(), false),
            Act::Deviates(text) => (text, palette.warn, false),
            Act::Client(text) => (text, palette.client, true),
            Act::Wrong { .. } => return,
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
    fn wrong(&mut self, violation: &Violation, first: bool, times: usize) {
        let palette = self.page.palette;
        let bar = paint(palette.bad, "▌");
        let title = if first {
            "here they part"
        } else {
            "also wrong"
        };
        let level = violation.level.name();
        let often = match times {
            1 => String::new(),
            times => format!(", {} times", thousands(times as u64)),
        };
        let head = format!("{title}: {} ({level}){often}", violation.requirement);
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
