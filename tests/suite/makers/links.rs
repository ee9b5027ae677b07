//! GPU work that names no call is linked by another rule, and the rule is told.

use super::{event, launched, run, sql, trace};
use serde_json::{Value, json};

/// Kernels 1 to 4: by correlation ID, by External id, by an arrow, and one that nothing links.
#[test]
fn the_rule_of_a_link_is_told() {
    let thread = (100, 100);
    let call = |args: Value, at: i64| event("cuda_runtime", "cudaLaunchKernel", thread, (at, 3), args);
    let kernel = |args: Value, at: i64| {
        let mut event = event("kernel", "gemm", (0, 7), (at, 20), args);
        event["args"]["stream"] = 7.into();
        event["args"]["device"] = 0.into();
        event
    };
    let arrow = |phase: &str, (pid, tid): (i64, i64), ts: i64| json!({"ph": phase, "cat": "ac2g", "name": "ac2g", "id": 3, "pid": pid, "tid": tid, "ts": ts});
    let [first, second] = launched(thread, 100, 20, 1);
    let events = [
        event("cpu_op", "aten::mm", thread, (90, 900), json!({})),
        first,
        second,
        call(json!({"correlation": 2, "External id": 20}), 200),
        kernel(json!({"External id": 20}), 210),
        call(json!({"correlation": 3}), 300),
        arrow("s", thread, 300),
        kernel(json!({}), 310),
        arrow("f", (0, 7), 310),
        kernel(json!({}), 410),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let rules = "SELECT coalesce(rule, '-'), call_start_ns - (SELECT min(start_ns) FROM nvtx_range) FROM launch \
                 LEFT JOIN launch_link USING (op_kind, op_id) ORDER BY start_ns";
    assert_eq!(sql(&path, rules), ["-,10000", "External id,110000", "flow,210000", "-,"]);
    let coverage = run(&path, "nvtx_coverage", &[]);
    let links = ["External id", "correlation ID", "flow"];
    assert!(links.iter().all(|link| coverage.iter().any(|row| row.contains(link))), "{coverage:?}");
    assert!(coverage.iter().any(|row| row.contains("no API row,kernel,1")), "{coverage:?}");
}

/// The recorder lost the correlation IDs of some kernels. Their launches have theirs, or 0 as well.
#[test]
fn kernels_without_a_link_are_guessed_in_order() {
    for (lost, is_call_lost, is_extra, is_early) in [
        (3, false, false, false),
        (10, true, false, false),
        (3, false, true, false),
        (3, true, false, true),
    ] {
        let mut events = Vec::new();
        for nth in 0..10 {
            let [mut call, mut kernel] = launched((100, 100), 1_000 * (nth + 1), 200, nth + 1);
            if nth < lost {
                kernel["args"]["correlation"] = 0.into();
                if is_call_lost {
                    call["args"]["correlation"] = 0.into();
                }
                if is_early && nth == 1 {
                    // Before its launch: then the order cannot be right.
                    kernel["ts"] = 1_500.into();
                }
            }
            events.extend([call, kernel]);
        }
        if is_extra {
            // A launch more than there are kernels: nothing tells which.
            events.push(launched((100, 100), 20_000, 200, 99)[0].clone());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = trace(folder.path(), &events);
        let is_guessed = !is_extra && !is_early;
        let right = "SELECT count(*) FROM launch JOIN launch_link USING (op_kind, op_id) \
                     WHERE rule = 'time and order (a guess)' AND start_ns - call_start_ns = 10000";
        assert_eq!(sql(&path, right), [if is_guessed { lost.to_string() } else { "0".to_owned() }]);
        let doubts = run(&path, "capture_trust", &[]).join("\n");
        assert_eq!(doubts.contains("which is a guess"), is_guessed, "{doubts}");
        if !is_extra {
            let words = format!("{lost} of 10 GPU operations have no correlation ID");
            assert!(doubts.contains(&words), "{doubts}");
            let coverage = run(&path, "nvtx_coverage", &[]).join("\n");
            assert!(coverage.contains("lost the link"), "{coverage}");
        }
    }
}

/// TraceFuse adds a multiple of a large number to the processes and correlation IDs of each rank.
#[test]
fn ranks_that_a_merger_numbered_anew_have_gpus_of_their_own() {
    for (devices, gpus) in [([0, 0], "0,1"), ([0, 1], "0,1"), ([3, 3], "3,4")] {
        let mut events = Vec::new();
        for nth in 0..10 {
            for (rank, dur) in [(0, 50), (1, 100)] {
                let (own, device) = (rank as i64 * 10_000_000, devices[rank]);
                let [mut call, mut kernel] =
                    launched((501 + own, 501), 1_000 + 200 * nth + 17 * rank as i64, dur, own + nth + 1);
                call["tid"] = 501.into();
                kernel["pid"] = (own + device).into();
                kernel["args"]["device"] = device.into();
                events.extend([call, kernel]);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = trace(folder.path(), &events);
        let linked = "SELECT count(*), count(DISTINCT launch.global_pid) FROM launch JOIN cuda_call USING (call_id) \
                      WHERE cuda_call.global_pid = launch.global_pid";
        assert_eq!(sql(&path, linked), ["20,2"], "{devices:?}");
        let busy = "SELECT group_concat(gpu_id), group_concat(compute_ns) FROM (SELECT * FROM gpu_window ORDER BY gpu_id)";
        assert_eq!(sql(&path, busy), [format!("\"{gpus}\",\"500000,1000000\"")], "{devices:?}");
    }
}
