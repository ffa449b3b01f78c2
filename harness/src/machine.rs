//! Secrets of the machine that a client may have come across: they are told to nobody.
//!
//! A client that reads its key from the environment, and not from the job, sends a real one to the fake server. It would
//! stand in the wire log, and so in stories, JSON, diffs and saved trials. [`MachineSecrets::leave_out`] takes it out of a
//! trial before the trial is judged, so that nothing later knows it; [`MachineSecrets::hide`] takes it out of any other
//! words that come from a client.

mod trial;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use memchr::memmem;
use std::{borrow::Cow, fmt};

/// Bytes from which on a value counts: shorter ones (`true`, `1`) stand in innocent texts as well.
const TELLING: usize = 8;
/// What the name of a variable with a secret holds.
const NAMES: [&str; 7] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
];

/// The variables of an environment that hold secrets, by their names (`.._KEY`, `.._TOKEN`, ..).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSecrets(Vec<Secret>);

/// A variable of the environment whose value is not to be told.
#[derive(Clone, PartialEq, Eq)]
struct Secret {
    /// The variable.
    name: String,
    /// Its value, without white space around it: a header has none. Then the same in base64, see [`in_base64`].
    forms: Vec<String>,
}

/// The characters that a value has in every longer text in base64: one for each place within three bytes at which it may
/// begin. What it shares with its neighbours, a character at each end at the most, is not among them.
fn in_base64(value: &str) -> impl Iterator<Item = String> {
    (0..3).map(move |before| {
        let text = STANDARD_NO_PAD.encode([&[0; 3][..before], value.as_bytes()].concat());
        // Six bits a character.
        let whole = (before + value.len()) * 8 / 6;
        text[(before * 8).div_ceil(6)..whole].to_owned()
    })
}

impl Secret {
    fn value(&self) -> &str {
        &self.forms[0]
    }
}

/// What stands in its place.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{env {}}}", self.name)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl MachineSecrets {
    /// No secret at all.
    pub const NONE: Self = Self(Vec::new());

    /// Those of these variables.
    #[must_use]
    pub fn of(environment: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets: Vec<Secret> = environment
            .into_iter()
            .filter(|(name, value)| {
                let name = name.to_ascii_uppercase();
                value.trim().len() >= TELLING && NAMES.iter().any(|part| name.contains(part))
            })
            .map(|(name, value)| {
                let value = value.trim();
                let forms = std::iter::once(value.to_owned()).chain(in_base64(value));
                let forms = forms.collect();
                Secret { name, forms }
            })
            .collect();
        // The longest first, so that none hides a part of another.
        secrets.sort_by(|a, b| {
            let longest = b.value().len().cmp(&a.value().len());
            longest.then_with(|| a.name.cmp(&b.name))
        });
        Self(secrets)
    }

    /// Those of this process, which every program that it starts inherits.
    #[cfg(feature = "run")]
    #[must_use]
    pub fn of_this_process() -> Self {
        // A value that is no UTF-8 can't stand in JSON either.
        Self::of(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// The text with `{env NAME}` in the place of every secret.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (form, secret) in self.forms() {
            if memmem::find(text.as_bytes(), form.as_bytes()).is_some() {
                text = Cow::Owned(text.replace(form, &secret.to_string()));
            }
        }
        text
    }

    /// The same for bytes; `None` where there is no secret in them.
    fn hidden(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut hidden: Option<Vec<u8>> = None;
        for (form, secret) in self.forms() {
            let bytes = hidden.as_deref().unwrap_or(bytes);
            if let Some(now) = replaced(bytes, form.as_bytes(), &secret.to_string()) {
                hidden = Some(now);
            }
        }
        hidden
    }

    /// Whether there is one in these bytes.
    fn are_in(&self, bytes: &[u8]) -> bool {
        let mut forms = self.forms();
        forms.any(|(form, _)| memmem::find(bytes, form.as_bytes()).is_some())
    }

    fn forms(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.0
            .iter()
            .flat_map(|secret| secret.forms.iter().map(move |form| (form.as_str(), secret)))
    }

    /// Those that do not stand in any of these texts.
    fn not_in(&self, texts: &[Vec<u8>]) -> Self {
        let is_elsewhere = |secret: &&Secret| {
            let value = secret.value().as_bytes();
            !texts.iter().any(|text| memmem::find(text, value).is_some())
        };
        Self(self.0.iter().filter(is_elsewhere).cloned().collect())
    }
}

/// The bytes with every occurrence replaced, if there is one.
fn replaced(bytes: &[u8], wanted: &[u8], by: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut done = 0;
    for at in memmem::find_iter(bytes, wanted) {
        out.extend_from_slice(&bytes[done..at]);
        out.extend_from_slice(by.as_bytes());
        done = at + wanted.len();
    }
    (done > 0).then(|| {
        out.extend_from_slice(&bytes[done..]);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn secrets() -> MachineSecrets {
        let variables = [
            ("CREATEOS_API_KEY", " sk-real-0123\n"),
            ("HOME", "/home/somebody"),
            ("CI_TOKEN", "short"),
            ("longer_secret", "sk-real-0123-and-more"),
        ];
        MachineSecrets::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        let names: Vec<String> = secrets().0.iter().map(Secret::to_string).collect();
        assert_eq!(names, ["{env longer_secret}", "{env CREATEOS_API_KEY}"]);
    }

    #[test]
    fn texts_and_bytes_lose_them() {
        const SAID: &str = "key=sk-real-0123&x=1 sk-real-0123-and-more /home/somebody";
        const TOLD: &str = "key={env CREATEOS_API_KEY}&x=1 {env longer_secret} /home/somebody";
        assert_eq!(secrets().hide(SAID), TOLD);
        assert_eq!(secrets().hidden(SAID.as_bytes()), Some(TOLD.into()));
        assert_eq!(secrets().hidden(TOLD.as_bytes()), None);
        assert!(matches!(secrets().hide(TOLD), Cow::Borrowed(_)));
    }

    #[test]
    fn base64_hides_none_wherever_it_begins() {
        for before in ["", "1", "12", "123"] {
            for after in ["", "a", "ab", "abc"] {
                let text = STANDARD_NO_PAD.encode(format!("{before}sk-real-0123{after}"));
                let told = secrets().hide(&text).into_owned();
                assert!(told.contains("{env CREATEOS_API_KEY}"), "{told}");
                let left = told.replace("{env CREATEOS_API_KEY}", "");
                assert!(left.len() <= 4 * 2, "{left} of {text}");
            }
        }
    }
}
