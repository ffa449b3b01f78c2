//! Mistakes in a scenario file: where each is, the line, and what would be right.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::{fmt, ops::Range, sync::Arc};

/// One mistake in a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file, as it was named to the parser.
    pub file: Arc<str>,
    /// The whole text of the file.
    text: Arc<str>,
    /// Bytes of the text; `None` when it is about the whole file.
    pub span: Option<Range<usize>>,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// A word at the place itself.
    pub label: Option<String>,
    /// Other places that belong to it, each with a word.
    pub context: Vec<(Range<usize>, String)>,
    /// What would be right.
    pub help: Option<String>,
}

impl Mistake {
    /// Line, from 1; `None` when it is about the whole file.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.position().map(|(line, _)| line)
    }

    /// Column in characters, from 1; `None` when it is about the whole file.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.position().map(|(_, column)| column)
    }

    fn position(&self) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start.min(self.text.len());
        let before = self.text.get(..start)?;
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |rest| rest.chars().count())
            + 1;
        Some((line, column))
    }

    fn group(&self) -> Group<'_> {
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match &self.span {
            None => Group::with_title(title)
                .element(annotate_snippets::Origin::path(self.file.as_ref())),
            Some(span) => {
                let mut here = AnnotationKind::Primary.span(self.visible(span));
                if let Some(label) = &self.label {
                    here = here.label(label.as_str());
                }
                let mut snippet = Snippet::source(self.text.as_ref())
                    .path(self.file.as_ref())
                    .fold(true)
                    .annotation(here);
                for (span, label) in &self.context {
                    snippet = snippet.annotation(
                        AnnotationKind::Context
                            .span(self.visible(span))
                            .label(label.as_str()),
                    );
                }
                title.element(snippet)
            }
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        group
    }

    /// The part of a span that is worth underlining: its first line, inside the text, on character borders.
    fn visible(&self, span: &Range<usize>) -> Range<usize> {
        let text = self.text.as_ref();
        let border = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = border(span.start);
        let mut end = border(span.end.max(start));
        if let Some(line_end) = text[start..end].find('\n') {
            end = start + line_end;
        }
        start..end
    }
}

/// Every mistake that was found in one file, in the order of the file. Shown as text it is what a
/// person reads; see [`Mistakes::render`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    list: Vec<Mistake>,
}

impl Mistakes {
    /// A mistake about a whole file that only its loader can see (two files with one id, a wrong path).
    #[must_use]
    pub fn whole_file(file: &str, message: String, help: Option<String>) -> Self {
        Self {
            list: vec![Mistake {
                file: file.into(),
                text: "".into(),
                span: None,
                message,
                label: None,
                context: Vec::new(),
                help,
            }],
        }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.list.iter()
    }

    /// The text for people: for each mistake the file, line and column, the line itself and what
    /// would be right. With `colour` it holds ANSI styles.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut text = String::new();
        for mistake in &self.list {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&renderer.render(&[mistake.group()]));
            text.push('\n');
        }
        text
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

/// Mistakes being gathered while a file is read, a scenario or another one that is to look the same.
/// Reading goes on after a mistake, so that an author sees all of them at once.
#[derive(Debug)]
pub struct Gather {
    file: Arc<str>,
    text: Arc<str>,
    list: Vec<Mistake>,
    noted: usize,
    /// Places whose mistake has been told in full: what follows from it is not.
    settled: Vec<Range<usize>>,
    /// Where a matrix value was put in: the span of `"$name"`, the span of the value, the value.
    pub(super) substituted: Vec<(Range<usize>, Range<usize>, String)>,
}

impl Gather {
    /// Nothing wrong yet in a file (as it is to be named) with this text.
    #[must_use]
    pub fn new(file: &str, text: &str) -> Self {
        Self {
            file: file.into(),
            text: text.into(),
            list: Vec::new(),
            noted: 0,
            settled: Vec::new(),
            substituted: Vec::new(),
        }
    }

    /// Notes a mistake; the returned handle adds a label, context or help.
    pub fn at(&mut self, span: &Range<usize>, message: impl Into<String>) -> Note<'_> {
        let context = self
            .substituted
            .iter()
            .filter(|(used, _, _)| used.start >= span.start && used.end <= span.end)
            .map(|(_, value, text)| (value.clone(), format!("with this value, {text}")))
            .collect();
        let mistake = Mistake {
            file: Arc::clone(&self.file),
            text: Arc::clone(&self.text),
            span: Some(span.clone()),
            message: message.into(),
            label: None,
            context,
            help: None,
        };
        Note {
            gather: self,
            mistake: Some(mistake),
        }
    }

    /// Nothing is wrong so far.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.list.is_empty()
    }

    /// From here on nothing more is said about this very place.
    pub(super) fn settle(&mut self, place: Range<usize>) {
        self.settled.push(place);
    }

    /// The text of a place.
    pub(super) fn text(&self, place: &Range<usize>) -> &str {
        self.text.get(place.clone()).unwrap_or_default()
    }

    /// How many mistakes were noted so far, repeated ones of other instances included.
    pub(super) const fn count(&self) -> usize {
        self.noted
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// The mistakes, if there are any, in the order of the file.
    pub fn finish(mut self) -> Result<(), Mistakes> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list
            .sort_by_key(|mistake| mistake.span.as_ref().map(|span| (span.start, span.end)));
        Err(Mistakes { list: self.list })
    }
}

/// A mistake that is being worded. It is kept when this is dropped.
#[derive(Debug)]
pub struct Note<'a> {
    gather: &'a mut Gather,
    mistake: Option<Mistake>,
}

impl Note<'_> {
    /// A word at the place itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(mistake) = &mut self.mistake {
            mistake.label = Some(label.into());
        }
        self
    }

    /// What would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(mistake) = &mut self.mistake {
            mistake.help = Some(help.into());
        }
        self
    }

    /// Another place that belongs to it, with a word.
    pub fn context(mut self, span: &Range<usize>, label: impl Into<String>) -> Self {
        if let Some(mistake) = &mut self.mistake {
            mistake.context.push((span.clone(), label.into()));
        }
        self
    }
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        if let Some(mistake) = self.mistake.take() {
            self.gather.noted += 1;
            // Each instance of a matrix is read again and repeats what is wrong in all of them.
            let known = self
                .gather
                .list
                .iter()
                .any(|other| other.span == mistake.span && other.message == mistake.message);
            let settled = mistake
                .span
                .as_ref()
                .is_some_and(|span| self.gather.settled.contains(span));
            if !known && !settled {
                self.gather.list.push(mistake);
            }
        }
    }
}
