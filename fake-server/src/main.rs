//! `fake-createos`: play a CreateOS server by hand.

fn main() {}
