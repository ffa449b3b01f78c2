//! Joining the events of shards.

use super::{Part, Shard};
use crate::{
    exit::Exit,
    report::{line::CaseLine, record::Record, text::count},
};
use std::collections::{BTreeMap, BTreeSet};

/// Why records are not all the shards of one run. Shards are named as in `2/8`, with the file that they stand in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// None was given.
    #[error("there is nothing to merge")]
    Nothing,
    /// A whole run.
    #[error("{file} is no shard, but a whole run: `run --shard 1/8 --events FILE` writes shards")]
    NoShard {
        /// Where it stands.
        file: String,
    },
    /// Says about itself what no shard can.
    #[error("{file} says that it is shard {number}/{of}: there is no such one, play it again")]
    Impossible {
        /// Where it stands.
        file: String,
        /// Its number.
        number: u32,
        /// Of how many.
        of: u32,
    },
    /// They are not of one run.
    #[error(
        "{file} and {other} are not of one run: {what} is {seen}, and {expected} in {other}; play them all alike"
    )]
    Different {
        /// Where one stands.
        file: String,
        /// Where the first one stands.
        other: String,
        /// What is not the same.
        what: &'static str,
        /// In this one.
        seen: String,
        /// In the first.
        expected: String,
    },
    /// One is there twice.
    #[error("shard {shard} is there twice, in {first} and {second}: leave one out")]
    Double {
        /// Which.
        shard: String,
        /// Where.
        first: String,
        /// And where.
        second: String,
    },
    /// Some are not there.
    #[error("{} of {of} {} missing: {}", count(.missing.len(), "shard", "shards"), if .missing.len() == 1 { "is" } else { "are" }, .missing.join(", "))]
    Missing {
        /// Which.
        missing: Vec<String>,
        /// Of how many.
        of: u32,
    },
    /// One was stopped or killed.
    #[error("{file}, shard {shard}, {why}: play it again")]
    Unfinished {
        /// Where it stands.
        file: String,
        /// Which.
        shard: String,
        /// What is missing.
        why: String,
    },
    /// A case of another shard, of another place, or twice.
    #[error("{file}, shard {shard}: `{id}` {why}; play the shard again")]
    Case {
        /// Where it stands.
        file: String,
        /// Which shard.
        shard: String,
        /// The case.
        id: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// All shards are there, and what they have is not the whole.
    #[error("the shards are all there, but their cases are not those of one run: play them again")]
    Selection,
}

impl MergeError {
    /// The exit that follows: a shard that did not end is an incomplete run, everything else a wrong call.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Unfinished { .. } => Exit::Incomplete,
            _ => Exit::Usage,
        }
    }
}

/// A shard, checked by itself.
struct Piece {
    file: String,
    shard: Shard,
    part: Part,
    record: Record,
}

/// Joins the records of shards, each with the file it stands in, into that of one run. Its time is that of the shard that
/// took longest, since they are played beside each other.
///
/// # Errors
/// If they are not all the shards of one run, each once and whole.
pub fn merge(records: Vec<(String, Record)>) -> Result<Record, MergeError> {
    let mut pieces = records
        .into_iter()
        .map(|(file, record)| piece(file, record))
        .collect::<Result<Vec<Piece>, _>>()?;
    let first = pieces.first().ok_or(MergeError::Nothing)?;
    for other in &pieces[1..] {
        same(first, other)?;
    }
    let whole = first.part.clone();
    pieces.sort_by_key(|piece| piece.shard);
    for two in pieces.windows(2) {
        if two[0].shard == two[1].shard {
            return Err(MergeError::Double {
                shard: two[0].shard.to_string(),
                first: two[0].file.clone(),
                second: two[1].file.clone(),
            });
        }
    }
    let there: BTreeSet<u32> = pieces.iter().map(|piece| piece.part.number).collect();
    let missing: Vec<String> = (1..=whole.of)
        .filter(|number| !there.contains(number))
        .map(|number| format!("{number}/{}", whole.of))
        .collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing {
            missing,
            of: whole.of,
        });
    }
    for piece in &pieces {
        ended(piece)?;
    }
    join(pieces, &whole)
}

