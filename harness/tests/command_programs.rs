//! Command mode: one program run a job, its output and its end the process's.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write scripts and read what these leave behind"
)]

use fake_server::{net::Connector, wire::Op};
use harness::{
    client::{
        Answer, Client,
        adapter::Limits,
        job::{JobRequest, Live, Secret},
        manifest::Manifest,
    },
    observed::{JobResult, Reply},
};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// Far beyond what a test takes: only a broken one gets there.
const LONG: Duration = Duration::from_secs(60);

/// A shell script as a command-line client.
struct Script {
    folder: TempDir,
    client: Client,
}

impl Script {
    async fn new(text: &str) -> Self {
        Self::with(text, "capabilities = ['execute']").await
    }

    async fn with(text: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("client.sh"), text).unwrap();
        let manifest = format!(
            "name = 'script'\nmode = 'command'\ncommand = ['sh', 'client.sh', '{{timeout_ms}}', '{{command...}}']\n{more}\n\
             [exit]\n7 = 'transport'\n'100..110' = 'other'\n124 = 'timed-out'\n130 = 'cancelled'\n\
             [errors]\n'sequence gap' = 'sequence-gap'\n"
        );
        let manifest = Manifest::parse("client.toml", folder.path().to_owned(), &manifest);
        let manifest = manifest.unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let client = Client::start(manifest, Limits::default()).await.unwrap();
        Self { folder, client }
    }

    async fn run(&self) -> Answer {
        let (live, _) = mpsc::unbounded_channel();
        let (_keep, cancel) = watch::channel(false);
        self.run_with(live, cancel, LONG).await
    }

    async fn run_with(
        &self,
        live: mpsc::UnboundedSender<Live>,
        cancel: watch::Receiver<bool>,
        limit: Duration,
    ) -> Answer {
        let deadline = Instant::now() + limit;
        self.client
            .run(job(), &Connector::Tcp, live, cancel, deadline)
            .await
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Waits until the script has written a process id into a file.
    async fn pid(&self, name: &str) -> i32 {
        let file = self.folder.path().join(name);
        until(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok()).await
    }
}

fn job() -> JobRequest {
    JobRequest {
        id: "j1".to_owned(),
        op: Op::Execute,
        base_url: "http://127.0.0.1:1".to_owned(),
        api_key: "skp_the_key".to_owned(),
        sandbox_id: "sb-1".to_owned(),
        fields: [
            ("command".to_owned(), json!(["build", "a b"])),
            ("stdin_base64".to_owned(), json!("aW5wdXQK")),
        ]
        .into_iter()
        .collect(),
        timeout_ms: Some(1500),
        secrets: vec![Secret {
            name: "{api-key}".to_owned(),
            value: b"skp_the_key".to_vec(),
        }],
    }
}

#[track_caller]
fn result(answer: Answer) -> JobResult {
    match answer.reply {
        Reply::Result(result) => result,
        other => panic!("no result: {other:?}"),
    }
}

