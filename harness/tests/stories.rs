//! The stories that maintainers of clients read most: for twenty requirements a client that breaks it, in a scenario
//! that shows it. Played in memory, where time is the same on every machine; the pictures are under
//! `snapshots/stories/`. After a change of words read the diff aloud: would you know what to change?

mod support;

use harness::{
    client::reference::{Bug, Reference},
    report::{
        story::story,
        text::{Page, columns},
    },
};

/// The page that is promised to be enough.
const WIDTH: usize = 80;
/// Lines of a story: two screens of a small terminal. Longer ones are not read.
const MOST_LINES: usize = 72;

/// Requirement, wrong client, case.
const STORIES: [(&str, &str, &str); 20] = [
    (
        "stream/resume-cursor",
        "reconnect-at-first-cursor",
        "stream/attempts-keep-their-distance",
    ),
    (
        "stream/authenticated",
        "reconnect-without-key",
        "stream/drop-and-resume[how=chunk]",
    ),
    (
        "stream/retry-transient",
        "too-many-is-final",
        "stream/rate-limited-once",
    ),
    (
        "stream/retry-budget",
        "answer-renews-budget",
        "stream/body-shorter-than-its-length",
    ),
    (
        "stream/retry-delay",
        "no-delay",
        "stream/attempts-keep-their-distance",
    ),
    (
        "stream/permanent-status",
        "permanent-is-retried",
        "stream/frames-under-an-error-status[status=404]",
    ),
    (
        "stream/drop-is-not-the-end",
        "end-is-success",
        "stream/close-delimited-and-cut",
    ),
    (
        "stream/exit-ends-it",
        "waits-for-end",
        "stream/heartbeats-after-the-exit",
    ),
    (
        "frames/any-segmentation",
        "read-is-a-frame",
        "frames/any-cut[segments=frame,chunks=one]",
    ),
    (
        "frames/invalid",
        "malformed-line-skipped",
        "frames/broken-line-after-every-kind-of-drop[how=chunk]",
    ),
    ("frames/long-line", "lines-unlimited", "frames/endless-line"),
    (
        "sequence/gap",
        "no-gap-check-at-start",
        "sequence/gap-after-a-reconnect",
    ),
    (
        "sequence/duplicate",
        "no-duplicate-check",
        "stream/duplicates-do-not-renew-the-budget",
    ),
    ("data/exact", "bytes-as-text", "data/every-byte"),
    (
        "exit/missing",
        "missing-status-is-zero",
        "exit/malformed-signal[signal=empty]",
    ),
    (
        "create/once",
        "create-repeated",
        "create/answered-with-a-server-error[status=500]",
    ),
    (
        "cleanup/on-every-failure",
        "no-cleanup-after-gap",
        "cleanup/after-a-broken-stream[line=gap]",
    ),
    (
        "time/deadline",
        "heartbeat-postpones-deadline",
        "time/heartbeats-past-the-deadline",
    ),
    (
        "secrets/key",
        "error-quotes-key",
        "secrets/bad-line-not-quoted",
    ),
    (
        "raw/truncation-visible",
        "raw-break-is-an-end",
        "raw/body-shorter-than-its-length",
    ),
];

#[test]
fn the_twenty_stories_that_matter_most() {
    let plans = support::plans();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/stories");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (requirement, wrong, id) in STORIES {
        let bug = Bug::from_name(wrong).unwrap_or_else(|| panic!("no bug is named {wrong}"));
        let plan = plans.iter().find(|plan| plan.id == id);
        let plan = plan.unwrap_or_else(|| panic!("no case is named {id}"));
        let (judged, _, mut info) =
            support::judged(std::slice::from_ref(plan), Reference::wrong(bug), true);
        info.replay_arguments = ["--client", "client.toml"].map(str::to_owned).to_vec();
        let [judged] = judged.as_slice() else {
            panic!("{id} is one case");
        };
        let violations = &judged.case.verdict.violations;
        assert!(
            violations.iter().any(|one| one.requirement == requirement),
            "{wrong} does not break {requirement} in {id}: {violations:?}"
        );
        let text = story(judged, &[], &info, &Page::new(WIDTH, false), false);
        for line in text.lines() {
            assert!(columns(line) <= WIDTH, "{id}: too wide: {line}");
        }
        assert!(
            text.lines().count() <= MOST_LINES,
            "{id} is too long: {text}"
        );
        let name = requirement.replace('/', "-");
        settings.bind(|| insta::assert_snapshot!(name, text));
    }
}
