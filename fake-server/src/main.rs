//! `fake-createos`: play a CreateOS server by hand.

mod hand;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    hand::run(&hand::Args::parse())
}
