//! Adapter mode: one long-lived program, many jobs at once, newline-delimited JSON.
//!
//! [`Adapter`] keeps a program running and gives it jobs; a program that dies or hangs is replaced
//! for the next job. Inside: `program` is one program, `tender` the loop that reads it, `pipes` its pipes; `desk` decides what
//! its lines mean, `message` decodes them, `lines` splits them.
//!
//! **Who is to blame.** When a program dies, every job it had ends as [`Reply::AdapterDied`]. When a
//! job is silent at its deadline, that job is [`Reply::Silent`] and its program gets no new ones: it
//! may hang as a whole, and even if only this job hangs, what it holds (threads, connections) must not
//! weigh on later cases. Jobs it still has may finish; when the last has ended it is killed.

mod desk;
mod lines;
mod message;
mod pipes;
mod program;
mod start;
mod tender;

pub use start::StartError;

use super::{
    Answer,
    job::{JobRequest, Live, Secret},
    manifest::Manifest,
};
use crate::{observed::Reply, profile::Promises};
use message::Hello;
use program::Program;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Mutex, mpsc, watch},
    time::Instant,
};

/// How long an adapter may take for what no job's deadline covers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From its start to its hello.
    pub hello: Duration,
    /// From the end of its stdin to its own end; then its process group is killed.
    pub leave: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Cold runtimes (a JVM, .NET, a first import from a slow disk) need seconds, not tens.
            hello: Duration::from_secs(10),
            leave: Duration::from_secs(2),
        }
    }
}

/// Programs in a row that died or hung without a single result, before no more is started. A client
/// that crashes on every case of one kind may well do so a dozen times between two good answers.
const FRUITLESS_PROGRAMS: u32 = 20;

/// Starts in a row that brought no hello, before no more is tried.
const FRUITLESS_STARTS: u32 = 3;

/// A client that is driven by an adapter program.
#[derive(Debug)]
pub struct Adapter {
    manifest: Arc<Manifest>,
    limits: Limits,
    hello: Hello,
    promises: Promises,
    seat: Mutex<Seat>,
    /// What was wrong with programs that are gone, and no job's fault.
    having: Having,
    notes: std::sync::Mutex<Vec<String>>,
}

/// The program that takes jobs, and how its predecessors fared.
#[derive(Debug)]
struct Seat {
    program: Option<Arc<Program>>,
    /// The one before, which may still have jobs to finish.
    previous: Option<Arc<Program>>,
    fruitless_programs: u32,
    fruitless_starts: u32,
}

impl Seat {
    fn programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.previous.iter().chain(&self.program)
    }
}

impl Adapter {
    /// Starts the program and waits for its hello.
    ///
    /// # Errors
    /// When it can't be started, ends, or says no (or a wrong) hello in time.
    pub async fn start(manifest: Arc<Manifest>, limits: Limits) -> Result<Self, StartError> {
        let (program, hello) = Program::start(&manifest, limits).await?;
        let promises = manifest.promises(hello.abilities.clone(), hello.profile.clone());
        let notes = hello
            .unknown
            .iter()
            .map(|name| {
                format!("the adapter's hello claims the unknown capability \"{name}\"; ignored")
            })
            .collect();
        Ok(Self {
            manifest,
            limits,
            hello,
            promises,
            seat: Mutex::new(Seat {
                program: Some(Arc::new(program)),
                previous: None,
                fruitless_programs: 0,
                fruitless_starts: 0,
            }),
            having: std::sync::Mutex::default(),
            notes: std::sync::Mutex::new(notes),
        })
    }

    /// What the client promises.
    #[must_use]
    pub const fn promises(&self) -> &Promises {
        &self.promises
    }

    /// The name, version and language that its hello gives.
    #[must_use]
    pub fn about(&self) -> (Option<&str>, Option<&str>, Option<&str>) {
        let Hello {
            name,
            version,
            language,
            ..
        } = &self.hello;
        (name.as_deref(), version.as_deref(), language.as_deref())
    }

