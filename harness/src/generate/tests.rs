use super::{Profile, case, settle};
use crate::contract::oracle::{Reach, default_promises, expected, unreachable};
use fake_server::script::{
    model::{Content, End, Plan, Step},
    print::{Header, can_say, print},
};
use std::collections::BTreeMap;

fn cases(profile: Profile, count: u64) -> Vec<Plan> {
    (0..count).map(|number| case(1, number, profile)).collect()
}

/// FNV-1a: the same on every machine and in every version of Rust.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whoever replays a case by its number counts on this. A change here is a new generator: say so in the change log.
#[test]
fn a_case_is_a_pure_function_of_its_seed_and_number() {
    let digests: Vec<String> = Profile::ALL
        .iter()
        .map(|&profile| {
            let text: String = cases(profile, 50)
                .iter()
                .map(|plan| serde_json::to_string(plan).unwrap() + "\n")
                .collect();
            format!("{} {:016x}", profile.name(), digest(text.as_bytes()))
        })
        .collect();
    assert_eq!(digests, ["quick 1f71fa59af271908", "deep ab7943a385a08706"]);
}

#[test]
fn a_plan_is_saved_and_read_again_without_a_change() {
    for profile in Profile::ALL {
        for plan in cases(*profile, 100) {
            let text = serde_json::to_string(&plan).unwrap();
            let again: Plan = serde_json::from_str(&text).unwrap();
            assert_eq!(again, plan);
        }
    }
}

#[test]
fn most_plans_can_succeed_and_deep_ones_are_common() {
    for profile in Profile::ALL {
        let plans = cases(*profile, 600);
        let mut good = 0;
        let mut deep = 0;
        let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
        for plan in &plans {
            let right = expected(plan, &default_promises(plan));
            let outcomes = &right.outcomes;
            good += u32::from(
                outcomes
                    .iter()
                    .any(|end| matches!(end.as_str(), "exited" | "ended" | "ok")),
            );
            let drops = right
                .faults
                .iter()
                .filter(|fault| fault.reach != Reach::Never)
                .count();
            deep += u32::from(drops >= 3);
            for outcome in outcomes {
                *kinds.entry(outcome.clone()).or_default() += 1;
            }
        }
        let name = profile.name();
        assert!(good >= 330, "{name}: {good} of 600 can succeed: {kinds:?}");
        assert!(deep >= 120, "{name}: {deep} of 600 are deep");
        for kind in [
            "error:invalid-response",
            "error:state-failed",
            "error:sequence-gap",
            "error:sequence-invalid",
            "error:output-invalid",
            "error:frame-invalid",
            "error:unknown-event",
            "error:output-evicted",
            "error:stream-error",
            "error:stream-ended",
            "error:connection-failed",
            "error:http-error",
            "error:exit-status-missing",
            "error:creation-unconfirmed",
            "error:cleanup-unconfirmed",
            "timed-out",
            "cancelled",
        ] {
            assert!(kinds.contains_key(kind), "{name}: never {kind}: {kinds:?}");
        }
        assert!(!kinds.contains_key("none"), "{name}: {kinds:?}");
    }
}

#[test]
fn no_fault_is_out_of_reach_unless_it_says_so() {
    for mut plan in cases(Profile::Quick, 300) {
        let mut bait = Vec::new();
        for fault in &mut plan.faults {
            if std::mem::take(&mut fault.bait) {
                bait.push(fault.number);
            }
        }
        let missed = unreachable(&plan, &default_promises(&plan));
        assert_eq!(missed, bait, "{}", plan.id);
    }
}

#[test]
fn settling_ends_a_silence_that_nothing_else_would_end() {
    let mut plan = case(1, 0, Profile::Quick);
    plan.op = fake_server::wire::Op::Follow;
    plan.job = fake_server::script::model::Job::default();
    plan.needs.clear();
    plan.faults.truncate(1);
    let fault = &mut plan.faults[0];
    fault.on = Some(fake_server::wire::Call::Connect);
    fault.behaviour.content = Content::Stream(vec![Step::End(End::Hold)]);
    settle(&mut plan);
    let ended = Content::Stream(vec![Step::End(End::Fin)]);
    assert_eq!(plan.faults[0].behaviour.content, ended);
}

#[test]
fn every_plan_can_be_written_as_a_scenario_file() {
    for profile in Profile::ALL {
        for plan in cases(*profile, 1_000) {
            let text = print(&plan, &Header::default());
            assert!(can_say(&plan), "{}\n{text}", plan.id);
        }
    }
}
