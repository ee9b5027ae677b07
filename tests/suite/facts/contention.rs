//! What holds up launches and GPUs, in captures whose cause is known.

use super::capture::{Capture, MS, US, process};

const PID: i64 = process(100);

fn first_fix(capture: &Capture) -> String {
    capture.rows("findings", &["finding"]).swap_remove(0).swap_remove(0)
}

/// A kernel on the second GPU.
fn on_second_gpu(capture: &Capture, correlation: i64) {
    capture.sql(&format!(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1, contextId = 2 WHERE correlationId = {correlation}"
    ));
}

/// Of each step, one GPU computes for 7 ms and the other one for 3.
#[test]
fn gpus_of_one_process_with_unequal_work_are_found() {
    let capture = Capture::new();
    for step in 0..30 {
        let (at, correlation) = (1_000 * MS + step * 7_200 * US, 10 * step + 1);
        capture.launch(PID, at, "stencil", (at + 20 * US, at + 7_020 * US), correlation);
        capture.launch(PID, at + 15 * US, "stencil", (at + 35 * US, at + 3_035 * US), correlation + 1);
        on_second_gpu(&capture, correlation + 1);
        let waits = (at + 40 * US, at + 7_030 * US);
        capture.call(PID | 1, "cudaDeviceSynchronize_v3020", waits, correlation + 2, 0);
    }
    let rows = capture.rows("unequal_gpus", &["gpu_id", "subject"]);
    // After the last step, nothing shows that the other one idles.
    assert_eq!(rows.len(), 29);
    assert_eq!(rows[0], ["0", "GPU 0 with 70 % of the work"]);
    let screen = capture.screen();
    assert!(screen.contains("Unequal work: "), "{screen}");
    // Other kernels on the second GPU cannot be passed on.
    let other = capture.text("other");
    capture.sql(&format!(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = {other} WHERE deviceId = 1"
    ));
    assert!(capture.rows("unequal_gpus", &["gpu_id"]).is_empty());
}

/// Each step asks for the properties of the GPU for 3 ms, between kernels of 2 ms.
#[test]
fn calls_that_only_ask_are_slow() {
    let capture = Capture::new();
    for step in 0..30 {
        let (at, correlation) = (1_000 * MS + step * 5_100 * US, 10 * step + 1);
        capture.launch(PID, at, "gemm", (at + 20 * US, at + 2 * MS), correlation);
        let asks = (at + 2 * MS + 10 * US, at + 5 * MS + 10 * US);
        capture.call(PID | 1, "cudaGetDeviceProperties_v12000", asks, correlation + 1, 0);
    }
    assert_eq!(first_fix(&capture), "slow_calls");
    let rows = capture.rows("slow_calls", &["subject", "dur_ns"]);
    assert_eq!((rows.len(), rows[0][1].as_str()), (29, "3000000"));
    assert!(rows[0][0].starts_with("cudaGetDeviceProperties"), "{rows:?}");
}

/// Four threads launch at once, and each call takes as long as four.
#[test]
fn launches_of_threads_that_wait_for_each_other_are_counted() {
    let capture = Capture::new();
    for nth in 0..400 {
        let (at, thread) = (1_000 * MS + (nth / 4) * 50 * US, PID | (1 + nth % 4));
        capture.call(thread, "cudaLaunchKernel_v7000", (at, at + 40 * US), nth + 1, 0);
        capture.kernel(PID, "gemm", (at + 42 * US, at + 46 * US), 7 + nth % 4, nth + 1);
    }
    let columns = ["thread_count", "call_count", "mean_ns", "each_ns"];
    assert_eq!(capture.rows("contended_launches", &columns), [["4", "400", "40000", "10000"]]);
    // One after the other, they do not wait.
    let turn = "start + correlationId % 4 * 10000";
    capture.sql(&format!("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = {turn}, end = {turn} + 8000"));
    assert!(capture.rows("contended_launches", &columns).is_empty());
}

