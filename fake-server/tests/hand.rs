//! `fake-createos` as a person meets it: its first page, the wire, its last words, its refusals.

#![expect(
    clippy::disallowed_methods,
    reason = "a test talks to the server it started"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

const OUTAGE: &str = r#"
title = "Cut after one line, then 502 once"
requirements = ["stream/resume-cursor"]
why = "A test."
op = "follow"
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }]
[[fault]]
on = "connect"
stream = [{ send = "..1" }, { end = "fin" }]
[[fault]]
on = "connect"
attempt = 3
status = 502
"#;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-createos"));
    command.stdin(Stdio::null());
    command
}

fn refused(arguments: &[&str]) -> String {
    let Output {
        status,
        stderr,
        stdout,
    } = program()
        .args(arguments)
        .output()
        .expect("the program runs");
    assert_eq!(
        status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&stdout)
    );
    String::from_utf8(stderr).expect("UTF-8")
}

/// A running server and the lines it prints.
struct Played {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    seen: Vec<String>,
}

impl Played {
    fn start(arguments: &[&str]) -> Self {
        let mut child = program()
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Reads until a line holds the text, and gives that line.
    fn until(&mut self, text: &str) -> String {
        for line in self.lines.by_ref() {
            let line = line.expect("a line");
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
        panic!("no line with {text:?} in {:#?}", self.seen);
    }

    /// Ctrl-C; all that is printed after it.
    fn interrupt(mut self) -> String {
        let kill = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status()
            .expect("kill");
        assert!(kill.success());
        let rest: Vec<String> = self
            .lines
            .by_ref()
            .map(|line| line.expect("a line"))
            .collect();
        assert!(self.child.wait().expect("an end").success());
        rest.join("\n")
    }
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(".toml")
        .tempfile()
        .expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

/// Asks for something on a connection of its own and reads to the end.
fn get(base: &str, key: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(base.trim_start_matches("http://")).expect("connected");
    write!(
        socket,
        "GET {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nConnection: close\r\n\r\n"
    )
    .expect("asked");
    let mut answer = String::new();
    // A cut stream ends with whatever the cut is; what came before is what counts.
    let _ = socket.read_to_string(&mut answer);
    answer
}

#[test]
fn the_wire_is_told_as_it_happens_and_faults_that_never_fired_at_the_end() {
    let outage = file(OUTAGE);
    let mut played = Played::start(&[outage.path().to_str().expect("UTF-8")]);
    let word = |line: &str| {
        line.split_whitespace()
            .nth(1)
            .expect("a second word")
            .to_owned()
    };
    let base = word(&played.until("  url "));
    let key = word(&played.until("  key "));
    let sandbox = word(&played.until("  sandbox "));
    let process = word(&played.until("  process "));
    played.until("Ctrl-C ends it");
    let answer = get(
        &base,
        &key,
        &format!("/v1/sandboxes/{sandbox}/processes/{process}/connect?after=0"),
    );
    assert!(
        answer.contains("b25lCg==") && !answer.contains("dHdvCg=="),
        "{answer}"
    );
    played.until("connect, 1st");
    played.until("fault 1: frames up to 1");
    played.until("frame 1");
    played.until("FIN in the middle of the body");
    let told = played.seen.join("\n");
    assert!(
        !told
            .split("the wire")
            .last()
            .expect("the wire")
            .contains(&key),
        "the key stands in the wire: {told}"
    );
    let last = played.interrupt();
    assert!(last.contains("1 request on 1 connection"), "{last}");
    assert!(last.contains("fault 1 fired 1 time"), "{last}");
    assert!(last.contains("fault 2 never fired"), "{last}");
}

/// Asks for something with a body on a connection of its own.
fn send(base: &str, key: &str, method: &str, path: &str, body: &str) -> serde_json::Value {
    let mut socket = TcpStream::connect(base.trim_start_matches("http://")).expect("connected");
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("asked");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("answered");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// Two sandboxes, of which one is destroyed, with a shell in the other; the id of the one that is left and its shell's.
fn leak(base: &str, key: &str) -> (String, String) {
    let make = || {
        let body = r#"{"shape":"s-1vcpu-1gb"}"#;
        let made = send(base, key, "POST", "/v1/sandboxes", body);
        made["data"]["id"].as_str().expect("an id").to_owned()
    };
    let (left, destroyed) = (make(), make());
    let body = r#"{"pty":{"rows":24,"cols":80}}"#;
    let shell = send(
        base,
        key,
        "POST",
        &format!("/v1/sandboxes/{left}/processes"),
        body,
    );
    let shell = shell["data"]["process_id"].as_str().expect("an id");
    send(
        base,
        key,
        "DELETE",
        &format!("/v1/sandboxes/{destroyed}"),
        "",
    );
    (left, shell.to_owned())
}

#[test]
fn what_is_left_over_is_told_at_the_end() {
    for arguments in [&[][..], &["--json"]] {
        let mut played = Played::start(arguments);
        let (base, key) = if arguments.is_empty() {
            let mut word = |line: &str| {
                let line = played.until(line);
                line.split_whitespace().nth(1).expect("a word").to_owned()
            };
            (word("  url "), word("  key "))
        } else {
            let first: serde_json::Value =
                serde_json::from_str(&played.until("listening")).expect("JSON");
            let text = |name: &str| first[name].as_str().expect("text").to_owned();
            (text("base_url"), text("api_key"))
        };
        let (sandbox, shell) = leak(&base, &key);
        let last = played.interrupt();
        if arguments.is_empty() {
            for says in [
                "2 sandboxes and 1 process made; left over: 1 sandbox".to_owned(),
                format!("sandbox {sandbox} is running; made by create-sandbox 1, answered 200"),
            ] {
                assert!(last.contains(&says), "no {says:?} in {last}");
            }
            assert!(!last.contains(&format!("process {shell} is")), "{last}");
        } else {
            let ended: serde_json::Value =
                serde_json::from_str(last.lines().last().expect("a last line")).expect("JSON");
            let things = ended["ledger"].as_array().expect("a ledger");
            let find = |id: &str| things.iter().find(|thing| thing["id"] == id);
            let left = find(&sandbox).expect("the sandbox");
            assert_eq!(
                (&left["kind"], &left["fate"]),
                (&"sandbox".into(), &"left".into())
            );
            assert_eq!(left["made_by"]["call"], "create-sandbox");
            assert_eq!(left["made_by"]["answer"]["whole"], 200);
            assert_eq!(find(&shell).expect("the shell")["fate"], "itself");
            let destroyed = things
                .iter()
                .filter(|thing| thing["fate"]["by"].is_object());
            assert_eq!(destroyed.count(), 1, "{things:#?}");
        }
    }
}

#[test]
fn without_a_scenario_it_is_a_healthy_server() {
    let mut played = Played::start(&[]);
    let base = played
        .until("  url ")
        .split_whitespace()
        .nth(1)
        .expect("a URL")
        .to_owned();
    assert!(get(&base, "", "/healthz").starts_with("HTTP/1.1 200"));
    assert!(get(&base, "wrong", "/v1/sandboxes").starts_with("HTTP/1.1 401"));
    played.interrupt();
}

#[test]
fn for_machines_every_line_is_an_object() {
    let outage = file(OUTAGE);
    let mut played = Played::start(&[outage.path().to_str().expect("UTF-8"), "--json"]);
    let first: serde_json::Value = serde_json::from_str(&played.until("listening")).expect("JSON");
    let (base, key) = (
        first["base_url"].as_str().expect("a URL"),
        first["api_key"].as_str().expect("a key"),
    );
    get(base, key, "/v1/whoami");
    played.until("\"event\":\"request\"");
    let last = played.interrupt();
    let last: Vec<serde_json::Value> = last
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(last.last().expect("a last line")["event"], "ended");
}

#[test]
fn a_port_in_use_is_said_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let said = refused(&["--port", &port]);
    assert!(
        said.contains(&format!("can't listen on 127.0.0.1:{port}"))
            && said.contains("choose another"),
        "{said}"
    );
}

#[test]
fn a_file_that_is_not_there_is_said_with_its_name() {
    let said = refused(&["no/such/outage.toml"]);
    assert!(said.contains("can't read no/such/outage.toml"), "{said}");
}

#[test]
fn a_broken_scenario_shows_the_line() {
    let broken = file(&OUTAGE.replace("status = 502", "statsu = 502"));
    let said = refused(&[broken.path().to_str().expect("UTF-8")]);
    assert!(
        said.contains("statsu = 502") && said.contains("status"),
        "{said}"
    );
}

#[test]
fn an_instance_that_does_not_exist_is_answered_with_those_that_do() {
    let matrix = file(
        &OUTAGE
            .replace(
                "[process]",
                "[matrix]\nhow = [\"fin\", \"reset\"]\n[process]",
            )
            .replace("end = \"fin\"", "end = \"$how\""),
    );
    let said = refused(&[
        matrix.path().to_str().expect("UTF-8"),
        "--instance",
        "how=chunks",
    ]);
    assert!(said.contains("how=fin, how=reset"), "{said}");
}
