//! "Did you mean": the nearest known word, and lists of words for messages.

/// The known word that was most likely meant, if one is near enough.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let meant = plain(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let other = plain(candidate);
        if meant == other {
            return Some(candidate);
        }
        let distance = strsim::damerau_levenshtein(&meant, &other);
        // A third of the letters may differ: enough for a slip, too little for another word.
        let allowed = (meant.chars().count().max(other.chars().count()) / 3).max(1);
        let parts = meant.split('-').count() > 1
            && meant.split('-').count() == other.split('-').count()
            && meant.split('-').zip(other.split('-')).all(|(part, whole)| {
                part.len() >= 3 && (whole.starts_with(part) || part.starts_with(whole))
            });
        let longer_form =
            parts || meant.len() >= 3 && (other.starts_with(&meant) || meant.starts_with(&other));
        if (distance <= allowed || longer_form) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// What to say about an unknown word: the nearest one, or all there are.
pub(super) fn instead(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", listed(known)),
    }
}

/// `a`, `b` or `c`, in the order given.
pub(super) fn listed(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

/// A short, readable form of any text for a message.
pub(super) fn short(text: &str) -> String {
    let mut out: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let known = ["connect", "create-process", "delete-process", "wait"];
        assert_eq!(nearest("conect", known), Some("connect"));
        assert_eq!(nearest("create_process", known), Some("create-process"));
        assert_eq!(nearest("Wait", known), Some("wait"));
        assert_eq!(nearest("create", known), Some("create-process"));
        assert_eq!(nearest("del-proc", known), Some("delete-process"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest("", known), None);
    }
}
