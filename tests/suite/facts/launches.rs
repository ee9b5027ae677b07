//! Launches and their work: what failed, was captured, was lost, or had not run when the capture ended.

use super::capture::{Capture, MS, US, process};
use crate::support::stdout;

const PID: i64 = process(100);
const LAUNCH: &str = "cudaLaunchKernel_v7000";

/// `count` launches from `at` on, 1 ms apart, with correlation IDs from `first` on and without kernels.
fn bare(capture: &Capture, pid: i64, name: &str, (at, count): (i64, i64), first: i64, value: i64) {
    for nth in 0..count {
        let start = at + nth * MS;
        capture.call(pid | 1, name, (start, start + 10 * US), first + nth, value);
    }
}

/// Ten kernels of 0.5 ms, one each millisecond from 1 s on, and a synchronisation after them.
fn steady(capture: &Capture, pid: i64) {
    for nth in 0..10 {
        let at = 1_000 * MS + nth * MS;
        capture.launch(pid, at - 20 * US, "gemm", (at, at + 500 * US), 1_000 + nth);
    }
    capture.call(pid | 1, "cudaDeviceSynchronize_v3020", (1_010 * MS, 1_010 * MS + US), 2_000, 0);
}

fn outcomes(capture: &Capture) -> Vec<Vec<String>> {
    capture.rows(
        "launch_outcomes",
        &["outcome", "launched", "launch_count", "all_count", "return_value", "pid"],
    )
}

#[test]
fn launches_with_work_have_no_row() {
    let capture = Capture::new();
    steady(&capture, PID);
    assert!(outcomes(&capture).is_empty());
    assert!(!capture.says(&["launches"]) && !capture.screen().contains("unknown"));
}

#[test]
fn failed_launches_are_the_first_conclusion() {
    for (function, value, name, remedy) in [
        (LAUNCH, 222, "cudaErrorUnsupportedPtxVersion", "Update the driver"),
        ("cuLaunchKernel", 209, "cudaErrorNoKernelImageForDevice", "Compile the kernel"),
        ("cudaLaunchKernelExC_v11060", 700, "cudaErrorIllegalAddress", "compute-sanitizer"),
    ] {
        let capture = Capture::new();
        steady(&capture, PID);
        bare(&capture, PID, function, (900 * MS, 8), 1, value);
        let all = if function == LAUNCH { "18" } else { "8" };
        assert_eq!(outcomes(&capture), [["failed", "kernel", "8", all, &value.to_string(), "100"]]);
        let problem = &capture.doubts()[0];
        assert!(problem.starts_with("failed launches: 8 of") && problem.contains(name), "{problem}");
        let screen = capture.screen();
        let first = screen.lines().nth(1).unwrap();
        assert!(first.starts_with("Launches fail: 8 of") && first.contains(remedy), "{screen}");
        assert!(
            screen.contains("Nothing to conclude about speed, because launches fail.")
                && !screen.contains("What to fix first"),
            "{screen}"
        );
    }
}

#[test]
fn launches_whose_work_was_not_recorded_make_idle_time_unknown() {
    for (function, launched) in
        [(LAUNCH, "kernel"), ("cudaGraphLaunch_v10000", "graph"), ("cuLaunchKernelEx", "kernel")]
    {
        let capture = Capture::new();
        steady(&capture, PID);
        let other = process(200);
        bare(&capture, other, function, (1_000 * MS, 20), 1, 0);
        assert_eq!(outcomes(&capture), [["lost", launched, "20", "20", "null", "200"]]);
        let words = format!(
            "20 of 20 {launched} launches of process 200 succeeded, but their GPU work was not recorded."
        );
        assert!(capture.says(&[&words]), "{:?}", capture.doubts());
        let screen = capture.screen();
        let what = if launched == "graph" { "graph launches" } else { "launches" };
        let words = format!("Idle time is unknown, because the work of 20 of 20 {what} of process 200");
        assert!(screen.contains(&words), "{screen}");
        assert!(!screen.contains("figures are for the whole capture"), "{screen}");
        assert_eq!(
            capture.rows("findings", &["verdict"]).iter().filter(|row| row[0] != "cannot tell").count(),
            0
        );
    }
    // One in a hundred says nothing about idle time.
    let few = Capture::new();
    for at in 0..10 {
        for nth in 0..10 {
            let start = 1_000 * MS + at * 10 * MS + nth * MS;
            few.launch(PID, start - 20 * US, "gemm", (start, start + 500 * US), 1 + at * 10 + nth);
        }
    }
    bare(&few, PID, LAUNCH, (1_050 * MS, 1), 900, 0);
    assert_eq!(outcomes(&few).len(), 1);
    assert!(!few.screen().contains("unknown"));
}