async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited too long");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(pid: i32) {
    until(|| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        let zombie = |stat: String| {
            stat.rsplit(") ")
                .next()
                .is_some_and(|rest| rest.starts_with('Z'))
        };
        stat.map_or(true, zombie).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_it_prints_and_how_it_ends_is_the_processs() {
    let script = Script::new("printf 'out'; printf 'err' >&2; exit 3").await;
    let said = result(script.run().await);
    assert_eq!(said.outcome, "exited");
    assert_eq!(said.exit_code, Some(json!(3)));
    assert_eq!(&said.stdout.unwrap()[..], b"out");
    assert_eq!(&said.stderr.unwrap()[..], b"err");
}

#[tokio::test]
async fn an_end_by_a_signal_is_the_processs_too() {
    let script = Script::new("kill -KILL $$").await;
    let said = result(script.run().await);
    assert_eq!(said.outcome, "exited");
    assert_eq!(
        (said.exit_code, said.signal),
        (None, Some(json!("SIGKILL")))
    );
}

#[tokio::test]
async fn the_job_is_in_the_arguments_the_environment_and_stdin() {
    let script = Script::new(
        r#"printf '%s|' "$@" "$CREATEOS_BASE_URL" "$CREATEOS_API_KEY" "$CREATEOS_SANDBOX_ID"; cat
        printf '%s' "$CONFORMANCE_JOB" > job"#,
    )
    .await;
    let said = result(script.run().await);
    let told = String::from_utf8(said.stdout.unwrap().to_vec()).unwrap();
    assert_eq!(
        told,
        "1500|build|a b|http://127.0.0.1:1|skp_the_key|sb-1|input\n"
    );
    let job: Value = serde_json::from_str(&script.read("job")).unwrap();
    assert_eq!(job["op"], "execute");
    assert_eq!(job["command"], json!(["build", "a b"]));
}

#[tokio::test]
async fn the_manifest_tells_the_clients_own_failures_from_the_processs() {
    for (text, kind) in [
        ("echo 'no route' >&2; exit 7", "transport"),
        ("echo 'a sequence gap' >&2; exit 7", "sequence-gap"),
        ("echo 'a sequence gap' >&2; exit 105", "sequence-gap"),
        ("echo 'who knows' >&2; exit 110", "other"),
    ] {
        let said = result(Script::new(text).await.run().await);
        assert_eq!(said.outcome, "error", "{text}");
        assert_eq!(said.error.unwrap().kind, kind, "{text}");
        // Its own words are no output.
        assert_eq!(said.stderr, None);
    }
    let said = result(
        Script::new("echo 'a sequence gap' >&2; exit 111")
            .await
            .run()
            .await,
    );
    assert_eq!(said.outcome, "exited");
    for (status, outcome) in [(124, "timed-out"), (130, "cancelled")] {
        let script = Script::new(&format!("echo part; exit {status}")).await;
        let said = result(script.run().await);
        assert_eq!(said.outcome, outcome);
        assert_eq!(&said.stdout.unwrap()[..], b"part\n");
    }
}

#[tokio::test]
async fn at_the_deadline_all_it_started_is_killed() {
    let script = Script::new("sleep 1000 & echo $! > child; wait").await;
    let (live, _) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    let answer = script
        .run_with(live, cancel, Duration::from_millis(300))
        .await;
    assert_eq!(answer.reply, Reply::Silent);
    gone(script.pid("child").await).await;
}

#[tokio::test]
async fn what_it_leaves_behind_is_killed() {
    let script = Script::new("sleep 1000 & echo $! > child; exit 0").await;
    result(script.run().await);
    gone(script.pid("child").await).await;
}

#[tokio::test]
async fn a_cancel_is_a_sigterm_that_it_may_answer_in_its_own_way() {
    for (text, code) in [
        ("sleep 1000 & echo $! > child; wait", None),
        (
            "trap 'exit 130' TERM; sleep 1000 & echo $! > child; wait",
            None,
        ),
        (
            "trap 'exit 5' TERM; sleep 1000 & echo $! > child; wait",
            Some(json!(5)),
        ),
    ] {
        let script = Script::new(text).await;
        let (live, _) = mpsc::unbounded_channel();
        let (sender, cancel) = watch::channel(false);
        let stop = async {
            script.pid("child").await;
            sender.send_replace(true);
        };
        let (answer, ()) = tokio::join!(script.run_with(live, cancel, LONG), stop);
        let said = result(answer);
        let outcome = if code.is_some() {
            "exited"
        } else {
            "cancelled"
        };
        assert_eq!(said.outcome, outcome, "{text}");
        assert_eq!(said.exit_code, code, "{text}");
        gone(script.pid("child").await).await;
    }
}

#[tokio::test]
async fn output_is_handed_over_as_it_comes_if_that_is_claimed() {
    let text = "printf hi; until test -e seen; do sleep 0.01; done";
    let script = Script::with(text, "capabilities = ['execute', 'live-output']").await;
    let (live, mut outputs) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    let seen = script.folder.path().join("seen");
    let watcher = async {
        let output = outputs.recv().await.unwrap();
        std::fs::write(seen, "").unwrap();
        output
    };
    let (answer, output) = tokio::join!(script.run_with(live, cancel, LONG), watcher);
    result(answer);
    assert!(matches!(output, Live::Output(output) if &output.data[..] == b"hi"));
}

#[tokio::test]
async fn a_secret_in_its_own_words_is_told_and_redacted() {
    let script = Script::new("echo \"key $CREATEOS_API_KEY refused\" >&2; exit 7").await;
    let answer = script.run().await;
    assert_eq!(answer.leaks, ["stderr: {api-key}"]);
    assert_eq!(answer.stderr, "key {api-key} refused\n");
}

#[tokio::test]
async fn one_that_is_not_there_is_told() {
    let text = "name='x'\nmode='command'\ncommand=['./nowhere']\ncapabilities=['execute']\n";
    let manifest = Manifest::parse("client.toml", std::env::temp_dir(), text).unwrap();
    let client = Client::start(manifest, Limits::default()).await.unwrap();
    let (live, _) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    let deadline = Instant::now() + LONG;
    let answer = client
        .run(job(), &Connector::Tcp, live, cancel, deadline)
        .await;
    let Reply::AdapterDied(words) = answer.reply else {
        panic!("{answer:?}");
    };
    assert!(words.starts_with("can't start \"./nowhere\""), "{words}");
}
