//! Events without a category are what their process and thread say.

use super::{event, run, sql, trace};
use crate::support::stdout;
use serde_json::{Value, json};

fn named(what: &str, pid: i64, tid: i64, name: &str) -> Value {
    json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}})
}

#[test]
fn streams_of_xla_hold_gpu_work() {
    let details = "regs:16 static_shared:0 dynamic_shared:0 grid:4,2,1 block:128,1,1 occ_pct:100";
    let mut events = vec![
        named("process_name", 1, 0, "/device:GPU:0"),
        named("process_name", 2, 0, "/device:GPU:1 NVIDIA H100"),
        named("thread_name", 1, 20, "Stream #20(Compute,MemcpyD2D)"),
        named("thread_name", 2, 21, "Stream #21(MemcpyH2D)"),
        named("thread_name", 1, 99, "XLA Ops"),
        named("process_name", 701, 0, "/host:CPU"),
    ];
    for nth in 0..10 {
        let (at, id) = (100 * nth, nth + 1);
        let kernel = json!({"correlation_id": id, "kernel_details": details, "hlo_op": "fusion"});
        events.extend([
            event("", "PjitFunction(step)", (701, 7), (100 + at, 20), json!({})),
            event(
                "",
                "cuLaunchKernel",
                (701, 7),
                (110 + at, 2),
                json!({"correlation_id": id.to_string()}),
            ),
            event("", "loop_add_fusion", (1, 20), (130 + at, 40), kernel),
            // The same work again, by operator.
            event("", "fusion", (1, 99), (130 + at, 40), json!({})),
        ]);
    }
    let copy = json!({"memcpy_details": "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"});
    events.push(event("", "MemcpyH2D", (2, 21), (150, 5), copy));
    events.push(event("", "$core.py:442 bind", (701, 7), (90, 1100), json!({})));
    events.push(event("", "train", (701, 7), (95, 1000), json!({"step_num": "0"})));
    // XLA ends the list with an empty event.
    events.push(json!({}));
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let kernels = "SELECT count(*), sum(dur_ns), min(grid_x), min(grid_y), min(block_x), min(registers_per_thread), \
                   min(device_id), min(stream_id) FROM kernel";
    assert_eq!(sql(&path, kernels), ["10,400000,4,2,128,16,0,20"]);
    let copies = "SELECT size_bytes, direction, device_id, stream_id FROM memcpy";
    assert_eq!(sql(&path, copies), ["4096,Host-to-Device,1,21"]);
    let linked = "SELECT count(*) FROM launch WHERE call_id IS NOT NULL AND op_kind = 'kernel'";
    assert_eq!(sql(&path, linked), ["10"]);
    let ranges = "SELECT range_text, count(*) FROM nvtx_op WHERE range_id IS NOT NULL GROUP BY 1";
    assert_eq!(sql(&path, ranges), ["PjitFunction(step),10"]);
    let steps = "SELECT range_name FROM nvtx_range WHERE domain_name = 'user_annotation'";
    assert_eq!(sql(&path, steps), ["user_annotation:train"]);
    let frames = "SELECT function_name, file_name, line FROM python_frame";
    assert_eq!(sql(&path, frames), ["bind,core.py,442"]);
    assert_eq!(sql(&path, "SELECT value FROM export_fact WHERE fact = 'NSQ_IMPORT_OF'"), ["XLA trace"]);
    let screen = stdout(&["overview", path.to_str().unwrap()]);
    assert!(screen.contains("10 kernels"), "{screen}");
}

