//! Saved trials: judging again gives the same, byte for byte; what was edited is told; what is no trial is refused.

mod support;

use harness::{
    client::{
        Client,
        reference::{Bug, Reference},
    },
    saved::{Keeper, SavedError, read},
    standing::KnownFailures,
    summary::{Judged, RunInfo},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;
use support::{judged, plans};

/// The text of each case's file.
fn texts(judged: &[Judged], info: &RunInfo, reference: &Reference) -> Vec<String> {
    let promises = Client::Reference(reference.clone()).promises().clone();
    let keeper = Keeper::new(info, promises, KnownFailures::default());
    judged
        .iter()
        .map(|one| keeper.text(one).expect("JSON"))
        .collect()
}

/// Saves what was judged, and judges it again.
fn is_the_same_again(judged: &[Judged], info: &RunInfo, reference: &Reference) {
    for (one, text) in judged.iter().zip(texts(judged, info, reference)) {
        let saved = read(&text).unwrap_or_else(|error| panic!("{}: {error}", one.case.id()));
        let again = saved.again();
        assert_eq!(again.change, None, "{}", one.case.id());
        assert_eq!(again.judged, *one, "{}", one.case.id());
        let bytes = |verdict| serde_json::to_string(verdict).expect("JSON");
        assert_eq!(
            bytes(&again.judged.case.verdict),
            bytes(&one.case.verdict),
            "{}",
            one.case.id()
        );
    }
}

#[test]
fn every_case_of_the_suite_is_judged_the_same_again() {
    let reference = Reference::conformant();
    let (judged, _, info) = judged(&plans(), reference.clone(), true);
    assert!(judged.len() > 600, "only {} cases", judged.len());
    is_the_same_again(&judged, &info, &reference);
}

#[test]
fn what_failed_fails_in_the_same_words_again() {
    let areas = ["stream/", "exit/", "secrets/", "cleanup/", "raw/"];
    let plans: Vec<_> = plans()
        .into_iter()
        .filter(|plan| areas.iter().any(|area| plan.id.starts_with(area)))
        .step_by(5)
        .collect();
    // One of every eight: a dozen clients, each wrong in its own way.
    for &bug in Bug::ALL.iter().step_by(8) {
        let reference = Reference::wrong(bug);
        let (judged, _, info) = judged(&plans, reference.clone(), true);
        is_the_same_again(&judged, &info, &reference);
    }
}

#[test]
fn a_case_that_is_not_applicable_stays_so() {
    let mut reference = Reference::conformant();
    reference.promises.ops.clear();
    let plans: Vec<_> = plans().into_iter().take(3).collect();
    let (judged, _, info) = judged(&plans, reference.clone(), true);
    assert!(judged.iter().all(|one| one.case.trial.is_none()));
    is_the_same_again(&judged, &info, &reference);
}

#[test]
fn a_run_of_frames_that_no_plan_has_is_refused() {
    let mut value = SAMPLE
        .iter()
        .find(|value| value.to_string().contains("\"frames\":{"))
        .expect("a run of frames")
        .clone();
    let exchanges = value["trial"]["log"]["exchanges"].as_array_mut();
    let run = exchanges
        .expect("exchanges")
        .iter_mut()
        .flat_map(|exchange| exchange["answer"].as_array_mut().expect("an answer"))
        .find(|sent| sent.get("frames").is_some())
        .expect("a run of frames");
    run["frames"]["to"] = json!(1_u64 << 53);
    let refused = read(&value.to_string());
    assert!(
        matches!(refused, Err(SavedError::Mistake(_))),
        "{refused:?}"
    );
}

/// A few cases of every kind, small enough to be altered by the hundred.
static SAMPLE: LazyLock<Vec<Value>> = LazyLock::new(|| {
    const MOST_BYTES: usize = 40_000;
    let plans: Vec<_> = plans().into_iter().step_by(9).collect();
    let mut texts_of_all = Vec::new();
    for reference in [Reference::conformant(), Reference::wrong(Bug::EndIsSuccess)] {
        let (judged, _, info) = judged(&plans, reference.clone(), true);
        texts_of_all.extend(texts(&judged, &info, &reference));
    }
    texts_of_all.retain(|text| text.len() <= MOST_BYTES);
    texts_of_all
        .iter()
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect()
});

/// Every value within, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The nth value within, in the order of the text.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| nth(value, n)),
        Value::Object(fields) => fields.values_mut().find_map(|value| nth(value, n)),
        _ => None,
    }
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(-1)),
        Just(json!(7.5)),
        Just(json!(i64::MAX)),
        Just(json!(u64::MAX)),
        Just(json!(u32::MAX)),
        Just(json!(1_u64 << 53)),
        any::<u64>().prop_map(|number| json!(number)),
        (0_u64..100).prop_map(|number| json!(number)),
        Just(json!("")),
        Just(json!("5xx")),
        Just(json!("é\u{0}\u{2028}[x=y]")),
        Just(json!([])),
        Just(json!({})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// An altered file is judged, or refused with a reason; nothing breaks and nothing hangs.
    #[test]
    fn whatever_is_altered_breaks_nothing(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), replacement()), 1..4),
    ) {
        let mut value = which.get(&SAMPLE).clone();
        for (at, new) in changes {
            let mut n = at.index(count(&value));
            if let Some(old) = nth(&mut value, &mut n) {
                *old = new;
            }
        }
        match read(&value.to_string()) {
            Ok(saved) => {
                let again = saved.again();
                // What it is now stays so.
                let mut settled = saved;
                settled.verdict = again.judged.case.verdict.clone();
                settled.standing = again.judged.standing;
                prop_assert_eq!(settled.again().change, None);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// A file of which the end is missing is no whole JSON.
    #[test]
    fn a_cut_file_is_refused(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
    ) {
        let text = which.get(&SAMPLE).to_string();
        let cut = text.chars().take(at.index(text.chars().count())).collect::<String>();
        prop_assert!(matches!(read(&cut), Err(SavedError::NotJson(_))), "{cut}");
    }
}
