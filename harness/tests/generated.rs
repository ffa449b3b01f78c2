//! Generated schedules against the built-in client, in memory: the oracle and judge on one side, the client on the
//! other, written apart. Where they disagree, one of them is wrong.

use harness::{
    client::{
        Client,
        reference::{Bug, Reference},
    },
    generate::{Profile, case, strategy},
    judge::CheckStatus,
    run::play_in_memory,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};
use std::sync::Arc;

fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    // The same plans on every machine and in every run.
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]))
}

fn right(profile: Profile, cases: u32) {
    let client = Client::Reference(Reference::conformant());
    let played = runner(cases).run(&strategy::plan(profile), |plan| {
        let case = play_in_memory(&Arc::new(plan), &client);
        prop_assert!(
            matches!(
                case.status(true),
                CheckStatus::Pass | CheckStatus::NotApplicable
            ),
            "{:?}",
            case.verdict.checks
        );
        Ok(())
    });
    if let Err(error) = played {
        panic!("{error}");
    }
}

#[test]
fn a_right_client_passes_whatever_is_drawn() {
    right(Profile::Quick, 250);
}

#[test]
fn a_right_client_passes_the_deep_ones_too() {
    right(Profile::Deep, 60);
}

#[test]
fn a_case_of_a_seed_is_judged_the_same_each_time() {
    let client = Client::Reference(Reference::conformant());
    for number in 0..40 {
        let plan = Arc::new(case(3, number, Profile::Quick));
        let (one, other) = (
            play_in_memory(&plan, &client),
            play_in_memory(&plan, &client),
        );
        assert_eq!(one.verdict, other.verdict, "{}", plan.id);
    }
}

#[test]
fn what_a_wrong_client_fails_comes_down_to_little() {
    let client = Client::Reference(Reference::wrong(Bug::NoGapCheck));
    let failed = runner(400).run(&strategy::plan(Profile::Quick), |plan| {
        let case = play_in_memory(&Arc::new(plan), &client);
        let broken = case.verdict.violations.iter();
        prop_assert!(
            broken
                .into_iter()
                .all(|one| one.requirement != "sequence/gap")
        );
        Ok(())
    });
    let Err(TestError::Fail(_, plan)) = failed else {
        panic!("a client without a check for gaps passes 400 plans: {failed:?}");
    };
    assert_eq!(plan.faults.len(), 1, "{plan:#?}");
    assert!(plan.truth.frames.len() <= 2, "{plan:#?}");
}
