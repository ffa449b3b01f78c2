//! Hand-over across streams: the frames come out in the order of their seq, whichever stream they are of.
//! Judged where a scenario asks for it, since only then is what was served the truth itself.

use super::{
    Place,
    findings::{Findings, Wrong},
    walk::Walk,
};
use crate::profile::OutputForm;
use fake_server::wire::call::Capability;

const ORDER: &str = "data/order";

/// Judges what was handed over live.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let is_asked = findings.is_about(ORDER)
        && walk.promises.capabilities.contains(&Capability::LiveOutput)
        // As text, a character that is still open is rightly held back.
        && walk.promises.profile.output == OutputForm::Bytes;
    if !is_asked {
        return;
    }
    let after = walk.plan.job.after;
    let frames = walk.plan.truth.frames.iter();
    let mut due = frames
        .filter(|frame| frame.seq > after && !frame.data.is_empty())
        .map(|frame| (frame.seq, frame.stream.name(), frame.data.len()));
    let mut current = None;
    for (at, output) in walk.observed.outputs.iter().enumerate() {
        let mut left = output.data.len();
        while left > 0 {
            // More than there is, is told elsewhere.
            let Some((seq, stream, length)) = current.take().or_else(|| due.next()) else {
                return;
            };
            if stream != output.stream {
                findings.add(Wrong::new(
                    &[ORDER],
                    Place::Output(at),
                    format!("frame {seq} ({stream}) is handed over before any later frame"),
                    format!("{} was handed over before it", output.stream),
                ));
                return;
            }
            let taken = left.min(length);
            left -= taken;
            if taken < length {
                current = Some((seq, stream, length - taken));
            }
        }
    }
}
