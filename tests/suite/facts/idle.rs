//! Idle time that is none: work outside the capture held the GPU up. And idle time that no finding explains.

use super::capture::{Capture, MS, US, process};

const PID: i64 = process(100);

/// Kernels of 0.8 ms, one each millisecond from `from` on, with correlation IDs from `first` on.
fn steady(capture: &Capture, from: i64, count: i64, first: i64) {
    for nth in 0..count {
        let at = from + nth * MS;
        capture.launch(PID, at - 20 * US, "gemm", (at, at + 800 * US), first + nth);
    }
}

/// A kernel at 1 s, and one that was launched then and starts `wait` later, with work after it.
fn held_up(wait: i64) -> Capture {
    let capture = Capture::new();
    let start = 1_000 * MS;
    capture.launch(PID, start - 20 * US, "gemm", (start, start + 10 * US), 1);
    capture.launch(PID, start + 5 * US, "gemm", (start + wait, start + wait + 200 * US), 2);
    steady(&capture, start + wait + MS, 10, 10);
    capture
}

fn unseen(capture: &Capture) -> Vec<String> {
    let first = |query: &str, columns: &[&str]| capture.rows(query, columns).into_iter().next().unwrap();
    let doubt = first("idle_doubt", &["is_unknown", "unseen_ns", "look_at"]);
    [doubt, first("step_scope", &["rest_start_ns"])].concat()
}

#[test]
fn work_that_may_wait_for_a_function_of_the_host_names_it() {
    // Of another thread: whether it is in the stream is not known.
    let capture = held_up(400 * MS);
    capture.call(PID | 2, "cudaLaunchHostFunc_v10000", (1_000 * MS, 1_000 * MS + 3 * US), 900, 0);
    assert!(capture.says(&["for functions of the host (cudaLaunchHostFunc, 1 call), work from before"]));
    assert_eq!(unseen(&capture)[0], "1");
    assert!(!held_up(400 * MS).says(&["functions of the host"]));
    // Between the two launches.
    let capture = held_up(400 * MS);
    capture.call(PID | 1, "cudaLaunchHostFunc_v10000", (1_000 * MS, 1_000 * MS + 3 * US), 900, 0);
    assert_eq!(unseen(&capture)[..2], ["0", "0"]);
    let found = capture.rows("queued_work", &["subject", "dur_ns"]);
    assert_eq!(found, [["host function before gemm", "399984000"]]);
}

/// Two kernels of one launch of a graph, with 3 ms between them, and of two launches.
#[test]
fn a_gap_in_a_graph_is_a_finding_and_one_between_graphs_is_none() {
    for is_one in [true, false] {
        let capture = Capture::new();
        for nth in 0..20 {
            let (at, first) = (1_000 * MS + nth * 10 * MS, 2 * nth + 1);
            let second = if is_one { first } else { first + 1 };
            for (correlation, called) in [(first, at - 20 * US), (second, at - 9 * US)] {
                if correlation != first || called < at - 10 * US {
                    let times = (called, called + 5 * US);
                    capture.call(PID | 1, "cudaGraphLaunch_v10000", times, correlation, 0);
                }
            }
            capture.kernel(PID, "before", (at, at + 2 * MS), 7, first);
            capture.kernel(PID, "after", (at + 5 * MS, at + 9 * MS), 7, second);
            let wait = (at - 2 * US, at + 9 * MS + 4 * US);
            capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, 1_000 + nth, 0);
        }
        capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = rowid");
        let screen = capture.screen();
        let verdict = "The GPU idles for 39.7 % of the capture. Main cause: graph node.";
        assert_eq!(screen.contains(verdict), is_one, "{screen}");
        assert_eq!(screen.contains("Mean step: 10.00 ms → 7.00 ms (1.4×)."), is_one, "{screen}");
        assert_eq!(screen.contains("Idle time is unknown"), !is_one, "{screen}");
    }
}

