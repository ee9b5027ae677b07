//! Traces written for the test, with values derived by hand beside each operator.

use super::{number, rows};
use crate::support::stdout;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A call of an operator that launches one kernel, and what `op_work` must say of it.
struct Call {
    op_name: &'static str,
    dims: &'static str,
    /// Type of each input, separated by commas; - for one that is no tensor.
    types: &'static str,
    /// Value of each input, separated by semicolons; empty for tensors.
    values: &'static str,
    /// kind, shape, type, FLOPs, bytes read, bytes written; empty if unknown.
    known: [&'static str; 6],
}

fn call(
    op_name: &'static str,
    dims: &'static str,
    types: &'static str,
    values: &'static str,
    known: [&'static str; 6],
) -> Call {
    Call { op_name, dims, types, values, known }
}

/// A trace of calls one after the other, 100 µs apart, inside one annotation. Call n has a kernel of n + 1 µs.
struct Written {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Written {
    fn new(annotation: &str, gpu_name: &str, calls: &[Call]) -> Self {
        let mut events = vec![json!({
            "ph": "X", "cat": "user_annotation", "name": annotation, "pid": 1, "tid": 1, "ts": 0.0,
            "dur": 100.0 * (calls.len() + 1) as f64, "args": {}
        })];
        for (nth, call) in calls.iter().enumerate() {
            let (at, n) = (10.0 + 100.0 * nth as f64, nth as u64 + 1);
            let dims: Value = serde_json::from_str(call.dims).unwrap();
            let types: Vec<&str> =
                call.types.split(',').map(|name| if name == "-" { "" } else { name }).collect();
            let mut arguments = json!({"External id": n, "Input Dims": dims, "Input type": types});
            if !call.values.is_empty() {
                arguments["Concrete Inputs"] = call.values.split(';').collect();
            }
            events.push(json!({
                "ph": "X", "cat": "cpu_op", "name": call.op_name, "pid": 1, "tid": 1, "ts": at, "dur": 50.0,
                "args": arguments
            }));
            events.push(json!({
                "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                "ts": at + 10.0, "dur": 5.0, "args": {"correlation": n, "External id": n}
            }));
            events.push(json!({
                "ph": "X", "cat": "kernel", "name": "work", "pid": 0, "tid": 7, "ts": at + 20.0,
                "dur": n as f64, "args": {"correlation": n, "External id": n, "device": 0, "stream": 7,
                "context": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}
            }));
        }
        let device = json!({"id": 0, "name": gpu_name, "totalGlobalMem": 1 << 30, "numSms": 132,
            "computeMajor": 9, "computeMinor": 0});
        let whole = json!({"deviceProperties": [device], "traceEvents": events});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        std::fs::write(&path, whole.to_string()).unwrap();
        Self { _folder: folder, path }
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Compares each call with `op_work`, in order.
    fn check(&self, calls: &[Call]) {
        let select = "SELECT op_name, kind, shape, data_type, flop_count, read_bytes, written_bytes, gpu_ns \
                      FROM op_work ORDER BY start_ns";
        let found = rows(&["sql", self.path(), select]);
        assert_eq!(found.len(), calls.len());
        for (nth, (row, call)) in found.iter().zip(calls).enumerate() {
            let columns = ["kind", "shape", "data_type", "flop_count", "read_bytes", "written_bytes"];
            let got = columns.map(|column| row[column].as_str());
            assert_eq!(got, call.known, "call {nth}, {} of {}", call.op_name, call.dims);
            assert_eq!(row["op_name"], call.op_name);
            assert_eq!(row["gpu_ns"], (1000 * (nth + 1)).to_string());
        }
    }
}

#[test]
fn work_of_operators_is_what_their_shapes_say() {
    let calls = [
        // 2 x 128 x 512 x 256; (128 x 256 + 256 x 512) x 2 bytes; 128 x 512 x 2.
        call(
            "aten::mm",
            "[[128,256],[256,512]]",
            "c10::BFloat16,c10::BFloat16",
            "",
            ["matmul", "128x512x256", "bf16", "33554432", "327680", "131072"],
        ),
        // The bias is read, but adding it counts no FLOPs.
        call(
            "aten::addmm",
            "[[512],[128,256],[256,512],[],[]]",
            "float,float,float",
            "",
            ["matmul", "128x512x256", "fp32", "33554432", "657408", "262144"],
        ),
        // The weight of linear has a row for each column of the result.
        call(
            "aten::linear",
            "[[2,64,256],[512,256],[]]",
            "float,float",
            "",
            ["matmul", "128x512x256", "fp32", "33554432", "655360", "262144"],
        ),
        call(
            "aten::bmm",
            "[[4,8,16],[4,16,32]]",
            "c10::Half,c10::Half",
            "",
            ["matmul", "4 x 8x32x16", "fp16", "32768", "5120", "2048"],
        ),
        // Shapes that do not fit the product are not used.
        call(
            "aten::mm",
            "[[128,256],[128,512]]",
            "float,float",
            "",
            ["matmul", "", "fp32", "", "393216", ""],
        ),
        // Result 2 x 4 x 4 x 4, each of 3 x 3 x 3 products: 2 x 128 x 27.
        call(
            "aten::convolution",
            "[[2,3,8,8],[4,3,3,3],[4],[],[],[],[],[],[]]",
            "float,float,float",
            ";;;[2, 2];[1, 1];[1, 1];False;[0, 0];1",
            ["convolution", "[[2,3,8,8],[4,3,3,3],[4]]", "fp32", "6912", "1984", "512"],
        ),
        // Two groups: each result meets half of the channels, as the filter's shape says.
        call(
            "aten::convolution",
            "[[1,4,8,8],[6,2,1,1],[],[],[],[],[],[],[]]",
            "float,float",
            ";;;[1, 1];[0, 0];[1, 1];False;[0, 0];2",
            ["convolution", "[[1,4,8,8],[6,2,1,1]]", "fp32", "1536", "1072", "1536"],
        ),
        // The gradient of the filter only, then of the input and the filter.
        call(
            "aten::convolution_backward",
            "[[2,4,4,4],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]]",
            "float,float,float",
            ";;;[4];[2, 2];[1, 1];[1, 1];False;[0, 0];1;[False, True, False]",
            ["convolution", "[[2,4,4,4],[2,3,8,8],[4,3,3,3]]", "fp32", "6912", "2480", "432"],
        ),
        call(
            "aten::convolution_backward",
            "[[2,4,4,4],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]]",
            "float,float,float",
            ";;;[4];[2, 2];[1, 1];[1, 1];False;[0, 0];1;[True, True, False]",
            ["convolution", "[[2,4,4,4],[2,3,8,8],[4,3,3,3]]", "fp32", "13824", "2480", "1968"],
        ),
        // 4 x 2 x 4 heads x 16 x 16 x 8; causal half of it.
        call(
            "aten::_scaled_dot_product_flash_attention",
            "[[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[],[],[]]",
            "c10::Half,c10::Half,c10::Half",
            ";;;0.;False;False",
            ["attention", "[[2,4,16,8],[2,4,16,8],[2,4,16,8]]", "fp16", "65536", "6144", "2048"],
        ),
        call(
            "aten::_scaled_dot_product_flash_attention",
            "[[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[],[],[]]",
            "c10::Half,c10::Half,c10::Half",
            ";;;0.;True;False",
            ["attention", "[[2,4,16,8],[2,4,16,8],[2,4,16,8]]", "fp16", "32768", "6144", "2048"],
        ),
        // The last 4 queries of 16 keys: all pairs but half a square of 4.
        call(
            "aten::_scaled_dot_product_flash_attention",
            "[[2,4,4,8],[2,4,16,8],[2,4,16,8],[],[],[],[]]",
            "c10::Half,c10::Half,c10::Half",
            ";;;0.;True;False",
            ["attention", "[[2,4,4,8],[2,4,16,8],[2,4,16,8]]", "fp16", "14336", "4608", "512"],
        ),
        // Broadcasting: 64 x 32 results of 64 + 32 inputs.
        call(
            "aten::add",
            "[[64,1],[1,32],[]]",
            "float,float",
            "",
            ["elementwise", "[[64,1],[1,32]]", "fp32", "2048", "384", "8192"],
        ),
        call(
            "aten::add_",
            "[[64,32],[64,1],[]]",
            "float,float",
            "",
            ["elementwise", "[[64,32],[64,1]]", "fp32", "2048", "8448", "8192"],
        ),
        call(
            "aten::native_layer_norm",
            "[[32,64],[],[64],[64],[]]",
            "float,-,float,float",
            "",
            ["norm", "[[32,64],[64],[64]]", "fp32", "14336", "8704", "8192"],
        ),
        // Copies 128 rows of 64; their indices are 8 bytes each.
        call(
            "aten::embedding",
            "[[1000,64],[8,16],[],[],[]]",
            "c10::Half,long int",
            "",
            ["lookup", "[[8,16]]", "fp16", "0", "17408", "16384"],
        ),
        // No formula: no FLOPs, but it is listed.
        call(
            "aten::_index_put_impl_",
            "[[100,32],[4],[4,32],[],[]]",
            "float,-,float",
            "",
            ["", "", "", "", "", ""],
        ),
        // A tensor without dimensions is one element.
        call("aten::fill_", "[[],[]]", "float", "", ["fill", "[[],[]]", "fp32", "0", "0", "4"]),
    ];
    Written::new("step", "NVIDIA H100 80GB HBM3", &calls).check(&calls);
}

/// The shapes of paged attention are those of the queries; the step tells how many keys each of them meets.
#[test]
fn paged_attention_takes_its_keys_from_the_step() {
    let paged = |known| {
        call(
            "vllm::unified_attention_with_output",
            "[[8,4,8],[8,2,8],[8,2,8]]",
            "c10::Half,c10::Half,c10::Half",
            "",
            known,
        )
    };
    // 4 new tokens after 6 in prefill, 4 of 25 in decode: 40 - 16 / 2 and 100 pairs; 4 x 132 x 4 heads x 8.
    // Queries 8 x 4 x 8; keys and values of 35 tokens, 2 heads: 2 x 35 x 2 x 8.
    let known = ["attention", "[[8,4,8]]", "fp16", "16896", "2752", "512"];
    let annotation = "execute_8_context_1(sq4sk10sqsq16sqsk40)_generation_4(sq4sk25sqsq4sqsk100)";
    let calls = [paged(known)];
    Written::new(annotation, "AMD Instinct MI300X", &calls).check(&calls);
    let unknown = ["attention", known[1], "fp16", "", "", "512"];
    let calls = [paged(unknown)];
    Written::new("step", "AMD Instinct MI300X", &calls).check(&calls);
}

/// On an H100: 989.4 TFLOP/s in bf16, 3352 GB/s.
#[test]
fn efficiency_is_measured_against_the_roofline() {
    let product = "[[8192,4096],[4096,8192]]";
    let types = "c10::BFloat16,c10::BFloat16";
    let calls = [
        call("aten::copy_", "[[4096,4096],[4096,4096],[]]", types, "", [""; 6]),
        call("aten::mm", "[[4,4],[4,4]]", types, "", [""; 6]),
        call("aten::mm", product, types, "", [""; 6]),
    ];
    let written = Written::new("step", "NVIDIA H100 80GB HBM3", &calls);
    let found = rows(&["run", written.path(), "--query", "op_efficiency"]);
    let [large, small, copy] = &found[..] else { panic!("{found:?}") };
    // 549,755,813,888 FLOPs in 3 µs, which no H100 can do: 555.6 µs at its peak.
    assert_eq!((large["bound"].as_str(), large["flop_count"].as_str()), ("compute", "549755813888"));
    assert!((number(large, "roofline_ns") - 549_755_813_888.0 / 989_400.0).abs() < 1e-6);
    assert_eq!(large["saved_ns"], "0");
    assert_eq!((small["bound"].as_str(), small["saved_ns"].as_str()), ("launch", "0"));
    // 2 x 33,554,432 bytes at 3352 GB/s are 20.02 µs.
    assert_eq!((copy["bound"].as_str(), copy["size_bytes"].as_str()), ("memory", "67108864"));
    assert!((number(copy, "roofline_pct") - 100.0 * 67_108_864.0 / 3352.0 / 1000.0).abs() < 1e-6);
    let slow = rows(&["run", written.path(), "--query", "op_efficiency", "-p", "bandwidth=67108.864"]);
    let copy = slow.iter().find(|row| row["op_name"] == "aten::copy_").unwrap();
    // With the bandwidth given, the roofline is 1 µs: bound by the launch.
    assert_eq!((copy["bound"].as_str(), copy["roofline_pct"].as_str()), ("launch", "100.0"));
    let bound = rows(&["run", written.path(), "--query", "memory_bound_ops"]);
    assert_eq!(bound.len(), 1, "{bound:?}");
    assert_eq!(bound[0]["op_name"], "aten::copy_");
    let used = rows(&["run", written.path(), "--query", "mfu", "-p", "peaks=bf16=494.7"]);
    // Against half of the peak, and from the first to the last operation: 203 µs.
    let percent = 100.0 * (549_755_813_888.0 + 128.0) / 494.7e12 / 203e-6;
    let copies = number(&used[0], "mfu_pct") - percent;
    assert!(copies.abs() < 1e-6, "{used:?}");
}

/// A product of two square matrices in bf16.
fn cube(dims: &'static str) -> Call {
    call("aten::mm", dims, "c10::BFloat16,c10::BFloat16", "", [""; 6])
}

/// The H100 moves 3,352 bytes per ns and computes 989.4 TFLOP/s.
#[test]
fn operators_far_below_the_roofline_are_a_finding() {
    let calls = [
        // 3 x 256 x 256 x 2 bytes in 117.3 ns: 1,000 - 117.3 / 0.8.
        cube("[[256,256],[256,256]]"),
        // 3 x 512 x 512 x 2 bytes in 469.2 ns: 2,000 - 469.2 / 0.8.
        cube("[[512,512],[512,512]]"),
        call("aten::mystery", "[[512,512]]", "float", "", [""; 6]),
        // 2 x 1024^3 FLOPs in 2,170 ns are 54 % of 4,000.
        cube("[[1024,1024],[1024,1024]]"),
    ];
    let written = Written::new("step", "NVIDIA H100 80GB HBM3", &calls);
    let slow = rows(&["run", written.path(), "-q", "below_roofline", "-p", "at_least=0"]);
    let found: Vec<[&str; 3]> = slow
        .iter()
        .map(|row| ["subject", "shape", "dur_ns"].map(|column| row[column].as_str()))
        .collect();
    assert_eq!(found, [["aten::mm", "256x256x256", "853"], ["aten::mm", "512x512x512", "1413"]]);
    // Kernels of a few microseconds take mostly the time of a launch.
    assert!(rows(&["run", written.path(), "-q", "below_roofline"]).is_empty());
    let verdict = |path: &str| -> [String; 2] {
        let findings = rows(&["run", path, "-q", "findings"]);
        let row = findings.iter().find(|row| row["finding"] == "below_roofline").unwrap();
        ["verdict", "lacks"].map(|column| row[column].clone())
    };
    assert_eq!(verdict(written.path()), ["no", ""]);
    let unknown = Written::new("step", "NVIDIA H100 80GB HBM3", &calls[2..3]);
    let [told, lacks] = verdict(unknown.path());
    assert!(told == "cannot tell" && lacks.contains("shapes and types"), "{told} {lacks}");
}

#[test]
fn the_page_draws_each_operator_below_its_roof() {
    let calls = [
        call("aten::copy_", "[[4096,4096],[4096,4096],[]]", "float,float", "", [""; 6]),
        call("aten::mm", "[[512,1024],[1024,512]]", "float,float", "", [""; 6]),
        call("aten::add_", "[[4096,4096],[4096,4096],[]]", "float,float", "", [""; 6]),
    ];
    let written = Written::new("step", "NVIDIA A100-SXM4-80GB", &calls);
    let page = stdout(&["page", "efficiency", written.path(), "--format", "html"]);
    // 536,870,912 FLOPs, 5,242,880 bytes, 2 µs; 16,777,216 FLOPs, 201,326,592 bytes, 3 µs.
    let (x, y) = (102.4_f64.log10(), 268.435_456_f64.log10());
    let (left, right, bottom, top) = (-2.0, 3.0, 0.0, 3.0);
    let at = |value: f64, from: f64, to: f64, length: f64| length * (value - from) / (to - from);
    let dots: Vec<&str> = page.matches("<circle").collect();
    assert_eq!(dots.len(), 2, "a copy has no FLOPs");
    let dot = page.split("<circle").find(|text| text.contains("aten::mm 512x512x1024")).unwrap();
    let read = |name: &str| -> f64 {
        dot.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    assert!((read("cx") - 60.0 - at(x, left, right, 820.0)).abs() < 1e-6, "{dot}");
    assert!((420.0 - read("cy") - at(y, bottom, top, 400.0)).abs() < 1e-6, "{dot}");
    let text = stdout(&["page", "efficiency", written.path()]);
    assert!(text.contains("Verdict: The GPU does"), "{text}");
    let empty = Written::new(
        "step",
        "NVIDIA A100-SXM4-80GB",
        &[call("mine::op", "[[1]]", "float", "", [""; 6])],
    );
    let text = stdout(&["page", "efficiency", empty.path()]);
    assert!(text.contains("FLOPs are unknown for all operators"), "{text}");
}
