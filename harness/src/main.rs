//! `createos-conformance`: judge a CreateOS client.

fn main() {}