#[test]
fn launches_of_a_captured_stream_ran_nothing_by_themselves() {
    // On the thread that captures, and on another one; and one that was launched after the capture.
    for thread in [1, 2] {
        let capture = Capture::new();
        steady(&capture, PID);
        capture.call(PID | 1, "cudaStreamBeginCapture_v10000", (900 * MS, 900 * MS + US), 1, 0);
        for nth in 0..12 {
            let at = 901 * MS + nth * 10 * US;
            capture.call(PID | thread, "cudaLaunchKernelExC_v11060", (at, at + 5 * US), 10 + nth, 0);
        }
        capture.call(PID | 1, "cudaStreamEndCapture_v10000", (910 * MS, 910 * MS + US), 2, 0);
        bare(&capture, PID, LAUNCH, (920 * MS, 1), 50, 0);
        let found = outcomes(&capture);
        assert_eq!(found.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["lost", "captured"]);
        assert_eq!(found[1][2], "12");
        assert!(!capture.screen().contains("Idle time is unknown"));
    }
}

#[test]
fn launches_after_the_last_one_with_work_had_not_run() {
    let capture = Capture::new();
    steady(&capture, PID);
    bare(&capture, PID, LAUNCH, (1_020 * MS, 12), 1, 0);
    assert_eq!(outcomes(&capture), [["queued", "kernel", "12", "22", "null", "100"]]);
    assert!(capture.says(&["they had not run when the capture ended"]));
    assert!(!capture.screen().contains("Idle time is unknown"));
    // After a synchronisation, their work is done.
    capture.call(PID | 1, "cudaStreamSynchronize_v3020", (1_040 * MS, 1_041 * MS), 3_000, 0);
    assert_eq!(outcomes(&capture)[0][0], "lost");
}

#[test]
fn operations_without_a_correlation_id_are_unlinked_launches() {
    let capture = Capture::new();
    steady(&capture, PID);
    for nth in 0..3 {
        let at = 900 * MS + nth * MS;
        capture.call(PID | 1, "hipLaunchKernel", (at, at + US), 1 + nth, 0);
        capture.kernel(PID, "ncclDevKernel", (at + 5 * US, at + 9 * US), 8, 0);
    }
    assert_eq!(outcomes(&capture)[0][0], "unlinked");
    assert!(!capture.says(&["launches without recorded work"]));
}

#[test]
fn damaged_kernels_and_whole_graphs_are_work() {
    let capture = Capture::new();
    steady(&capture, PID);
    capture.launch(PID, 900 * MS, "gemm", (0, 0), 1);
    capture.call(PID | 1, "cudaGraphLaunch_v10000", (901 * MS, 901 * MS + US), 2, 0);
    capture.sql(&format!(
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId)
         VALUES ({}, {}, 0, 1, 7, 2, {PID}, 1, 1)",
        902 * MS,
        905 * MS
    ));
    // The driver's call inside the runtime's.
    capture.sql(&format!(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
         SELECT start + 1, end - 1, 1, globalTid, correlationId, {}, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId BETWEEN 1000 AND 1009",
        capture.text("cuLaunchKernel")
    ));
    assert_eq!(outcomes(&capture), [[""; 6]; 0]);
    // Helper queries count the graph: 10 kernels and 1 graph, 5 + 3 ms.
    let activity = capture.rows("process_activity", &["op_count", "gpu_ns"]);
    assert_eq!(activity, [["11", "8000000"]]);
    let ids = capture.rows("scope_ids", &["scope_option", "id", "op_count"]);
    assert!(ids.contains(&["device", "0", "11"].map(str::to_owned).to_vec()), "{ids:?}");
}

