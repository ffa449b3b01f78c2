//! `smoke`: can this client be judged at all? It is asked one job of each kind against a healthy server.

use super::{
    Failure,
    args::SmokeArgs,
    block_on, or_interrupted,
    output::{page, say},
    run::start,
};
use crate::{
    client::{
        Client,
        smoke::{JOB_TIME, Smoke, smoke as try_all},
    },
    exit::Exit,
    report::text::paint,
};

pub(super) fn smoke(args: &SmokeArgs) -> Result<Exit, Failure> {
    block_on(or_interrupted(async {
        let client = start(&args.client).await?;
        let smoke = tried(&client).await?;
        let palette = page().palette;
        for line in smoke.to_string().lines() {
            let style = if line.starts_with("ok") {
                palette.good
            } else {
                palette.bad
            };
            say(&format!("{}\n", paint(style, line)));
        }
        client.shutdown().await;
        Ok(if smoke.is_usable() {
            Exit::AsExpected
        } else {
            Exit::AdapterUnusable
        })
    }))?
}

/// Why the client can't be judged, if it can't. The built-in one needs no probe.
pub(super) async fn probe(client: &Client) -> Result<(), Failure> {
    if matches!(client, Client::Reference(_)) {
        return Ok(());
    }
    let smoke = tried(client).await?;
    if smoke.is_usable() {
        return Ok(());
    }
    let text = format!(
        "{} can't be judged, its smoke probe failed:\n{smoke}",
        client.name()
    );
    Err(Failure::new(Exit::AdapterUnusable, text.trim_end()))
}

async fn tried(client: &Client) -> Result<Smoke, Failure> {
    try_all(client, JOB_TIME).await.map_err(|error| {
        Failure::new(
            Exit::Harness,
            format!("the fake server could not start: {error}"),
        )
    })
}
