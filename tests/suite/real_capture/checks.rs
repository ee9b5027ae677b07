//! Compares the export, the trace and the program's own measurements (`truth.json`) of one
//! configuration.

#![allow(unreachable_pub)]

use crate::support::{outcome, stdout};
use flate2::read::GzDecoder;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Absolute tolerance of times: the profiler, the wait for a first launch and the event record add to a
/// time.
const SLACK_NS: f64 = 1_000_000.0;
/// Relative tolerance of times: runs of one program differ, and so do the clocks of CPU and GPU.
const SLACK: f64 = 0.10;
/// Tolerance of percentages between two runs, in percentage points.
const POINTS: f64 = 5.0;

/// The number of checks made, and a description of each that failed.
#[derive(Default)]
pub struct Checks {
    pub count: usize,
    pub failed: Vec<String>,
}

impl Checks {
    fn that(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.count += 1;
        if !holds {
            self.failed.push(failure());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, one: T, other: T) {
        self.that(one == other, || format!("{what}: {one:?} and {other:?}"));
    }

    fn near(&mut self, what: &str, one: f64, other: f64, share: f64, slack: f64) {
        let holds = (one - other).abs() <= share * one.abs().max(other.abs()) + slack;
        self.that(holds, || format!("{what}: {one} and {other}"));
    }
}

type Row = BTreeMap<String, String>;

fn number(row: &Row, column: &str) -> f64 {
    row.get(column).and_then(|cell| cell.parse().ok()).unwrap_or(f64::NAN)
}

/// One of the two reports, with the program's measurements of that run.
struct Run<'t> {
    kind: &'static str,
    report: PathBuf,
    truth: &'t Json,
}

impl Run<'_> {
    fn ask(&self, query: &str, more: &[&str]) -> Vec<Row> {
        let report = self.report.to_str().unwrap();
        let arguments = [&["run", report, "--query", query, "--format", "csv"], more].concat();
        let text = stdout(&arguments);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let cells = |row: csv::StringRecord| {
            header.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
        };
        reader.records().map(|row| cells(row.unwrap())).collect()
    }

    /// Calls and time by the value of `column`.
    fn kernels(&self, query: &str, column: &str, more: &[&str]) -> BTreeMap<String, (i64, f64)> {
        let rows = self.ask(query, &[&["-p", "limit=-1"], more].concat());
        let figures = |row: &Row| (number(row, "calls") as i64, number(row, "total_ns"));
        rows.iter().map(|row| (row[column].clone(), figures(row))).collect()
    }

    /// The rows of `range_time` for the measured steps and for the ranges `names` inside them, by name.
    fn ranges(&self, names: &[&str]) -> BTreeMap<String, Vec<Row>> {
        let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        let inside = serde_json::to_string(names).unwrap();
        for (ranges, scope) in [(STEPS, &[][..]), (&inside, &["--iter", STEPS][..])] {
            let ranges = format!("ranges={ranges}");
            for row in
                self.ask("range_time", &[&["-p", &ranges, "--attribute", "process"], scope].concat())
            {
                // Strip the domain, which only the trace has.
                let name = row["range_name"].rsplit(':').next().unwrap();
                let name = if name.starts_with("step ") { STEPS } else { name };
                found.entry(name.to_owned()).or_default().push(row);
            }
        }
        found
    }

    /// The facts of all answers, by part and name.
    fn answer(&self, parameters: &[String]) -> BTreeMap<String, Json> {
        let mut arguments = vec!["answer", self.report.to_str().unwrap(), "--format", "json"];
        for parameter in parameters {
            arguments.extend(["-p", parameter]);
        }
        let (_, text, error) = outcome(&arguments);
        let document: Json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {error}"));
        let mut facts = BTreeMap::new();
        for part in document["parts"].as_array().unwrap() {
            for answer in part["answers"].as_array().unwrap() {
                for (name, value) in answer["facts"].as_object().into_iter().flatten() {
                    let name = format!("{}: {name}", part["part"].as_str().unwrap());
                    facts.insert(name, value.clone());
                }
            }
        }
        facts
    }
}

/// The ranges of the measured steps. The warm-up has no such ranges.
const STEPS: &str = "step *";

/// Compares `nsys.sqlite.gz`, `truth.json` and, if present, `torch.json.gz` of a folder with each other.
pub fn check(folder: &Path) -> Checks {
    let work = tempfile::tempdir().unwrap();
    let truth: Json = serde_json::from_reader(File::open(folder.join("truth.json")).unwrap()).unwrap();
    let mut checks = Checks::default();
    let nsys = work.path().join("nsys.sqlite");
    let mut packed = GzDecoder::new(File::open(folder.join("nsys.sqlite.gz")).unwrap());
    std::io::copy(&mut packed, &mut File::create(&nsys).unwrap()).unwrap();
    let mut runs = vec![Run { kind: "nsys", report: nsys, truth: &truth["nsys"] }];
    let trace = folder.join("torch.json.gz");
    if trace.is_file() {
        let report = work.path().join("torch.sqlite");
        stdout(&["import", trace.to_str().unwrap(), "-o", report.to_str().unwrap()]);
        runs.push(Run { kind: "torch", report, truth: &truth["torch"] });
    }

    flops(&mut checks, &truth);
    for run in &runs {
        times(&mut checks, run, &truth["bare"]);
    }
    if let [nsys, torch] = &runs[..] {
        summary(&mut checks, torch);
        kernels(&mut checks, nsys, torch);
        if truth["nsys"]["options"]["graph"] != true {
            answers(&mut checks, nsys, torch);
        }
    }
    checks
}

