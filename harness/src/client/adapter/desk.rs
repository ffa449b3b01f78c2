//! Which jobs an adapter has, and what each of its lines means for them. Pure: lines come in, what is
//! to be told to whom goes out.

use super::{
    lines::Line,
    message::{self, Fault, Message},
};
use crate::{
    client::job::Live,
    observed::{JobResult, Reply},
};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that one job may hand over live, before it counts as a flood. The largest truth of a
/// scenario is a few megabytes.
const LIVE_BYTES: usize = 64 << 20;

/// Notes that are kept of one program.
const NOTES: usize = 100;

/// One program's jobs.
#[derive(Debug, Default)]
pub(super) struct Desk {
    jobs: BTreeMap<String, Stage>,
    /// Jobs in [`Stage::Answering`].
    answering: BTreeSet<String>,
    /// Jobs in [`Stage::Running`].
    running: usize,
    /// Results ever given.
    answers: usize,
    /// What was wrong with a job after it had ended.
    late: BTreeMap<String, Vec<String>>,
    notes: Vec<String>,
}

/// Where a job stands.
#[derive(Debug)]
enum Stage {
    /// No result yet. Left by a result, a fault, or when nobody waits for it any more.
    Running {
        /// What it has handed over live.
        live_bytes: usize,
    },
    /// A reply is ready; left by [`Desk::flush`], so that a second result right behind the first one
    /// still counts.
    Answering(Box<Reply>),
    /// Its reply was taken.
    Answered,
    /// Nobody waits for it any more; a result is late.
    GivenUp,
}

impl Desk {
    /// A job was given to the program.
    pub(super) fn open(&mut self, id: &str) {
        self.jobs
            .insert(id.to_owned(), Stage::Running { live_bytes: 0 });
        self.running += 1;
    }

    /// Nobody waits for a job any more. A reply that was ready is given back.
    pub(super) fn give_up(&mut self, id: &str) -> Option<Reply> {
        let stage = self.jobs.get_mut(id)?;
        match std::mem::replace(stage, Stage::GivenUp) {
            Stage::Running { .. } => self.running -= 1,
            Stage::Answering(reply) => {
                *stage = Stage::Answered;
                self.answering.remove(id);
                return Some(*reply);
            }
            ended @ (Stage::Answered | Stage::GivenUp) => *stage = ended,
        }
        None
    }

    /// Nothing is running.
    pub(super) const fn is_idle(&self) -> bool {
        self.running == 0
    }

    /// Results that came.
    pub(super) const fn answers(&self) -> usize {
        self.answers
    }

    /// Takes what was wrong with a job after its reply.
    pub(super) fn take_late(&mut self, id: &str) -> Vec<String> {
        self.late.remove(id).unwrap_or_default()
    }

