//! Events and what is made of them: the schema, reading them back, and every report.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the files it is about"
)]

mod support;

use harness::{
    client::reference::{Bug, Reference},
    report::{
        github, html,
        json::{case_line, revised_line, run_line, summary_line},
        junit,
        line::schema,
        markdown,
        record::{Record, RecordError, read},
    },
    standing::Standing,
};
use serde_json::{Value, json};
use std::path::Path;
use support::{info, judged, plans};

fn schema_file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/events.schema.json")
}

/// The lines of a run over the scenarios with these beginnings, in memory.
fn lines(reference: Reference, beginnings: &[&str], whole: bool) -> Vec<String> {
    let mut chosen = plans();
    chosen.retain(|plan| beginnings.iter().any(|one| plan.id.starts_with(one)));
    assert!(!chosen.is_empty());
    let (judged, summary, info) = judged(&chosen, reference, true);
    let mut lines = vec![run_line(&info)];
    for (index, one) in judged.iter().enumerate() {
        lines.push(case_line(one, Some(index), &info, whole));
    }
    // Time on a wall is another each time.
    let mut summary = summary;
    summary.took_ms = 1_234;
    lines.push(summary_line(&summary));
    lines
}

/// Few, so that scenarios can be added without a change of these snapshots.
const BEGINNINGS: &[&str] = &[
    "stream/drop-and-resume[",
    "exit/no-status-after-every-kind-of-drop[",
];

fn wrong() -> Vec<String> {
    lines(Reference::wrong(Bug::EndIsSuccess), BEGINNINGS, false)
}

fn record(lines: &[String]) -> Record {
    let mut records = read(&lines.join("\n")).expect("events");
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// A record with every way in which a case can stand, and hostile words in it.
fn every_standing() -> Record {
    let mut record = record(&wrong());
    record
        .cases
        .sort_by_key(|case| case.standing != Standing::Failed);
    record.cases.truncate(6);
    record.run.cases = 7;
    record.run.client.name = HOSTILE.to_owned();
    record.run.replay_arguments = vec!["--client".to_owned(), "a,b:c%/client.toml".to_owned()];
    let broken = record.cases[0].clone();
    assert_eq!(broken.standing, Standing::Failed);
    record.cases[0].title = HOSTILE.to_owned();
    record.cases[1] = broken.clone();
    record.cases[1].id = "a/known".to_owned();
    record.cases[1].standing = Standing::KnownFailure {
        reasons: vec![format!("see 17 {HOSTILE}")],
    };
    record.cases[2]
        .checks
        .retain(|check| check.reason.is_empty());
    record.cases[2].standing = Standing::Fixed {
        keys: vec!["exit/*".to_owned()],
    };
    record.cases[3] = broken.clone();
    record.cases[3].id = "a/not-exercised".to_owned();
    record.cases[3].standing = Standing::NotExercised;
    for check in &mut record.cases[3].checks {
        check.status = harness::judge::CheckStatus::NotExercised;
        check.reason = "the reset was not acknowledged".to_owned();
    }
    record.cases[4] = broken;
    record.cases[4].id = "a/not-applicable".to_owned();
    record.cases[4].standing = Standing::NotApplicable;
    record.cases[4].violations.clear();
    for check in &mut record.cases[4].checks {
        check.status = harness::judge::CheckStatus::NotApplicable;
        check.reason = "the client does not claim live-output".to_owned();
    }
    record
}

/// What ends a script, a comment, a cell, a code block, an annotation or a property elsewhere.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)> <!-- {{data}} ]]> | `x` ```\r\n::error::, 50% \u{1b}[31m\u{0}\u{2028} & \"q\"";

#[test]
fn the_schema_that_is_committed_is_that_of_the_lines() {
    let text = format!("{:#}\n", schema().to_value());
    if std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always") {
        std::fs::write(schema_file(), &text).expect("written");
    }
    let committed = std::fs::read_to_string(schema_file()).expect("docs/events.schema.json");
    assert!(
        committed == text,
        "docs/events.schema.json is stale: INSTA_UPDATE=always cargo test -p createos-conformance --test events writes it"
    );
}