    /// Asks one job and waits for its end, at the latest until `deadline`. Time that a program needs
    /// to start again is not taken from the job.
    pub async fn run(
        &self,
        job: &JobRequest,
        live: mpsc::UnboundedSender<Live>,
        cancel: watch::Receiver<bool>,
        deadline: Instant,
    ) -> Answer {
        let line = match line("job", job) {
            Ok(line) => line,
            Err(words) => return Answer::from(Reply::HarnessError(words)),
        };
        let ask = Ask {
            id: &job.id,
            line,
            secrets: &job.secrets,
        };
        let mut answer = self.ask(ask, live, cancel, deadline).await;
        if let Reply::Result(result) = &mut answer.reply {
            self.manifest.errors.apply(result);
        }
        answer
    }

    /// Asks a job with an op that does not exist; a right adapter says `unsupported`.
    pub(super) async fn probe(&self, job: &JobRequest, op: &str, deadline: Instant) -> Answer {
        let mut value = json!(job);
        value["op"] = json!(op);
        let line = match line("job", &value) {
            Ok(line) => line,
            Err(words) => return Answer::from(Reply::HarnessError(words)),
        };
        let ask = Ask {
            id: &job.id,
            line,
            secrets: &job.secrets,
        };
        let (live, _) = mpsc::unbounded_channel();
        let (_keep, cancel) = watch::channel(false);
        self.ask(ask, live, cancel, deadline).await
    }

    async fn ask(
        &self,
        ask: Ask<'_>,
        live: mpsc::UnboundedSender<Live>,
        mut cancel: watch::Receiver<bool>,
        mut deadline: Instant,
    ) -> Answer {
        let before = Instant::now();
        // A program may die between being chosen and being asked; the next one is then chosen.
        let (program, mut reply) = loop {
            let program = match self.program().await {
                Ok(program) => program,
                Err(reply) => return Answer::from(reply),
            };
            if let Some(reply) = program.open(&ask, live.clone()) {
                break (program, reply);
            }
        };
        having(&self.having).insert(ask.id.to_owned(), Arc::clone(&program));
        let held = Held {
            program: &program,
            having: &self.having,
            id: ask.id,
        };
        deadline += before.elapsed();
        let mut cancel_line = Some(json!({"type": "cancel", "id": ask.id}));
        let reply = loop {
            tokio::select! {
                reply = &mut reply => break reply.unwrap_or_else(|_| program.broken_off()),
                () = tokio::time::sleep_until(deadline) => {
                    break program.give_up(ask.id).unwrap_or(Reply::Silent);
                }
                true = super::asked_to_cancel(&mut cancel), if cancel_line.is_some() => {
                    if let Some(Ok(line)) = cancel_line.take().map(|value| line_of(&value)) {
                        program.say(line);
                    }
                }
            }
        };
        let (stderr, leaks) = held.program.finish(held.id);
        if matches!(reply, Reply::Silent) {
            self.retire(&program).await;
        }
        Answer {
            reply,
            stderr,
            leaks,
        }
    }

    /// A job is given up before its deadline, since it does harm. As at the deadline its program gets no new
    /// ones, and is killed when it has none. Gives what it printed while it had the job, and the secrets that told.
    #[must_use]
    pub fn abandon(&self, job: &str) -> (String, Vec<String>) {
        // Not awaited for: the call that has this job may itself wait for the seat. Whoever looks for a program
        // next finds that this one takes no jobs.
        let Some(program) = having(&self.having).get(job).cloned() else {
            return (String::new(), Vec::new());
        };
        program.give_up(job);
        let said = program.finish(job);
        program.retire();
        said
    }

