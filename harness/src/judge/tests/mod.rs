//! The judge against clients played by hand: each test plays what a client asks, right or wrong, against the
//! plan's own server without sockets, says what it reported, and claims what the judge must find.

mod cleanup;
mod commands;
mod cursors;
mod evidence;
mod files;
mod frames;
mod generated;
mod leases;
mod ledger;
mod output;
mod promises;
mod raw;
mod receipts;
mod secrets;
mod terminal;
mod time;
mod trial;

use trial::Trial;

/// Three frames in which the first stream ends after two, cleanly.
const DROPPED: &str = r#"
title = "t"
op = "follow"
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }, { stdout = "three\n" }]
exit = { code = 0 }
[[fault]]
on = "connect"
attempt = 1
stream = [{ send = "..2" }, { end = "chunk" }]
"#;

/// A stream of one's own making, for every connect.
fn stream(steps: &str) -> String {
    format!(
        r#"
title = "t"
op = "follow"
[process]
output = [{{ stdout = "one\n" }}, {{ stdout = "two\n" }}, {{ stdout = "three\n" }}]
exit = {{ code = 0 }}
[[fault]]
on = "connect"
attempt = 1
stream = [{steps}]
"#
    )
}
