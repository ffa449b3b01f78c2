use super::*;
use crate::client::manifest::ProfileKeys;

fn parse(text: &str) -> Result<Manifest, Mistakes> {
    Manifest::parse("client.toml", PathBuf::from("/clients/x"), text)
}

/// The mistakes of a text, as `line:column message | help`.
fn mistakes(text: &str) -> Vec<String> {
    let mistakes = parse(text).unwrap_err();
    mistakes
        .iter()
        .map(|mistake| {
            let (line, column) = (mistake.line().unwrap(), mistake.column().unwrap());
            let more = mistake.help.as_ref().or(mistake.label.as_ref());
            let more = more.map_or_else(String::new, |more| format!(" | {more}"));
            format!("{line}:{column} {}{more}", mistake.message)
        })
        .collect()
}

const WHOLE: &str = r#"
name = "createos-sandbox for Python"
mode = "adapter"                      # or "command"
command = ["python3", "adapter.py"]   # run in the manifest's folder
setup = [["python3", "-m", "venv", ".venv"], [".venv/bin/pip", "install", "-r", "requirements.txt"]]
version-command = ["python3", "adapter.py", "--version"]
capabilities = ["execute", "follow", "cancel"]

[profile]
max-reconnects = 5
reconnect-delay-ms = 100
retry-statuses = ["5xx", "429", "425"]
budget-renewal = "progress"
retry-create-on = [429]
honours-retry-after = true
max-line-bytes = 2_097_152
cleanup-timeout-ms = 0x400
silence-limit-ms = 15000
output = "text"
max-capture-chars = 4194304

[errors]
"sequence gap" = "sequence-gap"
"connection failed" = "transport"
"a" = "other"

[known-failures]
"sequence/duplicate-*" = "does not deduplicate, see https://example.org/1"
"raw/lines-cr raw/lines" = "splits at CR"
"#;

#[test]
fn a_client_is_made_quicker_only_when_asked() {
    let speed = "\n[speed]\nenv = { DELAY = \"0.02\" }\nreconnect-delay-ms = 20\n";
    let mut manifest = parse(&format!("{WHOLE}{speed}")).unwrap();
    assert_eq!(manifest.env, []);
    assert_eq!(manifest.profile.reconnect_delay_ms, Some(100));
    assert!(manifest.hurry());
    assert_eq!(manifest.env, [("DELAY".to_owned(), "0.02".to_owned())]);
    assert_eq!(manifest.profile.reconnect_delay_ms, Some(20));
    assert!(!parse(WHOLE).unwrap().hurry());
    let found = mistakes(&format!("{WHOLE}\n[speed]\nenvironment = {{}}\n"));
    assert!(
        found[0].contains("[speed] has no key `environment`"),
        "{found:?}"
    );
}

#[test]
fn the_whole_page_reads() {
    let manifest = parse(WHOLE).unwrap();
    assert_eq!(manifest.mode, Mode::Adapter);
    assert_eq!(manifest.command, ["python3", "adapter.py"]);
    assert_eq!(manifest.setup.len(), 2);
    let promises = manifest.promises(None, ProfileKeys::default());
    assert_eq!(promises.ops, [Op::Execute, Op::Follow].into());
    assert_eq!(promises.capabilities, [Capability::Cancel].into());
    assert_eq!(promises.profile.cleanup_timeout_ms, 1024);
    assert_eq!(promises.profile.silence_limit_ms, Some(15_000));
    assert_eq!(promises.profile.retry_create_on, [429]);
    assert_eq!(
        manifest.errors.classify("a sequence gap"),
        Some("sequence-gap")
    );
    let known = &manifest.known_failures;
    assert_eq!(known[0].requirement, None);
    assert_eq!((known[0].line, known[1].line), (28, 29));
    assert_eq!(known[1].pattern, "raw/lines-cr");
    assert_eq!(known[1].requirement.as_deref(), Some("raw/lines"));
}

#[test]
fn the_manifest_stands_above_hello_key_by_key() {
    let manifest =
        parse("name='x'\nmode='adapter'\ncommand=['y']\n[profile]\nmax-reconnects=7\n").unwrap();
    let (abilities, _) = Abilities::of(["follow", "cancel"]);
    let hello = ProfileKeys {
        max_reconnects: Some(1),
        reconnect_delay_ms: Some(9),
        ..ProfileKeys::default()
    };
    let promises = manifest.promises(Some(abilities), hello);
    assert!(promises.ops.contains(&Op::Follow));
    assert_eq!(promises.profile.max_reconnects, 7);
    assert_eq!(promises.profile.reconnect_delay_ms, 9);
    assert_eq!(promises.profile.cleanup_timeout_ms, 5_000);
}

