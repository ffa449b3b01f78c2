//! Flags of `fake-createos`.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

/// Play a CreateOS server by hand: faithful by default, wrong exactly as a scenario says.
///
/// It binds a loopback port, prints the URL, a key, ids and ready-made commands, and then shows every request, every
/// frame and every fault as it happens. The scenario starts again for each new process. Ctrl-C tells which faults
/// never fired. It never runs a command: the process is a script.
#[derive(Debug, clap::Parser)]
#[command(
    name = "fake-createos",
    version,
    after_help = "Examples:\n  fake-createos                                          a healthy server\n  fake-createos scenarios/stream/drop-and-resume.toml --instance how=reset\n  fake-createos outage.toml --port 8080 --json > wire.jsonl\n\nExit codes: 0 ended by Ctrl-C, 2 usage, port in use, unreadable or broken scenario"
)]
pub(crate) struct Args {
    /// A scenario file (or an id below scenarios/); none is a healthy server
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: Option<PathBuf>,
    /// Which instance of the scenario's matrix, e.g. how=reset; the first unless said
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) instance: Option<String>,
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The address to bind; anything but loopback lets others in
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Seed of what the scenario leaves to chance (`segments = "random"`)
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// One JSON object a line instead of text
    #[arg(long)]
    json: bool,
}

/// How things are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Args {
    pub(crate) const fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }

    pub(crate) const fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}