fn piece(file: String, record: Record) -> Result<Piece, MergeError> {
    let Some(part) = record.run.shard.clone() else {
        return Err(MergeError::NoShard { file });
    };
    match Shard::new(part.number, part.of) {
        Ok(shard) => Ok(Piece {
            file,
            shard,
            part,
            record,
        }),
        Err(_) => Err(MergeError::Impossible {
            file,
            number: part.number,
            of: part.of,
        }),
    }
}

/// What one run has in common.
fn same(first: &Piece, other: &Piece) -> Result<(), MergeError> {
    let facts = |piece: &Piece| {
        let run = &piece.record.run;
        let language = run.client.language.as_deref().unwrap_or("no language");
        [
            ("the suite's version", run.suite.clone()),
            ("the suite's digest", run.digest.clone()),
            ("the client", piece.record.client()),
            ("the client's language", language.to_owned()),
            ("the seed", run.seed.to_string()),
            ("--strict", run.strict.to_string()),
            ("the transport", run.transport.clone()),
            ("how it is played again", run.replay_arguments.join(" ")),
            ("the number of shards", piece.part.of.to_string()),
            ("the number of cases", piece.part.cases.to_string()),
            ("the selection of cases", piece.part.selection.clone()),
        ]
    };
    for ((what, expected), (_, seen)) in facts(first).into_iter().zip(facts(other)) {
        if expected != seen {
            return Err(MergeError::Different {
                file: other.file.clone(),
                other: first.file.clone(),
                what,
                seen,
                expected,
            });
        }
    }
    Ok(())
}

/// Whether its run went to its end.
fn ended(piece: &Piece) -> Result<(), MergeError> {
    let unfinished = |why: String| MergeError::Unfinished {
        file: piece.file.clone(),
        shard: piece.shard.to_string(),
        why,
    };
    let Some(summary) = &piece.record.summary else {
        return Err(unfinished("has no end".to_owned()));
    };
    if summary.summary.stopped.is_some() {
        return Err(unfinished("was stopped".to_owned()));
    }
    let (has, selected) = (piece.record.cases.len(), piece.record.run.cases);
    if has != selected {
        return Err(unfinished(format!(
            "has {} of {selected}",
            count(has, "case", "cases")
        )));
    }
    Ok(())
}

/// The cases of all, in the order of the whole run.
fn join(pieces: Vec<Piece>, whole: &Part) -> Result<Record, MergeError> {
    let mut places: BTreeMap<usize, CaseLine> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    let mut run = None;
    let mut took_ms = 0;
    for piece in pieces {
        let Piece {
            file,
            shard,
            record,
            ..
        } = piece;
        let ended = record.summary.as_ref();
        took_ms = took_ms.max(ended.map_or(0, |line| line.summary.took_ms));
        run.get_or_insert(record.run);
        for case in record.cases {
            let wrong = |why| MergeError::Case {
                file: file.clone(),
                shard: shard.to_string(),
                id: case.id.clone(),
                why,
            };
            if !shard.holds(&case.id) {
                return Err(wrong("is a case of another shard"));
            }
            if !ids.insert(case.id.clone()) {
                return Err(wrong("is there twice"));
            }
            let place = case
                .index
                .filter(|place| *place < whole.cases)
                .ok_or_else(|| wrong("has no place in the run"))?;
            if places.contains_key(&place) {
                return Err(wrong("has the place of another case"));
            }
            places.insert(place, case);
        }
    }
    let cases: Vec<CaseLine> = places.into_values().collect();
    let known: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let again = Part::new(Shard::WHOLE, &known);
    if again.cases != whole.cases || again.selection != whole.selection {
        return Err(MergeError::Selection);
    }
    let run = run.ok_or(MergeError::Nothing)?;
    Ok(Record::whole(run, cases, took_ms))
}
