//! FLOPs and bytes of operators: against values derived by hand, TraceLens's tables, and PyTorch's own counter.

mod rules;
mod tracelens;
mod written;

use crate::support::{shared, stdout};
use crate::trace::events_of;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of a query or statement by column, as texts.
fn rows(arguments: &[&str]) -> Vec<BTreeMap<String, String>> {
    let text = stdout(&[arguments, &["--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// A number of a row; panics if it is null.
fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is no number in {row:?}"))
}

/// A real report or trace, and its text for the command line; `None`, said once, without shared data.
fn real(inside: &str) -> Option<String> {
    Some(shared()?.join(inside).to_str().unwrap().to_owned())
}

/// Name, sizes, types and values of each call, from a second reader of the trace.
#[test]
fn the_import_keeps_the_inputs_of_every_operator() {
    for trace in ["h100_bert_small", "mi300_resnet_ddp", "vllm_mixed_piecewise"] {
        let Some(trace) = real(&format!("data/torch/{trace}.json.gz")) else { return };
        let mut wanted: Vec<[Value; 4]> = Vec::new();
        for event in events_of(Path::new(&trace)) {
            let arguments = &event["args"];
            if event["ph"] == "X" && arguments["Input Dims"].is_array() {
                let of = |key: &str| arguments.get(key).cloned().unwrap_or(Value::Null);
                wanted.push([
                    event["name"].clone(),
                    of("Input Dims"),
                    of("Input type"),
                    of("Concrete Inputs"),
                ]);
            }
        }
        let select = "SELECT range.range_text AS op_name, string.text AS inputs \
                      FROM src_operator_input AS input \
                      JOIN nvtx_range AS range ON range.range_id = input.rangeId \
                      JOIN string ON string.string_id = input.inputsId";
        let found = rows(&["sql", &trace, select]);
        let mut got: Vec<[Value; 4]> = Vec::new();
        for row in &found {
            let inputs: Value = serde_json::from_str(&row["inputs"]).unwrap();
            let of = |key: &str| inputs.get(key).cloned().unwrap_or(Value::Null);
            got.push([Value::from(row["op_name"].as_str()), of("dims"), of("types"), of("values")]);
        }
        wanted.sort_by_cached_key(|call| format!("{call:?}"));
        got.sort_by_cached_key(|call| format!("{call:?}"));
        assert!(wanted.len() > 100, "{trace}: {}", wanted.len());
        assert!(wanted == got, "{trace}: {} calls, {} imported", wanted.len(), got.len());
    }
}

/// The layers of Qwen3-8B: 4096 wide, 32 heads and 8 of keys of 128, 12,288 in the MLP with its gate.
#[test]
fn a_prefill_does_two_flops_for_each_parameter_and_token() {
    let Some(trace) = real("data/torch/sglang_qwen3_8b_prefill.json.gz") else { return };
    let parameters = 36 * (4096 * 6144_i64 + 4096 * 4096 + 4096 * 2 * 12288 + 12288 * 4096);
    let head = 4096 * 151_936;
    let sum = "SELECT sum(flop_count) AS flop_count FROM op_work WHERE kind = 'matmul'";
    let found = &rows(&["sql", &trace, sum])[0];
    let wanted = 2 * 15_360 * parameters + 2 * 15 * head;
    assert_eq!(found["flop_count"], wanted.to_string());
}

/// The window is that of another query; the peak is that of the A100's datasheet.
#[test]
fn given_parameters_and_tokens_make_the_utilisation_of_a_model() {
    let Some(report) = real("data/exports/a100_gpt2.7b_nvtx.sqlite") else { return };
    let given = ["-p", "parameters=2.7e9", "-p", "tokens=4096", "-p", "data_type=bf16"];
    let found = rows(&[&["run", &report, "--query", "mfu"][..], &given].concat());
    let of_iterations: Vec<_> = found.iter().filter(|row| !row["iteration"].is_empty()).collect();
    let whole = found.iter().find(|row| row["iteration"].is_empty()).unwrap();
    let repeats = of_iterations.len().max(1) as f64;
    let elapsed = &rows(&["run", &report, "--query", "gpu_span"])[0];
    let span = number(elapsed, "gpu_span_ns");
    let wanted = 100.0 * repeats * 6.0 * 2.7e9 * 4096.0 / 312e12 / (span / 1e9);
    let percent = number(whole, "mfu_pct");
    assert!((percent / wanted - 1.0).abs() < 1e-9, "{percent} is not {wanted}");
    assert_eq!((whole["basis"].as_str(), whole["peak_tflop_per_s"].as_str()), ("model", "312.0"));
}

/// Names alone tell no work: of kernels called gemm, no FLOPs are known.
#[test]
fn without_shapes_the_work_is_unknown() {
    let Some(report) = real("data/exports/a100_gpt2.7b_nvtx.sqlite") else { return };
    let found = rows(&["run", &report, "--query", "mfu"]);
    assert!(found.iter().all(|row| row["flop_count"].is_empty() && row["mfu_pct"].is_empty()));
    let covered = rows(&["run", &report, "--query", "work_coverage"]);
    assert!(covered.iter().all(|row| row["state"] != "known" && row["remedy"].contains("record")));
    let shares: f64 = covered.iter().map(|row| number(row, "time_pct")).sum();
    assert!((shares - 100.0).abs() < 1e-6, "{shares}");
}

/// Counts FLOPs with `torch.utils.flop_counter`, then profiles the same work. Together, each operator would be
/// recorded twice.
const COUNT: &str = r#"
import json, sys, torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 4, stride=4)
        self.layer = nn.TransformerEncoderLayer(32, 4, 96, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, 10)
    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.layer(x).mean(1))
model, x = Model(), torch.randn(2, 3, 32, 32)
with FlopCounterMode(display=False) as counter:
    model(x).square().sum().backward()
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
    model(x).square().sum().backward()
profiled.export_chrome_trace(sys.argv[1])
counts = counter.get_flop_counts()["Global"]
print(json.dumps({str(op).split(".")[-1]: flops for op, flops in counts.items()}))
"#;

/// A small Transformer on the CPU, forward and backward. Skipped without torch; `NSQ_TEST_TORCH` names a Python
/// that has it.
#[test]
fn flops_of_a_transformer_equal_those_that_pytorch_counts() {
    let python = std::env::var("NSQ_TEST_TORCH").unwrap_or_else(|_| "python3".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let ran = std::process::Command::new(&python).args(["-c", COUNT]).arg(&trace).output();
    let Some(output) = ran.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: {python} has no torch");
        return;
    };
    let counted: BTreeMap<String, i64> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(flops_of_calls(&trace), counted);
}

/// FLOPs of all calls of an operator that PyTorch's counter counts, on the host or the GPU.
fn flops_of_calls(trace: &Path) -> BTreeMap<String, i64> {
    let sum = "SELECT replace(work.op_name, 'aten::', '') AS op_name, sum(work.flop_count) AS flop_count \
               FROM src_operator_input AS input \
               JOIN nvtx_projection AS range ON range.range_id = input.rangeId \
               JOIN operator_work AS work \
               ON work.name_id = range.name_id AND work.inputs_id = input.inputsId \
               WHERE work.kind IN ('matmul', 'convolution', 'attention') AND work.op_name NOT IN \
               ('aten::linear', 'aten::_convolution', 'aten::mkldnn_convolution') \
               GROUP BY work.op_name";
    let found = rows(&["sql", trace.to_str().unwrap(), sum]);
    let pair = |row: &BTreeMap<String, String>| {
        (row["op_name"].clone(), row["flop_count"].parse().expect("known FLOPs"))
    };
    found.iter().map(pair).collect()
}