/// The launching thread waits for another one, which works in a range, or waits itself.
#[test]
fn the_range_of_the_thread_that_is_waited_for_is_named() {
    for is_busy in [true, false] {
        let capture = Capture::new();
        let waits = |tid: i64, (start, end): (i64, i64)| {
            let name = capture.text("pthread_cond_wait");
            capture.sql(&format!(
                "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
                 VALUES ({start}, {end}, 27, {tid}, {name}, 0, 0, 0, 0)"
            ));
        };
        for nth in 0..30 {
            let at = 1_000 * MS + nth * 10 * MS;
            capture.launch(PID, at - 20 * US, "gemm", (at, at + 2 * MS), 2 * nth + 1);
            let wait = (at - 8 * US, at + 2 * MS + 5 * US);
            capture.call(PID | 1, "cudaDeviceSynchronize_v3020", wait, 2 * nth + 2, 0);
            waits(PID | 1, (at + 2 * MS + 50 * US, at + 10 * MS - 60 * US));
            capture.range(PID | 1, "infer", (at - 30 * US, at + 2 * MS + 20 * US));
            capture.range(PID | 2, "loop", (at, at + 9_900 * US));
            capture.range(PID | 2, "encode_frame", (at + 2 * MS, at + 9 * MS));
            if !is_busy {
                waits(PID | 2, (at + 2 * MS, at + 9 * MS));
            }
        }
        let rows = capture.rows("waited_ranges", &["range_name", "tid", "total_ns", "waited_ns"]);
        let screen = capture.screen();
        let words = "Meanwhile thread 2 is in encode_frame for 88.1 % of that time, 7.00 ms each.";
        assert_eq!(screen.contains(words), is_busy, "{screen}");
        if is_busy {
            assert_eq!(rows, [["encode_frame", "2", "201550000", "228810000"]]);
        } else {
            assert!(rows.is_empty(), "{rows:?}");
        }
    }
}

/// MPI after a wait of less than a millisecond, and code of the host.
#[test]
fn what_the_host_does_after_a_wait_is_no_gain_of_the_wait() {
    for (is_mpi, first) in [(true, " 1. MPI: the GPU idles"), (false, " 1. Host-bound: the GPU idles")] {
        let capture = Capture::new();
        let name = capture.text("MPI_Sendrecv");
        for nth in 0..30 {
            let at = 1_000 * MS + nth * 4 * MS;
            capture.launch(PID, at - 20 * US, "gemm", (at, at + 3 * MS), 2 * nth + 1);
            let wait = (at - 8 * US, at + 3 * MS + 5 * US);
            capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, 2 * nth + 2, 0);
            if is_mpi {
                capture.sql(&format!(
                    "INSERT INTO MPI_P2P_EVENTS (start, end, globalTid, textId, commHandle, tag, remoteRank, size)
                     VALUES ({}, {}, {}, {name}, 1, 0, 1, 1000)",
                    at + 3 * MS + 20 * US,
                    at + 3 * MS + 900 * US,
                    PID | 1
                ));
            }
        }
        if is_mpi {
            capture.sql(&format!("INSERT INTO MPI_RANKS (globalTid, rank) VALUES ({}, 0)", PID | 1));
        }
        let screen = capture.screen();
        assert!(screen.contains(first), "{screen}");
    }
}

#[test]
fn idle_time_is_unknown_where_launched_work_waits_for_work_that_is_not_in_the_report() {
    for wait in [400 * MS, 40 * MS, 3 * MS] {
        let capture = held_up(wait);
        // From the end of its launch call, at 15 µs, to its start.
        let rest = (1_000 * MS + wait).to_string();
        let expected = ["1", &(wait - 15 * US).to_string(), "gpu_idle_causes", &rest];
        assert_eq!(unseen(&capture), expected);
        assert!(capture.says(&["GPU work that is not in the report: Work of process 100 waited"]));
        let path = capture.path();
        let whole = ["overview", path.to_str().unwrap(), "-p", "whole=true"];
        let screen = crate::support::stdout(&whole);
        assert!(
            screen.contains("Idle time is unknown, because what process 100 waited for"),
            "{screen}"
        );
        assert!(!screen.contains("Nothing to fix") && !screen.contains("What to fix first"), "{screen}");
        let rest = capture.screen();
        assert!(
            rest.contains("\nJudged: the time after a long wait for work that is not in the report, "),
            "{rest}"
        );
        assert!(!rest.contains("unknown"), "{rest}");
    }
    // A wait of less than a millisecond is latency.
    let capture = held_up(900 * US);
    assert_eq!(unseen(&capture)[..2], ["0", "0"]);
    assert!(!capture.says(&["not in the report"]));
}

#[test]
fn work_of_the_process_on_another_gpu_explains_a_wait() {
    let capture = held_up(400 * MS);
    capture.launch(PID, 999 * MS, "gemm", (1_000 * MS, 1_400 * MS), 90);
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE correlationId = 90");
    assert_eq!(unseen(&capture)[..2], ["0", "0"]);
    // Of another process, it does not.
    let other = process(200);
    capture.sql(&format!(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = {other} WHERE correlationId = 90"
    ));
    assert_eq!(unseen(&capture)[0], "1");
}

