//! Tables of TraceLens for the same traces.
//!
//! It lists an operator once for each nested operator that its kernels belong to, counts adding a bias as FLOPs, does
//! not count the bytes of a convolution's bias, and takes operators of CUDA graphs from a trace of their capture, which
//! is not there.

use super::{number, real, rows};
use crate::support::shared;
use std::collections::BTreeMap;
use std::path::Path;

type Row = BTreeMap<String, String>;

/// The calls of one operator with the same inputs, by name and shapes.
fn calls(trace: &str) -> BTreeMap<(String, String), Row> {
    let select = "SELECT work.op_name, input.dims, work.kind, min(input.settings) AS settings, \
                    min(coalesce(op.flop_count, work.flop_count)) AS flop_count, \
                    min(coalesce(op.read_bytes + op.written_bytes, work.read_bytes + work.written_bytes)) AS bytes, \
                    count(op.gpu_ns) AS call_count, coalesce(sum(op.gpu_ns), 0) AS gpu_ns \
                  FROM operator_work AS work \
                  JOIN operator_input AS input \
                    ON input.name_id = work.name_id AND input.inputs_id = work.inputs_id \
                  JOIN src_operator_input AS given ON given.inputsId = work.inputs_id \
                  JOIN nvtx_projection AS range \
                    ON range.range_id = given.rangeId AND range.name_id = work.name_id \
                  LEFT JOIN op_work AS op ON op.range_id = range.range_id \
                  GROUP BY work.op_name, input.dims";
    let key = |row: &Row| (row["op_name"].clone(), row["dims"].replace(' ', ""));
    rows(&["sql", trace, select]).into_iter().map(|row| (key(&row), row)).collect()
}

fn table(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Sizes as Python writes tuples, as JSON.
fn sizes(row: &Row) -> String {
    row["Input Dims_first"].replace(' ', "").replace(",)", ")").replace('(', "[").replace(')', "]")
}

#[test]
fn flops_bytes_and_times_equal_those_of_tracelens() {
    let Some(shared) = shared() else { return };
    let mut compared = BTreeMap::new();
    let mut captured = 0;
    for trace in [
        "h100_bert_small",
        "h100_vit_base",
        "mi300_resnet_ddp",
        "sglang_qwen3_8b_decode",
        "sglang_qwen3_8b_prefill",
        "vllm_decode_graph",
        "vllm_mixed_piecewise",
    ] {
        let calls = calls(&real(&format!("data/torch/{trace}.json.gz")).unwrap());
        for kind in ["GEMM", "CONV_fwd", "SDPA_fwd", "InferenceAttention_fwd"] {
            let path = shared.join(format!("reference/tracelens/{trace}/{kind}.csv"));
            if !path.exists() {
                continue;
            }
            for theirs in table(&path) {
                let key = (theirs["name"].clone(), sizes(&theirs));
                let Some(ours) = calls.get(&key).filter(|row| !row["flop_count"].is_empty()) else {
                    assert_eq!(theirs["process_name_first"], "Unknown", "{trace}: {key:?}");
                    captured += 1;
                    continue;
                };
                compare(&format!("{trace} {key:?}"), &theirs, ours);
                *compared.entry(kind).or_insert(0) += 1;
            }
        }
    }
    let wanted = [("CONV_fwd", 22), ("GEMM", 22), ("InferenceAttention_fwd", 3), ("SDPA_fwd", 2)];
    assert_eq!((compared, captured), (BTreeMap::from(wanted), 27));
}

fn compare(what: &str, theirs: &Row, ours: &Row) {
    let has_bias = theirs.get("param: bias").is_some_and(|bias| bias == "True");
    let bias = if has_bias { number(theirs, "param: M") * number(theirs, "param: N") } else { 0.0 };
    let flops = 1e9 * number(theirs, "GFLOPS_first") - bias;
    assert!((flops - number(ours, "flop_count")).abs() < 0.5, "{what}: {flops} FLOPs, {ours:?}");
    // MB of TraceLens are MiB.
    let bytes = f64::from(1 << 20) * number(theirs, "Data Moved (MB)_first");
    let extra = number(ours, "bytes") - bytes;
    let conv_bias = what.contains("[768,3,16,16],[768]").then_some(2.0 * 768.0);
    assert_eq!(extra.round(), conv_bias.unwrap_or(0.0), "{what}: {bytes} bytes, {ours:?}");
    // The kernels are those of the innermost operator with known work.
    if ours["call_count"] != "0" && ours["kind"] != "convolution" {
        assert_eq!(ours["call_count"], theirs["name_count"], "{what}");
        let microseconds = number(theirs, "Kernel Time (µs)_sum");
        let calls = number(theirs, "name_count");
        let difference = number(ours, "gpu_ns") / 1000.0 - microseconds;
        assert!(difference.abs() < 0.001 * calls, "{what}: {microseconds} µs, {ours:?}");
    }
}
