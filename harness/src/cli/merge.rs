//! `merge`: the events of shards, joined into those of one run.

use super::{
    Failure,
    args::MergeArgs,
    output::say,
    report::{records, written},
};
use crate::{exit::Exit, report::json::record_lines, report::text::harmless, shard::merge};

pub(super) fn merge_shards(args: &MergeArgs) -> Result<Exit, Failure> {
    let mut shards = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        shards.extend(
            records(path)?
                .into_iter()
                .map(|record| (file.clone(), record)),
        );
    }
    let number = shards.len();
    let record =
        merge(shards).map_err(|error| Failure::new(error.exit(), harmless(&error.to_string())))?;
    // Only now: what is in the file until then stays if nothing comes of it.
    written(&args.output, false, &record_lines(&record))?;
    say(&format!(
        "{}\n",
        harmless(&format!(
            "{} {} ({number} merged into {})",
            record.client(),
            record.verdict(),
            args.output.display()
        ))
    ));
    let exit = record
        .summary
        .map_or(Exit::Incomplete, |line| line.summary.exit());
    say(&format!("exit {exit}\n"));
    Ok(exit)
}
