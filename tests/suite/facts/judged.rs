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
