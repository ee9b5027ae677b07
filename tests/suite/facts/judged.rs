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

#[test]
fn many_small_copies_are_to_be_one() {
    let capture = Capture::new();
    for step in 0..6 {
        let at = 1_000 * MS + step * 10 * MS;
        capture.range(process(100) | 1, &format!("step {step}"), (at, at + 9 * MS));
        // 300 copies, one each 10 µs, before a kernel of 5 ms.
        for nth in 0..300 {
            let (call, id) = (at + nth * 10 * US, 1_000 * step + nth + 10);
            capture.call(process(100) | 1, "cudaMemcpyAsync_v3020", (call, call + 8 * US), id, 0);
            capture.copy(process(100), (call + 9 * US, call + 10 * US), id);
        }
        let launched = at + 3_000 * US;
        let kernel = (launched + 10 * US, launched + 5_010 * US);
        capture.launch(process(100), launched, "gemm", kernel, 1_000 * step + 1);
        let wait = (launched + 20 * US, kernel.1 + 10 * US);
        capture.call(process(100) | 1, "cudaStreamSynchronize_v3020", wait, 1_000 * step + 2, 0);
    }
    let screen = capture.screen();
    assert!(screen.contains("\n 1. Small copies:") && screen.contains("Fix: Copy once:"), "{screen}");
    assert!(screen.contains("300 in a row, 1.0 kB each, Host-to-Device"), "{screen}");
    let rows = capture.rows("small_copies", &["run_copies"]);
    assert!(rows.len() >= 6 * 290 && rows.iter().all(|row| row[0] == "300"), "{} rows", rows.len());
}

#[test]
fn a_gpu_whose_kernels_are_slower_needs_no_other_work() {
    for (slow, more) in [(115, 0), (100, 6)] {
        let capture = Capture::new();
        for step in 0..6 {
            let at = 1_000 * MS + step * 5_000 * US;
            for gpu in 0..2 {
                let pid = process(100 + gpu);
                let mut start = at + 100 * US;
                let factor = if gpu == 1 { slow } else { 100 };
                let count = 40 + if gpu == 1 { more } else { 0 };
                for nth in 0..count {
                    let id = step * 100 + nth + 1;
                    let end = start + factor * US;
                    capture.launch(
                        pid,
                        at + nth * 12 * US,
                        ["gemm_a", "gemm_b"][nth as usize % 2],
                        (start, end),
                        id,
                    );
                    start = end + US;
                }
                let id = step * 100 + 90;
                // It ends on both when the slower one has sent.
                let end = at + 4_900 * US;
                let name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
                capture.launch(pid, at + 600 * US, name, (start, end), id);
                capture.call(
                    pid | 1,
                    "cudaStreamSynchronize_v3020",
                    (at + 620 * US, end + 5 * US),
                    id + 1,
                    0,
                );
                capture.range(pid | 1, &format!("step {step}"), (at, end + 10 * US));
            }
        }
        capture
            .sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = (globalPid >> 24 & 16777215) - 100");
        let subject = capture.rows("rank_wait", &["subject", "last_gpu_id"]).remove(0);
        assert_eq!(subject[0].contains("15 % slower kernels"), slow == 115, "{subject:?}");
        assert_eq!(subject[1], "1");
        let screen = capture.screen();
        let says =
            screen.contains("GPU 1 runs the same kernels 15 % slower than the others: check its clocks");
        assert_eq!(says, slow == 115, "{screen}");
    }
}

#[test]
fn a_long_gap_is_in_the_range_of_its_thread() {
    let capture = late(200 * US);
    let at = 1_000 * MS + 40 * MS;
    capture.range(process(100) | 1, "save_checkpoint", (at, at + 99 * MS));
    for step in 4..8 {
        let at = 1_100 * MS + step * 10 * MS;
        capture.range(process(100) | 1, &format!("step {step}"), (at, at + 10 * MS));
        let start = at + 200 * US;
        capture.launch(process(100), start, "gemm", (start + 20 * US, start + 9 * MS), step + 1);
        let sync = (start + 15 * US, start + 9 * MS + 10 * US);
        capture.call(process(100) | 1, "cudaDeviceSynchronize_v3020", sync, 100 + step, 0);
    }
    let screen = capture.screen();
    assert!(screen.contains("save_checkpoint"), "{screen}");
}