/// With CUDA_LAUNCH_BLOCKING=1, a launch returns when its kernel has ended.
#[test]
fn launches_that_wait_for_their_kernels_are_counted() {
    let capture = Capture::new();
    for nth in 0..40 {
        let at = 1_000 * MS + nth * 200 * US;
        capture.call(PID | 1, "cudaLaunchKernel_v7000", (at, at + 120 * US), nth + 1, 0);
        capture.kernel(PID, "gemm", (at + 10 * US, at + 110 * US), 7, nth + 1);
    }
    let columns = ["launch_count", "waiting_count"];
    assert_eq!(capture.rows("blocking_launches", &columns), [["40", "40"]]);
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start + 8000");
    assert!(capture.rows("blocking_launches", &columns).is_empty());
}

/// A thread launches to two streams, and waits for each kernel before it launches to the other one.
#[test]
fn streams_that_take_turns_because_of_waits_are_found() {
    let capture = Capture::new();
    for nth in 0..60 {
        let (at, correlation) = (1_000 * MS + nth * 150 * US, 2 * nth + 1);
        capture.call(PID | 1, "cudaLaunchKernel_v7000", (at, at + 5 * US), correlation, 0);
        capture.kernel(PID, "gemm", (at + 10 * US, at + 110 * US), 7 + nth % 2, correlation);
        let waits = (at + 6 * US, at + 140 * US);
        capture.call(PID | 1, "cudaStreamSynchronize_v3020", waits, correlation + 1, 0);
    }
    let columns = ["api_name", "wait_count", "gap_count", "stream_count"];
    assert_eq!(capture.rows("stream_turns", &columns), [["cudaStreamSynchronize", "59", "59", "2"]]);
}

/// The launching thread of Python waits for the interpreter's lock, 5 ms each time.
#[test]
fn waits_of_one_switch_interval_are_those_for_the_interpreter() {
    let capture = Capture::new();
    capture
        .sql(&format!("INSERT INTO PROCESSES (globalPid, pid, name) VALUES ({PID}, 100, 'python3.11')"));
    let wait = capture.text("pthread_cond_timedwait");
    for step in 0..20 {
        let at = 1_000 * MS + step * 6_200 * US;
        capture.launch(PID, at, "gemm", (at + 20 * US, at + MS), step + 1);
        capture.sql(&format!(
            "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
             VALUES ({}, {}, 27, {}, {wait}, 0, 0, 0, 0)",
            at + 1_050 * US,
            at + 6_100 * US,
            PID | 1
        ));
    }
    let rows = capture.rows("interpreter_waits", &["wait_count"]);
    assert_eq!(rows, [["19"]], "those before a launch");
    capture.sql("UPDATE PROCESSES SET name = 'server'");
    assert!(capture.rows("interpreter_waits", &["wait_count"]).is_empty());
}

/// Every fifth step, the host runs 20 ms of code in which it frees memory 15 times.
#[test]
fn gaps_in_which_much_memory_is_freed_are_counted() {
    let capture = Capture::new();
    let (mut at, mut correlation) = (1_000 * MS, 0);
    for step in 0..40 {
        correlation += 1;
        capture.launch(PID, at, "gemm", (at + 20 * US, at + MS), correlation);
        at += MS + 50 * US;
        if step % 5 == 4 {
            for nth in 0..15 {
                correlation += 1;
                let frees = (at + nth * MS, at + nth * MS + 50 * US);
                capture.call(PID | 1, "cudaFree_v3020", frees, correlation, 0);
            }
            at += 20 * MS;
        }
    }
    let rows = capture.rows("freeing_gaps", &["gap_count", "free_count"]);
    assert_eq!(rows, [["7", "15"]], "those before a launch");
    capture.sql(
        "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId % 3 > 0 AND end = start + 50000",
    );
    assert!(capture.rows("freeing_gaps", &["gap_count"]).is_empty());
}
