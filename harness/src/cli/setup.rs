//! `setup`: run the commands that prepare a client, and only when asked.

use super::{
    Failure, args::SetupArgs, block_on, or_interrupted, output::complain, run::read_manifest,
};
use crate::{client::setup, exit::Exit};

pub(super) fn setup(args: &SetupArgs) -> Result<Exit, Failure> {
    let manifest = read_manifest(args.client())?;
    if manifest.setup.is_empty() {
        complain(&format!("{} needs no set-up", manifest.name));
    }
    let begin = |words: &str| complain(&format!("$ {words}"));
    block_on(or_interrupted(async {
        setup::setup(&manifest, begin)
            .await
            .map_err(|error| Failure::new(Exit::AdapterUnusable, error))
    }))??;
    Ok(Exit::AsExpected)
}
