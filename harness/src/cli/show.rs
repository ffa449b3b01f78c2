//! `show`: a scenario, a requirement or an area, explained.

use super::{Failure, args::ShowArgs, files, output, output::say};
use crate::{
    client::reference::Reference,
    contract::{self, Requirement},
    exit::Exit,
    report::text::{Page, count, pad, paint, wrap},
    select::suggest,
    suite::{Entry, Suite},
};
use anstyle::Style;

/// Columns of the labels.
const LABEL: usize = 16;

pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let suite = files::load(args.source.scenarios.as_deref(), &[])?;
    let id = args.id.trim_end_matches('/');
    let page = output::page();
    let text = if let Some(entry) = suite.get(id.split('[').next().unwrap_or(id)) {
        scenario(entry, &page)
    } else if let Some(requirement) = contract::requirement(id) {
        one_requirement(requirement, &suite, &page)
    } else if let Some(known) = contract::AREAS.iter().find(|area| area.name == id) {
        area(known, &suite, &page)
    } else {
        return Err(unknown(id, &suite));
    };
    say(&text);
    Ok(Exit::AsExpected)
}

fn unknown(id: &str, suite: &Suite) -> Failure {
    let mut ids: Vec<&str> = suite.iter().map(|entry| entry.source.id.as_str()).collect();
    ids.extend(contract::registry().iter().map(|known| known.id));
    let close = suggest(id, &ids);
    let hint = close.first().map_or_else(
        || "`list` shows all scenarios".to_owned(),
        |best| format!("did you mean `{best}`?"),
    );
    Failure::usage(format!(
        "`{id}` is no scenario, no requirement and no area ({hint})"
    ))
}

fn labelled(out: &mut String, page: &Page, label: &str, text: &str, style: Style) {
    for (at, line) in wrap(text, page.width - LABEL).iter().enumerate() {
        let label = if at == 0 { label } else { "" };
        let label = paint(page.palette.dim, &pad(label, LABEL));
        out.push_str(format!("{label}{}", paint(style, line)).trim_end());
        out.push('\n');
    }
}

fn scenario(entry: &Entry, page: &Page) -> String {
    let palette = page.palette;
    let scenario = &entry.scenario;
    let mut out = format!(
        "{}\n",
        paint(palette.bold, &format!("scenario {}", entry.source.id))
    );
    labelled(&mut out, page, "", scenario.title(), palette.bold);
    let why = scenario
        .why()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if !why.is_empty() {
        labelled(&mut out, page, "why", &why, Style::new());
    }
    labelled(&mut out, page, "op", scenario.op().name(), Style::new());
    let mut label = "asks";
    for id in scenario.requirements() {
        if let Some(requirement) = contract::requirement(id) {
            let head = format!("{id} ({})", requirement.level.name());
            labelled(&mut out, page, label, &head, palette.client);
            labelled(&mut out, page, "", requirement.sentence, Style::new());
            label = "";
        }
    }
    let mut label = "fault kinds";
    for id in scenario.fault_kinds() {
        let name = fake_server::script::fault_kinds::find(id).map_or("", |kind| kind.name);
        labelled(&mut out, page, label, &format!("{id} {name}"), Style::new());
        label = "";
    }
    let promises = Reference::conformant().promises;
    let plans = scenario.plans(1);
    if plans.len() > 1 {
        let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
        labelled(&mut out, page, "cases", &ids.join("\n"), Style::new());
    }
    if let Some(plan) = plans.first() {
        let expected = contract::oracle::expected(plan, &promises);
        let mut label = "a right client";
        for step in &expected.steps {
            labelled(&mut out, page, label, step, palette.good);
            label = "";
        }
    }
    labelled(
        &mut out,
        page,
        "run it",
        &format!("createos-conformance run {}", entry.source.id),
        palette.bold,
    );
    out.push_str(&format!(
        "\n{}\n{}",
        paint(palette.dim, &format!("── {}", entry.source.file)),
        entry.source.text
    ));
    out
}

fn one_requirement(requirement: &Requirement, suite: &Suite, page: &Page) -> String {
    let mut out = format!(
        "{}\n",
        paint(
            page.palette.bold,
            &format!("requirement {}", requirement.id)
        )
    );
    labelled(
        &mut out,
        page,
        "level",
        requirement.level.name(),
        Style::new(),
    );
    labelled(
        &mut out,
        page,
        "asks",
        requirement.sentence,
        page.palette.bold,
    );
    labelled(&mut out, page, "because", requirement.source, Style::new());
    labelled(&mut out, page, "since", requirement.since, Style::new());
    let mut label = "scenarios";
    for entry in asked_by(requirement.id, suite) {
        let line = format!("{}\n  {}", entry.source.id, entry.scenario.title());
        labelled(&mut out, page, label, &line, Style::new());
        label = "";
    }
    if label == "scenarios" {
        labelled(&mut out, page, label, "none names it", page.palette.warn);
    }
    out
}

fn asked_by<'a>(id: &'a str, suite: &'a Suite) -> impl Iterator<Item = &'a Entry> {
    suite.iter().filter(move |entry| {
        entry
            .scenario
            .requirements()
            .iter()
            .any(|asked| asked == id)
    })
}

fn area(area: &contract::Area, suite: &Suite, page: &Page) -> String {
    let mut out = format!(
        "{}\n\n",
        paint(
            page.palette.bold,
            &format!("area {}: {}", area.name, area.title)
        )
    );
    for requirement in contract::registry() {
        if contract::area_of(requirement.id) == area.name {
            let scenarios = count(
                asked_by(requirement.id, suite).count(),
                "scenario",
                "scenarios",
            );
            out.push_str(&format!(
                "{}{}\n",
                paint(page.palette.client, requirement.id),
                paint(
                    page.palette.dim,
                    &format!(" ({}, {scenarios})", requirement.level.name())
                )
            ));
            for line in wrap(requirement.sentence, page.width - 4) {
                out.push_str(&format!("    {line}\n"));
            }
        }
    }
    out
}
