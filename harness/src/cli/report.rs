//! `report`, and the same reports of a run that just ended: all of them from the lines of an event file.

use super::{
    Failure,
    args::{OutputArgs, ReportArgs},
    output::say,
};
use crate::{
    events::{RunEvent, Sink},
    exit::Exit,
    report::{
        github, html,
        json::JsonLines,
        junit, markdown,
        record::{self, Record},
        text::harmless,
    },
};
use std::{
    cell::RefCell,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    rc::Rc,
};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let mut records = Vec::new();
    for path in &args.files {
        records.extend(self::records(path)?);
    }
    let outputs = Outputs::new(&args.outputs)?;
    if outputs.are_wanted() {
        outputs.write(&records)?;
    } else {
        for record in &records {
            say(&format!(
                "{}\n",
                harmless(&format!("{} {}", record.client(), record.verdict()))
            ));
        }
    }
    Ok(Exit::AsExpected)
}

/// The runs of an event file.
pub(super) fn records(path: &Path) -> Result<Vec<Record>, Failure> {
    let unusable = |why: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "{}: {}",
            path.display(),
            harmless(&why.to_string())
        ))
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the edge at which event files are read"
    )]
    let text = fs::read_to_string(path).map_err(|error| unusable(&error))?;
    record::read(&text).map_err(|error| unusable(&error))
}

/// The reports that are wanted.
pub(super) struct Outputs {
    wanted: OutputArgs,
}

impl Outputs {
    /// Opens every file, so that one that can't be written is known before anything is played.
    pub(super) fn new(wanted: &OutputArgs) -> Result<Self, Failure> {
        for path in [&wanted.junit, &wanted.markdown, &wanted.html]
            .into_iter()
            .flatten()
        {
            opened(path, true)?;
        }
        Ok(Self {
            wanted: wanted.clone(),
        })
    }

    /// Whether there is any.
    pub(super) const fn are_wanted(&self) -> bool {
        let OutputArgs {
            junit,
            markdown,
            html,
            github,
        } = &self.wanted;
        junit.is_some() || markdown.is_some() || html.is_some() || *github
    }

    /// Writes them.
    pub(super) fn write(&self, records: &[Record]) -> Result<(), Failure> {
        if let Some(path) = &self.wanted.junit {
            let xml = junit::report(records)
                .map_err(|error| Failure::new(Exit::Harness, format!("no JUnit XML: {error}")))?;
            written(path, false, &xml)?;
        }
        if let Some(path) = &self.wanted.markdown {
            // A job's steps share $GITHUB_STEP_SUMMARY, so what is there stays.
            written(path, true, &markdown::report(records))?;
        }
        if let Some(path) = &self.wanted.html {
            written(path, false, &html::report(records))?;
        }
        if self.wanted.github {
            say(&github::report(records));
        }
        Ok(())
    }
}

/// A file to write, and the folder it stands in.
fn opened(path: &Path, keep: bool) -> Result<File, Failure> {
    let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
    folder
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| {
            let mut options = File::options();
            options.create(true);
            if keep {
                options.append(true);
            } else {
                options.write(true).truncate(true);
            }
            options.open(path)
        })
        .map_err(|error| Failure::usage(format!("{} can't be written: {error}", path.display())))
}

pub(super) fn written(path: &Path, keep: bool, text: &str) -> Result<(), Failure> {
    opened(path, keep)?
        .write_all(text.as_bytes())
        .map_err(|error| lost(path, &error))
}

fn lost(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        Exit::Harness,
        format!("{} could not be written: {error}", path.display()),
    )
}

/// Takes a line, without its end.
type WriteLine = Box<dyn FnMut(&str)>;

/// Writes the lines of a run into a file while it goes, and keeps them where reports are made of them afterwards.
pub(super) struct Events {
    lines: JsonLines<WriteLine>,
    written: Rc<RefCell<Written>>,
}

#[derive(Default)]
struct Written {
    file: Option<(PathBuf, BufWriter<File>)>,
    kept: Option<String>,
    error: Option<io::Error>,
}

impl Written {
    fn line(&mut self, line: &str) {
        if let Some((_, file)) = &mut self.file {
            // Each line at once: whoever is killed leaves what was known.
            if let Err(error) = writeln!(file, "{line}").and_then(|()| file.flush()) {
                self.error.get_or_insert(error);
            }
        }
        if let Some(kept) = &mut self.kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
}

impl Events {
    /// `None` if nobody wants them. `whole` adds plans and wire logs.
    pub(super) fn new(
        path: Option<&Path>,
        keep: bool,
        whole: bool,
    ) -> Result<Option<Self>, Failure> {
        if path.is_none() && !keep {
            return Ok(None);
        }
        let file = match path {
            Some(path) => Some((path.to_owned(), BufWriter::new(opened(path, false)?))),
            None => None,
        };
        let written = Rc::new(RefCell::new(Written {
            file,
            kept: keep.then(String::new),
            error: None,
        }));
        let writes = Rc::clone(&written);
        Ok(Some(Self {
            lines: JsonLines::new(whole, Box::new(move |line| writes.borrow_mut().line(line))),
            written,
        }))
    }

    /// The end of the run: the reports are written.
    pub(super) fn end(self, outputs: &Outputs) -> Result<(), Failure> {
        let Written { file, kept, error } = std::mem::take(&mut *self.written.borrow_mut());
        if let (Some((path, _)), Some(error)) = (file, error) {
            return Err(lost(&path, &error));
        }
        match kept {
            Some(text) => {
                let records = record::read(&text).map_err(|error| {
                    Failure::new(Exit::Harness, format!("the run's own events: {error}"))
                })?;
                outputs.write(&records)
            }
            None => Ok(()),
        }
    }
}

impl Sink for Events {
    fn event(&mut self, event: &RunEvent) {
        self.lines.event(event);
    }
}