#[test]
fn one_count_of_failed_calls() {
    // Not ready (600) is no failure; neither is 34, which meant the same before CUDA 10.1.
    for (pending, value, failed) in
        [("cudaEventQuery_v3020", 600, 2), ("cudaStreamQuery_v3020", 34, 1), ("cuEventQuery", 600, 3)]
    {
        let capture = Capture::new();
        steady(&capture, PID);
        bare(&capture, PID, pending, (900 * MS, 9), 1, value);
        bare(&capture, PID, "cudaMalloc_v3020", (900 * MS, failed), 30, 2);
        assert!(capture.says(&[&format!("failed CUDA calls: {failed} of ")]), "{:?}", capture.doubts());
        let info = capture.rows("report_info", &["fact", "value"]);
        let count = ["calls that failed".to_owned(), failed.to_string()].to_vec();
        assert!(info.contains(&count), "{info:?}");
    }
}

#[test]
fn launches_of_any_kind_may_not_have_run() {
    for (function, pid, count, kind) in [
        ("cuLaunchKernelEx", PID, 12, "kernel launches"),
        ("hipLaunchKernel", PID, 40, "kernel launches"),
        ("cudaGraphLaunch_v10000", PID, 25, "launches"),
        (LAUNCH, process(300), 15, "kernel launches"),
    ] {
        let capture = Capture::new();
        steady(&capture, pid);
        bare(&capture, pid, function, (1_020 * MS, count), 1, 0);
        let of = pid >> 24 & 0xff_ffff;
        let words = format!("{kind} of process {of} succeeded, but their GPU work was not recorded");
        let number = format!("{count} of ");
        assert!(
            capture.says(&[&words, &number, "they had not run when the capture ended"]),
            "{function}: {:?}",
            capture.doubts()
        );
        assert!(!capture.screen().contains("Idle time is unknown"), "{function}");
    }
}

#[test]
fn a_wait_is_shorter_where_work_from_before_the_capture_is() {
    let capture = Capture::new();
    let at = |us: i64| 1_000 * MS + us * US;
    // Five kernels whose launches were not recorded; the thread waits for them, and then launches two.
    for nth in 0..5 {
        capture.kernel(PID, "before", (at(1_000 * nth), at(1_000 * nth + 999)), 7, 1 + nth);
    }
    capture.call(PID | 1, "cudaDeviceSynchronize_v3020", (at(500), at(5_005)), 20, 0);
    for nth in 0..2 {
        let start = 5_030 + 110 * nth;
        capture.launch(PID, at(start - 15), "after", (at(start), at(start + 100)), 30 + nth);
    }
    let report = capture.path();
    let arguments =
        ["run", report.to_str().unwrap(), "-q", "what_if", "-p", "faster=before:2", "-f", "json"];
    let answer: serde_json::Value = serde_json::from_str(&stdout(&arguments)).unwrap();
    let row = &answer["rows"][0];
    let saved = row["now_ns"].as_i64().unwrap() - row["then_ns"].as_i64().unwrap();
    // The first kernel runs before the wait begins: no launch of it can be moved.
    let expected = 5 * 999 * US / 2;
    assert!((expected - 600 * US..=expected).contains(&saved), "{saved} of {expected}: {row}");
}

