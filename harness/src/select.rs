//! Choosing scenarios by id: exact ids, `*` for one component or a part of one, `**` for many.
//!
//! A pattern that matches nothing is an error with suggestions, so that a typo never shrinks a run in silence.

use std::fmt;

/// An id or a pattern over ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern from its text; a leading `./` or `scenarios/` and a trailing `/` are kindly forgiven.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix("./").unwrap_or(text);
        let text = text.strip_prefix("scenarios/").unwrap_or(text);
        Self(text.trim_end_matches('/').to_owned())
    }

    /// Whether it means this id. `area/name` means every instance of a matrix (`area/name[how=fin]`) too.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        if glob(self.0.as_bytes(), id.as_bytes()) {
            return true;
        }
        match id.split_once('[') {
            Some((scenario, _)) if !self.0.contains('[') => {
                glob(self.0.as_bytes(), scenario.as_bytes())
            }
            _ => false,
        }
    }

    /// Whether it could mean one of the instances of this scenario.
    #[must_use]
    pub fn touches<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> bool {
        ids.into_iter().any(|id| self.matches(id))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a bare argument of the command line is a pattern (or a scenario file); else it must be a verb.
#[must_use]
pub fn looks_like_pattern(argument: &str) -> bool {
    argument.contains(['/', '*', '['])
        || std::path::Path::new(argument)
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("toml"))
}

/// A selection that can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A pattern means no scenario.
    #[error("`{pattern}` matches no scenario{}", hint(.suggestions))]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// What may have been meant, best first.
        suggestions: Vec<String>,
    },
    /// There are no scenarios at all.
    #[error("there are no scenarios to choose from")]
    Empty,
}

fn hint(suggestions: &[String]) -> String {
    match suggestions {
        [] => " (`list` shows all ids)".to_owned(),
        [one] => format!(" (did you mean `{one}`?)"),
        many => {
            let quoted: Vec<String> = many.iter().map(|id| format!("`{id}`")).collect();
            format!(" (did you mean one of {}?)", quoted.join(", "))
        }
    }
}

/// Indices of the ids that any of the patterns means, in the order of `ids`, each once. No pattern means all.
///
/// # Errors
/// If there are no ids, or if a pattern means none of them.
pub fn select(patterns: &[Pattern], ids: &[&str]) -> Result<Vec<usize>, SelectError> {
    if ids.is_empty() {
        return Err(SelectError::Empty);
    }
    if patterns.is_empty() {
        return Ok((0..ids.len()).collect());
    }
    let mut chosen = vec![false; ids.len()];
    for pattern in patterns {
        let mut any = false;
        for (index, id) in ids.iter().enumerate() {
            if pattern.matches(id) {
                chosen[index] = true;
                any = true;
            }
        }
        if !any {
            return Err(SelectError::NoMatch {
                pattern: pattern.to_string(),
                suggestions: suggest(&pattern.0, ids),
            });
        }
    }
    Ok((0..ids.len()).filter(|&index| chosen[index]).collect())
}

/// What may have been meant by an id or pattern that is none: the area of that name, then ids close in spelling.
#[must_use]
pub fn suggest(wrong: &str, ids: &[&str]) -> Vec<String> {
    /// More than this is no help.
    const MOST: usize = 3;
    /// Jaro-Winkler similarity below which two ids only share letters by chance.
    const CLOSE: f64 = 0.85;
    /// How much less similar than the best another suggestion may be.
    const NEARLY: f64 = 0.05;

    let as_area = format!("{wrong}/");
    if ids.iter().any(|id| id.starts_with(&as_area)) {
        return vec![format!("{wrong}/*")];
    }
    let name = wrong.rsplit('/').next().unwrap_or(wrong);
    let mut close: Vec<(f64, &str)> = Vec::new();
    for id in ids {
        let scenario = id.split('[').next().unwrap_or(id);
        let its_name = scenario.rsplit('/').next().unwrap_or(scenario);
        let similarity =
            strsim::jaro_winkler(wrong, scenario).max(strsim::jaro_winkler(name, its_name));
        let contained = !name.is_empty() && !name.contains('*') && its_name.contains(name);
        if (similarity >= CLOSE || contained) && !close.iter().any(|(_, seen)| *seen == scenario) {
            close.push((similarity, scenario));
        }
    }
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    // Beside a slip of one letter everything else is noise.
    let best = close.first().map_or(0.0, |(similarity, _)| *similarity);
    close
        .into_iter()
        .filter(|(similarity, _)| best - similarity <= NEARLY)
        .take(MOST)
        .map(|(_, id)| id.to_owned())
        .collect()
}