#[test]
fn kernels_of_xla_belong_to_modules_and_operations() {
    let mut events = vec![
        named("process_name", 1, 0, "/device:GPU:0"),
        named("thread_name", 1, 20, "Stream #20(Compute)"),
    ];
    for (nth, (module, op, tf_op, dur)) in [
        ("jit_step", "fusion.1", "jit(step)/dot_general:", 40),
        ("jit_step", "fusion.1", "jit(step)/dot_general:", 30),
        ("jit_step", "fusion.9", "XlaModule:", 20),
        ("jit_eval", "fusion.1", "jit(eval)/add:", 10),
    ]
    .into_iter()
    .enumerate()
    {
        let args =
            json!({"hlo_module": module, "hlo_op": op, "tf_op": tf_op, "kernel_details": "regs:16"});
        events.push(event("", "kernel", (1, 20), (100 * nth as i64, dur), args));
    }
    events.push(event("", "other", (1, 20), (900, 5), json!({"kernel_details": "regs:16"})));
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    // Module, operation, place, kernels, GPU time.
    let cells = |row: &String, places: &[usize]| {
        let cells: Vec<&str> = row.split(',').collect();
        places.iter().map(|place| cells[*place]).collect::<Vec<_>>().join(" ")
    };
    let rows = run(&path, "xla_op_sum", &[]);
    assert_eq!(
        rows.iter().map(|row| cells(row, &[0, 1, 3, 5, 7])).collect::<Vec<_>>(),
        [
            "jit_step fusion.1 jit(step)/dot_general 2 70000",
            "jit_step fusion.9  1 20000",
            "jit_eval fusion.1 jit(eval)/add 1 10000",
            "(outside)   1 5000",
        ]
    );
    let modules = run(&path, "xla_op_sum", &["-p", "by=module", "-p", "limit=1"]);
    assert_eq!(
        modules.iter().map(|row| cells(row, &[0, 7])).collect::<Vec<_>>(),
        ["jit_step 90000", "(further) 10000", "(outside) 5000"]
    );
}

/// `../shared/cases/round2/23-jax-xla-modules`.
#[test]
fn ranges_of_jax_name_modules_and_operations() {
    let Some(shared) = crate::support::shared() else { return };
    let path = shared.join("cases/round2/23-jax-xla-modules/report.sqlite");
    let rows = run(&path, "xla_op_sum", &["-p", "by=module"]);
    // 10 runs on each of 2 GPUs.
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].starts_with("jit_train_step,,,,20,80,0,64000000,"), "{rows:?}");
    assert!(rows[1].starts_with("jit_eval_fn,,,,4,4,0,4000000,"), "{rows:?}");
}