#[test]
fn queued_launches_and_calls_that_a_full_queue_blocks_are_counted() {
    // A launch takes 4 µs, a kernel 20 µs and more, one after the other. Room for 600.
    for (room, count) in [(600, 2_000), (600, 500), (400, 2_000)] {
        let capture = Capture::new();
        capture.sql("BEGIN");
        let (mut call, mut free) = (1_000 * MS, 0);
        let (mut calls, mut ends): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        let (mut depths, mut blocked) = (Vec::new(), Vec::new());
        for nth in 0..count {
            calls.push(call);
            depths.push(nth - ends.partition_point(|&end| end <= call));
            let has_room = nth.checked_sub(room).map_or(0, |first| ends[first] + US);
            let returned = has_room.max(call + 4 * US);
            blocked.push(returned - call - 4 * US);
            let start = free.max(returned);
            free = start + 20 * US + (nth % 7) as i64 * US;
            ends.push(free);
            let correlation = nth as i64 + 1;
            capture.call(process(100) | 1, "cudaLaunchKernel_v7000", (call, returned), correlation, 0);
            capture.kernel(process(100), "k", (start, free), 7, correlation);
            call = returned;
        }
        capture.sql("COMMIT");
        let deepest = *depths.iter().max().unwrap();
        let usual = if room < count { 20 * US } else { 4 * US };
        let rows = capture.rows("launch_queue", &["pid", "launches", "max_depth"]);
        assert_eq!(rows, [["100".to_owned(), count.to_string(), deepest.to_string()]]);
        let rows = capture.rows("launch_queue", &["usual_call_ns", "blocked_calls", "blocked_ns"]);
        let numbers: Vec<i64> = rows[0].iter().map(|number| number.parse().unwrap()).collect();
        assert!(numbers[0] <= usual, "{rows:?}");
        let is_blocked = |nth: &usize| {
            deepest >= 500 && 10 * depths[*nth] >= 9 * deepest && blocked[*nth] + 4 * US > 2 * numbers[0]
        };
        let of: Vec<usize> = (0..count).filter(is_blocked).collect();
        let total: i64 = of.iter().map(|&nth| blocked[nth] + 4 * US - numbers[0]).sum();
        assert_eq!((numbers[1], numbers[2]), (of.len() as i64, total), "{room} {count}");
        // The kernels wait for the GPU, also those whose calls took longer.
        assert_eq!(capture.rows("launch_latency", &["launch_bound_pct"]), [["0"]]);
        // In each of 30 pieces of the time.
        let rows = capture.rows("launch_queue_map", &["mean_depth", "end_depth"]);
        assert_eq!((rows.len(), rows[29][1].as_str()), (30, "0"));
        let (from, to) = (calls[0], ends[count - 1]);
        for (piece, row) in rows.iter().enumerate() {
            let begin = from + piece as i64 * ((to - from) / 30);
            let end = if piece == 29 { to } else { begin + (to - from) / 30 };
            let open =
                calls.iter().zip(&ends).map(|(&call, &done)| (done.min(end) - call.max(begin)).max(0));
            let mean = open.sum::<i64>() as f64 / (end - begin) as f64;
            assert!((row[0].parse::<f64>().unwrap() - mean).abs() < 1e-6, "{piece}: {row:?} {mean}");
        }
    }
}

#[test]
fn a_launch_is_bound_by_its_call_if_its_work_does_not_wait_longer() {
    let capture = Capture::new();
    // Each call takes 30 µs, and each kernel 10 µs: at once, 1 µs after the call, and 31 µs after it.
    for (nth, waits) in [0, 1, 31].into_iter().enumerate() {
        let call = 1_000 * MS + nth as i64 * MS;
        let start = call + (30 + waits) * US;
        capture.call(
            process(100) | 1,
            "cudaLaunchKernel_v7000",
            (call, call + 30 * US),
            nth as i64 + 1,
            0,
        );
        capture.kernel(process(100), "k", (start, start + 10 * US), 7, nth as i64 + 1);
    }
    let rows = capture.rows("launch_latency", &["launches", "launch_bound_pct"]);
    assert!(rows[0][0] == "3" && rows[0][1].starts_with("66.66"), "{rows:?}");
}
