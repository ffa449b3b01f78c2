//! Secrets of a trial never stand in a report, whatever a client puts into its messages.

use fake_server::wirelog::Names;

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
    text
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
}