    /// Takes everything that was wrong and has not been taken yet.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        for (id, late) in std::mem::take(&mut self.late) {
            notes.extend(late.into_iter().map(|words| format!("job {id}: {words}")));
        }
        notes
    }

    /// Something was wrong before there were jobs.
    pub(super) fn add_notes(&mut self, notes: Vec<String>) {
        for words in notes {
            self.note(words);
        }
    }

    /// Replies that are ready, in order of their ids.
    pub(super) fn flush(&mut self) -> Vec<(String, Reply)> {
        let ready = std::mem::take(&mut self.answering);
        let mut replies = Vec::with_capacity(ready.len());
        for id in ready {
            if let Some(Stage::Answering(reply)) = self.jobs.insert(id.clone(), Stage::Answered) {
                replies.push((id, *reply));
            }
        }
        replies
    }

    /// Whether a reply is ready.
    pub(super) fn has_replies(&self) -> bool {
        !self.answering.is_empty()
    }

    /// The program is gone, or has broken off: every running job ends so.
    pub(super) fn end_all(&mut self, reply: &Reply) {
        for id in self.running_ids() {
            self.answer(&id, reply.clone());
        }
    }

    /// A line came. What it has for the caller of a job is given back; results wait for [`Desk::flush`].
    pub(super) fn handle_line(&mut self, line: &Line) -> Option<(String, Live)> {
        match line {
            Line::Whole(bytes) => match message::decode(bytes) {
                Ok(message) => self.handle_message(message),
                Err(fault) => {
                    self.handle_fault(fault, bytes);
                    None
                }
            },
            Line::TooLong(beginning) => {
                let words = format!(
                    "a line of more than {} MiB: {}",
                    super::lines::LINE_BYTES >> 20,
                    message::excerpt(beginning)
                );
                self.handle_fault(
                    Fault {
                        id: None,
                        words,
                        is_hello: false,
                    },
                    beginning,
                );
                None
            }
        }
    }

    fn handle_message(&mut self, message: Message) -> Option<(String, Live)> {
        match message {
            // Unknown types are ignored, so that a newer adapter works with an older harness; a second
            // hello says nothing new.
            Message::Unknown(_) | Message::Hello(_) => None,
            Message::Output(id, output) => {
                let weight = message::weight(Some(&output.data));
                self.handle_live(id, weight, Live::Output(output))
            }
            Message::Event(id, event) => {
                let weight = message::weight(event.data.as_ref());
                self.handle_live(id, weight, Live::Event(*event))
            }
            Message::Result(id, result) => {
                self.handle_result(&id, *result);
                None
            }
        }
    }

    fn handle_live(&mut self, id: String, weight: usize, live: Live) -> Option<(String, Live)> {
        match self.jobs.get_mut(&id) {
            Some(Stage::Running { live_bytes }) => {
                *live_bytes += weight;
                if *live_bytes <= LIVE_BYTES {
                    return Some((id, live));
                }
                let mib = LIVE_BYTES >> 20;
                self.answer(
                    &id,
                    Reply::AdapterFault(format!("it handed over more than {mib} MiB live")),
                );
            }
            Some(_) => self.note_late(&id, "output or an event after its end"),
            None => self.note(format!("output or an event for the unknown job \"{id}\"")),
        }
        None
    }

    fn handle_result(&mut self, id: &str, result: JobResult) {
        self.answers += 1;
        match self.jobs.get_mut(id) {
            Some(Stage::Running { .. }) => self.answer(id, Reply::Result(result)),
            Some(Stage::Answering(reply)) => {
                if matches!(**reply, Reply::Result(_)) {
                    **reply = Reply::AdapterFault("a second result".to_owned());
                }
            }
            Some(Stage::Answered) => self.note_late(id, "a second result"),
            Some(Stage::GivenUp) => self.note_late(id, "a result after the deadline; ignored"),
            None => self.note(format!("a result for the unknown job \"{id}\"")),
        }
    }

    /// A broken line ends the jobs it may belong to: the one it names, else those whose id stands in it, else all.
    fn handle_fault(&mut self, fault: Fault, line: &[u8]) {
        let mut blamed: Vec<String> = match &fault.id {
            Some(id) => vec![id.clone()],
            None => self.running_ids(),
        };
        if fault.id.is_none() {
            let named: Vec<String> = blamed
                .iter()
                .filter(|id| names(line, id))
                .cloned()
                .collect();
            if !named.is_empty() {
                blamed = named;
            }
        }
        if blamed.is_empty() {
            self.note(fault.words.clone());
        }
        for id in blamed {
            match self.jobs.get(&id) {
                Some(Stage::Running { .. }) => {
                    self.answer(&id, Reply::AdapterFault(fault.words.clone()));
                }
                Some(_) => self.note_late(&id, &fault.words),
                None => self.note(fault.words.clone()),
            }
        }
    }

    fn running_ids(&self) -> Vec<String> {
        self.jobs
            .iter()
            .filter(|(_, stage)| matches!(stage, Stage::Running { .. }))
            .map(|(id, _)| id.clone())
            .collect()
    }

    fn answer(&mut self, id: &str, reply: Reply) {
        let stage = Stage::Answering(Box::new(reply));
        if let Some(Stage::Running { .. }) = self.jobs.insert(id.to_owned(), stage) {
            self.running -= 1;
        }
        self.answering.insert(id.to_owned());
    }

    fn note_late(&mut self, id: &str, words: &str) {
        let late = self.late.entry(id.to_owned()).or_default();
        if late.len() < NOTES {
            late.push(words.to_owned());
        }
    }

    fn note(&mut self, words: String) {
        if self.notes.len() < NOTES {
            self.notes.push(words);
        }
    }
}

/// Whether a job's id stands in a line as a JSON string.
fn names(line: &[u8], id: &str) -> bool {
    let quoted = serde_json::Value::from(id).to_string();
    String::from_utf8_lossy(line).contains(&quoted)
}

#[cfg(test)]
mod tests;
