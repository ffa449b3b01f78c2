//! Checks by requirement area, as a table of numbers.

use crate::{
    report::text::{Page, columns as width_of, pad, paint, thousands},
    summary::{Summary, Tally},
};
use anstyle::Style;

/// Checks by area; columns in which nothing stands are left out, the four main ones never.
#[must_use]
pub fn table(summary: &Summary, page: &Page) -> String {
    struct Column {
        title: &'static str,
        of: fn(&Tally) -> usize,
        style: Style,
        always: bool,
    }
    let palette = page.palette;
    let columns = [
        Column {
            title: "pass",
            of: |t| t.pass,
            style: palette.good,
            always: true,
        },
        Column {
            title: "fail",
            of: |t| t.fail,
            style: palette.bad,
            always: true,
        },
        Column {
            title: "known",
            of: |t| t.known,
            style: palette.warn,
            always: false,
        },
        Column {
            title: "remark",
            of: |t| t.remarks,
            style: palette.warn,
            always: false,
        },
        Column {
            title: "n/a",
            of: |t| t.not_applicable,
            style: palette.dim,
            always: true,
        },
        Column {
            title: "not exercised",
            of: |t| t.not_exercised,
            style: palette.warn,
            always: true,
        },
        Column {
            title: "error",
            of: |t| t.errors,
            style: palette.bad,
            always: false,
        },
    ];
    let shown: Vec<&Column> = columns
        .iter()
        .filter(|column| column.always || (column.of)(&summary.checks) > 0)
        .collect();
    let row = |name: &str, tally: &Tally, style: Style| {
        let mut line = paint(style, &pad(name, 12));
        for column in &shown {
            let number = (column.of)(tally);
            let width = column.title.len().max(6) + 2;
            let (text, style) = match number {
                // A dot keeps the eye on what is there.
                0 => ("·".to_owned(), palette.dim),
                number => (thousands(number as u64), column.style),
            };
            let fill = " ".repeat(width.saturating_sub(width_of(&text)));
            line.push_str(&format!("{fill}{}", paint(style, &text)));
        }
        format!("{line}\n")
    };
    let mut head = pad("area", 12);
    for column in &shown {
        let width = column.title.len().max(6) + 2;
        head.push_str(&format!("{:>width$}", column.title));
    }
    let rule = "─".repeat(width_of(&head));
    let mut out = format!(
        "{}\n{}\n",
        paint(palette.dim, &head),
        paint(palette.dim, &rule)
    );
    for (area, tally) in &summary.areas {
        out.push_str(&row(area, tally, Style::new()));
    }
    out.push_str(&format!("{}\n", paint(palette.dim, &rule)));
    out.push_str(&row("checks", &summary.checks, palette.bold));
    out
}
