//! Bodies about processes and exec.

use crate::wire::{Problem, fields::Fields, limits};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// Signals that a process may be sent.
pub const SIGNALS: &[(&str, i64)] = &[
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGKILL", 9),
    ("SIGUSR1", 10),
    ("SIGUSR2", 12),
    ("SIGTERM", 15),
    ("SIGWINCH", 28),
];

/// `POST ../processes`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateProcess {
    /// Program; absent with a terminal: the default shell.
    pub cmd: Option<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Absolute folder.
    pub cwd: Option<String>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Rows and columns of a terminal.
    pub pty: Option<Size>,
}

/// A terminal's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
}

impl CreateProcess {
    /// Reads and checks a body; `declared` are the variables that the sandbox was made with.
    ///
    /// # Errors
    /// `Invalid` with everything that is wrong.
    pub fn read(body: &[u8], declared: &[String]) -> Result<Self, Problem> {
        let mut fields = Fields::read(body)?;
        let pty = match fields.value("pty") {
            None => None,
            Some(Value::Object(size)) => {
                let side = |name: &str| {
                    size.get(name)
                        .and_then(Value::as_u64)
                        .filter(|side| (1..=65_535).contains(side))
                };
                let found = side("rows")
                    .zip(side("cols"))
                    .map(|(rows, cols)| Size { rows, cols });
                if found.is_none() {
                    fields.wrong("pty", "needs rows and cols from 1 to 65535");
                }
                found
            }
            Some(_) => {
                fields.wrong("pty", "must be an object with rows and cols");
                None
            }
        };
        let cmd = if pty.is_some() && !fields.has("cmd") {
            None
        } else {
            Some(fields.required_text("cmd"))
        };
        let cwd = fields.text("cwd");
        if cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
            fields.wrong("cwd", "must be an absolute path");
        }
        let request = Self {
            cmd,
            args: fields.texts("args").unwrap_or_default(),
            cwd,
            env: declared_env(&mut fields, declared),
            pty,
        };
        fields.finish().map(|()| request)
    }
}

fn declared_env(fields: &mut Fields, declared: &[String]) -> Vec<(String, String)> {
    let env = fields.pairs("env").unwrap_or_default();
    for (key, _) in &env {
        if !declared.contains(key) {
            fields.wrong(
                "env",
                format!("{key:?} was not declared in the sandbox's envs"),
            );
        }
    }
    env
}

/// `POST ../exec`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// Program.
    pub cmd: String,
    /// Answer frame by frame.
    pub stream: bool,
}

impl Exec {
    /// Reads and checks a body; `declared` are the variables that the sandbox was made with.
    ///
    /// # Errors
    /// `Invalid` with everything that is wrong.
    pub fn read(body: &[u8], declared: &[String]) -> Result<Self, Problem> {
        let mut fields = Fields::read(body)?;
        let request = Self {
            cmd: fields.required_text("cmd"),
            stream: fields.flag("stream").unwrap_or(false),
        };
        fields.texts("args");
        fields.text("stdin");
        declared_env(&mut fields, declared);
        fields.finish().map(|()| request)
    }
}

/// `POST ../input`: the decoded bytes.
///
/// # Errors
/// `Invalid` if `data_base64` is missing or no standard base64, `TooLarge` above 256 KiB decoded.
pub fn read_input(body: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut fields = Fields::read(body)?;
    let there = fields.has("data_base64");
    let text = fields.text("data_base64").unwrap_or_default();
    if !there {
        fields.wrong("data_base64", "is missing");
    }
    let data = STANDARD.decode(&text).unwrap_or_else(|error| {
        fields.wrong("data_base64", format!("is no standard base64: {error}"));
        Vec::new()
    });
    fields.finish()?;
    if data.len() > limits::INPUT_BYTES {
        return Err(Problem::TooLarge {
            what: "input",
            limit: limits::INPUT_BYTES,
        });
    }
    Ok(data)
}

/// `POST ../resize` of a terminal.
///
/// # Errors
/// `Invalid` if rows or cols are missing or out of range.
pub fn read_size(body: &[u8]) -> Result<Size, Problem> {
    let mut fields = Fields::read(body)?;
    for side in ["rows", "cols"] {
        if !fields.has(side) {
            fields.wrong(side, "is missing");
        }
    }
    let rows = fields.integer("rows", 1..=65_535).unwrap_or(1);
    let cols = fields.integer("cols", 1..=65_535).unwrap_or(1);
    fields.finish().map(|()| Size { rows, cols })
}

/// `POST ../signal`: one of [`SIGNALS`].
///
/// # Errors
/// `Invalid` for any other name.
pub fn read_signal(body: &[u8]) -> Result<&'static str, Problem> {
    let mut fields = Fields::read(body)?;
    let text = fields.required_text("signal");
    let known = SIGNALS.iter().find(|(name, _)| *name == text);
    if known.is_none() && !text.is_empty() {
        let names: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        fields.wrong("signal", format!("must be one of {}", names.join(", ")));
    }
    fields.finish()?;
    known.map_or_else(
        || Err(Problem::invalid("signal", "is missing or empty")),
        |(name, _)| Ok(*name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint<T: std::fmt::Debug>(result: Result<T, Problem>) -> String {
        let problem = result.unwrap_err();
        assert_eq!(problem.status(), 400, "{problem}");
        problem.to_string()
    }

    #[test]
    fn a_process_needs_a_program_unless_it_is_a_terminal() {
        complaint(CreateProcess::read(b"{}", &[]));
        let shell = CreateProcess::read(br#"{"pty":{"rows":24,"cols":80}}"#, &[]).unwrap();
        assert_eq!((shell.cmd, shell.pty.unwrap().cols), (None, 80));
        complaint(CreateProcess::read(
            br#"{"pty":{"rows":0,"cols":80},"cmd":"sh"}"#,
            &[],
        ));
        complaint(CreateProcess::read(br#"{"cmd":"sh","cwd":"tmp"}"#, &[]));
    }

    #[test]
    fn only_declared_variables_may_be_overridden() {
        let body = br#"{"cmd":"sh","env":{"A":"1"}}"#;
        assert!(complaint(CreateProcess::read(body, &[])).contains("\"A\""));
        assert!(CreateProcess::read(body, &["A".to_owned()]).is_ok());
    }

    #[test]
    fn input_is_limited_by_its_decoded_size() {
        let body =
            |bytes: usize| format!(r#"{{"data_base64":"{}"}}"#, STANDARD.encode(vec![0; bytes]));
        assert_eq!(
            read_input(body(256 << 10).as_bytes()).unwrap().len(),
            262_144
        );
        assert_eq!(
            read_input(body((256 << 10) + 1).as_bytes())
                .unwrap_err()
                .status(),
            413
        );
        complaint(read_input(br#"{"data_base64":"a"}"#));
        complaint(read_input(b"{}"));
        assert_eq!(read_input(br#"{"data_base64":""}"#), Ok(Vec::new()));
    }

    #[test]
    fn signals_are_known_names() {
        assert_eq!(read_signal(br#"{"signal":"SIGTERM"}"#), Ok("SIGTERM"));
        for body in [
            &br#"{"signal":"TERM"}"#[..],
            br#"{"signal":9}"#,
            br#"{"signal":""}"#,
            b"{}",
        ] {
            complaint(read_signal(body));
        }
    }
}
