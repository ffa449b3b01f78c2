//! Request bodies: read, checked, and turned into values.

mod process;
mod sandbox;

pub use process::{CreateProcess, Exec, SIGNALS, Size, read_input, read_signal, read_size};
pub use sandbox::{CreateSandbox, Fork, PatchSandbox, read_disk_mib};
