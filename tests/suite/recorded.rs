//! Captures of an H100 in `fixtures/recorded` that are no training of one process: two processes on one GPU, a JAX program
//! whose steps are CUDA graphs, and two steps with GPU metrics. The programs measured their steps with a clock of their own.

use crate::support::{project, stdout};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;

/// A capture, unpacked.
struct Recorded {
    report: String,
    _folder: tempfile::TempDir,
}

impl Recorded {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join(format!("{name}.sqlite"));
        let packed = File::open(project(&format!("fixtures/recorded/{name}.sqlite.gz"))).unwrap();
        std::io::copy(&mut GzDecoder::new(packed), &mut File::create(&report).unwrap()).unwrap();
        Self { report: report.display().to_string(), _folder: folder }
    }

    fn rows(&self, query: &str) -> Vec<Value> {
        let answer = stdout(&["run", &self.report, "-q", query, "-f", "json"]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["rows"].as_array().unwrap().clone()
    }
}

fn truth(name: &str) -> Value {
    let path = project(&format!("fixtures/recorded/{name}.truth.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

/// Asserts that times are within a share of what was measured.
fn agree(found: &[f64], measured: &[f64], share: f64) {
    assert_eq!(found.len(), measured.len());
    for (found, measured) in found.iter().zip(measured) {
        assert!((found / measured - 1.0).abs() < share, "{found} ns, measured {measured} ns");
    }
}

#[test]
fn steps_of_two_processes_on_a_gpu_are_told_apart() {
    let capture = Recorded::new("two_processes");
    let mut steps: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for row in capture.rows("steps") {
        steps.entry(number(&row, "pid") as u64).or_default().push(number(&row, "dur_ns"));
    }
    assert_eq!(steps.len(), 2);
    for (place, found) in steps.values().enumerate() {
        let truth = truth(&format!("two_processes.{place}"));
        let measured: Vec<f64> =
            truth["times_ns"].as_array().unwrap().iter().map(|times| number(times, "step")).collect();
        // The first step has no wait before its first operation.
        agree(&found[1..], &measured[1..], 0.05);
    }
    let screen = stdout(&[&capture.report]);
    for pid in steps.keys() {
        assert!(screen.contains(&format!("process {pid}")), "{screen}");
    }
    assert!(screen.contains("2 processes ran work on GPU 0"), "{screen}");
}

#[test]
fn steps_of_jax_that_are_whole_graphs_have_a_verdict() {
    let capture = Recorded::new("jax");
    let found: Vec<f64> = capture.rows("steps").iter().map(|row| number(row, "dur_ns")).collect();
    let measured: Vec<f64> =
        truth("jax")["step_ns"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    // Three steps came before the program measured.
    agree(&found[3..], &measured, 0.06);
    let screen = stdout(&[&capture.report]);
    let verdict = screen.lines().nth(1).unwrap();
    assert!(verdict.starts_with("The GPU idles for 3"), "{screen}");
    assert!(screen.contains("the kernels inside are not in the report"), "{screen}");
}

#[test]
fn metrics_agree_with_kernels() {
    let capture = Recorded::new("two_steps");
    let steps = capture.rows("steps");
    let measured = truth("two_steps");
    let mut kernels_ns = 0.0;
    for row in &steps {
        let nth: usize =
            row["step_name"].as_str().unwrap().strip_prefix("step ").unwrap().parse().unwrap();
        agree(&[number(row, "dur_ns")], &[number(&measured["times_ns"][nth], "step")], 0.03);
        kernels_ns += number(row, "compute_ns");
    }
    let share = 100.0 * kernels_ns / steps.iter().map(|row| number(row, "dur_ns")).sum::<f64>();
    assert!((share - 15.5).abs() < 0.3, "kernels run for {share} %");
    // The GPU is active while kernels, copies and launches of them are on it; SMs only while blocks are.
    let mean = |name: &str| {
        let rows = capture.rows("gpu_metric_by_step");
        let rows = rows.iter().filter(|row| row["metric"] == name && row["unit"] == "percent");
        let means: Vec<f64> = rows.map(|row| number(row, "mean")).collect();
        assert_eq!(means.len(), 2, "{name}");
        (means[0] + means[1]) / 2.0
    };
    let (active, of_sms, of_tensors) = (mean("GR Active"), mean("SMs Active"), mean("Tensor Active"));
    assert!(
        of_tensors < of_sms && of_sms < share && share < active && active < share + 5.0,
        "{active} {of_sms}"
    );
    // A difference of counters is a little below 0 in some samples; those have not overflowed.
    let rows = capture.rows("gpu_metric_sum");
    let warps = rows
        .iter()
        .find(|row| row["metric"] == "Unallocated Warps in Active SMs" && row["unit"] == "avg");
    let warps = warps.unwrap();
    // By SQLite's CLI, from the raw table: from -7,854,034 to 6,944,660.
    let extent = ["min", "max"].map(|name| number(warps, name));
    assert_eq!((extent, number(warps, "mended_count")), ([-7_854_034.0, 6_944_660.0], 0.0));
}
