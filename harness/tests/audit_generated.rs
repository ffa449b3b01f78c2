//! `audit --generated`, as far as a test has time for: a few wrong clients that are caught soon, one that no generated
//! case can show, and the words.

use harness::{
    audit::generated::{Fate, Options, generated},
    client::reference::Bug,
    generate::Profile,
    report::{
        generated::{Rows, ending},
        text::Page,
    },
};

fn options(jobs: usize) -> Options {
    Options {
        jobs,
        seed: 1,
        cases: 120,
        profile: Profile::Quick,
    }
}

const BUGS: &[Bug] = &[
    Bug::EndIsSuccess,
    Bug::NoDuplicateCheck,
    Bug::LinesUnlimited,
    Bug::PathUnescaped,
    Bug::GoneByText,
];

#[tokio::test(flavor = "multi_thread")]
async fn wrong_clients_are_caught_by_cases_that_nobody_wrote() {
    let mut rows = Rows::default();
    let page = Page::new(80, false);
    let mut told = String::new();
    let all = generated(BUGS, &options(2), |one| told += &rows.row(one, &page)).await;
    told += &ending(&all, &page);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("audit-generated", told));
    // One at a time finds the same: which case is told does not depend on what ends first.
    let again = generated(BUGS, &options(1), |_| {}).await;
    assert_eq!(all, again);
    assert_eq!(all.count(Fate::Caught), 3);
    assert!(
        !all.is_sound(),
        "one of four survives 120 cases: 75 % are not enough"
    );
}
