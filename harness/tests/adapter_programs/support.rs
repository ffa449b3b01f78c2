//! A shell script as an adapter, and jobs for it.

use fake_server::{net::Connector, wire::Op};
use harness::{
    client::{
        Answer, Client,
        adapter::{Limits, StartError},
        job::{JobRequest, Live, Secret},
        manifest::Manifest,
    },
    observed::{JobResult, Reply},
};
use serde_json::json;
use std::{path::PathBuf, time::Duration};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// What every script can use: `hello`, `next` (reads a line into `line` and its job's id into `id`),
/// `exited ID`, and `first` (true in the first program of a test, false in those started after it).
const PRELUDE: &str = r#"
hello() { printf '{"type":"hello","protocol":1,"client":{"name":"script"},"capabilities":["execute"]}\n'; }
next() { read -r line || exit 0; id=${line#*'"id":"'}; id=${id%%'"'*}; }
exited() { printf '{"type":"result","id":"%s","outcome":"exited","exit_code":0}\n' "$1"; }
first() { mkdir began 2>/dev/null; }
read -r greeting
"#;

/// Far beyond what a test takes: only a broken one gets there.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder with a script in it.
pub(crate) struct Script {
    pub(crate) folder: TempDir,
}

impl Script {
    /// A script that can use the prelude.
    pub(crate) fn new(text: &str) -> Self {
        Self::bare(&format!("{PRELUDE}{text}"))
    }

    /// A script as it is.
    pub(crate) fn bare(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("adapter.sh"), text).unwrap();
        Self { folder }
    }

    /// A manifest that starts it.
    pub(crate) fn manifest(&self, more: &str) -> Manifest {
        let text =
            format!("name = 'script'\nmode = 'adapter'\ncommand = ['sh', 'adapter.sh']\n{more}");
        Manifest::parse("client.toml", self.folder.path().to_owned(), &text).unwrap()
    }

    /// Starts it.
    pub(crate) async fn try_start(&self, limits: Limits) -> Result<Client, StartError> {
        Client::start(self.manifest(""), limits).await
    }

    /// Starts it; it must come up.
    pub(crate) async fn start(&self) -> Client {
        self.try_start(limits()).await.unwrap()
    }

    /// A file that the script writes.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until the script has written a process id into a file.
    pub(crate) async fn pid(&self, name: &str) -> i32 {
        let file = self.file(name);
        until(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok()).await
    }
}

/// Limits that no test meets by accident.
pub(crate) fn limits() -> Limits {
    Limits {
        hello: LONG,
        leave: LONG,
    }
}

/// A job with nothing to do.
pub(crate) fn job(id: &str) -> JobRequest {
    JobRequest {
        id: id.to_owned(),
        op: Op::Execute,
        base_url: "http://127.0.0.1:1".to_owned(),
        api_key: format!("skp_key_of_{id}"),
        sandbox_id: "sb-1".to_owned(),
        fields: [("command".to_owned(), json!(["true"]))]
            .into_iter()
            .collect(),
        timeout_ms: None,
        secrets: vec![Secret {
            name: "{api-key}".to_owned(),
            value: format!("skp_key_of_{id}").into_bytes(),
        }],
    }
}

/// Asks a job and waits for its end.
pub(crate) async fn ask(client: &Client, id: &str) -> Answer {
    ask_for(client, id, LONG).await
}

/// Asks a job and waits for its end, at most this long.
pub(crate) async fn ask_for(client: &Client, id: &str, limit: Duration) -> Answer {
    let (live, _) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    ask_with(client, id, live, cancel, limit).await
}

/// Asks a job with everything.
pub(crate) async fn ask_with(
    client: &Client,
    id: &str,
    live: mpsc::UnboundedSender<Live>,
    cancel: watch::Receiver<bool>,
    limit: Duration,
) -> Answer {
    let deadline = Instant::now() + limit;
    client
        .run(job(id), &Connector::Tcp, live, cancel, deadline)
        .await
}

/// The result, if that is what came.
#[track_caller]
pub(crate) fn result(answer: Answer) -> JobResult {
    match answer.reply {
        Reply::Result(result) => result,
        other => panic!("no result: {other:?}"),
    }
}

/// The adapter fault, if that is what came.
#[track_caller]
pub(crate) fn fault(answer: Answer) -> String {
    match answer.reply {
        Reply::AdapterFault(words) => words,
        other => panic!("no adapter fault: {other:?}"),
    }
}

/// Looks again and again until there is something to see.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited too long");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a process is gone, or is only a zombie that nobody has waited for yet.
pub(crate) async fn gone(pid: i32) {
    until(|| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        match stat {
            Err(_) => Some(()),
            Ok(stat) => stat
                .rsplit(") ")
                .next()
                .is_some_and(|rest| rest.starts_with('Z'))
                .then_some(()),
        }
    })
    .await;
}
