//! The JSON Schemas that `nsq show NAME --json-schema` prints, against what `--format json` prints.

use crate::support::{Fixtures, outcome, project, queries, shared, shared_exports, stdout, traces};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The schema of the overview, as a program would fetch it.
const OVERVIEW: &str = "queries/pages/overview/output.schema.json";

/// A schema, and what is wrong with an output.
struct Schema(Value);

impl Schema {
    fn of(name: &str) -> Self {
        Self(serde_json::from_str(&stdout(&["show", name, "--json-schema"])).unwrap())
    }

    fn fault(&self, output: &Value) -> Option<String> {
        fault(&self.0, output, "")
    }
}

/// The first fault of a value at a place, by the keywords that nsq uses. Another keyword is a panic: a
/// library for all of them would be forty crates.
fn fault(schema: &Value, value: &Value, place: &str) -> Option<String> {
    let is_of = |kind: &Value| match kind.as_str().unwrap() {
        "array" => value.is_array(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    let fails = |keyword: &str, rule: &Value| match keyword {
        "$schema" | "$id" | "title" | "description" | "unit" => None,
        "const" => (value != rule).then(|| format!("{place}: not {rule}")),
        "type" => {
            let kinds = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
            (!kinds.iter().any(is_of)).then(|| format!("{place}: {value} is no {rule}"))
        }
        "required" => {
            let mut names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            let missing = names.find(|name| value.get(name).is_none())?;
            Some(format!("{place}: no {missing}"))
        }
        "properties" => rule
            .as_object()
            .unwrap()
            .iter()
            .find_map(|(name, rule)| fault(rule, value.get(name)?, &format!("{place}/{name}"))),
        "additionalProperties" => {
            let known = &schema["properties"];
            let other = value.as_object()?.keys().find(|name| known.get(name).is_none())?;
            (rule == false).then(|| format!("{place}: unknown {other}"))
        }
        "items" => value
            .as_array()?
            .iter()
            .enumerate()
            .find_map(|(index, item)| fault(rule, item, &format!("{place}/{index}"))),
        "anyOf" => {
            let faults: Option<Vec<String>> =
                rule.as_array().unwrap().iter().map(|rule| fault(rule, value, place)).collect();
            faults.map(|faults| faults.join(" and "))
        }
        other => panic!("unknown keyword {other}"),
    };
    schema.as_object().unwrap().iter().find_map(|(keyword, rule)| fails(keyword, rule))
}

/// The JSON that a command prints, if the report has the data.
fn json(arguments: &[&str]) -> Option<Value> {
    let (code, out, error) = outcome(&[arguments, &["--format", "json"]].concat());
    match code {
        0 => Some(serde_json::from_str(&out).unwrap()),
        3 => None,
        _ => panic!("{arguments:?}: {code} {error}"),
    }
}

#[test]
fn the_output_of_every_query_fits_its_schema() {
    let fixtures = Fixtures::new();
    let reports: Vec<PathBuf> =
        ["training_steps", "slow_host", "unified_memory"].map(|trace| fixtures.trace(trace)).into();
    let mut answers = 0;
    let queries = queries();
    let schemas: BTreeMap<&str, Schema> =
        queries.iter().map(|query| (query.as_str(), Schema::of(query))).collect();
    for report in &reports {
        let mut words = vec!["run", report.to_str().unwrap()];
        words.extend(queries.iter().flat_map(|query| ["--query", query]));
        // Several answers are an array of the documents that each query prints alone.
        words.extend(["--format", "json"]);
        let (code, out, error) = outcome(&words);
        assert!(code == 0 || code == 3, "{}: {error}", report.display());
        for output in &serde_json::from_str::<Vec<Value>>(&out).unwrap() {
            let query = output["query"].as_str().unwrap();
            assert_eq!(schemas[query].fault(output), None, "{query} {}", report.display());
            answers += 1;
        }
    }
    assert!(answers > 100, "{answers} answers");
}

#[test]
fn the_output_of_the_overview_fits_its_schema_on_every_report() {
    let schema = Schema::of("overview");
    let fixtures = Fixtures::new();
    let mut reports: Vec<PathBuf> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.extend(shared_exports());
    for report in &reports {
        let output = json(&["overview", report.to_str().unwrap()]).unwrap();
        assert!(output.is_array(), "{}", report.display());
        assert_eq!(schema.fault(&output), None, "{}", report.display());
    }
    let [one, other] = [&reports[0], &reports[1]].map(|path| path.to_str().unwrap());
    let two = json(&["overview", one, other]).unwrap();
    assert_eq!(schema.fault(&two), None);
    if shared().is_none() {
        eprintln!("skipped the real exports: there is no ../shared");
    }
}

#[test]
fn a_wrong_output_does_not_fit() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("slow_host");
    let schema = Schema::of("overview");
    let right = json(&["overview", report.to_str().unwrap()]).unwrap();
    let wrongs: [(&str, Value); 4] = [
        ("/0/query", "other".into()),
        ("/0/page_version", 0.into()),
        ("/0/rows/0/window_ns", "long".into()),
        ("/0/rows/0", serde_json::json!({})),
    ];
    for (place, value) in wrongs {
        let mut wrong = right.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        assert!(schema.fault(&wrong).is_some(), "{place}");
    }
}

#[test]
fn the_checked_in_schema_is_that_of_this_version() {
    let path = project(OVERVIEW);
    let now = stdout(&["show", "overview", "--json-schema"]);
    if std::env::var_os("NSQ_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let known = std::fs::read_to_string(Path::new(&path)).unwrap();
    assert_eq!(known, now, "NSQ_BLESS=1 cargo test --test suite json_schema writes it anew");
}

#[test]
fn what_has_no_schema_is_an_error() {
    for name in ["cs336", "kernel", "nothing_of_this_name"] {
        let (code, out, error) = outcome(&["show", name, "--json-schema"]);
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {error}");
    }
}
