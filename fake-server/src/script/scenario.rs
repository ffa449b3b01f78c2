//! A scenario: a checked file, ready to be planned.

use super::{
    build,
    matrix::Matrix,
    mistakes::{Gather, Mistakes},
    model::{Chunks, Expect, Plan, Segments},
    node,
    raw::RawFile,
    read::Read as _,
};
use crate::wire::Op;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

/// A checked scenario file. One that has a matrix holds an instance for each combination of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    id: String,
    /// At least one.
    instances: Vec<Instance>,
}

/// A plan without its seed, and what the seed decides.
#[derive(Clone, Debug, PartialEq)]
struct Instance {
    plan: Plan,
    random: Vec<Random>,
}

/// A cut that the seed chooses, by the fault's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Random {
    Segments(usize),
    Chunks(usize),
}

/// Reads a scenario file: `file` is how messages name it, `id` what the scenario is called,
/// `requirements` the ids it may cite (`None`: any). A body of another file (`body = { file = .. }`)
/// is a mistake here; see [`parse_with`].
///
/// # Errors
/// Every mistake in the file, each with its place and what would be right.
pub fn parse(
    file: &str,
    id: &str,
    text: &str,
    requirements: Option<&[&str]>,
) -> Result<Scenario, Mistakes> {
    parse_with(file, id, text, requirements, &mut |_| {
        Err("only a scenario in a folder has files beside it".to_owned())
    })
}

/// [`parse`], where `files` reads a file beside the scenario by the path that stands in it. It says
/// why when it cannot.
///
/// # Errors
/// Every mistake in the file, each with its place and what would be right.
pub fn parse_with(
    file: &str,
    id: &str,
    text: &str,
    requirements: Option<&[&str]>,
    files: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Scenario, Mistakes> {
    check_id(file, id, requirements)?;
    let mut gather = Gather::new(file, text);
    let mut instances = Vec::new();
    if let Some(root) = node::read_toml(text, &mut gather) {
        let matrix = Matrix::read(&root, &mut gather);
        for instance in matrix.instances(&root) {
            gather.substituted = instance.substituted;
            let Some(raw) = RawFile::read(&instance.root, &mut gather) else {
                continue;
            };
            let mut around = build::Around {
                id: format!("{id}{}", instance.suffix),
                requirements,
                files,
            };
            let (plan, random) = build::plan(&raw, &mut around, &mut gather);
            instances.push(Instance { plan, random });
        }
    }
    gather.finish()?;
    Ok(Scenario {
        id: id.to_owned(),
        instances,
    })
}

fn check_id(file: &str, id: &str, requirements: Option<&[&str]>) -> Result<(), Mistakes> {
    if requirements.is_some_and(|known| known.contains(&id)) {
        return Err(Mistakes::whole_file(
            file,
            format!("`{id}` is the id of a requirement"),
            Some("name the file after what goes wrong in it".to_owned()),
        ));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    if id.is_empty() || !id.bytes().all(plain) {
        return Err(Mistakes::whole_file(
            file,
            format!("`{}` cannot be the id of a scenario", super::suggest::short(id)),
            Some("the id is the path: small letters, digits and hyphens, as in stream/first-cut.toml".to_owned()),
        ));
    }
    Ok(())
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

    /// The plan of one instance: the same for the same file, id and seed.
    ///
    /// # Panics
    /// When there is no such instance.
    #[must_use]
    pub fn plan(&self, instance: usize, seed: u64) -> Plan {
        let Instance { plan, random } = &self.instances[instance];
        let mut plan = plan.clone();
        plan.seed = seed;
        for random in random {
            let (index, salt) = match random {
                Random::Segments(index) => (*index, 0),
                Random::Chunks(index) => (*index, 1),
            };
            let sizes = sizes(seed, &plan.id, index, salt);
            let behaviour = &mut plan.faults[index].behaviour;
            match random {
                Random::Segments(_) => behaviour.segments = Segments::Sizes(sizes),
                Random::Chunks(_) => behaviour.chunks = Chunks::Sizes(sizes),
            }
        }
        plan
    }

    fn first(&self) -> &Plan {
        &self.instances[0].plan
    }

    /// One line for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.first().title
    }

    /// Requirement ids, as the file lists them.
    #[must_use]
    pub fn requirements(&self) -> &[String] {
        &self.first().requirements
    }

    /// Ids of the fault taxonomy, as the file lists them.
    #[must_use]
    pub fn fault_kinds(&self) -> &[String] {
        &self.first().fault_kinds
    }

    /// Why a client gets this wrong and what it costs; may be empty.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.first().why
    }

    /// What the client is asked.
    #[must_use]
    pub fn op(&self) -> Op {
        self.first().op
    }
}

/// Sizes in bytes of a random cut, round and round: mostly small, so that lines are cut inside, some
/// of a few lines, seldom larger. The seed is mixed with the id, so that scenarios differ under one seed.
fn sizes(seed: u64, id: &str, fault: usize, salt: u8) -> Vec<usize> {
    // FNV-1a: stable over versions and machines, unlike the standard library's hashers.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&hash.to_le_bytes());
    key[16..24].copy_from_slice(&(fault as u64).to_le_bytes());
    key[24] = salt;
    let mut random = StdRng::from_seed(key);
    (0..61)
        .map(|_| {
            let most = [8_u32, 8, 64, 64, 64, 512, 4096][random.random_range(0..7_u32) as usize];
            random.random_range(1..=most) as usize
        })
        .collect()
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
