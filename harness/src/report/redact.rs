//! Secrets of a trial never stand in a report, whatever a client puts into its messages.

use fake_server::wirelog::Names;

/// So much of the beginning of a secret is told from other words: `skp_` and two letters more.
const BEGINNING: usize = 6;

/// The text with the trial's key, canary, addresses and ids replaced by their placeholders; so it is also the same
/// from run to run.
#[must_use]
pub fn redact(text: &str, names: &Names) -> String {
    let pairs = [
        (&names.api_key, "{api-key}"),
        (&names.canary, "{canary}"),
        (&names.base_url, "{base-url}"),
        (&names.trap_url, "{trap-url}"),
        (&names.sandbox_id, "{sandbox}"),
        (&names.process_id, "{process}"),
    ];
    let mut text = text.to_owned();
    for (secret, placeholder) in pairs {
        if !secret.is_empty() {
            text = text.replace(secret.as_str(), placeholder);
        }
        // Clients name the authority without the scheme as well.
        if let Some((_, authority)) = secret.split_once("://")
            && !authority.is_empty()
        {
            text = text.replace(authority, placeholder);
        }
    }
    // Texts are shortened before they come here, and the cut may go through one.
    for (secret, placeholder) in [pairs[0], pairs[1], pairs[4], pairs[5]] {
        if text.contains('…') {
            text = without_beginnings(&text, secret, placeholder);
        }
    }
    text
}

/// The text without the beginnings of a secret that were cut off with `…`.
fn without_beginnings(text: &str, secret: &str, placeholder: &str) -> String {
    let mut pieces = text.split('…').peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            out.push_str(piece);
            break;
        }
        let mut beginnings = (BEGINNING..secret.len()).rev();
        let rest = beginnings.find_map(|length| piece.strip_suffix(secret.get(..length)?));
        match rest {
            Some(rest) => {
                out.push_str(rest);
                out.push_str(placeholder);
            }
            None => out.push_str(piece),
        }
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_placeholders() {
        let names = Names {
            api_key: "key-123".to_owned(),
            base_url: "http://127.0.0.1:4711".to_owned(),
            ..Names::default()
        };
        assert_eq!(
            redact(
                "GET http://127.0.0.1:4711/v1 with key-123 at 127.0.0.1:4711",
                &names
            ),
            "GET {base-url}/v1 with {api-key} at {base-url}"
        );
    }

    #[test]
    fn a_secret_that_was_cut_off_is_one_too() {
        let names = Names {
            api_key: "skp_abcdefgh".to_owned(),
            sandbox_id: "sb-12345678".to_owned(),
            ..Names::default()
        };
        assert_eq!(
            redact("got skp_abcdefg…, skp_ab… and sb-123…", &names),
            "got {api-key}…, {api-key}… and {sandbox}…"
        );
        // The beginning of every key is none, and a whole one stays whole.
        assert_eq!(
            redact("skp_… and skp_abcdefgh…", &names),
            "skp_… and {api-key}…"
        );
    }
}