#[test]
fn all_mistakes_are_told_at_once_each_with_its_place() {
    let text = r#"naem = "x"
mode = "adaptor"
command = "python3 adapter.py"
capabilities = ["follow", "canccel", 3]
[profile]
max-reconnect = 3
output = "txt"
cleanup-timeout-ms = -1
max-reconnects = 4294967296
honours-retry-after = "yes"
retry-statuses = ["404"]
[errors]
"(" = "sequence-gap"
"x" = "sequence-gapp"
[exit]
7 = "transport"
[known-failures]
"a/b raw/line" = "why"
"a b c" = ""
"#;
    assert_eq!(
        mistakes(text),
        [
            "1:1 the key `name` is missing | a manifest has at least `name`, `mode` and `command`",
            "1:1 a manifest has no key `naem` | did you mean `name`?",
            "2:8 `adaptor` is no mode | did you mean `adapter`?",
            "3:11 this is a text | expected a list, with one entry for each argument",
            "4:27 `canccel` is no capability | did you mean `cancel`?",
            "4:38 this is a whole number | expected a text",
            "6:1 a profile has no key `max-reconnect` | did you mean `max-reconnects`?",
            "7:10 `txt` is no `output` | did you mean `text`?",
            "8:22 this number is out of range | a whole number from 1 on",
            "9:18 this number is out of range | a whole number from 0 to 4294967295",
            "10:23 this is a text | expected true or false",
            "11:19 a connect that is answered `404` is not tried again by a right client | \"5xx\", a status from 500 to 599, or one of 408, 425, 429",
            "13:1 this is no regular expression | unclosed group",
            "14:7 `sequence-gapp` is no error kind | did you mean `sequence-gap`?",
            "15:2 `[exit]` belongs to command mode | an adapter says in its results what went wrong",
            "18:1 `raw/line` is no requirement | did you mean `raw/lines`?",
            "19:1 a known failure is a scenario id or pattern, and perhaps a requirement id after a space | for example \"sequence/duplicate-*\" or \"raw/lines-cr raw/lines\"",
            "19:11 this text is empty",
        ]
    );
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let told = mistakes("name = \"x\nmode = \"adapter\"\n");
    assert!(told[0].starts_with("1:"), "{told:?}");
    let shown = parse("name = 'a'\nname = 'b'\n").unwrap_err().render(false);
    assert!(shown.contains("client.toml:2:1"), "{shown}");
    assert!(shown.contains("name = 'b'"), "{shown}");
}

#[test]
fn command_mode_has_placeholders_and_exit_statuses() {
    let manifest = parse(
        "name='x'\nmode='command'\ncapabilities=['execute']\ncommand=['c', '{base_url}/%{x}', '{print $1}', '${HOME}', '{command...}']\n[exit]\n7='transport'\n'64..78'='other'\n124='timed-out'\n",
    )
    .unwrap();
    assert_eq!(manifest.exit.len(), 3);
    assert_eq!(manifest.exit[1].statuses, 64..=78);
    assert_eq!(manifest.exit[2].meaning, Meaning::TimedOut);
    assert_eq!(
        mistakes(
            "name='x'\nmode='command'\ncommand=['c', '{comand...}', 'a{command...}', '{sandbox}', '{x}']\n[exit]\n300='transport'\n'5..3'='oops'\n1='canceled'\n"
        ),
        [
            "1:1 a command-line client says no hello, so its manifest must claim an op | for example capabilities = [\"execute\"]",
            "3:15 `{comand...}` is no placeholder | did you mean `{command...}`? there are {command...}, {sandbox_id}, {base_url}, {api_key}, {timeout_ms}",
            "3:30 `{command...}` becomes several arguments, so it must stand alone | as an argument of its own: \"{command...}\"",
            "3:47 `{sandbox}` is no placeholder | did you mean `{sandbox_id}`? there are {command...}, {sandbox_id}, {base_url}, {api_key}, {timeout_ms}",
            "3:60 `{x}` is no placeholder | there are {command...}, {sandbox_id}, {base_url}, {api_key}, {timeout_ms}",
            "5:1 `300` is no exit status | a status from 0 to 255, or a range of them, both included: \"64..78\"",
            "6:1 `5..3` is no exit status | a status from 0 to 255, or a range of them, both included: \"64..78\"",
            "7:3 `canceled` is no error kind | did you mean `cancelled`?",
        ]
    );
}

#[test]
fn an_empty_file_says_what_is_missing() {
    assert_eq!(mistakes("").len(), 3);
    assert!(
        mistakes("command = []\nname='x'\nmode='adapter'")[0]
            .starts_with("1:11 a command begins with")
    );
}
