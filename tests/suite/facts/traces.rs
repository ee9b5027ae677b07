//! Facts of PyTorch traces: merged ranks, lost links, other accelerators; and ranks by name and GPU.

use super::capture::{Capture, MS, US, process};
use crate::support::{Fixtures, stdout};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A launch and its kernel, in µs.
fn launched(rank: &str, pid: i64, device: i64, at: i64, dur: i64, correlation: i64) -> String {
    format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"{rank}{pid}","tid":{pid},"ts":{at},"dur":3,"args":{{"correlation":{correlation}}}}},
           {{"ph":"X","cat":"kernel","name":"gemm","pid":"{rank}{device}","tid":7,"ts":{},"dur":{dur},"args":{{"device":{device},"context":1,"stream":7,"grid":[132,1,1],"block":[256,1,1],"correlation":{correlation}}}}}"#,
        at + 10
    )
}

fn trace(folder: &Path, events: &[String]) -> PathBuf {
    let path = folder.join("trace.json");
    let text = format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"rank":0,"world_size":2}},"deviceProperties":[{{"id":0,"name":"NVIDIA H100","numSms":132}},{{"id":1,"name":"NVIDIA H100","numSms":132}}],"traceEvents":[{}]}}"#,
        events.join(",")
    );
    std::fs::write(&path, text).unwrap();
    path
}

fn run(path: &Path, query: &str) -> String {
    stdout(&["run", path.to_str().unwrap(), "-q", query, "--format", "csv"])
}

fn sql(path: &Path, statement: &str) -> String {
    let answer = stdout(&["sql", path.to_str().unwrap(), statement, "--format", "csv"]);
    answer.lines().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
fn ranks_of_a_merged_trace_have_calls_and_gpus_of_their_own() {
    // Both ranks count their correlation IDs from 1. Two ranks of two machines have device 0 each.
    for (devices, pids) in [([0, 1], [501, 502]), ([0, 0], [501, 502]), ([0, 0], [501, 501])] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for nth in 0..10 {
            for (rank, dur) in [(0, 50), (1, 100)] {
                let name = format!("[TP0{rank}-DP00-PP00-EP00] ");
                let at = 1_000 + 200 * nth + rank as i64 * 17;
                events.push(launched(&name, pids[rank], devices[rank], at, dur, nth + 1));
            }
        }
        let path = trace(folder.path(), &events);
        let linked = "SELECT count(*), count(DISTINCT launch.global_pid) FROM launch JOIN cuda_call USING (call_id) \
                      WHERE cuda_call.global_pid = launch.global_pid";
        assert_eq!(sql(&path, linked), "20,2", "{devices:?} {pids:?}");
        let busy =
            "SELECT group_concat(compute_ns) FROM (SELECT compute_ns FROM gpu_window ORDER BY gpu_id)";
        assert_eq!(sql(&path, busy), "\"500000,1000000\"", "{devices:?} {pids:?}");
        // The rank that the facts of the trace name is that of its first part.
        assert!(!run(&path, "ranks").contains("PyTorch"));
    }
}

#[test]
fn operations_without_a_correlation_id_have_lost_their_link() {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<_> =
        (0..20).map(|nth| launched("", 100, 0, 1_000 + 200 * nth, 50, nth + 1)).collect();
    let path = trace(folder.path(), &events);
    assert!(!run(&path, "capture_trust").contains("link"));
    for event in &mut events[10..] {
        let kernel = event.rfind("\"correlation\":").unwrap();
        event.replace_range(kernel.., "\"correlation\":0}}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    assert!(run(&path, "capture_trust").contains("10 of 20 GPU operations have no correlation ID"));
    let coverage = run(&path, "nvtx_coverage");
    assert!(
        coverage.contains("lost the link") && !coverage.contains("before the trace began"),
        "{coverage}"
    );
}

#[test]
fn operations_of_earlier_launches_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<_> =
        (0..20).map(|nth| launched("", 100, 0, 1_000 + 200 * nth, 50, nth + 1)).collect();
    for (nth, event) in events.iter_mut().enumerate().take(4) {
        *event = event.replacen("\"correlation\":", &format!("\"correlation\":9{nth}"), 1);
    }
    let path = trace(folder.path(), &events);
    assert!(
        run(&path, "capture_trust").contains("4 of 20 GPU operations (0.2 ms) were launched before")
    );
}

#[test]
fn a_trace_of_another_accelerator_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let event = |category: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"event_wait","pid":1,"tid":1,"ts":1,"dur":2,"args":{{}}}}"#
        )
    };
    let path =
        trace(folder.path(), &[event("cpu_op"), event("mtia_ccp_events"), event("mtia_ccp_events")]);
    let screen = stdout(&["overview", path.to_str().unwrap()]);
    assert!(
        screen.contains("another accelerator") && screen.contains("2 events of another"),
        "{screen}"
    );
    let path = trace(folder.path(), &[event("cpu_op")]);
    let screen = stdout(&["overview", path.to_str().unwrap()]);
    assert!(screen.contains("events of the CPU only"), "{screen}");
}

#[test]
fn ranks_come_from_the_names_of_files() {
    let capture = Capture::new();
    capture.launch(process(100), MS, "gemm", (2 * MS, 3 * MS), 1);
    let folder = tempfile::tempdir().unwrap();
    let ranked = |name: &str| {
        let path = folder.path().join(name);
        std::fs::copy(capture.path(), &path).unwrap();
        sql(&path, "SELECT rank, source FROM rank")
    };
    assert_eq!(ranked("rank6.sqlite"), "6,file name");
    assert_eq!(ranked("a-TP-3-DP-0-PP-0-EP-0.sqlite"), "3,file name");
    assert_eq!(ranked("report6.sqlite"), ",");
}

#[test]
fn ranks_of_one_communicator_on_one_gpu_are_a_contradiction() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("nccl_two_ranks");
    assert!(!run(&path, "capture_trust").contains("ranks that share a GPU"));
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 0, uuid = NULL", []).unwrap();
    drop(connection);
    assert!(run(&path, "capture_trust").contains("2 ranks of one NCCL communicator ran on GPU 0"));
}

#[test]
fn a_graph_capture_ran_on_the_same_gpu_as_an_eager_one() {
    let gpu = "INSERT INTO TARGET_INFO_GPU (vmId, id, name, cuDevice, smCount) VALUES (0, 0, 'NVIDIA H100', 0, 132)";
    let eager = Capture::new();
    let graphs = Capture::new();
    for nth in 0..20 {
        let at = 1_000 * MS + nth * 10 * MS;
        eager.launch(process(100), at, "gemm", (at + 20 * US, at + 5 * MS), nth + 1);
        graphs.call(process(100) | 1, "cudaGraphLaunch_v10000", (at, at + 10 * US), nth + 1, 0);
        graphs.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId)
             VALUES ({}, {}, 0, 1, 7, {}, {}, 1, 1)",
            at + 20 * US,
            at + 5 * MS,
            nth + 1,
            process(100)
        ));
    }
    let (eager, graphs) = (eager.sql(gpu).path(), graphs.sql(gpu).path());
    let out = stdout(&["diff", eager.to_str().unwrap(), graphs.to_str().unwrap()]);
    assert!(out.contains("20 CUDA graph executions, 99.60 ms, NVIDIA H100"), "{out}");
    assert!(!out.contains("different GPUs") && !out.contains(" 0 kernels"), "{out}");
}
