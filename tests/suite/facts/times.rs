//! Times that cannot be true.

use super::capture::{Capture, MS, US, process};
use crate::support::{nsq, stdout};

const PID: i64 = process(100);

/// Four kernels of 2 ms, 3 ms apart, from 1 s on: window 11 ms, busy 8 ms.
fn steady(capture: &Capture) {
    for nth in 0..4 {
        let at = 1_000 * MS + nth * 3 * MS;
        capture.launch(PID, at - 500 * US, "gemm", (at, at + 2 * MS), nth + 1);
    }
}

fn window(capture: &Capture) -> Vec<Vec<String>> {
    capture.rows("gpu_time", &["window_ns", "busy_ns", "idle_ns"])
}

#[test]
fn events_with_impossible_times_count_in_no_figure() {
    let year = 31_536_000_000 * MS;
    // CUPTI could not collect the times; the end lies before the start; the end is a year away; the start is unsigned.
    for (times, reason) in [
        ((0, 0), "no times"),
        ((-1, -1), "no times"),
        ((1_004 * MS, 1_001 * MS), "ends before it starts"),
        ((1_004 * MS, year), "too long"),
        ((i64::MAX - 5, i64::MAX), "too long"),
        ((i64::MIN, i64::MAX), "too long"),
    ] {
        let capture = Capture::new();
        steady(&capture);
        capture.launch(PID, 1_001 * MS, "gemm", times, 20).copy(PID, times, 21);
        capture.call(PID | 1, "cudaMalloc_v3020", times, 22, 0);
        assert_eq!(window(&capture), [["11000000", "8000000", "3000000"]], "{times:?}");
        assert_eq!(
            capture.rows("top_kernels", &["calls", "total_ns", "min_ns"]),
            [["4", "8000000", "2000000"]]
        );
        let said = capture.rows("capture_trust", &["problem", "detail"]);
        let detail = format!(
            "3 events have impossible times and are left out of all figures: 1 CUDA call ({reason}), \
             1 kernel ({reason}), 1 memcpy ({reason})."
        );
        assert!(said.contains(&vec!["impossible times".to_owned(), detail]), "{said:?}");
        assert!(capture.screen().contains("left out of all figures"));
    }
}

#[test]
fn ranges_that_end_before_they_start_are_no_ranges() {
    let capture = Capture::new();
    steady(&capture);
    capture.range(PID | 1, "step", (999 * MS, 1_005 * MS));
    capture.range(PID | 1, "torn", (1_005 * MS, 999 * MS));
    capture.range(PID | 1, "endless", (999 * MS, 999 * MS + 2_000_000_000 * MS));
    assert_eq!(capture.rows("range_time", &["range_name"]), [["step"]]);
    assert!(capture.says(&["1 NVTX range (ends before it starts), 1 NVTX range (too long)"]));
}

#[test]
fn reports_of_nvidia_take_the_rows_and_its_rules_do_not() {
    let capture = Capture::new();
    steady(&capture);
    capture.launch(PID, 1_001 * MS, "gemm", (0, 0), 20);
    // As `nsys stats` and `nsys analyze` 2023.4.4 have it: five instances, the shortest of 0 ns, and no gap from 0.
    let sums = capture.rows("cuda_gpu_kern_sum", &["calls", "total_ns", "min_ns"]);
    assert_eq!(sums, [["5", "8000000", "0"]]);
    assert!(capture.rows("gpu_gaps", &["start_ns"]).is_empty());
    // Both in one process, in either order.
    let path = capture.path();
    let path = path.to_str().unwrap();
    for queries in [["cuda_gpu_kern_sum", "top_kernels"], ["top_kernels", "cuda_gpu_kern_sum"]] {
        let csv = stdout(&["run", path, "-q", queries[0], "-q", queries[1], "--format", "ndjson"]);
        assert!(csv.contains("\"calls\":5") && csv.contains("\"calls\":4"), "{csv}");
    }
}

