//! The scenarios are embedded; a new or removed file must rebuild what embeds them.

fn main() {
    println!("cargo::rerun-if-changed=../scenarios");
    println!("cargo::rerun-if-changed=build.rs");
}