#[test]
fn nodes_of_onnx_runtime_are_ranges() {
    let mut events = vec![event("Session", "model_run", (9, 9), (0, 5_000), json!({}))];
    for nth in 0..10 {
        let at = 100 + 400 * nth;
        let node = format!("conv_{nth}_kernel_time");
        events.push(event("Node", &node, (9, 9), (at, 120), json!({"op_name": "Conv"})));
        let args = json!({"stream": "7", "grid_x": "64", "grid_y": "1", "grid_z": "1", "block_x": "128", "block_y": "1", "block_z": "1"});
        events.push(event("Kernel", "sgemm", (-1, -1), (at + 60, 330), args));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let kernels = "SELECT min(device_id), max(device_id), min(stream_id), min(grid_x), min(block_x), sum(dur_ns) FROM kernel";
    assert_eq!(sql(&path, kernels), ["0,0,7,64,128,3300000"]);
    let nodes =
        "SELECT count(*), sum(dur_ns), min(range_text) FROM nvtx_range WHERE domain_name = 'cpu_op'";
    assert_eq!(sql(&path, nodes), ["10,1200000,conv_0"]);
    let fact = "SELECT value FROM export_fact WHERE fact = 'NSQ_IMPORT_OF'";
    assert_eq!(sql(&path, fact), ["ONNX Runtime profile"]);
    let screen = stdout(&["overview", path.to_str().unwrap()]);
    assert!(!screen.contains("Profiler") && !screen.contains("torch"), "{screen}");
}

#[test]
fn kernels_of_the_legacy_profiler_belong_to_their_operators() {
    let words = |name: &str, process: &str, tid: i64, ts: i64, dur: i64| json!({"ph": "X", "name": name, "pid": process, "tid": tid, "ts": ts, "dur": dur, "args": {}});
    let arrow = |phase: &str, process: &str, tid: i64, ts: i64, id: i64| json!({"ph": phase, "name": "mm", "pid": process, "tid": tid, "ts": ts, "id": id, "cat": "cpu_to_cuda", "args": {}});
    for (gpus, device) in [("CUDA functions", 0), ("CUDA functions", 1), ("GPU functions", 0)] {
        let mut events = Vec::new();
        for nth in 0..5 {
            let at = 100 * nth;
            events.extend([
                words("aten::mm", "CPU functions", 1, 100 + at, 30),
                arrow("s", "CPU functions", 1, 100 + at, nth),
                words("mm_kernel", gpus, device, 140 + at, 20),
                arrow("f", gpus, device, 140 + at, nth),
            ]);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = trace(folder.path(), &events);
        let work = "SELECT range_text, count(*), sum(nvtx_op.dur_ns), min(device_id) FROM nvtx_op \
                    JOIN kernel ON kernel_id = op_id GROUP BY 1";
        assert_eq!(sql(&path, work), [format!("aten::mm,5,100000,{device}")]);
        let coverage = run(&path, "nvtx_coverage", &[]).join("\n");
        assert!(coverage.contains("attributed,kernel,5") && coverage.contains("flow"), "{coverage}");
        let fact = "SELECT value FROM export_fact WHERE fact = 'NSQ_IMPORT_OF'";
        assert_eq!(sql(&path, fact), ["PyTorch trace (legacy profiler)"]);
    }
}

#[test]
fn hardware_of_ascend_ran_what_its_runtime_launched() {
    let mut events = vec![
        named("process_name", 10, 0, "Python"),
        named("process_name", 11, 0, "CANN"),
        named("process_name", 12, 0, "Ascend Hardware"),
        named("process_name", 13, 0, "Communication"),
        named("thread_name", 12, 3, "Stream 5"),
    ];
    let task = |kind: &str, id: i64| json!({"Task Type": kind, "connection_id": id});
    for nth in 0..4 {
        let (at, id) = (1_000 * nth, nth + 1);
        // Ascend writes times as texts.
        let mut operator = event("cpu_op", "aten::add", (10, 77), (0, 40), json!({}));
        operator["ts"] = format!("{}.500", 100 + at).into();
        events.extend([
            operator,
            event("", "Node@launch", (11, 77), (110 + at, 5), json!({"connection_id": id})),
            event("", "aclnnAdd_Add_Add", (12, 3), (200 + at, 60), task("AI_VECTOR_CORE", id)),
            event("", "EVENT_WAIT", (12, 3), (300 + at, 500), task("EVENT_WAIT", 90 + id)),
        ]);
    }
    events.push(event("", "MEMCPY_ASYNC", (12, 3), (900, 7), task("MEMCPY_ASYNC", 50)));
    events.push(event("", "hcom_allReduce__1", (13, 1), (2_000, 100), json!({})));
    events.push(event("", "Notify_Wait", (13, 2), (2_000, 90), json!({})));
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let kernels =
        "SELECT kernel_name, count(*), sum(dur_ns), min(stream_id) FROM kernel GROUP BY 1 ORDER BY 1";
    assert_eq!(
        sql(&path, kernels),
        ["aclnnAdd_Add_Add,4,240000,5", "hcom_allReduce__1,1,100000,1048577"]
    );
    assert_eq!(sql(&path, "SELECT count(*), sum(dur_ns) FROM memcpy"), ["1,7000"]);
    let in_range = "SELECT range_text, count(*) FROM nvtx_op WHERE range_id IS NOT NULL GROUP BY 1";
    assert_eq!(sql(&path, in_range), ["aten::add,4"]);
}
