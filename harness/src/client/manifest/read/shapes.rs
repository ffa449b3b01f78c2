//! Values of one shape: a text, a number from a range, a list, a table, one word of several. What has
//! another shape is noted and gets a stand-in.

use super::{Reader, Table, Value};
use std::{
    collections::BTreeMap,
    ops::{Range, RangeInclusive},
};
use toml::{
    Spanned,
    de::{DeString, DeValue},
};

impl<'t> Reader<'t> {
    pub(super) fn required<T: Default>(
        &mut self,
        table: &Table<'t>,
        key: &str,
        read: impl FnOnce(&mut Self, &Value<'t>) -> T,
    ) -> T {
        self.optional(table, key, read).unwrap_or_else(|| {
            self.gather
                .at(&(0..0), format!("the key `{key}` is missing"))
                .help("a manifest has at least `name`, `mode` and `command`");
            T::default()
        })
    }

    pub(super) fn optional<T>(
        &mut self,
        table: &Table<'t>,
        key: &str,
        read: impl FnOnce(&mut Self, &Value<'t>) -> T,
    ) -> Option<T> {
        table.get(key).map(|value| read(self, value))
    }

    pub(super) fn keys(&mut self, table: &Table<'t>, known: &[&str], message: &str) {
        for key in table.keys() {
            let name = key.get_ref();
            if !known.contains(&name.as_ref()) {
                self.one_of(&key.span(), format!("{message} `{name}`"), name, known);
            }
        }
    }

    pub(super) fn text(&mut self, value: &Value<'t>) -> String {
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.gather.at(&value.span(), "this text is empty");
                String::new()
            }
            DeValue::String(text) => text.as_ref().to_owned(),
            _ => {
                self.wrong_type(value, "a text");
                String::new()
            }
        }
    }

    pub(super) fn flag(&mut self, value: &Value<'t>) -> bool {
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.wrong_type(value, "true or false");
            false
        })
    }

    pub(super) fn whole(&mut self, value: &Value<'t>, range: RangeInclusive<i64>) -> i64 {
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type(value, "a whole number");
            return *range.start();
        };
        match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let least = range.start();
                let help = match *range.end() {
                    i64::MAX => format!("a whole number from {least} on"),
                    most => format!("a whole number from {least} to {most}"),
                };
                self.gather
                    .at(&value.span(), "this number is out of range")
                    .help(help);
                *least
            }
        }
    }

    pub(super) fn choice<T: Copy>(
        &mut self,
        table: &Table<'t>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let value = table.get(key)?;
        let said = self.text(value);
        let choice = choices.iter().find(|(name, _)| *name == said);
        if choice.is_none() && !said.is_empty() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.one_of(
                &value.span(),
                format!("`{said}` is no `{key}`"),
                &said,
                &names,
            );
        }
        choice.map(|(_, choice)| *choice)
    }

    pub(super) fn list<T>(
        &mut self,
        value: &Value<'t>,
        of: &str,
        mut read: impl FnMut(&mut Self, &Value<'t>) -> T,
    ) -> Vec<T> {
        let DeValue::Array(entries) = value.get_ref() else {
            self.wrong_type(value, &format!("a list, with one entry for each {of}"));
            return Vec::new();
        };
        entries.iter().map(|entry| read(self, entry)).collect()
    }

    pub(super) fn command(&mut self, value: &Value<'t>) -> Vec<String> {
        let command = self.list(value, "argument", |reader, value| match value.get_ref() {
            // Any argument but the program itself may be empty.
            DeValue::String(text) => text.as_ref().to_owned(),
            _ => reader.text(value),
        });
        if matches!(value.get_ref(), DeValue::Array(_))
            && command.first().is_none_or(String::is_empty)
        {
            self.gather
                .at(&value.span(), "a command begins with the program to start")
                .help("for example [\"python3\", \"adapter.py\"]");
        }
        command
    }

    pub(super) fn commands(&mut self, value: &Value<'t>) -> Vec<Vec<String>> {
        self.list(value, "command", Self::command)
    }

    pub(super) fn table<'v>(&mut self, value: &'v Value<'t>) -> Option<&'v Table<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(value, "a table");
        }
        table
    }

    /// A table's entries in the file's order.
    pub(super) fn entries<'v>(
        &mut self,
        value: &'v Value<'t>,
    ) -> Vec<(&'v Spanned<DeString<'t>>, &'v Value<'t>)> {
        let mut entries: BTreeMap<usize, _> = BTreeMap::new();
        for (key, value) in self.table(value).into_iter().flatten() {
            entries.insert(key.span().start, (key, value));
        }
        entries.into_values().collect()
    }

    pub(super) fn wrong_type(&mut self, value: &Value<'t>, wanted: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.gather
            .at(&value.span(), format!("this is {found}"))
            .label(format!("expected {wanted}"));
    }

    pub(super) fn one_of(
        &mut self,
        place: &Range<usize>,
        message: String,
        said: &str,
        known: &[&str],
    ) {
        let help = match closest(said, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("one of {}", known.join(", ")),
        };
        self.gather.at(place, message).help(help);
    }

    pub(super) fn line_of(&self, place: &Range<usize>) -> usize {
        let before = self.text.get(..place.start).unwrap_or_default();
        1 + before.matches('\n').count()
    }
}

/// The name that was meant, if one is close enough to be worth asking.
pub(super) fn closest<'n>(said: &str, known: &[&'n str]) -> Option<&'n str> {
    /// Below it the names have little in common.
    const CLOSE: f64 = 0.8;
    known
        .iter()
        .map(|name| (strsim::jaro_winkler(said, name), *name))
        .filter(|(closeness, _)| *closeness > CLOSE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}
