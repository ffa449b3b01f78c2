//! What a plan puts to the test before anything is sent: splits, cuts, journals.

use super::acceptor::Acceptor;
use fake_server::script::model::{Chunks, Content, Segments, Step};

/// Notes what the plan itself puts to the test.
pub(super) fn of_plan(acceptor: &mut Acceptor<'_>) {
    let plan = acceptor.plan;
    for frame in &plan.truth.frames {
        let whole = std::str::from_utf8(&frame.data).is_ok();
        if !whole {
            acceptor.touch("data/exact");
            acceptor.touch("data/split-characters");
        }
    }
    if plan
        .truth
        .frames
        .iter()
        .any(|frame| frame.seq > u64::from(u32::MAX))
    {
        acceptor.touch("sequence/valid");
    }
    let streams = plan.truth.frames.iter().map(|frame| frame.stream);
    let first = streams.clone().next();
    if streams.clone().any(|stream| Some(stream) != first) {
        acceptor.touch("data/streams");
    }
    for fault in &plan.faults {
        let behaviour = &fault.behaviour;
        if behaviour.segments != Segments::Frame || behaviour.chunks != Chunks::Frame {
            acceptor.touch("frames/any-segmentation");
        }
        if let Content::Stream(steps) = &behaviour.content
            && has_journal(steps)
        {
            acceptor.touch("journal/boundary");
        }
    }
    if plan.truth.first_seq > 1 {
        acceptor.touch("journal/boundary");
    }
}

fn has_journal(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Journal { .. } => true,
        Step::Loop { steps, .. } => has_journal(steps),
        _ => false,
    })
}