/// `*` stays within a component, `**` crosses `/`; everything else is literal (brackets too).
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', rest @ ..] => {
            // `**/` also means no component at all, so that `**/x` finds `x`.
            let rest = rest
                .strip_prefix(b"/")
                .filter(|_| !text.is_empty())
                .map_or_else(|| vec![rest], |after| vec![rest, after]);
            rest.iter()
                .any(|rest| (0..=text.len()).any(|skip| glob(rest, &text[skip..])))
        }
        [b'*', rest @ ..] => {
            let component = text
                .iter()
                .position(|&byte| byte == b'/')
                .unwrap_or(text.len());
            (0..=component).any(|skip| glob(rest, &text[skip..]))
        }
        [first, rest @ ..] => text.first() == Some(first) && glob(rest, &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &[&str] = &[
        "data/base64-padding",
        "stream/drop[how=fin]",
        "stream/drop[how=reset]",
        "stream/retry-503",
        "time/cancel/in-back-off",
    ];

    fn chosen(patterns: &[&str]) -> Result<Vec<&'static str>, SelectError> {
        let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text)).collect();
        select(&patterns, IDS).map(|indices| indices.into_iter().map(|at| IDS[at]).collect())
    }

    #[test]
    fn no_pattern_means_everything() {
        assert_eq!(chosen(&[]).unwrap().len(), IDS.len());
    }

    #[test]
    fn an_id_means_all_its_instances_and_an_instance_only_itself() {
        assert_eq!(chosen(&["stream/drop"]).unwrap().len(), 2);
        assert_eq!(
            chosen(&["stream/drop[how=fin]"]).unwrap(),
            ["stream/drop[how=fin]"]
        );
    }

    #[test]
    fn one_star_stays_within_a_component_two_cross() {
        assert_eq!(chosen(&["stream/*"]).unwrap().len(), 3);
        assert_eq!(chosen(&["*/retry-*"]).unwrap(), ["stream/retry-503"]);
        assert!(chosen(&["time/*"]).is_err());
        assert_eq!(chosen(&["time/**"]).unwrap(), ["time/cancel/in-back-off"]);
        assert_eq!(chosen(&["**/retry-503"]).unwrap(), ["stream/retry-503"]);
        assert_eq!(chosen(&["**"]).unwrap().len(), IDS.len());
    }

    #[test]
    fn order_is_that_of_the_suite_and_nothing_comes_twice() {
        assert_eq!(
            chosen(&["stream/*", "data/*", "stream/drop"]).unwrap(),
            [
                "data/base64-padding",
                "stream/drop[how=fin]",
                "stream/drop[how=reset]",
                "stream/retry-503"
            ]
        );
    }

    #[test]
    fn a_pattern_that_matches_nothing_suggests_what_was_meant() {
        let told = |pattern| chosen(&[pattern]).unwrap_err().to_string();
        assert_eq!(
            told("stream/retry-502"),
            "`stream/retry-502` matches no scenario (did you mean `stream/retry-503`?)"
        );
        assert_eq!(
            told("stream"),
            "`stream` matches no scenario (did you mean `stream/*`?)"
        );
        assert_eq!(
            told("zzz/*"),
            "`zzz/*` matches no scenario (`list` shows all ids)"
        );
    }

    #[test]
    fn nothing_to_choose_from_is_an_error() {
        assert_eq!(select(&[], &[]), Err(SelectError::Empty));
    }

    #[test]
    fn bare_arguments_are_patterns_by_their_look() {
        for pattern in ["a/b", "*", "x.toml", "a/b[c=d]"] {
            assert!(looks_like_pattern(pattern), "{pattern}");
        }
        for verb in ["list", "run", "toml"] {
            assert!(!looks_like_pattern(verb), "{verb}");
        }
    }
}
