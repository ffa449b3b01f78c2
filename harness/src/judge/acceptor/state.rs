//! What a right client may know at some moment.

use crate::contract::line::{Exit, Problem};
use fake_server::{script::model::Truth, wire::StreamName};

/// One thing that a right client may be, given what was sent and what it did. Where the contract leaves
/// a choice there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    /// Number of the last accepted data frame.
    pub(crate) cursor: u64,
    /// What was accepted, as a path in the [`Arena`].
    pub(crate) tip: Option<usize>,
    /// Connects since the budget was fresh.
    pub(crate) used: u32,
    /// The running connection has brought something new.
    pub(crate) fresh: bool,
    /// Where it stands.
    pub(crate) phase: Phase,
    /// What the last connection failed with.
    pub(crate) failure: Option<Failure>,
    /// It hung up itself on a stream that went on, for no reason that the contract knows.
    pub(crate) hung_up: bool,
    /// A `should` that it broke on its way here.
    pub(crate) blemish: Option<&'static str>,
    /// Whether there is a process of its own.
    pub(crate) made: Made,
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// It goes on: creates, connects, connects again.
    Idle,
    /// It has accepted this exit.
    Ended(usize),
    /// It must fail, so.
    Failed(usize),
}

/// How a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Failure {
    /// There was no stream: transport, or a status that is tried again.
    Connect,
    /// The stream ended without an exit.
    Drop,
}

/// Whether the client has a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Made {
    /// It follows one that was there.
    Given,
    /// Not yet.
    No,
    /// Yes.
    Yes,
    /// Nobody knows.
    Unknown,
    /// It was refused.
    Refused,
}

/// How a client must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fail {
    /// Error kinds that are right.
    pub(crate) kinds: Vec<&'static str>,
    /// Requirements that say so, the nearest first.
    pub(crate) requirements: Vec<&'static str>,
    /// The status that the error may tell.
    pub(crate) status: Option<u16>,
}

impl Fail {
    pub(crate) fn new(kinds: &[&'static str], requirement: &'static str) -> Self {
        Self {
            kinds: kinds.to_vec(),
            requirements: vec![requirement],
            status: None,
        }
    }

    pub(crate) const fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl From<&[Problem]> for Fail {
    fn from(problems: &[Problem]) -> Self {
        let mut fail = Self {
            kinds: Vec::new(),
            requirements: Vec::new(),
            status: None,
        };
        for problem in problems {
            if !fail.kinds.contains(&problem.kind) {
                fail.kinds.push(problem.kind);
            }
            if !fail.requirements.contains(&problem.requirement) {
                fail.requirements.push(problem.requirement);
            }
        }
        fail
    }
}

/// An accepted data frame.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    seq: u64,
    stream: StreamName,
    bytes: Bytes,
    /// Bytes of stdout, stderr and pty up to and with this frame.
    lengths: [u64; 3],
}

/// Bytes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Those of the truth's frame with this index.
    True(usize),
    /// These.
    Own(Vec<u8>),
}

/// What the states share: accepted frames, exits, ways to fail.
#[derive(Debug)]
pub(crate) struct Arena<'a> {
    truth: &'a Truth,
    nodes: Vec<Node>,
    exits: Vec<Exit>,
    fails: Vec<Fail>,
}

impl<'a> Arena<'a> {
    pub(crate) const fn new(truth: &'a Truth) -> Self {
        Self {
            truth,
            nodes: Vec::new(),
            exits: Vec::new(),
            fails: Vec::new(),
        }
    }

    pub(crate) fn accept(
        &mut self,
        parent: Option<usize>,
        seq: u64,
        stream: StreamName,
        bytes: Bytes,
    ) -> usize {
        let mut lengths = self.lengths(parent);
        let length = match &bytes {
            Bytes::True(index) => self.truth.frames[*index].data.len(),
            Bytes::Own(bytes) => bytes.len(),
        };
        lengths[place(stream)] += length as u64;
        self.nodes.push(Node {
            parent,
            seq,
            stream,
            bytes,
            lengths,
        });
        self.nodes.len() - 1
    }

    pub(crate) fn exit(&mut self, exit: Exit) -> usize {
        if let Some(at) = self.exits.iter().position(|known| *known == exit) {
            return at;
        }
        self.exits.push(exit);
        self.exits.len() - 1
    }

    pub(crate) fn fail(&mut self, fail: Fail) -> usize {
        if let Some(at) = self.fails.iter().position(|known| *known == fail) {
            return at;
        }
        self.fails.push(fail);
        self.fails.len() - 1
    }

    pub(crate) fn exit_at(&self, at: usize) -> &Exit {
        &self.exits[at]
    }

    pub(crate) fn fail_at(&self, at: usize) -> &Fail {
        &self.fails[at]
    }

    /// Bytes of stdout, stderr and pty accepted up to a tip.
    pub(crate) fn lengths(&self, tip: Option<usize>) -> [u64; 3] {
        tip.map_or([0; 3], |tip| self.nodes[tip].lengths)
    }

    /// The frames accepted up to a tip, in order.
    pub(crate) fn frames(&self, tip: Option<usize>) -> Vec<(StreamName, &[u8])> {
        let mut frames = Vec::new();
        let mut next = tip;
        while let Some(at) = next {
            let node = &self.nodes[at];
            let bytes: &[u8] = match &node.bytes {
                Bytes::True(index) => &self.truth.frames[*index].data,
                Bytes::Own(bytes) => bytes,
            };
            frames.push((node.stream, bytes));
            next = node.parent;
        }
        frames.reverse();
        frames
    }

    /// Bytes of one stream accepted up to a tip.
    pub(crate) fn output(&self, tip: Option<usize>, stream: StreamName) -> Vec<u8> {
        let mut output = Vec::new();
        for (name, bytes) in self.frames(tip) {
            if name == stream {
                output.extend_from_slice(bytes);
            }
        }
        output
    }

    /// The last tip on the path whose number is not above a cursor.
    pub(crate) fn back_to(&self, tip: Option<usize>, cursor: u64) -> Option<usize> {
        let mut next = tip;
        while let Some(at) = next {
            if self.nodes[at].seq <= cursor {
                break;
            }
            next = self.nodes[at].parent;
        }
        next
    }
}

/// Where a stream's bytes are counted.
pub(crate) const fn place(stream: StreamName) -> usize {
    match stream {
        StreamName::Stdout => 0,
        StreamName::Stderr => 1,
        StreamName::Pty => 2,
    }
}