#[test]
fn eight_sequences_and_nothing_else_are_steps() {
    for (count, is_found) in [(5, false), (8, true)] {
        let capture = Capture::new();
        for nth in 0..count * 3 {
            let at = 1_000 * MS + nth * 3 * MS;
            let name = ["forward", "backward", "update"][nth as usize % 3];
            capture.launch(process(100), at, name, (at + 20 * US, at + 2 * MS), nth + 1);
        }
        let screen = capture.screen();
        assert_eq!(screen.contains("Steps, found by repetition"), is_found, "{screen}");
    }
    // A kernel in bursts of three.
    let capture = Capture::new();
    for nth in 0..30 {
        let at = 1_000 * MS + nth / 3 * 20 * MS + nth % 3 * MS;
        capture.launch(process(100), at, "forward", (at + 20 * US, at + 900 * US), nth + 1);
    }
    assert!(!capture.screen().contains("Steps, found by repetition"), "{}", capture.screen());
}

/// Sequences of nine kernels, with a wait and a pause of the host after every few, and a wait after each if so.
fn in_passes(parts: i64, every: i64, waits_in_each: bool) -> Capture {
    let capture = Capture::new();
    let mut at = 1_000 * MS;
    for part in 0..parts {
        for nth in 0..9 {
            let name =
                ["norm", "qkv", "attention", "proj", "add", "norm2", "up", "gelu", "down"][nth as usize];
            let times = (at + 20 * US, at + 210 * US);
            capture.launch(process(100), at, name, times, part * 9 + nth + 1);
            at += 200 * US;
        }
        let is_last = part % every == every - 1;
        if waits_in_each || is_last {
            let times = (at - 150 * US, at + 20 * US);
            capture.call(process(100) | 1, "cudaStreamSynchronize_v3020", times, 10_000 + part, 0);
            at += if is_last { 6 * MS } else { 30 * US };
        }
    }
    capture
}

#[test]
fn layers_of_passes_with_pauses_are_no_slow_iterations() {
    // Passes that the host waits for.
    let capture = in_passes(30, 6, false);
    assert_eq!(capture.rows("steps", &["found"]).len(), 5);
    let screen = capture.screen();
    assert!(screen.contains("Host-bound") && !screen.contains("Slow iterations"), "{screen}");
    // Two waits prove no pass, and ten steps may have a log after them.
    for (parts, every) in [(12, 6), (40, 10)] {
        let capture = in_passes(parts, every, false);
        assert_eq!(capture.rows("steps", &["found"]).len() as i64, parts);
        let screen = capture.screen();
        assert!(screen.contains("Host-bound") && !screen.contains("Slow iterations"), "{screen}");
        assert!(capture.says(&["may be layers of longer steps"]), "{:?}", capture.doubts());
    }
    // Steps that the host waits for, and a log after every fifth.
    let capture = in_passes(40, 5, true);
    assert_eq!(capture.rows("steps", &["found"]).len(), 40);
    assert!(capture.screen().contains("Slow iterations"), "{}", capture.screen());
    assert!(!capture.says(&["may be layers of longer steps"]), "{:?}", capture.doubts());
}

#[test]
fn a_marked_step_has_layers() {
    for marks in [1, 2] {
        let capture = Capture::new();
        for nth in 0..24 {
            let at = 1_000 * MS + nth * MS;
            let name = ["attention", "norm", "mlp"][nth as usize % 3];
            capture.launch(process(100), at, name, (at + 20 * US, at + 900 * US), nth + 1);
        }
        for mark in 0..marks {
            let length = 24 * MS / marks;
            let at = 999 * MS + mark * length;
            capture.range(process(100) | 1, &format!("ProfilerStep#{mark}"), (at, at + length));
        }
        let steps = capture.rows("steps", &["found"]);
        assert!(steps.iter().all(|step| step[0] == "marked"), "{marks}: {steps:?}");
        assert_eq!(steps.len(), marks as usize, "{steps:?}");
    }
}

#[test]
fn second_rows_of_calls_are_a_note() {
    let capture = late(200 * US);
    assert!(!capture.says(&["second row"]), "{:?}", capture.doubts());
    capture.sql(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId)
         SELECT start, end, 67, globalTid, correlationId, nameId, returnValue, 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    );
    assert!(capture.says(&["have a second row, of --cudabacktrace"]), "{:?}", capture.doubts());
}