    /// The program that takes jobs; a new one if the last is gone.
    async fn program(&self) -> Result<Arc<Program>, Reply> {
        let mut seat = self.seat.lock().await;
        if let Some(program) = &seat.program {
            if program.takes_jobs() {
                return Ok(Arc::clone(program));
            }
            let program = Arc::clone(program);
            self.vacate(&mut seat, &program);
        }
        if seat.fruitless_programs >= FRUITLESS_PROGRAMS {
            return Err(Reply::AdapterDied(format!(
                "not started again: {FRUITLESS_PROGRAMS} programs in a row ended without a single result"
            )));
        }
        if seat.fruitless_starts >= FRUITLESS_STARTS {
            return Err(Reply::AdapterDied(format!(
                "not started again: {FRUITLESS_STARTS} starts in a row brought no hello"
            )));
        }
        match Program::start(&self.manifest, self.limits).await {
            Ok((program, _)) => {
                let program = Arc::new(program);
                seat.program = Some(Arc::clone(&program));
                seat.fruitless_starts = 0;
                Ok(program)
            }
            Err(error) => {
                seat.fruitless_starts += 1;
                Err(Reply::AdapterDied(format!(
                    "it could not be started again: {error}"
                )))
            }
        }
    }

    /// A program takes no more jobs.
    async fn retire(&self, program: &Arc<Program>) {
        program.retire();
        let mut seat = self.seat.lock().await;
        self.vacate(&mut seat, program);
    }

    fn vacate(&self, seat: &mut Seat, program: &Arc<Program>) {
        let seated = seat.program.as_ref();
        if seated.is_some_and(|seated| Arc::ptr_eq(seated, program)) {
            if let Some(older) = seat.previous.replace(Arc::clone(program)) {
                self.keep_notes(&older);
            }
            seat.program = None;
            if program.answers() == 0 {
                seat.fruitless_programs += 1;
            } else {
                seat.fruitless_programs = 0;
            }
        }
    }

    fn keep_notes(&self, program: &Program) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.extend(program.take_notes());
        }
    }

    /// Takes what was wrong with a job after its reply: a second result, a result after the deadline,
    /// output after its end.
    pub async fn take_late(&self, job: &str) -> Vec<String> {
        let seat = self.seat.lock().await;
        seat.programs()
            .flat_map(|program| program.take_late(job))
            .collect()
    }

    /// Takes what was wrong and no running job's fault, as far as it has not been taken yet.
    pub async fn take_notes(&self) -> Vec<String> {
        let seat = self.seat.lock().await;
        for program in seat.programs() {
            self.keep_notes(program);
        }
        self.notes
            .lock()
            .map(|mut notes| std::mem::take(&mut *notes))
            .unwrap_or_default()
    }

    /// Closes the program's stdin, waits for it to leave, and kills what is left of its process group.
    pub async fn shutdown(self) {
        let seat = self.seat.into_inner();
        // The one before has only jobs that nobody waits for.
        drop(seat.previous);
        if let Some(program) = seat.program {
            program.leave().await;
        }
    }
}

/// Which program has which job.
type Having = std::sync::Mutex<BTreeMap<String, Arc<Program>>>;

/// A poisoned lock is taken all the same: what it guards is only ever changed by whole steps.
fn having(having: &Having) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Program>>> {
    having.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One job as it is put to a program.
struct Ask<'a> {
    id: &'a str,
    line: Vec<u8>,
    secrets: &'a [Secret],
}

/// A job that a program has. When its caller is dropped, nobody waits for it any more.
struct Held<'a> {
    program: &'a Program,
    having: &'a Having,
    id: &'a str,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        having(self.having).remove(self.id);
        self.program.give_up(self.id);
        self.program.finish(self.id);
    }
}

/// A message as a line, `type` first.
fn line(kind: &str, fields: &impl serde::Serialize) -> Result<Vec<u8>, String> {
    let mut message = serde_json::Map::new();
    message.insert("type".to_owned(), json!(kind));
    match serde_json::to_value(fields) {
        Ok(Value::Object(fields)) => message.extend(fields),
        Ok(_) => return Err(format!("a `{kind}` message is no object")),
        Err(error) => return Err(format!("a `{kind}` message can't be written: {error}")),
    }
    line_of(&Value::Object(message))
}

fn line_of(message: &Value) -> Result<Vec<u8>, String> {
    let mut line = serde_json::to_vec(message).map_err(|error| error.to_string())?;
    line.push(b'\n');
    Ok(line)
}
