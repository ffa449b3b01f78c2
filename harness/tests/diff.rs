//! Two runs, compared.

mod support;

use harness::{
    client::reference::{Bug, Reference},
    report::{
        diff::{diff, report},
        json::{case_line, run_line, summary_line},
        record::{Record, read},
    },
};

fn record(reference: Reference) -> Record {
    let mut chosen = support::plans();
    chosen.retain(|plan| {
        plan.id
            .starts_with("exit/no-status-after-every-kind-of-drop[")
    });
    assert!(chosen.len() > 2);
    let (judged, summary, info) = support::judged(&chosen, reference, true);
    let mut lines = vec![run_line(&info)];
    for (index, one) in judged.iter().enumerate() {
        lines.push(case_line(one, Some(index), &info, false));
    }
    lines.push(summary_line(&summary));
    read(&lines.join("\n")).expect("events").remove(0)
}

#[test]
fn a_run_is_the_same_as_itself() {
    let run = record(Reference::conformant());
    let same = diff(&run, &run);
    assert!(same.is_empty());
    assert_eq!(same.same, run.cases.len());
}

#[test]
fn what_changed_is_told_side_by_side() {
    let before = record(Reference::conformant());
    let mut after = record(Reference::wrong(Bug::EndIsSuccess));
    after.run.seed = 2;
    let gone = after.cases.pop().expect("a case");
    let mut new = after.cases[0].clone();
    new.id = "exit/new".to_owned();
    after.cases.push(new);
    let changes = diff(&before, &after);
    assert!(!changes.changed.is_empty());
    assert_eq!(changes.gone[0].id, gone.id);
    assert_eq!(changes.new[0].id, "exit/new");
    let told = report(&before, &after, &changes, 100);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("diff", told));
}
