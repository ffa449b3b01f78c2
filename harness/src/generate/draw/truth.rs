//! What the process really wrote and how it ended.

use super::{
    super::{Profile, dice::Dice},
    bytes,
};
use fake_server::{
    script::model::{Truth, TruthExit, TruthFrame},
    wire::{Op, ProcessKind, StreamName, limits},
};

/// Signals a process may end by.
const SIGNALS: &[&str] = &[
    "SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGHUP", "SIGUSR1", "SIG34",
];

/// A truth for an op. Frames are numbered from 1 if the job cannot say where it starts from.
pub(in super::super) fn truth(dice: &mut Dice<'_>, profile: Profile, op: Op) -> Truth {
    let wanted = count(dice, profile);
    let live = dice.percent(8);
    let mut frames: Vec<TruthFrame> = Vec::new();
    while frames.len() < wanted {
        for (stream, data) in bytes::next(dice, profile, frames.len() + 1) {
            frames.push(TruthFrame {
                seq: 0,
                stream: if op == Op::Terminal {
                    StreamName::Pty
                } else {
                    stream
                },
                data: data.into(),
                pause_ms: if live && dice.percent(40) {
                    dice.between(1, 15)
                } else {
                    0
                },
            });
        }
    }
    let first_seq = if matches!(op, Op::Execute | Op::Terminal) {
        1
    } else {
        first_seq(dice, frames.len() as u64)
    };
    for (seq, frame) in (first_seq..).zip(&mut frames) {
        frame.seq = seq;
    }
    let bytes: u64 = frames.iter().map(|frame| frame.data.len() as u64).sum();
    Truth {
        kind: if op == Op::Terminal {
            ProcessKind::Pty
        } else {
            ProcessKind::Pipe
        },
        first_seq,
        exit: exit(dice, live),
        heartbeat_ms: if dice.percent(10) {
            dice.between(3, 40)
        } else {
            limits::HEARTBEAT_MS
        },
        // Small enough to have forgotten some of it, now and then.
        journal_bytes: if dice.percent(3) {
            dice.between(1, bytes.max(1))
        } else {
            limits::JOURNAL_BYTES
        },
        children: if dice.percent(2) { 1 } else { 0 },
        live,
        frames,
    }
}

fn count(dice: &mut Dice<'_>, profile: Profile) -> usize {
    let (low, high) = match profile {
        Profile::Quick => dice.weighted(&[(6, (0, 0)), (50, (1, 4)), (36, (5, 9)), (8, (10, 20))]),
        Profile::Deep => dice.weighted(&[(3, (0, 0)), (37, (1, 8)), (40, (9, 25)), (20, (26, 80))]),
    };
    dice.length(low, high)
}

/// Numbers up to where 32 bits, or the digits that a double holds, end.
fn first_seq(dice: &mut Dice<'_>, frames: u64) -> u64 {
    if !dice.percent(5) {
        return 1;
    }
    let frames = frames.max(1);
    let last = dice.weighted(&[
        (3, 10),
        (3, 1 << 16),
        (3, 1 << 31),
        (3, 1 << 32),
        (3, limits::SEQ_MAX),
        (1, limits::SEQ_MAX + 2),
    ]);
    last.saturating_sub(frames - 1).max(1)
}

fn exit(dice: &mut Dice<'_>, live: bool) -> TruthExit {
    let pause_ms = if live && dice.percent(30) {
        dice.between(1, 20)
    } else {
        0
    };
    let code = match dice.below(10) {
        0..=3 => Some(0),
        4..=7 => Some(dice.one_of(&[1, 2, 7, 126, 127, 128, 137, 254, 255])),
        _ => None,
    };
    let signal = (code.is_none() || dice.percent(3)).then(|| dice.one_of(SIGNALS).to_owned());
    TruthExit::Status {
        code,
        signal,
        pause_ms,
    }
}