/// The queries that the screen names show the same figures, with the options beside them.
#[test]
fn queries_of_the_screen_have_its_options() {
    let capture = Capture::new();
    for step in 0..12 {
        // The first step takes 60 ms, the others 4 ms.
        let is_first = step == 0;
        let begin = 1_000 * MS + if is_first { 0 } else { 56 * MS } + step * 4 * MS;
        let long = if is_first { 40 * MS } else { MS };
        let start = begin + 120 * US;
        capture.launch(process(100), begin + 100 * US, "long", (start, start + long), 4 * step + 1);
        for nth in 0..3 {
            let start = start + US + long + nth * 10 * US;
            let (at, times) = (begin + (120 + 20 * nth) * US, (start, start + 8 * US));
            capture.launch(process(100), at, &format!("short_{nth}"), times, 4 * step + 2 + nth);
        }
        let end = begin + if is_first { 60 * MS } else { 4 * MS };
        capture.range(process(100) | 1, &format!("step {step}"), (begin, end));
    }
    let screen = capture.screen();
    assert!(
        screen.contains("(more: --steady -q top_kernels)\n  10.00 ms   97.7 %       10×  `long`"),
        "{screen}"
    );
    let path = capture.path();
    let more = ["--steady", "-q", "top_kernels", "--columns", "calls,total_ns,kernel_name", "-f", "csv"];
    let rows = stdout(&[&["run", path.to_str().unwrap()][..], &more].concat());
    assert_eq!(rows.lines().nth(1), Some("10,10000000,long"));
}

/// Kernels of 5 ms that take turns in two streams, and an upload of 3 ms beside each.
#[test]
fn copies_of_one_direction_take_turns_whatever_their_streams() {
    let capture = Capture::new();
    let pid = process(100);
    for nth in 0..20 {
        let (at, stream) = (1_000 * MS + nth * 5 * MS, 7 + nth % 2);
        let called = 999 * MS + nth * 20 * US;
        capture.call(pid | 1, "cudaMemcpyAsync_v3020", (called, called + 5 * US), 2 * nth + 1, 0);
        capture.copy(pid, (at, at + 3 * MS), 2 * nth + 1);
        capture.sql(&format!(
            "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET streamId = {stream} WHERE correlationId = {}",
            2 * nth + 1
        ));
        let called = called + 10 * US;
        capture.call(pid | 1, "cudaLaunchKernel_v7000", (called, called + 5 * US), 2 * nth + 2, 0);
        let times = (at + 5 * US, at + 5 * MS);
        capture.kernel(pid, "denoise", times, stream, 2 * nth + 2);
    }
    let families = capture.rows("kernel_families", &["now_ns", "then_ns", "least_ns"]);
    assert_eq!(families, [["5000000", "3000000", "3000000"]]);
    let screen = capture.screen();
    assert!(screen.contains("mean step 5.00 ms → 3.00 ms, where copies bind"), "{screen}");
}

/// A kernel of 19 s is the program: it needs no repetition. One of 0.9 s is too little to conclude from.
#[test]
fn one_long_kernel_is_judged() {
    for (end, is_judged) in [(20_000 * MS, true), (1_900 * MS, false)] {
        let capture = Capture::new();
        let (pid, at) = (process(100), 1_000 * MS);
        capture.launch(pid, at, "simulate", (at + 20 * US, end), 1);
        capture.call(pid | 1, "cudaDeviceSynchronize_v3020", (at + 12 * US, end + 5 * US), 2, 0);
        let screen = capture.screen();
        let verdict = "Compute-bound: kernels run for 100.0 % of the time; `simulate` takes 100.0 %";
        assert_eq!(screen.contains(verdict), is_judged, "{screen}");
    }
}

/// A model of 100 files is read for 2 s, or for 0.2 s, before steps of half a second in all.
#[test]
fn files_that_are_read_for_longer_than_all_steps_are_on_the_first_screen() {
    for (read_ms, is_long) in [(20, true), (2, false)] {
        let (capture, pid) = (Capture::new(), process(100));
        let read = capture.text("read");
        for file in 0..100 {
            let at = 1_000 * MS + file * (read_ms + 1) * MS;
            let end = at + read_ms * MS;
            capture.sql(&format!(
                "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
                 VALUES ({at}, {end}, 27, {}, {read}, 0, 0, 0, 0)",
                pid | 1
            ));
            capture.call(pid | 1, "cudaMalloc_v3020", (end, end + 100 * US), file + 1, 0);
        }
        for step in 0..50 {
            let at = 1_000 * MS + 100 * (read_ms + 1) * MS + step * 10 * MS;
            capture.launch(pid, at, "gemm", (at + 20 * US, at + 9 * MS), 101 + step);
            let wait = (at + 30 * US, at + 9 * MS + 5 * US);
            capture.call(pid | 1, "cudaStreamSynchronize_v3020", wait, 1_000 + step, 0);
        }
        let screen = capture.screen();
        let words = "Start-up takes longer than all steps, and mostly waits for files (read).";
        assert_eq!(screen.contains(words), is_long, "{screen}");
        assert_eq!(screen.contains("before it, including 1.98 s in read."), is_long, "{screen}");
    }
}