/// Computes the program's FLOPs again, and compares them with PyTorch's operator counter.
fn flops(checks: &mut Checks, truth: &Json) {
    let run = &truth["nsys"];
    let of = |group: &str, name: &str| run[group][name].as_i64().unwrap_or(-1);
    let (batch, context) = (of("options", "batch"), of("options", "context"));
    let (width, layers) = (of("shape", "d_model"), of("shape", "layers"));
    let product = 2 * batch * context * context * width;
    checks.equal("FLOPs of QK^T", of("flop", "attention_scores"), product);
    checks.equal("FLOPs of A V", of("flop", "attention_values"), product);
    let softmax = 5 * batch * of("shape", "heads") * context * context;
    checks.equal("FLOPs of softmax", of("flop", "attention_softmax"), softmax);
    // Four square projections and three of the feed-forward layer, then the head.
    let per_token = 2 * width * (4 * width + 3 * of("shape", "d_ff"));
    let head = 2 * batch * context * width * of("options", "vocabulary");
    let forward = layers * (batch * context * per_token + 2 * product) + head;
    checks.equal("FLOPs of the forward pass", of("flop", "forward"), forward);
    let passes = if run["options"]["mode"] == "forward" { 1 } else { 3 };
    checks.equal("FLOPs of a step", of("flop", "step"), passes * forward);
    let counted = truth["bare"]["flop_counted"].as_i64();
    checks.equal("FLOPs that PyTorch counted", counted, Some(of("flop", "step")));
}

/// Compares the steps and phases of one report with the CUDA events of the same run.
fn times(checks: &mut Checks, run: &Run<'_>, bare: &Json) {
    let kind = run.kind;
    checks.equal(&format!("{kind}: clock"), run.truth["clock"].as_str(), Some("cuda events"));
    let truth = run.truth["times_ns"].as_array().unwrap();
    let phases: BTreeSet<&str> =
        truth.iter().flat_map(|step| step.as_object().unwrap().keys()).map(String::as_str).collect();
    let range_of = |phase| match phase {
        "step" => STEPS,
        "graph" => "graph replay",
        phase => phase,
    };
    let names: Vec<&str> =
        phases.iter().map(|phase| range_of(phase)).filter(|name| *name != STEPS).collect();
    let ranges = run.ranges(&names);
    for name in phases {
        let rows = ranges.get(range_of(name)).map_or(&[][..], Vec::as_slice);
        checks.equal(&format!("{kind}: steps that have {name}"), rows.len(), truth.len());
        for (place, (row, step)) in rows.iter().zip(truth).enumerate() {
            let event = step[name].as_f64().unwrap();
            let (span, elapsed) = (number(row, "span_ns"), number(row, "elapsed_ns"));
            let what = format!(
                "{kind}: {name} {place}, from the first operation to the last and by CUDA events"
            );
            // The events surround the work, so apart from clock differences it cannot be longer.
            checks.that(span <= 1.01 * event + 20_000.0, || {
                format!("{what}: {span} is more than {event}")
            });
            checks.near(&what, span, event, SLACK, SLACK_NS);
            let what = format!("{kind}: {name} {place}, until its work was done and by CUDA events");
            checks.that(event <= 1.01 * elapsed + SLACK_NS, || {
                format!("{what}: {elapsed} is less than {event}")
            });
        }
        // Every step does the same work.
        let counts: Vec<_> = rows.iter().map(|row| row["op_count"].clone()).collect();
        let is_steady = counts.windows(2).all(|pair| pair[0] == pair[1]);
        checks.that(is_steady && counts.first().is_some_and(|count| count != "0"), || {
            format!("{kind}: operations of {name} by step: {counts:?}")
        });
    }
    // A profiler can only make the program slower.
    let median = |truth: &Json| {
        let mut steps: Vec<f64> = truth["times_ns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["step"].as_f64().unwrap())
            .collect();
        steps.sort_by(f64::total_cmp);
        steps[steps.len() / 2]
    };
    let (with, without) = (median(run.truth), median(bare));
    checks.that(without <= (1.0 + SLACK) * with + SLACK_NS, || {
        format!("{kind}: a step takes {with} by CUDA events, but {without} without a profiler")
    });
}

/// Compares the kernel sums of nsq with PyTorch's own summary of the trace.
fn summary(checks: &mut Checks, torch: &Run<'_>) {
    let ours = torch.kernels("top_kernels", "kernel_name", &[]);
    let theirs: BTreeMap<_, _> = torch.truth["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| {
            let name = row["name"].as_str().unwrap();
            let is_kernel = !name.starts_with("Memcpy ") && !name.starts_with("Memset ");
            is_kernel.then(|| {
                (name.to_owned(), (row["calls"].as_i64().unwrap(), row["total_ns"].as_f64().unwrap()))
            })
        })
        .collect();
    let names = |of: &BTreeMap<String, (i64, f64)>| of.keys().cloned().collect::<Vec<_>>();
    checks.equal("kernels of the trace and of PyTorch's own summary", names(&ours), names(&theirs));
    for (name, (calls, total)) in &theirs {
        let (our_calls, our_total) = ours.get(name).copied().unwrap_or_default();
        checks.equal(&format!("calls of {name} in PyTorch's own summary"), our_calls, *calls);
        // Allow a microsecond per call: the summary may be rounded.
        let what = format!("time of {name} in PyTorch's own summary");
        checks.near(&what, our_total, *total, 0.0, 1000.0 * *calls as f64);
    }
}

