//! GPU time by PyTorch module and by Python function.

use super::{event, launched, run, sql, trace};
use serde_json::{Value, json};

const MAIN: (i64, i64) = (100, 100);
const BACKWARD: (i64, i64) = (100, 200);

fn frame(name: &str, thread: (i64, i64), at: i64, dur: i64) -> Value {
    event("python_function", name, thread, (at, dur), json!({}))
}

fn operator(name: &str, thread: (i64, i64), at: i64, dur: i64, sequence: i64) -> Value {
    event("cpu_op", name, thread, (at, dur), json!({"Sequence number": sequence}))
}

/// A step: two layers of one block, forward and backward, an optimizer, and a thread that only waits.
fn step() -> Vec<Value> {
    let mut events = vec![
        frame("train.py(5): <module>", MAIN, 0, 10_000),
        frame("torch/nn/modules/module.py(9): _call_impl", MAIN, 90, 900),
        frame("nn.Module: Block_0", MAIN, 100, 800),
        frame("model.py(20): forward", MAIN, 110, 700),
        frame("nn.Module: Linear_0", MAIN, 200, 100),
        frame("torch/nn/modules/linear.py(3): forward", MAIN, 205, 90),
        operator("aten::linear", MAIN, 210, 50, 1),
        frame("nn.Module: Linear_1", MAIN, 400, 100),
        operator("aten::linear", MAIN, 410, 50, 2),
        frame("torch/optim/adam.py(7): step", MAIN, 5_000, 500),
        frame("threading.py(3): wait", (0, 0), 0, 10_000),
        frame("idle.py(3): spin", (100, 300), 0, 10_000),
        operator("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, 2_000, 100, 2),
        operator("AddmmBackward0", BACKWARD, 2_010, 80, 2),
        operator("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, 2_200, 100, 1),
    ];
    // Linear_0, Linear_1, Block_0 itself, the optimizer, backward of Linear_1 and Linear_0, and one of no operator.
    let launches = [
        (MAIN, 220, 10),
        (MAIN, 420, 20),
        (MAIN, 600, 40),
        (MAIN, 5_100, 80),
        (BACKWARD, 2_020, 160),
        (BACKWARD, 2_220, 320),
        (BACKWARD, 2_900, 640),
    ];
    for (nth, (thread, at, dur)) in launches.into_iter().enumerate() {
        events.extend(launched(thread, at, dur, nth as i64 + 1));
    }
    events
}

fn cells(rows: &[String], places: &[usize]) -> Vec<String> {
    let cell = |row: &String| {
        let cells: Vec<&str> = row.split(',').collect();
        places.iter().map(|place| cells[*place]).collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(cell).collect()
}

#[test]
fn modules_have_their_forward_and_backward_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let rows = run(&path, "module_time", &[]);
    // Module, calls, operations, GPU time, backward, with the modules inside.
    assert_eq!(
        cells(&rows, &[0, 2, 3, 4, 7, 8]),
        [
            "Linear_0 1 2 330000 320000 330000",
            "Linear_1 1 2 180000 160000 180000",
            "Block_0 1 1 40000 0 550000",
            "(outside)  2 720000 0 ",
        ]
    );
    assert!(rows[3].ends_with("no module was called"), "{rows:?}");
    let few = run(&path, "module_time", &["-p", "limit=1"]);
    assert_eq!(
        cells(&few, &[0, 4]),
        ["Linear_0 330000", "(further modules) 220000", "(outside) 720000"]
    );
    // Class, modules, calls, operations, GPU time, backward, with the modules inside.
    let classes = run(&path, "module_time", &["-p", "by=class"]);
    assert_eq!(
        cells(&classes, &[0, 1, 2, 3, 4, 7, 8]),
        ["Linear 2 2 4 510000 480000 510000", "Block 1 1 1 40000 0 550000", "(outside)   2 720000 0 ",]
    );
    let total = sql(&path, "SELECT sum(dur_ns) FROM kernel")[0].parse::<i64>().unwrap();
    for rows in [rows, few] {
        let kernels = cells(&rows, &[6]).iter().map(|cell| cell.parse::<i64>().unwrap()).sum::<i64>();
        assert_eq!(kernels, total);
    }
}

#[test]
fn functions_outside_of_pytorch_have_what_they_launched() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let rows = run(&path, "python_line_time", &[]);
    assert_eq!(
        cells(&rows, &[0, 2, 3, 6]),
        [
            "model.py(20): forward 5 550000 480000",
            "train.py(5): <module> 1 80000 0",
            "(outside) 1 640000 0",
        ]
    );
    // Threads that launch nothing have nothing.
    assert!(!rows.iter().any(|row| row.contains("wait") || row.contains("spin")), "{rows:?}");
}

#[test]
fn stacks_add_up_and_backward_work_has_the_forward_stack() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let stacks = |params: &[&str]| cells(&run(&path, "gpu_time_by_stack", params), &[0, 5]);
    let block = "train.py(5): <module>;nn.Module: Block_*;model.py(20): forward";
    assert_eq!(
        stacks(&["-p", "operations=false"]),
        [
            "640000 (outside)".to_owned(),
            format!(
                "320000 {block};nn.Module: Linear_*;cpu_op:aten::linear;(backward);\
                 cpu_op:autograd::engine::evaluate_function: AddmmBackward0"
            ),
            format!(
                "160000 {block};nn.Module: Linear_*;cpu_op:aten::linear;(backward);\
                 cpu_op:autograd::engine::evaluate_function: AddmmBackward0;cpu_op:AddmmBackward0"
            ),
            "80000 train.py(5): <module>".to_owned(),
            format!("40000 {block}"),
            format!("30000 {block};nn.Module: Linear_*;cpu_op:aten::linear"),
        ]
    );
    assert_eq!(
        stacks(&["-p", "operations=false", "-p", "by=module", "-p", "instances=true"]),
        [
            "720000 (outside)",
            "320000 nn.Module: Block_0;nn.Module: Linear_0;(backward)",
            "160000 nn.Module: Block_0;nn.Module: Linear_1;(backward)",
            "40000 nn.Module: Block_0",
            "20000 nn.Module: Block_0;nn.Module: Linear_1",
            "10000 nn.Module: Block_0;nn.Module: Linear_0",
        ]
    );
    let total = sql(&path, "SELECT sum(dur_ns) FROM kernel")[0].parse::<i64>().unwrap();
    for by in ["all", "range", "module", "function", "python"] {
        let rows = run(&path, "gpu_time_by_stack", &["-p", &format!("by={by}"), "-p", "limit=-1"]);
        let sum: i64 = cells(&rows, &[0]).iter().map(|cell| cell.parse::<i64>().unwrap()).sum();
        assert_eq!(sum, total, "{by}");
    }
}

#[test]
fn python_calls_are_no_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let report = folder.path().join("all.sqlite");
    let (text, output) = (path.to_str().unwrap(), report.to_str().unwrap());
    crate::support::stdout(&["import", text, "--python-functions", "-o", output]);
    for path in [&path, &report] {
        assert_eq!(sql(path, "SELECT count(*) FROM python_frame"), ["10"]);
        assert_eq!(sql(path, "SELECT count(*) FROM nvtx_range"), ["5"]);
    }
}
