//! Standard output and error: colours where a terminal shows them, and no panic when a pipe is closed.

use crate::report::text::{NARROWEST, Page};
use anstream::{AutoStream, ColorChoice};
use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::OnceLock,
};

/// How wide standard output is; `None` where it is no terminal.
pub(super) fn terminal_columns() -> Option<usize> {
    let columns =
        || terminal_size::terminal_size().map_or(NARROWEST, |(width, _)| usize::from(width.0));
    io::stdout().is_terminal().then(columns)
}

/// The page that standard output is.
pub(super) fn page() -> Page {
    let stdout = io::stdout();
    let columns = terminal_columns().unwrap_or(NARROWEST);
    Page::new(columns, AutoStream::choice(&stdout) != ColorChoice::Never)
}

/// Whether standard error shows colours.
pub(super) fn colour_on_stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// What kept standard output from being written, the first time.
static LOST: OnceLock<String> = OnceLock::new();

/// Writes to standard output. A reader that has gone (`| head`) is no error of ours and changes no exit code;
/// anything else (a full disk) is told by [`lost`].
pub(super) fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// Why a part of what was said did not reach standard output, if so.
pub(super) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes an error line to standard error.
pub(super) fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{}", text.trim_end());
}