#[test]
fn every_line_is_as_the_schema_says() {
    let schema = schema().to_value();
    let everything = lines(Reference::conformant(), &[""], false);
    assert!(everything.len() > 500);
    let mut all = everything;
    all.extend(lines(
        Reference::wrong(Bug::EndIsSuccess),
        &["stream/"],
        true,
    ));
    for line in &all {
        let value: Value = serde_json::from_str(line).expect("JSON");
        if let Err(why) = valid(&value, &schema, &schema) {
            panic!("{why}\n{line}");
        }
    }
    // The check can fail.
    let mut broken: Value = serde_json::from_str(&all[1]).expect("JSON");
    broken["checks"][0]["status"] = json!("fine");
    assert!(valid(&broken, &schema, &schema).is_err());
    let mut broken: Value = serde_json::from_str(&all[1]).expect("JSON");
    broken.as_object_mut().expect("a line").remove("replay");
    assert!(valid(&broken, &schema, &schema).is_err());
}

/// As much of JSON Schema as ours uses; a keyword that is not known here fails.
fn valid(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let Value::Object(rules) = schema else {
        return if schema == &json!(false) {
            Err(format!("nothing may be here: {value}"))
        } else {
            Ok(())
        };
    };
    let each = |schemas: &Value| -> Vec<Result<(), String>> {
        let schemas = schemas.as_array().expect("schemas");
        schemas.iter().map(|one| valid(value, one, root)).collect()
    };
    for (keyword, rule) in rules {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "default" => true,
            "$ref" => {
                let pointer = rule.as_str().expect("a path").trim_start_matches('#');
                valid(value, root.pointer(pointer).expect("a definition"), root)?;
                true
            }
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("type {other}"),
                };
                rule.as_array()
                    .map_or_else(|| is(rule), |names| names.iter().any(is))
            }
            "format" => rule.as_str().is_some_and(|name| name.starts_with("uint")),
            "minimum" => value.as_u64() >= rule.as_u64(),
            "maximum" => value.as_u64() <= rule.as_u64(),
            "const" => value == rule,
            "enum" => rule.as_array().expect("values").contains(value),
            "required" => rule
                .as_array()
                .expect("names")
                .iter()
                .all(|name| value.get(name.as_str().expect("a name")).is_some()),
            "properties" => {
                for (name, inner) in rule.as_object().expect("members") {
                    if let Some(member) = value.get(name) {
                        valid(member, inner, root).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = rules.get("properties").and_then(Value::as_object);
                rule != &json!(false)
                    || value.as_object().is_some_and(|members| {
                        members
                            .keys()
                            .all(|name| known.is_some_and(|known| known.contains_key(name)))
                    })
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    valid(item, rule, root)?;
                }
                true
            }
            "prefixItems" => {
                let items = value.as_array().cloned().unwrap_or_default();
                for (item, inner) in items.iter().zip(rule.as_array().expect("schemas")) {
                    valid(item, inner, root)?;
                }
                true
            }
            "minItems" => value.as_array().map(Vec::len) >= rule.as_u64().map(|n| n as usize),
            "maxItems" => value.as_array().map(Vec::len) <= rule.as_u64().map(|n| n as usize),
            "allOf" => {
                each(rule)
                    .into_iter()
                    .collect::<Result<Vec<()>, String>>()?;
                true
            }
            "anyOf" => each(rule).iter().any(Result::is_ok),
            "oneOf" => {
                let results = each(rule);
                if results.iter().all(Result::is_err) {
                    return Err(results
                        .into_iter()
                        .filter_map(Result::err)
                        .collect::<Vec<_>>()
                        .join(" / "));
                }
                results.iter().filter(|one| one.is_ok()).count() == 1
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        };
        if !holds {
            return Err(format!("{keyword}: {rule} does not hold of {value}"));
        }
    }
    Ok(())
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let lines = wrong();
    let record = record(&lines);
    assert_eq!(record.cases.len(), lines.len() - 2);
    assert_eq!(record.cases.len(), record.run.cases);
    assert!(record.summary.is_some());
    let parts = |case: &harness::report::line::CaseLine| {
        case.timeline.iter().filter(|moment| moment.parts).count()
    };
    let failed = record
        .cases
        .iter()
        .filter(|case| case.standing == Standing::Failed);
    // Each failure says once where client and contract part, and what a right client does.
    let told: Vec<(usize, bool)> = failed
        .map(|case| (parts(case), case.expected.is_empty()))
        .collect();
    assert!(!told.is_empty());
    assert!(told.iter().all(|one| *one == (1, false)), "{told:?}");
    let dropped = &record
        .cases
        .iter()
        .find(|case| case.id.starts_with("stream/drop-and-resume"));
    let timeline = &dropped.expect("a case").timeline;
    assert!(
        timeline
            .iter()
            .any(|moment| moment.fault && moment.exchange.is_some())
    );
}