#[test]
fn kernels_before_their_launch_and_over_their_successors_are_doubted() {
    let clean = Capture::new();
    steady(&clean);
    assert!(!clean.says(&["launch"]) && !clean.says(&["stream"]), "{:?}", clean.doubts());

    for (kernels, has_copy, words) in [
        (1, false, "1 GPU operation starts before the call"),
        (3, false, "3 GPU operations start before the call"),
        (1, true, "2 GPU operations start before the call"),
    ] {
        let early = Capture::new();
        steady(&early);
        for nth in 0..kernels {
            let at = (1_012 + 2 * nth) * MS;
            early.launch(PID, at + 3 * MS, "early", (at, at + MS), 9 + nth);
        }
        if has_copy {
            early.call(PID | 1, "cudaMemcpyAsync_v3020", (1_030 * MS, 1_031 * MS), 90, 0);
            early.copy(PID, (1_029 * MS, 1_030 * MS), 90);
        }
        assert!(early.says(&["GPU work before its launch", words]), "{:?}", early.doubts());
    }
    // One that holds all time, two, and one that is a small part.
    for (ends, count, is_unknown) in [
        (vec![1_500], "1 kernel", true),
        (vec![1_200, 1_300], "2 kernels", true),
        (vec![1_012], "1 kernel", false),
    ] {
        let long = Capture::new();
        steady(&long);
        if !is_unknown {
            long.launch(PID, 1_020 * MS, "rest", (1_020 * MS + US, 1_400 * MS), 20);
        }
        for (nth, end) in ends.iter().enumerate() {
            let at = 999 * MS + nth as i64 * 10 * US;
            long.launch(PID, at, "stuck", (at + 500 * US, end * MS), 9 + nth as i64);
        }
        assert!(
            long.says(&["kernels that overlap their stream: ", count, "`stuck` lasts"]),
            "{:?}",
            long.doubts()
        );
        let screen = long.screen();
        let unknown = format!("Idle time is unknown, because the true end of {count} with");
        assert_eq!(screen.contains(&unknown), is_unknown, "{screen}");
        let open = long.rows("findings", &["verdict"]).iter().all(|row| row[0] == "cannot tell");
        assert_eq!(open && !screen.contains("What to fix first"), is_unknown, "{screen}");
    }
    // On a stream of its own it may run as long.
    let beside = Capture::new();
    steady(&beside);
    beside.call(PID | 1, "cudaLaunchKernel_v7000", (999 * MS, 999 * MS + US), 9, 0);
    beside.kernel(PID, "beside", (999 * MS + 500 * US, 1_500 * MS), 8, 9);
    assert!(!beside.says(&["stream"]), "{:?}", beside.doubts());
}

#[test]
fn one_execution_with_nearly_all_time_is_doubted() {
    for (kernels, is_doubted) in [(20, true), (25, true), (90, true), (10, false)] {
        let capture = Capture::new();
        for nth in 0..kernels {
            let at = 1_000 * MS + nth * 20 * US;
            capture.launch(PID, at - 5 * US, "decode", (at, at + 10 * US), nth + 1);
        }
        capture.launch(PID, 1_001 * MS, "decode", (1_001 * MS + 20 * US, 1_101 * MS), 99);
        assert_eq!(capture.says(&["One execution of `decode` takes 100.0 ms"]), is_doubted, "{kernels}");
    }
}

#[test]
fn no_page_ends_with_an_error() {
    let capture = Capture::new();
    steady(&capture);
    for (nth, times) in
        [(i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (-1, i64::MAX), (i64::MIN, i64::MIN)]
            .into_iter()
            .enumerate()
    {
        let id = 50 + nth as i64;
        capture.launch(PID, 1_001 * MS, "gemm", times, id).copy(PID, times, id + 10).range(
            PID | 1,
            "r",
            times,
        );
        capture.call(PID | 1, "cudaDeviceSynchronize_v3020", times, id + 20, 0);
    }
    let path = capture.path();
    for page in ["overview", "schema", "breakdown"] {
        // The breakdown writes files.
        let folder = path.parent().unwrap();
        let output = nsq().args([page, path.to_str().unwrap()]).current_dir(folder).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !error.contains("error"), "{page}: {error}");
    }
}
