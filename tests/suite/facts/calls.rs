//! Each real call once, linked to what it launched.

use super::capture::{Capture, MS, US, process};

const PID: i64 = process(100);
const LAUNCH: &str = "cudaLaunchKernel_v7000";

#[test]
fn a_correlation_id_that_is_used_again_belongs_to_the_last_call_before_the_operation() {
    // Twice, three times, and with a driver call inside each runtime call.
    for (rounds, has_driver) in [(2, false), (3, false), (2, true)] {
        let capture = Capture::new();
        for round in 0..rounds {
            let begin = (1 + round) * 1_000 * MS;
            capture.range(PID | 1, &format!("round {round}"), (begin - MS, begin + 100 * MS));
            for nth in 0..5 {
                let at = begin + nth * MS;
                capture.launch(PID, at, &format!("k{round}"), (at + 20 * US, at + 520 * US), 1 + nth);
                if has_driver {
                    let name = capture.text("cuLaunchKernel");
                    let (start, end, id) = (at + US, at + 9 * US, 1 + nth);
                    capture.sql(&format!(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
                         VALUES ({start}, {end}, 1, {}, {id}, {name}, 0)",
                        PID | 1
                    ));
                }
            }
        }
        let columns = ["range_name", "kernel_name", "calls", "total_ns"];
        let want: Vec<Vec<String>> = (0..rounds)
            .map(|round| {
                vec![format!("round {round}"), format!("k{round}"), "5".to_owned(), "2500000".to_owned()]
            })
            .collect();
        let mut got = capture.rows("nvtx_kern_sum", &columns);
        got.sort();
        assert_eq!(got, want);
        let queued = capture.rows("launch_latency", &["queue_max_ns"]);
        assert!(queued.iter().all(|row| row[0] == "10000"), "{queued:?}");
        assert!(
            !capture.says(&["before its launch"]) && !capture.says(&["launches"]),
            "{:?}",
            capture.doubts()
        );
    }
}

#[test]
fn the_second_row_of_a_call_with_a_backtrace_is_no_call() {
    for function in [LAUNCH, "cudaMemcpy_v3020", "cudaMalloc_v3020"] {
        let capture = Capture::new();
        for nth in 0..4 {
            let at = 1_000 * MS + nth * MS;
            capture.call(PID | 1, function, (at, at + 10 * US), 1 + nth, 0);
            capture.kernel(PID, "gemm", (at + 20 * US, at + 520 * US), 7, 1 + nth);
        }
        let before = capture.rows("cuda_api_costs", &["calls", "total_ns"]);
        let bare = function.split('_').next().unwrap();
        let name = capture.text(bare);
        capture.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
             SELECT start + 10, end - 10, 67, globalTid, correlationId, {name}, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        ));
        assert_eq!(capture.rows("cuda_api_costs", &["calls", "total_ns"]), before);
        assert_eq!(capture.rows("process_activity", &["call_count"]), [["4"]]);
        assert!(!capture.says(&["launches"]), "{:?}", capture.doubts());
        // NVIDIA's report has both rows.
        let sums: Vec<String> =
            capture.rows("cuda_api_sum", &["calls"]).into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(sums, ["4", "4"]);
    }
}

#[test]
fn graphs_that_are_built_in_each_step_are_a_finding_and_those_built_once_none() {
    let built = |steps: i64| {
        let capture = Capture::new();
        for step in 0..12 {
            let at = 1_000 * MS + step * 10 * MS;
            let call = |name: &str, from: i64, to: i64| {
                capture.call(PID | 1, name, (at + from, at + to), 1_000 + step, 0);
            };
            if step < steps {
                call("cudaStreamBeginCapture_v10000", 3_500 * US, 3_510 * US);
                call("cudaStreamEndCapture_v10000", 4_500 * US, 4_510 * US);
                call("cudaGraphInstantiate_v12000", 4_520 * US, 6_520 * US);
            }
            let times = (at + 6_700 * US, at + 13_400 * US);
            capture.launch(PID, at + 6_600 * US, "gemm", times, 100 + step);
        }
        capture
    };
    let rows = built(12).rows("graph_building", &["subject", "dur_ns"]);
    assert_eq!(rows.len(), 22, "{rows:?}");
    assert_eq!(rows[0], ["stream capture", "1010000"]);
    assert_eq!(rows[1], ["cudaGraphInstantiate", "2000000"]);
    assert!(built(12).screen().contains("\n 1. Graphs built anew:"));
    for steps in [1, 4] {
        assert!(built(steps).rows("graph_building", &["subject"]).is_empty());
    }
}