/// Compares the kernels in the measured steps of the two runs.
fn kernels(checks: &mut Checks, nsys: &Run<'_>, torch: &Run<'_>) {
    let inside = ["--nvtx", STEPS, "--attribute", "process"];
    // Two demanglers may differ in parameters, so compare function names.
    let [ours, theirs] = [nsys, torch].map(|run| run.kernels("kernel_stats", "simple_name", &inside));
    let calls = |of: &BTreeMap<String, (i64, f64)>| -> Vec<(String, i64)> {
        of.iter().map(|(name, (calls, _))| (name.clone(), *calls)).collect()
    };
    checks.equal("kernels in the steps, nsys and PyTorch", calls(&ours), calls(&theirs));
    let whole: f64 = ours.values().map(|(_, total)| total).sum();
    for (name, (_, total)) in &ours {
        let other = theirs.get(name).map_or(0.0, |(_, total)| *total);
        // The times of small kernels vary too much from run to run.
        if *total > 0.05 * whole {
            checks.near(&format!("GPU time of {name}, nsys and PyTorch"), *total, other, SLACK, 0.0);
        }
    }
}

/// Compares the answers to the CS336 questions on both runs.
fn answers(checks: &mut Checks, nsys: &Run<'_>, torch: &Run<'_>) {
    let truth = nsys.truth;
    let shape = [
        ("num_heads", &truth["shape"]["heads"]),
        ("d_head", &truth["shape"]["d_head"]),
        ("num_layers", &truth["shape"]["layers"]),
        ("batch_size", &truth["options"]["batch"]),
        ("context_length", &truth["options"]["context"]),
    ];
    let parameters: Vec<String> = shape.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let facts = [nsys, torch].map(|run| run.answer(&parameters));
    let steps = truth["times_ns"].as_array().unwrap().len() as f64;
    let layers = truth["shape"]["layers"].as_f64().unwrap();
    let fact = |facts: &BTreeMap<String, Json>, name: &str| {
        facts.get(name).and_then(Json::as_f64).unwrap_or(f64::NAN)
    };
    for (run, facts) in [nsys, torch].iter().zip(&facts) {
        for (name, wanted) in [
            ("a: passes", steps),
            ("b: forward_passes", steps),
            ("e: attentions", steps * layers),
            ("e: product_flop", truth["flop"]["attention_scores"].as_f64().unwrap()),
            ("e: softmax_flop", truth["flop"]["attention_softmax"].as_f64().unwrap()),
        ] {
            checks.near(&format!("{}: answer {name}", run.kind), fact(facts, name), wanted, 0.0, 0.0);
        }
        let events = run.truth["times_ns"].as_array().unwrap();
        let forward: f64 =
            events.iter().map(|step| step["forward"].as_f64().unwrap()).sum::<f64>() / steps;
        let what = format!("{}: answer a: forward_span_mean_ns and CUDA events", run.kind);
        checks.near(&what, fact(facts, "a: forward_span_mean_ns"), forward, SLACK, SLACK_NS);
    }
    let [ours, theirs] = &facts;
    let mut points = vec!["b: top_time_pct", "c: matmul_pct"];
    if truth["options"]["mode"] == "train" {
        points.extend(["d: inference_matmul_pct", "d: training_matmul_pct"]);
    }
    for name in points {
        checks.near(&format!("answer {name}"), fact(ours, name), fact(theirs, name), 0.0, POINTS);
    }
    checks.near(
        "answer b: top_calls_per_pass",
        fact(ours, "b: top_calls_per_pass"),
        fact(theirs, "b: top_calls_per_pass"),
        0.0,
        0.0,
    );
    for name in ["e: scores_mean_ns", "e: softmax_mean_ns", "e: values_mean_ns"] {
        checks.near(
            &format!("answer {name}"),
            fact(ours, name),
            fact(theirs, name),
            2.0 * SLACK,
            5_000.0,
        );
    }
}
