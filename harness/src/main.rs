//! `createos-conformance`: judge a CreateOS client.

fn main() -> std::process::ExitCode {
    harness::cli::main(std::env::args_os())
}
