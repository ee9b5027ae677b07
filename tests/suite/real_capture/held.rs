//! What must hold between an export, a trace and the truth of one configuration.

#![allow(unreachable_pub)]

use crate::support::{outcome, stdout};
use flate2::read::GzDecoder;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What a profiler, the wait for a first launch and the mark of an event may add to a time.
const SLACK_NS: f64 = 1_000_000.0;
/// And in proportion: two runs of one program, and the clocks of CPU and GPU.
const SLACK: f64 = 0.10;
/// Points of a percentage between two runs.
const POINTS: f64 = 5.0;

/// How many things were held, and those that did not hold, in words.
#[derive(Default)]
pub struct Held {
    pub count: usize,
    pub wrong: Vec<String>,
}

impl Held {
    fn that(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        self.count += 1;
        if !holds {
            self.wrong.push(otherwise());
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

/// One of the two reports, with the truth of its own run.
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

    /// Times of the measured steps, and of the ranges of some names within them, by name.
    fn ranges(&self, names: &[&str]) -> BTreeMap<String, Vec<Row>> {
        let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        let inside = serde_json::to_string(names).unwrap();
        for (ranges, scope) in [(STEPS, &[][..]), (&inside, &["--iter", STEPS][..])] {
            let ranges = format!("ranges={ranges}");
            for row in
                self.ask("range_time", &[&["-p", &ranges, "--attribute", "process"], scope].concat())
            {
                // Behind its domain, which only the trace has.
                let name = row["range_name"].rsplit(':').next().unwrap();
                let name = if name.starts_with("step ") { STEPS } else { name };
                found.entry(name.to_owned()).or_default().push(row);
            }
        }
        found
    }

    /// The facts of every answer of a part by name, and whether all of it was answered.
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

/// The measured steps; the warm-up has none.
const STEPS: &str = "step *";

/// Holds everything in a folder of `nsys.sqlite.gz`, `truth.json` and, where there is one,
/// `torch.json.gz` against each other.
pub fn hold(folder: &Path) -> Held {
    let work = tempfile::tempdir().unwrap();
    let truth: Json = serde_json::from_reader(File::open(folder.join("truth.json")).unwrap()).unwrap();
    let mut held = Held::default();
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

    flops(&mut held, &truth);
    for run in &runs {
        times(&mut held, run, &truth["bare"]);
    }
    if let [nsys, torch] = &runs[..] {
        summary(&mut held, torch);
        kernels(&mut held, nsys, torch);
        if truth["nsys"]["options"]["graph"] != true {
            answers(&mut held, nsys, torch);
        }
    }
    held
}

/// The program's formula, anew, and PyTorch's counter of the operators that it ran.
fn flops(held: &mut Held, truth: &Json) {
    let run = &truth["nsys"];
    let of = |group: &str, name: &str| run[group][name].as_i64().unwrap_or(-1);
    let (batch, context) = (of("options", "batch"), of("options", "context"));
    let (width, layers) = (of("shape", "d_model"), of("shape", "layers"));
    let product = 2 * batch * context * context * width;
    held.equal("FLOPs of QK^T", of("flop", "attention_scores"), product);
    held.equal("FLOPs of A V", of("flop", "attention_values"), product);
    let softmax = 5 * batch * of("shape", "heads") * context * context;
    held.equal("FLOPs of softmax", of("flop", "attention_softmax"), softmax);
    // Four square projections and three of the feed-forward layer, then the head.
    let per_token = 2 * width * (4 * width + 3 * of("shape", "d_ff"));
    let head = 2 * batch * context * width * of("options", "vocabulary");
    let forward = layers * (batch * context * per_token + 2 * product) + head;
    held.equal("FLOPs of the forward pass", of("flop", "forward"), forward);
    let passes = if run["options"]["mode"] == "forward" { 1 } else { 3 };
    held.equal("FLOPs of a step", of("flop", "step"), passes * forward);
    let counted = truth["bare"]["flop_counted"].as_i64();
    held.equal("FLOPs that PyTorch counted", counted, Some(of("flop", "step")));
}

/// Steps and phases of one report against the CUDA events of that very run.
fn times(held: &mut Held, run: &Run<'_>, bare: &Json) {
    let kind = run.kind;
    held.equal(&format!("{kind}: clock"), run.truth["clock"].as_str(), Some("cuda events"));
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
        held.equal(&format!("{kind}: steps that have {name}"), rows.len(), truth.len());
        for (place, (row, step)) in rows.iter().zip(truth).enumerate() {
            let event = step[name].as_f64().unwrap();
            let (span, elapsed) = (number(row, "span_ns"), number(row, "elapsed_ns"));
            let what = format!(
                "{kind}: {name} {place}, from the first operation to the last and by CUDA events"
            );
            // The events stand around the work, so it cannot be longer but for the clocks.
            held.that(span <= 1.01 * event + 20_000.0, || {
                format!("{what}: {span} is more than {event}")
            });
            held.near(&what, span, event, SLACK, SLACK_NS);
            let what = format!("{kind}: {name} {place}, until its work was done and by CUDA events");
            held.that(event <= 1.01 * elapsed + SLACK_NS, || {
                format!("{what}: {elapsed} is less than {event}")
            });
        }
        // A step does what the one before did.
        let counts: Vec<_> = rows.iter().map(|row| row["op_count"].clone()).collect();
        let is_steady = counts.windows(2).all(|pair| pair[0] == pair[1]);
        held.that(is_steady && counts.first().is_some_and(|count| count != "0"), || {
            format!("{kind}: operations of {name} by step: {counts:?}")
        });
    }
    // A profiler only adds.
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
    held.that(without <= (1.0 + SLACK) * with + SLACK_NS, || {
        format!("{kind}: a step by CUDA events takes {with}, and without a profiler {without}")
    });
}

/// Every kernel of the trace, as nsq and as PyTorch itself sums it up.
fn summary(held: &mut Held, torch: &Run<'_>) {
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
    held.equal("kernels of the trace and of PyTorch's own summary", names(&ours), names(&theirs));
    for (name, (calls, total)) in &theirs {
        let (our_calls, our_total) = ours.get(name).copied().unwrap_or_default();
        held.equal(&format!("calls of {name} in PyTorch's own summary"), our_calls, *calls);
        // A microsecond for each: the summary may have rounded.
        let what = format!("time of {name} in PyTorch's own summary");
        held.near(&what, our_total, *total, 0.0, 1000.0 * *calls as f64);
    }
}

/// What ran in the measured steps, by two recorders of two runs.
fn kernels(held: &mut Held, nsys: &Run<'_>, torch: &Run<'_>) {
    let inside = ["--nvtx", STEPS, "--attribute", "process"];
    // Two demanglers need not agree on parameters, so functions are compared.
    let [ours, theirs] = [nsys, torch].map(|run| run.kernels("kernel_stats", "simple_name", &inside));
    let calls = |of: &BTreeMap<String, (i64, f64)>| -> Vec<(String, i64)> {
        of.iter().map(|(name, (calls, _))| (name.clone(), *calls)).collect()
    };
    held.equal("kernels in the steps, nsys and PyTorch", calls(&ours), calls(&theirs));
    let whole: f64 = ours.values().map(|(_, total)| total).sum();
    for (name, (_, total)) in &ours {
        let other = theirs.get(name).map_or(0.0, |(_, total)| *total);
        // Small ones vary more from run to run than any figure that is told of them.
        if *total > 0.05 * whole {
            held.near(&format!("GPU time of {name}, nsys and PyTorch"), *total, other, SLACK, 0.0);
        }
    }
}

/// The questions of CS336, asked of both.
fn answers(held: &mut Held, nsys: &Run<'_>, torch: &Run<'_>) {
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
            held.near(&format!("{}: answer {name}", run.kind), fact(facts, name), wanted, 0.0, 0.0);
        }
        let events = run.truth["times_ns"].as_array().unwrap();
        let forward: f64 =
            events.iter().map(|step| step["forward"].as_f64().unwrap()).sum::<f64>() / steps;
        let what = format!("{}: answer a: forward_span_mean_ns and CUDA events", run.kind);
        held.near(&what, fact(facts, "a: forward_span_mean_ns"), forward, SLACK, SLACK_NS);
    }
    let [ours, theirs] = &facts;
    let mut points = vec!["b: top_time_pct", "c: matmul_pct"];
    if truth["options"]["mode"] == "train" {
        points.extend(["d: inference_matmul_pct", "d: training_matmul_pct"]);
    }
    for name in points {
        held.near(&format!("answer {name}"), fact(ours, name), fact(theirs, name), 0.0, POINTS);
    }
    held.near(
        "answer b: top_calls_per_pass",
        fact(ours, "b: top_calls_per_pass"),
        fact(theirs, "b: top_calls_per_pass"),
        0.0,
        0.0,
    );
    for name in ["e: scores_mean_ns", "e: softmax_mean_ns", "e: values_mean_ns"] {
        held.near(&format!("answer {name}"), fact(ours, name), fact(theirs, name), 2.0 * SLACK, 5_000.0);
    }
}
