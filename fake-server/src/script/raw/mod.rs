//! The tables of a scenario file as they are written: every key optional, each value with its place.
//! The JSON Schema is made from these.

mod expect;
mod fault;
mod job;
mod process;
mod step;

pub(super) use expect::{RawExpect, RawStreams};
pub(super) use fault::{RawBody, RawBreak, RawCut, RawEncoding, RawFault};
pub(super) use job::{RawCancel, RawInput, RawJob};
pub(super) use process::{RawExit, RawOutput, RawProcess};
pub(super) use step::RawStep;

use super::{
    matrix::Values,
    mistakes::Gather,
    node::Entry,
    read::{At, Free, Named, Table, table},
    suggest::{listed, nearest, short},
    units::{Millis, Size},
    words::State,
};
use crate::wire::{Op, call::Capability};

/// Values, each with its place.
type List<T> = Vec<At<T>>;

table! {
    /// A scenario: a truth and what goes wrong.
    RawFile ["the file", "title", "requirements"] {
        /// One line for people.
        title = "title": String,
        /// Ids of the requirements that this scenario is about.
        requirements = "requirements": List<String>,
        /// Ids of the fault taxonomy, as in "CT03".
        fault_kinds = "fault-kinds": List<String>,
        /// Why a client gets this wrong and what it costs.
        why = "why": String,
        /// What the client is asked; default "execute".
        op = "op": Named<Op>,
        /// Capabilities beyond those that op, [job] and the faults imply.
        needs = "needs": List<Named<Capability>>,
        /// When the trial gives up waiting; default "10s".
        deadline = "deadline": Millis,
        /// Values that "$name" stands for anywhere in the file, as a list or, with names for the id, as a table; one instance for each combination.
        matrix = "matrix": Free<Values>,
        /// The op's own fields.
        job = "job": RawJob,
        /// The truth: what the process really writes and how it ends.
        process = "process": RawProcess,
        /// The sandbox that exists when the trial begins.
        sandbox = "sandbox": RawSandbox,
        /// A file that is in the sandbox when the trial begins.
        file = "file": List<RawContents>,
        /// What goes wrong, in order.
        fault = "fault": List<RawFault>,
        /// What is expected beyond what follows from the truth and the faults.
        expect = "expect": RawExpect,
    }
    hints {
        "id" => "the id of a scenario is its path (`stream/first-cut` for `stream/first-cut.toml`); take this line out",
        "name" => "its one line for people is `title`; its id is its path",
        "description" => "what people should know stands in `title` (one line) and `why`",
        "faults" => "each fault is a table of its own: [[fault]]",
        "files" => "each file is a table of its own: [[file]]",
        "seed" => "the seed is chosen when a scenario is run (`--seed`), not in the file",
        "requirement" => "a list: requirements = [\"area/name\"]",
        "skip" => "known failures of a client stand in its manifest",
    }
}

table! {
    /// The sandbox that exists when the trial begins.
    RawSandbox ["[sandbox]"] {
        /// Its state; default "running", for op resume "paused".
        state = "state": Named<State>,
        /// Polls that still show the old state after an accepted change; default 0.
        lag = "lag": u32,
    }
}

table! {
    /// A file in the sandbox; empty unless one of the contents is said.
    RawContents ["[[file]]", "path"] {
        /// Its absolute path.
        path = "path": String,
        /// Contents as text.
        text = "text": String,
        /// Contents as base64.
        base64 = "base64": String,
        /// So many bytes, of which no two neighbouring stretches are alike.
        fill = "fill": Size,
    }
    hints {
        "data" => "its contents are `text`, `base64` or `fill`",
        "name" => "a file has an absolute `path`",
        "size" => "fill = \"64KiB\"",
    }
}

/// The tables an author may have meant, by name, with their keys.
const OWNERS: &[(&str, &[&str])] = &[
    ("the file itself", <RawFile as Table>::KEYS),
    ("[job]", RawJob::KEYS),
    ("[process]", RawProcess::KEYS),
    ("[sandbox]", RawSandbox::KEYS),
    ("[[file]]", RawContents::KEYS),
    ("[[fault]]", RawFault::KEYS),
    ("[expect]", RawExpect::KEYS),
];

/// Notes a key that its table does not know, with the most useful answer there is.
pub(super) fn unknown_key(
    entry: &Entry,
    title: &str,
    keys: &[&str],
    hints: &[(&str, &str)],
    gather: &mut Gather,
) {
    let word = entry.key.as_str();
    let hint = hints
        .iter()
        .find(|(bad, _)| *bad == word)
        .map(|(_, hint)| *hint);
    let owner = OWNERS
        .iter()
        .find(|(owner, keys)| *owner != title && keys.contains(&word))
        .map(|(owner, _)| *owner);
    let help = match (hint, nearest(word, keys.iter().copied()), owner) {
        (Some(hint), _, _) => hint.to_owned(),
        (None, _, Some("the file itself")) if title.starts_with('[') => format!(
            "`{word}` is a key of the file itself: what follows a [table] belongs to that table, so it stands above the first one"
        ),
        (None, None, Some(owner)) => format!("`{word}` belongs in {owner}"),
        (None, Some(near), _) => format!("did you mean `{near}`?"),
        (None, None, None) => format!("known here: {}", listed(keys)),
    };
    gather
        .at(
            &entry.key_span,
            format!("{title} has no key `{}`", short(word)),
        )
        .help(help);
}
