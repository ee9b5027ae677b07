//! What the first screen judges: the own steps of each GPU, and what a fix can change.

use super::capture::{Capture, MS, US, process};
use crate::support::stdout;

/// Steps of 10 ms, of which a GPU works for 8: marked, of two processes, each with a GPU. One begins later by `shift`.
fn shifted(shift: i64) -> Capture {
    let capture = Capture::new();
    for (gpu, pid) in [(0, 100), (1, 200)] {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, uuid, cuDevice, computeMajor, computeMinor)
             VALUES (0, {gpu}, 'NVIDIA H100 80GB HBM3', 132, 'GPU-{gpu}', {gpu}, 9, 0);
             INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES ({gpu}, 0, {pid}, 'GPU-{gpu}', 132)"
        ));
        for step in 0..6 {
            let at = 1_000 * MS + gpu * shift + step * 10 * MS;
            capture.range(process(pid) | 1, &format!("step {step}"), (at, at + 10 * MS));
            for part in 0..4 {
                let start = at + MS + part * 2 * MS;
                let times = (start, start + 2 * MS);
                let name = ["gemm_a", "gemm_b", "gemm_c", "gemm_d"][part as usize];
                capture.launch(process(pid), start - 100 * US, name, times, step * 4 + part + 1);
            }
        }
    }
    capture
}

#[test]
fn gpus_whose_steps_begin_at_other_times_are_judged_by_their_own() {
    for shift in [0, 300 * US, 3 * MS, 25 * MS] {
        let capture = shifted(shift);
        let path = capture.path();
        let screen = stdout(&[path.to_str().unwrap()]);
        let bars = screen.lines().filter(|line| line.starts_with("GPU") && line.contains('█'));
        let bars: Vec<&str> = bars.collect();
        assert_eq!(bars.len(), 2, "{screen}");
        assert!(
            bars.iter().all(|bar| bar.contains(" 80.0 %") && bar.contains(" 20.0 %")),
            "{shift}: {screen}"
        );
        assert!(screen.contains("The GPUs idle for 20.0 % of the steps"), "{shift}: {screen}");
    }
}

#[test]
fn a_repeated_step_is_judged_without_parts_of_others() {
    for shift in [0, 300 * US, 3 * MS] {
        let capture = shifted(shift);
        capture.sql("DELETE FROM NVTX_EVENTS");
        // Each step ends with a wait.
        for (gpu, pid) in [(0, 100), (1, 200)] {
            for step in 0..6 {
                let end = 1_000 * MS + gpu * shift + step * 10 * MS + 9 * MS;
                let times = (end - MS, end + 10 * US);
                capture.call(process(pid) | 1, "cudaStreamSynchronize_v3020", times, 100 + step, 0);
            }
        }
        let path = capture.path();
        let line = ["run", path.to_str().unwrap(), "-q", "steps", "--iter", "step/3", "-f", "csv"];
        let steps = stdout(&[&line[..], &["--columns", "gpu_id,step,dur_ns"]].concat());
        assert_eq!(steps, "gpu_id,step,dur_ns\n0,3,10000000\n1,3,10000000\n", "{shift}");
    }
}

#[test]
fn code_that_takes_milliseconds_prepares_no_launch() {
    // Three kernels one after the other, then 7 ms of code; the GPU waits 0.11 ms for the others.
    let capture = Capture::new();
    for nth in 0..15 {
        let at = 1_000 * MS + nth / 3 * 10 * MS + nth % 3 * MS;
        capture.launch(process(100), at, "gemm", (at + 20 * US, at + 900 * US), nth + 1);
    }
    let screen = capture.screen();
    assert!(screen.contains("\nHost-bound: the GPU idles for"), "{screen}");
    assert!(screen.contains("\n 1. Host-bound:"), "{screen}");
}

/// Marked steps of 10 ms on one GPU: a kernel of 3 ms is launched `code` after the beginning of each.
fn late(code: i64) -> Capture {
    let capture = Capture::new();
    for step in 0..4 {
        let at = 1_000 * MS + step * 10 * MS;
        capture.range(process(100) | 1, &format!("step {step}"), (at, at + 10 * MS));
        let start = at + code;
        capture.launch(process(100), start, "gemm", (start + 20 * US, start + 3 * MS), step + 1);
        let sync = (start + 15 * US, start + 3 * MS + 10 * US);
        capture.call(process(100) | 1, "cudaDeviceSynchronize_v3020", sync, 100 + step, 0);
    }
    capture
}

#[test]
fn what_a_thread_does_before_its_first_call_can_be_fixed() {
    let capture = late(6 * MS);
    for step in 0..4 {
        let at = 1_000 * MS + step * 10 * MS;
        capture.range(process(100) | 1, "dataloader", (at, at + 5_900 * US));
    }
    let screen = capture.screen();
    assert!(screen.contains("\n 1. Data loading:"), "{screen}");
    // The first step, too: 10 ms without 5.9.
    let gain = screen.lines().find(|line| line.contains("Mean step: 10.00 ms → 4.1")).is_some();
    assert!(gain, "{screen}");
}

#[test]
fn a_gap_that_is_an_allocation_is_none_between_iterations() {
    let capture = late(200 * US);
    capture.sql(
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start + 3 * 1000000 WHERE correlationId >= 100",
    );
    for step in 0..4 {
        // From the end of the kernel over the border of the steps to the next launch.
        let from = 1_000 * MS + step * 10 * MS + 3_300 * US;
        let times = (from, from + 6_800 * US);
        capture.call(process(100) | 1, "cudaFree_v3020", times, 200 + step, 0);
    }
    let screen = capture.screen();
    assert!(
        screen.contains("Main cause: allocation") && screen.contains("\n 1. Allocation:"),
        "{screen}"
    );
}

#[test]
fn copies_that_never_rest_bind_although_kernels_run_longer_beside_them() {
    let capture = Capture::new();
    for step in 0..40 {
        let at = 1_000 * MS + step * 10 * MS;
        let copy = (at, at + 10 * MS - US);
        capture.copy(process(100), copy, 100 + step);
        capture.call(
            process(100) | 1,
            "cudaMemcpyAsync_v3020",
            (at - 40 * MS, at - 40 * MS + 5 * US),
            100 + step,
            0,
        );
        let (start, call) = (at + 10 * MS, at - 40 * MS + 10 * US);
        capture.launch(process(100), call, "gemm", (start, start + 8 * MS), step + 1);
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET streamId = 20, bytes = 100000000");
    let screen = capture.screen();
    let verdict = screen.lines().nth(1).unwrap();
    assert!(verdict.starts_with("Copy-bound: copies run for"), "{screen}");
    assert!(screen.contains("Large copies: Host-to-Device"), "{screen}");
}

#[test]
fn a_captured_graph_that_ran_is_recorded() {
    for runs in [false, true] {
        let capture = late(200 * US);
        for nth in 0..40 {
            let at = 900 * MS + nth * 20 * US;
            capture.call(process(100) | 1, "cudaLaunchKernel_v7000", (at, at + 5 * US), 1_000 + nth, 0);
        }
        let names = ["cudaStreamBeginCapture_v10000", "cudaStreamEndCapture_v10000"];
        let times = [899 * MS, 902 * MS];
        for (name, at) in names.into_iter().zip(times) {
            capture.call(process(100) | 1, name, (at, at + 5 * US), 2_000 + at, 0);
        }
        if runs {
            capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 7");
        }
        let told = capture.says(&["captured into a CUDA graph"]);
        assert_eq!(told, !runs, "{:?}", capture.doubts());
    }
}
