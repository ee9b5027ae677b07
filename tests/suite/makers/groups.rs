//! Collectives as PyTorch recorded them: names, sizes and process groups.

use super::{event, launched, run, trace};
use serde_json::{Value, json};

const MAIN: (i64, i64) = (100, 100);

/// A kernel of a collective on a stream of its own, at a time, with what PyTorch says of it.
fn collective(kernel: &str, (at, dur): (i64, i64), correlation: i64, said: Value) -> [Value; 2] {
    let mut args = json!({"device": 0, "context": 1, "stream": 20, "correlation": correlation});
    for (key, value) in said.as_object().unwrap() {
        args[key] = value.clone();
    }
    [
        event("cuda_runtime", "cudaLaunchKernel", MAIN, (at, 3), json!({"correlation": correlation})),
        event("kernel", kernel, (0, 20), (at + 10, dur), args),
    ]
}

fn said(name: &str, elements: i64, group: (&str, &str, &str), ranks: i64) -> Value {
    let (number, description, members) = group;
    json!({
        "Collective name": name,
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": ranks,
        "dtype": "BFloat16",
        "Process Group Name": number,
        "Process Group Description": description,
        "Process Group Ranks": members,
    })
}

/// Compute from 110 to 510 µs and from 1210 to 1310 µs.
fn step() -> Vec<Value> {
    let (tp, dp) = (("5", "mesh_tp", "[0, 1]"), ("7", "mesh_dp", "[0, 2, 4, 6]"));
    let mut events = Vec::new();
    events.extend(launched(MAIN, 100, 400, 1));
    // 100 of 300 µs are hidden.
    let generic = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";
    events.extend(collective(generic, (400, 300), 2, said("allreduce", 1024, tp, 2)));
    // Exposed.
    events.extend(collective(generic, (800, 200), 3, said("_allgather_base", 512, dp, 4)));
    events.extend(launched(MAIN, 1200, 100, 4));
    // 50 of 100 µs are hidden. An exchange of kernels that send and receive.
    let send = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    events.extend(collective(
        send,
        (1250, 100),
        5,
        said("all_to_all", 256, ("9", "undefined", "[]"), 2),
    ));
    // Of this one, PyTorch says nothing.
    events.extend(collective(generic, (1500, 40), 6, json!({})));
    events
}

fn cells(rows: &[String], places: &[usize]) -> Vec<String> {
    let cell = |row: &String| {
        // Ranks contain commas between quotes.
        let plain: String = row.split('"').step_by(2).collect::<Vec<_>>().join("group");
        let cells: Vec<&str> = plain.split(',').collect();
        places.iter().map(|place| cells[*place]).collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(cell).collect()
}

#[test]
fn exposed_time_is_told_by_process_group_and_role() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let rows = run(&path, "comm_overlap_by_group", &[]);
    // Role, description, ranks, collectives, calls, bytes, total, hidden, exposed.
    let places = [2, 3, 5, 6, 7, 8, 9, 10, 11];
    assert_eq!(
        cells(&rows, &places),
        [
            "DP mesh_dp 4 AllGather 1 1024 200000 0 200000",
            "TP mesh_tp 2 AllReduce 1 2048 300000 100000 200000",
            "  2 AllToAll 1 512 100000 50000 50000",
            "    1  40000 0 40000",
        ]
    );
    let roles = run(&path, "comm_overlap_by_group", &["-p", "by=role"]);
    assert_eq!(
        cells(&roles, &[2, 7, 9, 11]),
        ["DP 1 200000 200000", "TP 1 300000 200000", " 2 140000 90000"]
    );
}

#[test]
fn a_role_in_the_name_of_a_group_beats_an_inference() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let rows = run(&path, "communicator_roles", &[]);
    assert_eq!(
        cells(&rows, &[1, 2]),
        [
            "data the program calls its group mesh_dp",
            "tensor the program calls its group mesh_tp",
            "expert all-to-alls",
        ]
    );
}

#[test]
fn the_recorded_collective_beats_the_name_of_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &step());
    let rows = run(&path, "comm_overlap", &[]);
    assert_eq!(
        cells(&rows, &[2, 3, 4, 6]),
        [
            "AllGather 1 200000 200000",
            "AllReduce 1 300000 200000",
            "AllToAll 1 100000 50000",
            "Generic 1 40000 40000",
        ]
    );
    let rows = run(&path, "nccl_sum", &[]);
    assert_eq!(
        cells(&rows, &[0, 1, 2, 8]),
        [
            "AllReduce 1 300000 2048",
            "AllGather 1 200000 1024",
            "AllToAll 1 100000 512",
            "Generic 1 40000 "
        ]
    );
}

/// `../shared/cases/torch/24-tp-dp-groups`.
#[test]
fn a_case_of_two_meshes_has_the_right_values() {
    let Some(shared) = crate::support::shared() else { return };
    let path = shared.join("cases/torch/24-tp-dp-groups/trace.json");
    let rows = run(&path, "comm_overlap_by_group", &[]);
    assert_eq!(
        cells(&rows, &[2, 3, 9, 11]),
        ["TP mesh_tp 3000000 2000000", "DP mesh_dp 4000000 1500000"]
    );
}
