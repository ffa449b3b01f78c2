//! Standard output and error: colours where a terminal shows them, and no panic when a pipe is closed.

use crate::report::text::{NARROWEST, Page};
use anstream::{AutoStream, ColorChoice};
use std::io::{self, IsTerminal as _, Write as _};

/// The page that standard output is.
pub(super) fn page() -> Page {
    let stdout = io::stdout();
    let columns = if stdout.is_terminal() {
        terminal_size::terminal_size().map_or(NARROWEST, |(width, _)| usize::from(width.0))
    } else {
        NARROWEST
    };
    Page::new(columns, AutoStream::choice(&stdout) != ColorChoice::Never)
}

/// Whether standard error shows colours.
pub(super) fn colour_on_stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Writes to standard output. A reader that has gone (`| head`) is no error of ours and changes no exit code.
pub(super) fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Writes an error line to standard error.
pub(super) fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{}", text.trim_end());
}