#[test]
fn a_revised_case_counts_instead_of_the_first() {
    let mut chosen = plans();
    chosen.retain(|plan| plan.id.starts_with("stream/healthy-follow"));
    let (judged, summary, info) = judged(&chosen, Reference::conformant(), true);
    let mut again = judged[0].clone();
    again.standing = Standing::Failed;
    let text = [
        run_line(&info),
        case_line(&judged[0], Some(0), &info, false),
        revised_line(&again, Some(0), &info, false),
        summary_line(&summary),
    ]
    .join("\n");
    let records = read(&text).expect("events");
    assert_eq!(records[0].cases.len(), 1);
    assert_eq!(records[0].cases[0].standing, Standing::Failed);
}

#[test]
fn what_is_no_event_file_is_told() {
    let lines = wrong();
    assert_eq!(read("").unwrap_err(), RecordError::Empty);
    assert_eq!(read(&lines[1]).unwrap_err(), RecordError::NoRun { line: 1 });
    let newer = lines[0].replace("\"version\":1", "\"version\":2");
    assert_eq!(
        read(&newer).unwrap_err(),
        RecordError::Version {
            line: 1,
            version: 2
        }
    );
    let cut = format!("{}\n{}", lines[0], &lines[1][..lines[1].len() / 2]);
    assert!(matches!(
        read(&cut).unwrap_err(),
        RecordError::Line { line: 2, .. }
    ));
    // A run that was killed is one that is not judged to the end.
    let killed = record(&lines[..2]);
    assert!(killed.summary.is_none());
    assert!(killed.open() > 0);
}

#[test]
fn the_reports_of_every_standing() {
    let records = [every_standing()];
    let settings = support_settings();
    settings.bind(|| {
        insta::assert_snapshot!("junit", junit::report(&records).expect("XML"));
        insta::assert_snapshot!("markdown", markdown::report(&records));
        insta::assert_snapshot!("github", github::report(&records));
    });
}

#[test]
fn two_clients_side_by_side() {
    let records = [
        record(&lines(Reference::conformant(), BEGINNINGS, false)),
        record(&wrong()),
    ];
    support_settings().bind(|| {
        insta::assert_snapshot!("markdown-of-two", markdown::report(&records));
    });
    assert_eq!(
        records[0].verdict(),
        format!("conforms. Of {} cases none failed", records[0].cases.len())
    );
    let page = html::report(&records);
    assert!(
        page.contains("end-is-success does not conform"),
        "the first line says it"
    );
}

fn support_settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn hostile_words_stay_words() {
    let records = [every_standing()];
    let page = html::report(&records);
    // Of the page's own: one block of data, one script.
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    assert!(!page.contains("<!-- {{"));
    let (_, data) = page.split_once("id=\"data\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["runs"][0]["cases"][0]["title"], json!(HOSTILE));

    let lines = github::report(&records);
    assert!(lines.lines().all(|line| {
        ["::error ", "::warning ", "::notice "]
            .iter()
            .any(|begin| line.starts_with(begin))
    }));
    assert!(lines.contains("file=a%2Cb%3Ac%25/client.toml,"));

    let text = markdown::report(&records);
    assert!(!text.contains("<img") && !text.contains("</script"));

    let xml = junit::report(&records).expect("XML");
    assert!(!xml.contains("<img") && !xml.contains('\u{1b}') && !xml.contains('\u{0}'));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = html::report(&[record(&wrong())]);
    let own = page.split("id=\"data\">").next().expect("the head");
    for elsewhere in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!own.contains(elsewhere), "{elsewhere}");
    }
    assert!(!page.contains("innerHTML"), "the script writes text only");
}

#[test]
fn secrets_stand_in_no_line() {
    let reference = Reference::conformant();
    let _ = info(&reference, 0, true);
    let text = lines(reference, &["secrets/"], true).join("\n");
    let plain = read(&text).expect("events");
    for case in &plain[0].cases {
        let names = case.log.as_ref().map(|log| &log["names"]);
        if let Some(names) = names {
            assert_eq!(names["api_key"], json!("{api-key}"), "{}", case.id);
        }
    }
}