#[test]
fn a_host_that_waits_while_nothing_recorded_runs() {
    // The copy back to the host starts 50 ms after its call: the call waits. An asynchronous one does not.
    for (function, is_unknown) in
        [("cudaMemcpy_v3020", "1"), ("hipMemcpyWithStream", "1"), ("cudaMemcpyAsync_v3020", "0")]
    {
        let capture = Capture::new();
        steady(&capture, 1_000 * MS, 10, 1);
        capture.call(PID | 1, function, (1_010 * MS, 1_060 * MS), 50, 0);
        capture.copy(PID, (1_059 * MS, 1_060 * MS), 50);
        capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 2, srcKind = 2, dstKind = 1");
        steady(&capture, 1_061 * MS, 10, 100);
        assert_eq!(unseen(&capture)[0], is_unknown, "{function}");
    }
    for (function, is_unknown) in [("cudaDeviceSynchronize_v3020", "1"), ("cudaMalloc_v3020", "0")] {
        let capture = Capture::new();
        steady(&capture, 1_000 * MS, 10, 1);
        capture.call(PID | 1, function, (1_010 * MS, 1_060 * MS), 50, 0);
        steady(&capture, 1_061 * MS, 10, 100);
        assert_eq!(unseen(&capture)[0], is_unknown, "{function}");
    }
}

#[test]
fn idle_time_that_no_finding_explains_is_named_with_its_size() {
    // The kernels name no call, so that nothing tells why the GPU idles between them. They are too few for steps.
    let capture = Capture::new();
    for nth in 0..12 {
        let at = 1_000 * MS + nth * MS;
        capture.kernel(PID, "gemm", (at, at + 600 * US), 7, 0);
    }
    let found = &capture.rows("unexplained_idle", &["unexplained_ns", "cause"])[0];
    assert_eq!(*found, [(11 * 400 * US).to_string(), "delay that nothing recorded explains".to_owned()]);
    let screen = capture.screen();
    assert!(screen.contains("No finding explains why the GPU idles for 4.40 ms"), "{screen}");
    assert!(!screen.contains("Nothing to fix"), "{screen}");
    // Where it is always busy, there is nothing to explain.
    let busy = Capture::new();
    for nth in 0..12 {
        let at = 1_000 * MS + nth * MS;
        busy.kernel(PID, "gemm", (at, at + MS), 7, 0);
    }
    assert_eq!(busy.rows("unexplained_idle", &["unexplained_ns", "cause"])[0], ["0", "null"]);
    assert!(
        busy.screen().contains("- matrix products, mostly `gemm`, twice as fast (assumed): "),
        "{}",
        busy.screen()
    );
}

#[test]
fn a_finding_takes_its_own_time_only_off_what_is_unexplained() {
    // 5 ms of the program's own code before one kernel, and 11 gaps without a launch.
    let capture = Capture::new();
    for nth in 0..12 {
        let at = 1_000 * MS + nth * MS;
        capture.kernel(PID, "gemm", (at, at + 600 * US), 7, 0);
    }
    capture.call(PID | 1, "cudaStreamQuery_v3020", (1_011 * MS, 1_011 * MS + US), 70, 0);
    capture.launch(PID, 1_017 * MS, "gemm", (1_017 * MS + 15 * US, 1_018 * MS), 71);
    let yes: Vec<_> =
        capture.rows("findings", &["verdict"]).into_iter().filter(|row| row[0] == "yes").collect();
    assert!(!yes.is_empty());
    let found = &capture.rows("unexplained_idle", &["unexplained_ns", "unexplained_pct"])[0];
    let left: i64 = found[0].parse().unwrap();
    assert!((11 * 400 * US..11 * 400 * US + 400 * US).contains(&left), "{found:?}");
    assert!(
        capture.screen().contains("With the fixes above, the GPU then idles for"),
        "{}",
        capture.screen()
    );
}

/// Kernels of 1 ms. After each, the thread works for 70 µs: once it has polled until the kernel was done.
#[test]
fn a_loop_that_polls_is_a_wait() {
    let capture = Capture::new();
    for step in 0..20 {
        let at = 1_000 * MS + step * 1_100 * US;
        capture.launch(PID, at - 20 * US, "gemm", (at, at + MS), 100 * step + 1);
        for nth in 1..=21 {
            let asked = at + 50 * US * nth - 40 * US;
            let value = if nth == 21 { 0 } else { 600 };
            let correlation = 100 * step + 1 + nth;
            capture.call(PID | 1, "cudaEventQuery_v3020", (asked, asked + 2 * US), correlation, value);
        }
    }
    // Of the 19 gaps of 100 µs, 12 µs are in the loop, and 20 µs after the beginning of the launch.
    let causes = capture.rows("gpu_idle_cause_sum", &["cause", "total_ns"]);
    let of = |cause: &str| causes.iter().find(|row| row[0] == cause).map(|row| row[1].clone());
    assert_eq!(of("host sync"), Some((19 * 12 * US).to_string()), "{causes:?}");
    assert_eq!(of("outside CUDA API"), Some((19 * 68 * US).to_string()), "{causes:?}");
    let first = &capture.rows("host_sync", &["subject", "dur_ns", "wait_ns"])[0];
    assert_eq!(first, &["cudaEventQuery in a loop", "90000", "1002000"]);
    assert!(capture.rows("launch_bound", &["dur_ns"]).is_empty());
    // The same calls that find everything ready are no loop.
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 0");
    assert!(capture.rows("host_sync", &["subject"]).is_empty());
    assert_eq!(capture.rows("launch_bound", &["dur_ns"]).len(), 19);
}

