//! What each connect gets, in the order of time: failures with progress between them, then mostly the good end, or
//! something that ends the call.

use super::{
    super::{Profile, dice::Dice},
    defects, finish,
    frames::{Cursor, Script},
    framing::{any_end, framed},
    refusals,
};
use fake_server::{
    script::model::{Behaviour, End, Span, Step, Truth},
    wire::Op,
};

/// What connects get, and what of it the job must know.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Connects {
    /// The nth gets the nth; later ones are answered faithfully.
    pub(in super::super) answers: Vec<Behaviour>,
    /// The last one is also what every later one gets.
    pub(in super::super) for_ever: bool,
    /// The stream stands still at some time, and the job's own deadline has to end it.
    pub(in super::super) stalls: bool,
}

/// How the story ends after the drops.
#[derive(Clone, Copy)]
enum Finale {
    Faithful,
    Finish,
    Defect,
    Permanent,
    OddSuccess,
    ForEver,
    Stall,
}

pub(super) fn connects(
    dice: &mut Dice<'_>,
    profile: Profile,
    op: Op,
    truth: &Truth,
    after: u64,
) -> Connects {
    let mut cursor = Cursor {
        seq: after.max(truth.first_seq - 1),
        certain: true,
    };
    let mut connects = Connects::default();
    let drops = match (op, profile) {
        // A raw stream that ends is over: nobody comes again but for a refusal.
        (Op::Connect, _) => dice.weighted(&[(7, 0), (1, 1)]),
        (_, Profile::Quick) => dice.weighted(&[(22, 0), (26, 1), (26, 2), (20, 3), (4, 4), (2, 5)]),
        (_, Profile::Deep) => dice.weighted(&[(5, 0), (15, 1), (30, 2), (42, 3), (5, 4), (3, 5)]),
    };
    for _ in 0..drops {
        let answer = match (op, dice.below(100)) {
            (Op::Connect, _) | (_, 0..=24) => refusals::transient(dice, op),
            (_, 25..=33) => lagging(dice, op, truth, &mut cursor),
            _ => dropped(dice, truth, &mut cursor),
        };
        connects.answers.push(answer);
    }
    let finale = dice.weighted(&[
        (26, Finale::Faithful),
        (30, Finale::Finish),
        (27, Finale::Defect),
        (7, Finale::Permanent),
        (4, Finale::OddSuccess),
        (3, Finale::ForEver),
        (3, Finale::Stall),
    ]);
    let answer = match finale {
        Finale::Faithful => return connects,
        Finale::Finish => finished(dice, truth, cursor),
        Finale::Defect => defective(dice, truth, cursor),
        Finale::Permanent => refusals::permanent(dice),
        Finale::OddSuccess => refusals::odd_success(dice),
        Finale::ForEver => {
            connects.for_ever = true;
            match dice.below(3) {
                0 => refusals::transient(dice, op),
                1 => refusals::odd_success(dice),
                _ => dropped(dice, truth, &mut cursor),
            }
        }
        Finale::Stall => {
            connects.stalls = true;
            stalled(dice, truth, cursor)
        }
    };
    // A refused port is about one moment.
    connects.for_ever &= !answer.refuse && answer.cut.is_none();
    connects.answers.push(answer);
    connects
}

/// Some frames, perhaps a part of the next one, and the stream breaks or ends.
fn dropped(dice: &mut Dice<'_>, truth: &Truth, cursor: &mut Cursor) -> Behaviour {
    let mut script = Script::new(dice, truth, *cursor);
    let left = script.last().saturating_sub(script.at);
    let more = match script.dice.below(100) {
        0..=17 => 0,
        18..=44 => 1,
        45..=84 => script.dice.between(0, left),
        _ => left,
    };
    script.forward(script.at.saturating_add(more.min(left)));
    if script.dice.percent(35) {
        script.part();
    }
    let end = any_end(script.dice);
    script.end(end);
    let (at, steps) = (script.at, script.steps);
    *cursor = Cursor {
        seq: at,
        certain: cursor.certain && end == End::Chunk,
    };
    framed(dice, truth, steps)
}

/// A replica that has less than the client knows, or not everything yet.
fn lagging(dice: &mut Dice<'_>, op: Op, truth: &Truth, cursor: &mut Cursor) -> Behaviour {
    if truth.frames.is_empty() {
        return refusals::transient(dice, op);
    }
    let mut script = Script::new(dice, truth, *cursor);
    let newest = script.dice.between(truth.first_seq, script.last());
    script.push(Step::Journal {
        oldest: truth.first_seq,
        newest,
    });
    if script.dice.percent(40) {
        script.push(Step::Send(Span::Range(truth.first_seq, newest)));
    } else {
        script.push(Step::Send(Span::UpTo(newest)));
    }
    let end = any_end(script.dice);
    script.end(end);
    let steps = script.steps;
    *cursor = Cursor {
        seq: cursor.seq.max(newest),
        certain: cursor.certain && end == End::Chunk,
    };
    framed(dice, truth, steps)
}

fn finished(dice: &mut Dice<'_>, truth: &Truth, cursor: Cursor) -> Behaviour {
    let mut script = Script::new(dice, truth, cursor);
    finish::steps(&mut script);
    let steps = script.steps;
    framed(dice, truth, steps)
}

/// Progress, then something wrong, then whatever.
fn defective(dice: &mut Dice<'_>, truth: &Truth, cursor: Cursor) -> Behaviour {
    let mut script = Script::new(dice, truth, cursor);
    let left = script.last().saturating_sub(script.at);
    let more = script.dice.between(0, left);
    script.forward(script.at.saturating_add(more));
    defects::step(&mut script);
    defects::aftermath(&mut script);
    let steps = script.steps;
    framed(dice, truth, steps)
}

/// Some frames, and then nothing: silence, or heartbeats without end.
fn stalled(dice: &mut Dice<'_>, truth: &Truth, cursor: Cursor) -> Behaviour {
    if dice.percent(20) {
        // Longer than any deadline that is drawn.
        return Behaviour {
            hold_ms: Some(30_000),
            ..Behaviour::default()
        };
    }
    let mut script = Script::new(dice, truth, cursor);
    let left = script.last().saturating_sub(script.at);
    let more = script.dice.between(0, left);
    script.forward(script.at.saturating_add(more));
    if script.dice.percent(25) {
        script.part();
    }
    if script.dice.percent(40) {
        script.push(Step::Every {
            every_ms: 40,
            step: Box::new(Step::Heartbeat(1)),
        });
        let steps = script.steps;
        return framed(dice, truth, steps);
    }
    script.end(End::Hold);
    let steps = script.steps;
    framed(dice, truth, steps)
}
