//! Fewer steps in streams, and simpler ones.

mod variants;

use super::{Edits, edited, measure::STATUSES, runs, smaller};
use fake_server::{
    script::model::{Behaviour, Content, FrameRef, Plan, Span, Step, Until},
    wire::Call,
};
use variants::variants;

/// The streams of a plan, each with the index of its fault.
fn streams(plan: &Plan) -> impl Iterator<Item = (usize, &[Step])> + Send {
    plan.faults
        .iter()
        .enumerate()
        .filter_map(|(index, fault)| match &fault.behaviour.content {
            Content::Stream(steps) => Some((index, steps.as_slice())),
            _ => None,
        })
}

/// The plan with other steps in one of its streams.
fn with(plan: &Plan, fault: usize, steps: Vec<Step>) -> Plan {
    edited(plan, |plan| {
        plan.faults[fault].behaviour.content = Content::Stream(steps)
    })
}

/// Steps before the one that ends the stream.
fn before_end(steps: &[Step]) -> usize {
    match steps.last() {
        Some(Step::End(_) | Step::Every { .. } | Step::Until(Until::Closed)) => steps.len() - 1,
        _ => steps.len(),
    }
}

pub(super) fn fewer(plan: &Plan) -> Edits<'_> {
    let refused = streams(plan)
        .filter(|(fault, _)| plan.faults[*fault].on == Some(Call::Connect))
        .flat_map(move |(fault, _)| {
            STATUSES.into_iter().map(move |status| {
                edited(plan, |plan| {
                    plan.faults[fault].behaviour = Behaviour {
                        status: Some(status),
                        ..Behaviour::default()
                    };
                })
            })
        });
    let left_out = streams(plan).flat_map(move |(fault, steps)| {
        runs(before_end(steps)).map(move |run| {
            let kept = [&steps[..run.start], &steps[run.end..]].concat();
            with(plan, fault, kept)
        })
    });
    let joined = streams(plan).flat_map(move |(fault, steps)| {
        (1..steps.len()).filter_map(move |second| {
            let one = join(&steps[second - 1], &steps[second])?;
            let kept = [&steps[..second - 1], &[one], &steps[second + 1..]].concat();
            Some(with(plan, fault, kept))
        })
    });
    let unrolled = streams(plan).flat_map(move |(fault, steps)| {
        steps.iter().enumerate().flat_map(move |(index, step)| {
            inside(step).map(move |inner| {
                let kept = [&steps[..index], &inner, &steps[index + 1..]].concat();
                with(plan, fault, kept)
            })
        })
    });
    Box::new(left_out.chain(refused).chain(joined).chain(unrolled))
}

/// One step that sends what these two send.
fn join(one: &Step, two: &Step) -> Option<Step> {
    let seqs = |step: &Step| match step {
        Step::SendOne(FrameRef::Seq(seq)) => Some((Some(*seq), *seq)),
        Step::Send(Span::Range(from, to)) => Some((Some(*from), *to)),
        Step::Send(Span::UpTo(to)) => Some((None, *to)),
        _ => None,
    };
    if let (Step::Heartbeat(one), Step::Heartbeat(two)) = (one, two) {
        return Some(Step::Heartbeat(one.saturating_add(*two)));
    }
    if matches!(two, Step::SendOne(FrameRef::Exit) | Step::Send(Span::Rest)) {
        return seqs(one).map(|_| Step::Send(Span::Rest));
    }
    let ((from, one), (next, two)) = (seqs(one)?, seqs(two)?);
    if next.is_some_and(|next| next != one + 1) {
        return None;
    }
    Some(Step::Send(
        from.map_or(Span::UpTo(two), |from| Span::Range(from, two)),
    ))
}

/// What stands inside a step, once; for a loop also fewer rounds.
fn inside(step: &Step) -> impl Iterator<Item = Vec<Step>> + Send + '_ {
    let (whole, rounds, inner): (Vec<Vec<Step>>, u64, &[Step]) = match step {
        Step::Loop { count, steps } => (vec![steps.clone()], *count, steps),
        Step::Trickle { step, .. } => (vec![vec![step.as_ref().clone()]], 0, &[]),
        _ => (Vec::new(), 0, &[]),
    };
    let fewer = smaller(rounds, 1).map(|count| {
        vec![Step::Loop {
            count,
            steps: inner.to_vec(),
        }]
    });
    let shorter = runs(inner.len())
        .filter(move |run| run.len() < inner.len())
        .map(move |run| {
            vec![Step::Loop {
                count: rounds,
                steps: [&inner[..run.start], &inner[run.end..]].concat(),
            }]
        });
    whole.into_iter().chain(fewer).chain(shorter)
}

pub(super) fn simpler(plan: &Plan) -> Edits<'_> {
    Box::new(streams(plan).flat_map(move |(fault, steps)| {
        steps.iter().enumerate().flat_map(move |(index, step)| {
            variants(plan, step).into_iter().map(move |simpler| {
                edited(plan, |plan| {
                    if let Content::Stream(steps) = &mut plan.faults[fault].behaviour.content {
                        steps[index] = simpler;
                    }
                })
            })
        })
    }))
}