#[test]
fn work_of_the_host_that_takes_longer_than_the_rest_needs_threads() {
    // 8 ms of the host after each 2 ms of the GPU, or 1 ms, which one thread does meanwhile.
    for (period, threads) in [(10 * MS, Some(4)), (3 * MS, None)] {
        let capture = Capture::new();
        for nth in 0..40 {
            let at = 1_000 * MS + nth * period;
            capture.launch(PID, at - 20 * US, "gemm", (at, at + 2 * MS), 1 + nth);
            let wait = (at, at + 2 * MS + 5 * US);
            capture.call(PID | 1, "cudaDeviceSynchronize_v3020", wait, 1_000 + nth, 0);
        }
        let screen = capture.screen();
        let says = threads.map(|count| {
            format!(
                "if {count} threads share this work or it takes no time, 7.97 ms if one does it ahead."
            )
        });
        assert!(says.is_none_or(|says| screen.contains(&says)), "{screen}");
        assert!(threads.is_some() || !screen.contains("threads share"), "{screen}");
    }
}

/// Two GPUs take turns: each kernel waits for an event of the other GPU, 1.5 ms after its launch.
#[test]
fn gpus_that_take_turns_wait_for_each_other() {
    let capture = Capture::new();
    for nth in 0..60 {
        let (at, device, correlation) = (1_000 * MS + nth * MS, nth % 2, 3 * nth + 1);
        let called = at - 1_500 * US;
        let (recorded, waited) = ((called, called + 5 * US), (called + 10 * US, called + 15 * US));
        capture.call(PID | 1, "cudaEventRecord_v3020", recorded, correlation, 0);
        capture.call(PID | 1, "cudaStreamWaitEvent_v3020", waited, correlation + 1, 0);
        capture.launch(PID, called + 20 * US, "gemm", (at, at + 998 * US), correlation + 2);
        capture.sql(&format!(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = {device}, contextId = {device} + 1 WHERE correlationId = {};
             INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
                 (start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId)
             VALUES ({}, {}, {device}, {device} + 1, 7, {}, {PID}, 2, 0)",
            correlation + 2,
            waited.0,
            waited.1,
            correlation + 1
        ));
    }
    let screen = capture.screen();
    assert!(screen.contains(", mostly while each waits for the work of the other."), "{screen}");
    assert!(screen.contains("998.00 µs of that is work of other GPUs. Split the batch"), "{screen}");
}

/// Two processes take turns on a GPU, for 2 of 6 ms each. While a thread waits for the loader of its process, that reads.
#[test]
fn a_loader_feeds_the_threads_of_its_process() {
    let capture = Capture::new();
    let read = |tid: i64, name: &str, (start, end): (i64, i64)| {
        let name = capture.text(name);
        capture.sql(&format!(
            "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
             VALUES ({start}, {end}, 27, {tid}, {name}, 0, 0, 0, 0)"
        ));
    };
    for nth in 0..40 {
        let (pid, at, correlation) = (process(100 + nth % 2), 1_000 * MS + nth * 6 * MS, 2 * nth + 1);
        capture.launch(pid, at - 20 * US, "gemm", (at, at + 2 * MS), correlation);
        let wait = (at - 8 * US, at + 2 * MS + 5 * US);
        capture.call(pid | 1, "cudaDeviceSynchronize_v3020", wait, correlation + 1, 0);
        read(pid | 1, "pthread_cond_wait", (at + 2 * MS + 50 * US, at + 12 * MS - 60 * US));
        read(pid | 2, "read", (at + 3 * MS, at + 9 * MS));
    }
    // The last millisecond of a read lies in the gap that ends with a kernel of its process: 19 of each.
    let rows = capture.rows("feeding_calls", &["function_name", "thread_count", "total_ns"]);
    assert_eq!(rows, [["read", "2", "38000000"]]);
}
