//! JUnit XML: a suite a client, a testcase a check. Its class is the case's id, its name the requirement's.
//!
//! Known failures and what does not apply are `skipped`, with words that tell them apart; what could not be judged is an
//! `error`, never a pass (`skipped` in a case that fails for something else). Every testcase has level, seed and replaying command as properties.

use super::record::{Record, Told};
use crate::{judge::Check, report::line::CaseLine, standing::Standing};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use std::{fmt::Write as _, time::Duration};

/// The XML of these runs.
///
/// # Errors
/// If the XML can't be written, which memory always can.
pub fn report(records: &[Record]) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("createos-conformance");
    for record in records {
        report.add_test_suite(suite(record));
    }
    report.to_string()
}

fn suite(record: &Record) -> TestSuite {
    let run = &record.run;
    let mut suite = TestSuite::new(record.client());
    for (name, value) in [
        ("suite", run.suite.clone()),
        ("digest", run.digest.clone()),
        ("seed", run.seed.to_string()),
        ("strict", run.strict.to_string()),
        ("transport", run.transport.clone()),
    ] {
        suite.add_property(Property::new(name, value));
    }
    for case in &record.cases {
        for (at, check) in case.checks.iter().enumerate() {
            let mut test = TestCase::new(check.requirement.as_str(), status(record, case, check));
            // The time of a case is that of all its checks together; it is told once, so that sums are right.
            dressed(&mut test, case, if at == 0 { case.took_ms } else { 0 });
            test.add_property(Property::new("level", check.level.name()));
            suite.add_test_case(test);
        }
        if let Standing::Fixed { keys } = &case.standing {
            let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failed.set_type("known-failure-passes").set_message(format!(
                "listed as a known failure and passes: remove {} from the manifest",
                keys.join(", ")
            ));
            let mut test = TestCase::new("known failure", failed);
            dressed(&mut test, case, 0);
            suite.add_test_case(test);
        }
    }
    let missing = run.cases.saturating_sub(record.cases.len());
    if missing > 0 {
        let mut failed = TestCaseStatus::non_success(NonSuccessKind::Error);
        failed
            .set_type("not-run")
            .set_message(format!("the run ended with {missing} cases not judged"));
        suite.add_test_case(TestCase::new("whole run", failed));
    }
    suite
}

fn dressed(test: &mut TestCase, case: &CaseLine, took_ms: u64) {
    test.set_classname(case.id.as_str());
    test.set_time(Duration::from_millis(took_ms));
    test.add_property(Property::new("seed", case.seed.to_string()));
    test.add_property(Property::new("replay", case.replay.as_str()));
}

fn status(record: &Record, case: &CaseLine, check: &Check) -> TestCaseStatus {
    let skipped = |message: String| {
        let mut status = TestCaseStatus::skipped();
        status.set_message(message);
        status
    };
    match record.told(case, check) {
        Told::Passed => TestCaseStatus::success(),
        Told::Failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(check.level.name());
            status.set_message(first_words(case, check));
            status.set_description(story(case, check));
            status
        }
        Told::Known(reasons) => skipped(format!("known failure: {}", reasons.join("; "))),
        Told::Remark => skipped(format!(
            "broken, but a {} does not count: {}",
            check.level.name(),
            first_words(case, check)
        )),
        Told::NotApplicable => skipped(format!("not applicable: {}", check.reason)),
        Told::Behind(why) => skipped(format!("{why}: {}", check.reason)),
        Told::NotJudged(why) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type(why.replace(' ', "-"));
            status.set_message(format!("{why}: {}", check.reason));
            status.set_description(format!("replay: {}\n", case.replay));
            status
        }
    }
}

/// What was expected and seen first.
pub(super) fn first_words(case: &CaseLine, check: &Check) -> String {
    case.violations_of(&check.requirement).next().map_or_else(
        || check.reason.clone(),
        |first| format!("expected {}, seen {}", first.expected, first.seen),
    )
}

fn story(case: &CaseLine, check: &Check) -> String {
    let mut text = format!("{}\n", case.title);
    // Writing to a String cannot fail, here and below.
    for violation in case.violations_of(&check.requirement) {
        let _ = writeln!(
            text,
            "\nexpected: {}\n    seen: {}",
            violation.expected, violation.seen
        );
    }
    text.push('\n');
    for moment in &case.timeline {
        let words = match moment.violation.and_then(|at| case.violations.get(at)) {
            Some(wrong) if moment.parts => format!("HERE THEY PART: {}", wrong.requirement),
            Some(wrong) => format!("wrong: {}", wrong.requirement),
            None if moment.fault => format!("fault: {}", moment.words),
            None => moment.words.clone(),
        };
        let at = moment
            .at_us
            .map_or_else(|| "end".to_owned(), |us| format!("{} ms", us / 1000));
        let _ = writeln!(text, "{at:>9}  {words}");
    }
    let _ = writeln!(text, "\nreplay: {}", case.replay);
    text
}
