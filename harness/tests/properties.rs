//! Properties of what every case is made of: lines carry any bytes, and a seed has one plan.

use fake_server::{
    script::parse,
    wire::{StreamName, frame::data_line},
};
use proptest::{collection::vec, prelude::*, test_runner::RngSeed};

const RANDOM: &str = r#"
title = "Cut at random"
requirements = ["frames/any-segmentation"]
fault-kinds = []
why = "The example of a test."
op = "follow"

[process]
output = [{ stdout = "one" }]

[[fault]]
on = "connect"
segments = "random"
chunks = "random"
"#;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_line_carries_any_bytes(seq in 1..(1_u64 << 53), bytes in vec(any::<u8>(), 0..200)) {
        let line = data_line(seq, StreamName::Stderr, &bytes);
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        prop_assert!(line.ends_with(b"\n"));
        let read: serde_json::Value = serde_json::from_slice(&line).expect("an object");
        prop_assert_eq!(read["seq"].as_u64(), Some(seq));
        prop_assert_eq!(read["stream"].as_str(), Some("stderr"));
        let data = read["data_base64"].as_str().expect("text");
        let blob: fake_server::wire::Blob =
            serde_json::from_value(data.into()).expect("base64");
        prop_assert_eq!(&blob[..], &bytes[..]);
    }

    #[test]
    fn a_seed_has_one_plan(seed in any::<u64>()) {
        let plan = || parse("t.toml", "test/random", RANDOM, None).expect("a scenario").plan(0, seed);
        let first = plan();
        prop_assert_eq!(&first, &plan());
        let saved = serde_json::to_string(&first).expect("JSON");
        prop_assert_eq!(first, serde_json::from_str(&saved).expect("a plan"));
    }
}
