//! From a plan that fails to the smallest one that fails in the same way, for a person to read.
//!
//! [`candidates`] lists the plans that are a little smaller, the largest cut first: each is smaller by [`Measure`],
//! can be said in a scenario file, and has an end that the oracle knows. [`shrink`] tries many of them at once and
//! goes on from the first in that order that still fails, until none does. The result does not depend on which of
//! them is the quickest.

mod calls;
mod detail;
mod faults;
mod frames;
mod measure;
mod renumber;
mod stepper;
mod steps;
#[cfg(test)]
mod tests;

pub use measure::Measure;
pub use stepper::{Shrunk, shrink};

use super::settle_for;
use crate::profile::Promises;
use fake_server::{
    script::{model::Plan, print::can_say},
    wire::call::Capability,
};
use std::ops::Range;

/// Plans that say a little less than this one, the largest cut first. Each is worth a try for a client with these
/// promises: smaller by [`Measure`], as a scenario file can say it, with faults that no right client meets marked as
/// bait, and with an end.
pub fn candidates<'a>(
    plan: &'a Plan,
    promises: &'a Promises,
) -> impl Iterator<Item = Plan> + Send + 'a {
    let size = Measure::of(plan);
    // Capabilities that the author asked for by name.
    let implied = plan.implied_needs();
    let declared: Vec<Capability> = plan
        .needs
        .iter()
        .filter(|need| !implied.contains(need))
        .copied()
        .collect();
    raw(plan)
        .map(move |mut candidate| {
            tidy(&mut candidate, &declared);
            candidate
        })
        .filter(move |candidate| Measure::of(candidate) < size)
        .filter_map(move |mut candidate| {
            let right = settle_for(&mut candidate, promises);
            let ends = !right.outcomes.iter().any(|outcome| outcome == "none");
            (ends && Measure::of(&candidate) < size && can_say(&candidate)).then_some(candidate)
        })
}

/// Everything there is to try, fit or not.
fn raw(plan: &Plan) -> impl Iterator<Item = Plan> + Send + '_ {
    type Cut = for<'p> fn(&'p Plan) -> Edits<'p>;
    const CUTS: [Cut; 7] = [
        detail::everything,
        faults::fewer,
        steps::fewer,
        frames::fewer,
        calls::simpler,
        steps::simpler,
        detail::simpler,
    ];
    CUTS.into_iter().flat_map(move |cut| cut(plan))
}

/// Plans that some kind of cut leads to.
type Edits<'p> = Box<dyn Iterator<Item = Plan> + Send + 'p>;

/// A copy that was changed.
fn edited(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut copy = plan.clone();
    change(&mut copy);
    copy
}

/// Numbers the faults again and says which capabilities follow.
fn tidy(plan: &mut Plan, declared: &[Capability]) {
    for (number, fault) in (1..).zip(&mut plan.faults) {
        fault.number = number;
    }
    let mut needs = plan.implied_needs();
    needs.extend(declared);
    needs.sort_unstable();
    needs.dedup();
    plan.needs = needs;
}

/// Runs of `count` things to leave out: all of them, halves, quarters, and at last each alone.
fn runs(count: usize) -> impl Iterator<Item = Range<usize>> + Send {
    std::iter::successors((count > 0).then_some(count), |size| {
        (*size > 1).then(|| size.div_ceil(2))
    })
    // What comes last is most often what is not needed.
    .flat_map(move |size| {
        (0..count)
            .step_by(size)
            .rev()
            .map(move |start| start..count.min(start + size))
    })
}

/// Smaller numbers: the least, the half, one less.
fn smaller(n: u64, least: u64) -> impl Iterator<Item = u64> + Send {
    let mut tries = vec![
        least,
        least + n.saturating_sub(least) / 2,
        n.saturating_sub(1),
    ];
    tries.retain(|one| (least..n).contains(one));
    tries.dedup();
    tries.into_iter()
}
