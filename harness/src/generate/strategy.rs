//! proptest strategies over plans, for tests of your own.
//!
//! What they draw is a plan as a scenario file could say it, settled (see [`super::settle`]), so that the oracle can
//! say what a right client does with it and the judge can judge what yours did. A plan that fails a test comes down to
//! a small one.
//!
//! ```
//! use harness::{
//!     contract::oracle::{default_promises, expected},
//!     generate::{Profile, strategy},
//! };
//! use proptest::prelude::*;
//!
//! proptest!(ProptestConfig::with_cases(20), |(plan in strategy::plan(Profile::Quick))| {
//!     let right = expected(&plan, &default_promises(&plan));
//!     prop_assert!(!right.outcomes.is_empty());
//! });
//! ```

use super::{Profile, dice::Dice, draw, settle, shrink::candidates};
use crate::contract::oracle::default_promises;
use fake_server::{
    script::model::{Plan, Truth},
    wire::Op,
};
use proptest::{
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};

/// Whole plans of every op: a truth, the job, what each call gets. Most are about a process that is followed.
/// Most of them a right client ends with success.
#[must_use]
pub const fn plan(profile: Profile) -> Plans {
    Plans { profile, op: None }
}

/// What a process wrote and how it ended, as plans of this op have it.
#[must_use]
pub const fn truth(profile: Profile, op: Op) -> Truths {
    Truths { profile, op }
}

/// See [`plan`].
#[derive(Clone, Copy, Debug)]
pub struct Plans {
    profile: Profile,
    op: Option<Op>,
}

impl Plans {
    /// Only plans of this op.
    #[must_use]
    pub const fn of(self, op: Op) -> Self {
        Self {
            op: Some(op),
            ..self
        }
    }
}

impl Strategy for Plans {
    type Tree = PlanTree;
    type Value = Plan;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut plan = draw::plan(&mut Dice::new(runner.rng()), self.profile, self.op);
        settle(&mut plan);
        Ok(PlanTree::new(plan))
    }
}

/// See [`truth`].
#[derive(Clone, Copy, Debug)]
pub struct Truths {
    profile: Profile,
    op: Op,
}

impl Strategy for Truths {
    type Tree = Drawn<Truth>;
    type Value = Truth;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut dice = Dice::new(runner.rng());
        Ok(Drawn(draw::truth(&mut dice, self.profile, self.op)))
    }
}

/// A plan that was drawn. A failing one comes down by [`super::shrink::candidates`], one at a time, largest cut first;
/// [`super::shrink::shrink`] does so with many at a time.
#[derive(Clone, Debug)]
pub struct PlanTree {
    /// The smallest that is known to fail.
    known: Plan,
    /// The candidate that is tried now, and its place among the candidates.
    trying: Option<(usize, Plan)>,
}

impl PlanTree {
    const fn new(plan: Plan) -> Self {
        Self {
            known: plan,
            trying: None,
        }
    }

    fn try_candidate(&mut self, place: usize) -> bool {
        let promises = default_promises(&self.known);
        let next = candidates(&self.known, &promises).nth(place);
        self.trying = next.map(|plan| (place, plan));
        self.trying.is_some()
    }
}

impl ValueTree for PlanTree {
    type Value = Plan;

    fn current(&self) -> Plan {
        self.trying
            .as_ref()
            .map_or_else(|| self.known.clone(), |(_, plan)| plan.clone())
    }

    /// What is tried fails as well: on from there.
    fn simplify(&mut self) -> bool {
        if let Some((_, failed)) = self.trying.take() {
            self.known = failed;
        }
        self.try_candidate(0)
    }

    /// What is tried passes: the next one.
    fn complicate(&mut self) -> bool {
        match self.trying.take() {
            Some((place, _)) => self.try_candidate(place + 1),
            None => false,
        }
    }
}

/// A value that was drawn.
#[derive(Clone, Debug)]
pub struct Drawn<T>(T);

impl<T: Clone + std::fmt::Debug> ValueTree for Drawn<T> {
    type Value = T;

    fn current(&self) -> T {
        self.0.clone()
    }

    fn simplify(&mut self) -> bool {
        false
    }

    fn complicate(&mut self) -> bool {
        false
    }
}
