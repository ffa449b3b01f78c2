//! A scenario: a checked file, ready to be planned.

use super::{
    mistakes::Mistakes,
    model::{Expect, Plan},
};
use crate::wire::Op;

/// A checked scenario file. One that has a matrix holds an instance for each combination of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    id: String,
    instances: Vec<Plan>,
}

/// Reads a scenario file: `file` is how messages name it, `id` what the scenario is called,
/// `requirements` the ids it may cite (`None`: any).
///
/// # Errors
/// Every mistake in the file, each with its place and what would be right.
pub fn parse(
    file: &str,
    id: &str,
    text: &str,
    requirements: Option<&[&str]>,
) -> Result<Scenario, Mistakes> {
    let _ = (id, text, requirements);
    Err(Mistakes::whole_file(
        file,
        "reading lands in a few minutes".to_owned(),
        None,
    ))
}

impl Scenario {
    /// `area/name`, without a matrix's values.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many instances its matrix makes; 1 without one.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances.len()
    }

    /// The plan of every instance, in order.
    #[must_use]
    pub fn plans(&self, seed: u64) -> Vec<Plan> {
        (0..self.instances())
            .map(|instance| self.plan(instance, seed))
            .collect()
    }

    /// The plan of one instance.
    ///
    /// # Panics
    /// When there is no such instance.
    #[must_use]
    pub fn plan(&self, instance: usize, seed: u64) -> Plan {
        let mut plan = self.instances[instance].clone();
        plan.seed = seed;
        plan
    }

    /// One line for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.instances[0].title
    }

    /// Requirement ids, as the file lists them.
    #[must_use]
    pub fn requirements(&self) -> &[String] {
        &self.instances[0].requirements
    }

    /// Ids of the fault taxonomy, as the file lists them.
    #[must_use]
    pub fn fault_kinds(&self) -> &[String] {
        &self.instances[0].fault_kinds
    }

    /// Why a client gets this wrong and what it costs; may be empty.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.instances[0].why
    }

    /// What the client is asked.
    #[must_use]
    pub fn op(&self) -> Op {
        self.instances[0].op
    }
}

impl Plan {
    /// The same trial with nothing going wrong: no faults, and nothing expected beyond what follows
    /// from the truth.
    #[must_use]
    pub fn control(&self) -> Self {
        Self {
            faults: Vec::new(),
            expect: Expect::default(),
            ..self.clone()
        }
    }
}
