//! The command that plays a case again.

use super::{LABEL, Writer};
use crate::{
    case::Case,
    generate::Drawn,
    report::text::{columns, pad, paint},
    summary::RunInfo,
};

/// The command that plays this case again, alone.
#[must_use]
pub fn replay_command(case: &Case, info: &RunInfo) -> String {
    replay_words(case, info).join(" ")
}

/// The words, an option and its value as one.
fn replay_words(case: &Case, info: &RunInfo) -> Vec<String> {
    let file = info.files.get(case.scenario());
    // A cut of a sweep says in its id which one it is, and so does a generated case.
    let (id, cut) = match case
        .id()
        .strip_suffix(']')
        .and_then(|id| id.rsplit_once("[cut="))
    {
        Some((id, cut)) => (id, Some(cut)),
        None => (case.id(), None),
    };
    let is_drawn = file.is_none() && cut.is_none();
    let drawn = is_drawn.then(|| Drawn::of(case.id())).flatten();
    let mut words = info.program.clone();
    let verb = match (&drawn, cut) {
        (Some(_), _) => "fuzz",
        (None, Some(_)) => "sweep",
        (None, None) => "run",
    };
    words.push(verb.to_owned());
    let mut option: Option<String> = None;
    for word in &info.replay_arguments {
        let word = shell_word(word);
        match option.take() {
            Some(option) if !word.starts_with('-') => words.push(format!("{option} {word}")),
            before => {
                words.extend(before);
                if word.starts_with("--") {
                    option = Some(word);
                } else {
                    words.push(word);
                }
            }
        }
    }
    words.extend(option);
    if let Some(drawn) = drawn {
        words.extend(drawn.words());
        return words;
    }
    words.push(shell_word(file.map_or(id, String::as_str)));
    words.push(format!("--seed {}", info.seed));
    words.extend(cut.map(|cut| format!("--cut {}", shell_word(cut))));
    words
}

/// A word as a shell takes it: quoted only if it must be.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl Writer<'_> {
    /// The command that plays it again; broken so that a shell still takes it when it is copied.
    pub(super) fn replay(&mut self, case: &Case, info: &RunInfo) {
        let room = self.page.width - LABEL - 2;
        let mut lines = vec![String::new()];
        for word in replay_words(case, info) {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            if line.is_empty() {
                *line = word;
            } else if columns(line) + 1 + columns(&word) <= room {
                line.push(' ');
                line.push_str(&word);
            } else {
                line.push_str(" \\");
                lines.push(word);
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let label = if at == 0 { "replay" } else { "" };
            let label = paint(self.page.palette.dim, &pad(label, LABEL));
            self.line(&format!("{label}{}", paint(self.page.palette.bold, line)));
        }
    }
}
