//! `list`: one scenario a line, the id first, so that scripts can cut it off; on a terminal as wide as that.

use super::{
    Failure,
    args::ListArgs,
    files,
    output::{say, terminal_columns},
};
use crate::{
    coverage::{Coverage, Covered},
    exit::Exit,
    report::text::{columns, pad, wrap},
    select::{Pattern, select},
};
use std::path::Path;

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let suite = files::load(args.source.scenarios.as_deref().map(Path::new), &[])?;
    if args.requirements || args.fault_kinds {
        let coverage = Coverage::of(&suite);
        let rows = covered(if args.requirements {
            &coverage.requirements
        } else {
            &coverage.fault_kinds
        });
        say(&lines(&rows, terminal_columns()));
        return Ok(Exit::AsExpected);
    }
    let ids: Vec<&str> = suite.iter().map(|entry| entry.source.id.as_str()).collect();
    let patterns: Vec<Pattern> = args
        .patterns
        .iter()
        .map(|text| Pattern::new(text))
        .collect();
    let chosen = select(&patterns, &ids)?;
    let rows: Vec<Row> = suite
        .iter()
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .map(|(_, entry)| Row {
            id: entry.source.id.clone(),
            numbers: String::new(),
            says: match entry.scenario.instances() {
                1 => entry.scenario.title().to_owned(),
                many => format!("{} ({many} cases)", entry.scenario.title()),
            },
        })
        .collect();
    say(&lines(&rows, terminal_columns()));
    Ok(Exit::AsExpected)
}

/// The id first, then its level, how many scenarios are about it, and what it says.
fn covered(list: &[Covered]) -> Vec<Row> {
    list.iter()
        .map(|one| {
            let level = one
                .level
                .map_or_else(String::new, |level| format!("{:6}  ", level.name()));
            Row {
                id: one.id.to_owned(),
                numbers: format!("{level}{:>3}  ", one.scenarios.len()),
                says: one.says.to_owned(),
            }
        })
        .collect()
}

/// What is told of one thing.
struct Row {
    id: String,
    /// Columns of equal width, or nothing.
    numbers: String,
    says: String,
}

/// Columns that a sentence needs beside its id; with less it stands below it.
const ROOM: usize = 28;

/// One line a row, whole: a script cuts it off behind the id. On a terminal what does not fit goes on below,
/// indented, so that the ids stand out.
fn lines(rows: &[Row], terminal: Option<usize>) -> String {
    let widest = rows.iter().map(|row| columns(&row.id)).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let head = format!("{}  {}", pad(&row.id, widest), row.numbers);
        let Some(width) = terminal else {
            text.push_str(&format!("{head}{}\n", row.says));
            continue;
        };
        let beside = columns(&head);
        if beside + ROOM <= width {
            for (at, line) in wrap(&row.says, width - beside).iter().enumerate() {
                let head = if at == 0 { head.as_str() } else { "" };
                text.push_str(&format!("{}{line}\n", pad(head, beside)));
            }
        } else {
            text.push_str(&format!("{}\n", head.trim_end()));
            for line in wrap(&row.says, width.saturating_sub(4)) {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        [
            ("stream/a", "Short."),
            (
                "stream/long",
                "A sentence that is longer than a narrow terminal is wide.",
            ),
        ]
        .map(|(id, says)| Row {
            id: id.to_owned(),
            numbers: "must     3  ".to_owned(),
            says: says.to_owned(),
        })
        .into()
    }

    #[test]
    fn in_a_pipe_each_is_one_whole_line() {
        assert_eq!(
            lines(&rows(), None),
            "stream/a     must     3  Short.\n\
             stream/long  must     3  A sentence that is longer than a narrow terminal is wide.\n"
        );
    }

    #[test]
    fn on_a_terminal_nothing_is_wider_than_it() {
        assert_eq!(
            lines(&rows(), Some(60)),
            "stream/a     must     3  Short.\n\
             stream/long  must     3  A sentence that is longer than a\n\
             \u{20}                        narrow terminal is wide.\n"
        );
        assert_eq!(
            lines(&rows(), Some(40)),
            "stream/a     must     3\n    Short.\n\
             stream/long  must     3\n    A sentence that is longer than a\n    narrow terminal is wide.\n"
        );
        for width in 8..100 {
            for line in lines(&rows(), Some(width))
                .lines()
                .filter(|line| line.starts_with(' '))
            {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}
