//! The bands above the lanes: phases, steps, findings and the critical path are those of the queries that explain them.

use super::{example, list, number, page, rows};
use crate::support::{Fixtures, project, shared};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The example and, where they are, two real captures: one with steps, one without.
fn reports() -> Vec<PathBuf> {
    let mut reports = vec![project("fixtures/example.sqlite")];
    if let Some(shared) = shared() {
        for name in ["h100_2gpu_1s.sqlite", "rtx3090x2_ddp_nccl_2026.3.sqlite"] {
            reports.push(shared.join("data/exports").join(name));
        }
    }
    reports
}

fn array(data: &Value, key: &str) -> Vec<Value> {
    data[key].as_array().unwrap().clone()
}

/// Sums of the lists of a band, by GPU and the text at the position that another list has.
fn summed(band: &Value, positions: &str, texts: &[Value]) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for (dur, at) in list(band, "durs").into_iter().zip(list(band, positions)) {
        let text = usize::try_from(at).map_or("", |at| texts[at].as_str().unwrap_or_default());
        *sums.entry(text.to_owned()).or_default() += dur;
    }
    sums
}

#[test]
fn the_critical_path_is_that_of_the_query() {
    for report in reports() {
        let (_, data) = page(&report, &["-p", "parts=1000000"]);
        let asked = rows(report.to_str().unwrap(), "critical_path", &["-p", "limit=-1"]);
        let paths = array(&data, "path");
        assert!(!paths.is_empty(), "{}", report.display());
        for path in paths {
            let gpu = number(&path, "gpu");
            let mut names: BTreeMap<String, i64> = BTreeMap::new();
            let mut parts: BTreeMap<String, i64> = BTreeMap::new();
            for row in asked.iter().filter(|row| number(row, "gpu_id") == gpu) {
                let (name, part) =
                    (row["name"].as_str().unwrap_or_default(), row["part"].as_str().unwrap());
                *names.entry(name.to_owned()).or_default() += number(row, "dur_ns");
                *parts.entry(part.to_owned()).or_default() += number(row, "dur_ns");
            }
            assert_eq!(summed(&path, "namesOf", path["nameTexts"].as_array().unwrap()), names, "{gpu}");
            let kinds: Vec<Value> = serde_json::from_str(path["kindTexts"].as_str().unwrap()).unwrap();
            assert_eq!(summed(&path, "kindsOf", &kinds), parts, "{gpu}");
            assert_eq!(number(&path, "path"), parts.values().sum::<i64>(), "{gpu}");
            let sums: Vec<i64> = list(&path, "kindSums");
            assert_eq!(sums.iter().sum::<i64>(), number(&path, "path"), "{gpu}");
        }
    }
}

#[test]
fn findings_are_those_of_the_overview() {
    for report in reports() {
        let path = report.to_str().unwrap();
        let has_steps = rows(path, "steps", &[]).iter().any(|row| row["part"] == "median");
        let options: &[&str] = if has_steps { &["--steady"] } else { &[] };
        let mut wanted: BTreeMap<(i64, i64), (i64, i64)> = BTreeMap::new();
        for row in rows(path, "finding_intervals", options) {
            let found: Value = match &row["intervals"] {
                Value::String(text) => serde_json::from_str(text).unwrap(),
                value => value.clone(),
            };
            for interval in found[2].as_array().unwrap() {
                let key = (number(&row, "rank"), interval[0].as_i64().unwrap());
                let sums = wanted.entry(key).or_default();
                *sums =
                    (sums.0 + 1, sums.1 + interval[2].as_i64().unwrap() - interval[1].as_i64().unwrap());
            }
        }
        let (_, data) = page(&report, &["-p", "places=1000000"]);
        let mut found = BTreeMap::new();
        for band in array(&data, "findings") {
            let sums = (number(&band, "count"), list(&band, "durs").iter().sum::<i64>());
            found.insert((number(&band, "rank"), number(&band, "gpu")), sums);
            // Strips, which show what the lists leave out, are where the places are.
            let pieces: BTreeMap<i64, i64> =
                list(&band, "pieces").chunks(2).map(|piece| (piece[0], piece[1])).collect();
            let (from, length) = (number(&band, "from"), number(&band, "piece"));
            let last = number(&data, "pieces") - 1;
            let mut start = 0;
            for (step, dur) in list(&band, "starts").into_iter().zip(list(&band, "durs")) {
                start += step;
                let piece = ((start - from) / length).min(last);
                assert!(dur == 0 || pieces.contains_key(&piece), "{path}: {start} in {piece}");
            }
        }
        assert_eq!(found, wanted, "{path}");
        // Without findings and the critical path, the rest of the page is the same.
        let (_, without) = page(&report, &["-p", "bands=false"]);
        assert_eq!(without["findings"], Value::Array(Vec::new()), "{path}");
        assert_eq!(without["lanes"], data["lanes"], "{path}");
    }
}

#[test]
fn phases_and_steps_are_in_the_page() {
    let (_, data) = page(&project("fixtures/example.sqlite"), &[]);
    for (key, query) in [("phases", "capture_phases"), ("steps", "steps")] {
        let of_page: Vec<(i64, i64, i64)> = array(&data, key)
            .iter()
            .map(|row| (number(row, "gpu"), number(row, "start"), number(row, "dur")))
            .collect();
        let asked: Vec<(i64, i64, i64)> = rows(&example(), query, &[])
            .iter()
            .map(|row| (number(row, "gpu_id"), number(row, "start_ns"), number(row, "dur_ns")))
            .collect();
        assert!(!asked.is_empty(), "{key}");
        assert_eq!(of_page, asked, "{key}");
    }
}

fn metrics(report: &Path) -> Vec<Value> {
    // The window of the fixture is shorter than a thousand nanoseconds.
    let (_, data) = page(report, &["-p", "pieces=10"]);
    array(&data, "metrics")
}

#[test]
fn hardware_metrics_have_lanes() {
    let fixtures = Fixtures::new();
    for trace in ["gpu_metrics", "metrics_only"] {
        let report = fixtures.trace(trace);
        let asked = rows(report.to_str().unwrap(), "gpu_metric_map", &["-p", "pieces=10"]);
        let (queues, lanes): (Vec<Value>, Vec<Value>) =
            metrics(&report).into_iter().partition(|lane| lane["name"] == "Launches in the queue");
        assert!(!lanes.is_empty(), "{trace}");
        assert_eq!(queues.is_empty(), trace == "metrics_only", "{trace}: {queues:?}");
        for lane in lanes {
            let means: Vec<Value> = serde_json::from_str(lane["means"].as_str().unwrap()).unwrap();
            let own =
                asked.iter().filter(|row| row["gpu_id"] == lane["gpu"] && row["metric"] == lane["name"]);
            let wanted: Vec<Option<f64>> = own.map(|row| row["mean"].as_f64()).collect();
            assert_eq!(means.len(), wanted.len(), "{trace}: {lane}");
            for (mean, wanted) in means.iter().zip(wanted) {
                match (mean.as_f64(), wanted) {
                    (Some(mean), Some(wanted)) => {
                        assert!((mean - wanted).abs() <= 0.5, "{trace}: {lane}: {mean} {wanted}");
                    }
                    (mean, wanted) => assert_eq!(mean, wanted, "{trace}: {lane}"),
                }
            }
        }
    }
}
