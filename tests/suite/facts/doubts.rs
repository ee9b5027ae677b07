//! Doubts about what was recorded: gaps that no GPU can have, several processes, cut captures, and what recording costs.

use super::capture::{Capture, MS, US, process};
use crate::support::stdout;
use std::path::PathBuf;
use tempfile::TempDir;

const START: i64 = 1_000 * MS;

/// Kernels of 10 µs on a stream, with these gaps after each.
fn kernels(capture: &Capture, stream: i64, gaps: impl Iterator<Item = i64>) {
    let mut at = START;
    for (nth, gap) in gaps.enumerate() {
        let correlation = 10_000 * stream + nth as i64 + 1;
        capture.call(
            process(100) | 1,
            "cudaLaunchKernel_v7000",
            (at - 5 * US, at - 4 * US),
            correlation,
            0,
        );
        capture.kernel(process(100), "gemm", (at, at + 10 * US), stream, correlation);
        at += 10 * US + gap;
    }
}

#[test]
fn operations_that_touch_hide_idle_time() {
    let gap = |touches: bool| if touches { 1 } else { 700 };
    for (expected, gaps) in [
        (Some("99 of 99"), (0..100).map(|_| 1).collect::<Vec<i64>>()),
        (Some("99 of 99"), (0..100).map(|_| 0).collect()),
        (Some("66 of 99"), (0..100).map(|nth| gap(nth % 3 != 1)).collect()),
        // Gaps as NVIDIA's GPUs have them, some touching, and too few to tell.
        (None, (0..100).map(|_| 700).collect()),
        (None, (0..100).map(|nth| gap(nth % 3 == 1)).collect()),
        (None, (0..20).map(|_| 1).collect()),
    ] {
        let capture = Capture::new();
        kernels(&capture, 7, gaps.into_iter());
        let told = capture.says(&["kernels that touch", expected.unwrap_or_default()]);
        assert_eq!(told, expected.is_some(), "{expected:?}: {:?}", capture.doubts());
    }
    // Two streams at the same time: each has gaps of its own.
    let capture = Capture::new();
    kernels(&capture, 7, (0..100).map(|_| 900));
    kernels(&capture, 8, (0..100).map(|_| 900));
    assert!(!capture.says(&["kernels that touch"]), "{:?}", capture.doubts());
}

#[test]
fn processes_that_share_a_gpu_are_told() {
    for (pids, expected) in [(vec![100], None), (vec![100, 200], Some(2)), (vec![1, 2, 3], Some(3))] {
        let capture = Capture::new();
        for (place, pid) in pids.iter().enumerate() {
            let at = START + place as i64 * MS;
            capture.launch(process(*pid), at - 20 * US, "gemm", (at, at + 500 * US), 1);
        }
        let told = capture.says(&[&format!("{} processes ran work on GPU 0", expected.unwrap_or(1))]);
        assert_eq!(told, expected.is_some(), "{pids:?}: {:?}", capture.doubts());
    }
}

/// GPUs of the machine, without the GPU of each process.
fn listed_gpus(capture: &Capture, count: i64) {
    for id in 0..count {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, smCount, cuDevice) VALUES (0, {id}, 'A100', '0000:0{id}:00.0', 108, {id})"
        ));
    }
}

#[test]
fn processes_on_one_ordinal_may_use_several_gpus() {
    // No GPU is listed; one, which both must use; two or four, of which each process may have its own.
    for (listed, is_identified) in [(0, false), (1, true), (2, false), (4, false)] {
        for pids in [&[100][..], &[100, 200]] {
            let capture = Capture::new();
            listed_gpus(&capture, listed);
            for pid in pids {
                capture.launch(process(*pid), START - 20 * US, "gemm", (START, START + 500 * US), 1);
            }
            let doubts = capture.doubts();
            let is_doubted = capture.says(&["processes on a GPU that is not identified"]);
            assert_eq!(is_doubted, pids.len() > 1 && !is_identified, "{listed}: {doubts:?}");
            let is_shared = capture.says(&["processes share a GPU"]);
            assert_eq!(is_shared, pids.len() > 1 && is_identified, "{listed}: {doubts:?}");
        }
    }
    // Each process has an ordinal of its own.
    let capture = Capture::new();
    listed_gpus(&capture, 2);
    for (place, pid) in [100, 200].into_iter().enumerate() {
        capture.launch(
            process(pid),
            START - 20 * US,
            "gemm",
            (START, START + 500 * US),
            1 + place as i64,
        );
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE correlationId = 2");
    assert!(!capture.says(&["not identified"]), "{:?}", capture.doubts());
}

#[test]
fn a_capture_that_begins_and_ends_within_steps_is_cut() {
    for (early, late, problem) in [
        (0, 0, None),
        (15, 0, Some("operations of earlier launches: 15 of 75")),
        (12, 14, Some("cut capture: 12 of 72")),
        (30, 30, Some("30 launches had not run")),
        // Ends with queued work, but begins where the program does.
        (0, 30, None),
    ] {
        let capture = Capture::new();
        for nth in 0..early + 60 {
            let at = START + nth * 20 * US;
            if nth >= early {
                capture.call(
                    process(100) | 1,
                    "cudaLaunchKernel_v7000",
                    (at - 9 * US, at - 8 * US),
                    nth + 1,
                    0,
                );
            }
            capture.kernel(process(100), "gemm", (at, at + 10 * US), 7, nth + 1);
        }
        for nth in 0..late {
            let at = START + (early + 60 + nth) * 20 * US;
            capture.call(process(100) | 1, "cudaLaunchKernel_v7000", (at, at + US), 5_000 + nth, 0);
        }
        let doubts = capture.doubts();
        let told: Vec<&String> =
            doubts.iter().filter(|doubt| doubt.contains("before the capture began")).collect();
        assert_eq!(told.len(), usize::from(problem.is_some()), "{early} {late}: {doubts:?}");
        assert!(told.iter().all(|doubt| doubt.contains(problem.unwrap_or_default())), "{told:?}");
    }
}

#[test]
fn cpu_sampling_counts_in_the_window_that_is_judged() {
    // The window is from 1,000 ms to 1,002 ms.
    for (first, count, expected) in [
        (START, 20, Some("20 CPU samples")),
        (START + MS, 20, Some("11 CPU samples")),
        (0, 50, None),
        (START, 0, None),
    ] {
        let capture = Capture::new();
        capture.launch(process(100), START - MS, "gemm", (START, START + 2 * MS), 1);
        for nth in 0..count {
            capture.sql(&format!(
                "INSERT INTO COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles) VALUES ({}, {}, 1, 1, {}, 1)",
                nth + 1,
                first + nth * 100 * US,
                process(100) | 1
            ));
        }
        let told = capture.says(&["CPU sampling", expected.unwrap_or_default()]);
        assert_eq!(told, expected.is_some(), "{first} {count}: {:?}", capture.doubts());
    }
}

/// Kernels 100 µs apart, each launched in three nested ranges, as emit_nvtx writes them. A push and a pop take `cost`.
fn ranges(cost: i64, offset: i64, odd: Option<i64>) -> Capture {
    let capture = Capture::new();
    let tid = process(100) | 1;
    for nth in 0..60 {
        let at = START + nth * 100 * US;
        let mut from = at + offset;
        let mut to = at + offset + 90 * US;
        for depth in 0..3 {
            capture.range(tid, &format!("aten::op{depth}, seq = {nth}"), (from, to));
            // One range is followed by the next at once.
            let step = if nth == 30 && depth == 0 { odd.unwrap_or(cost) } else { cost };
            (from, to) = (from + step, to - step);
        }
        capture.launch(process(100), at, "gemm", (at + 20 * US, at + 90 * US), nth + 1);
    }
    capture
}

#[test]
fn ranges_cost_what_they_usually_take() {
    for (cost, offset, odd, expected) in [
        (4 * US, 0, None, Some("up to 8.0 µs")),
        (6 * US, 0, None, Some("up to 12.0 µs")),
        // One gap of 1 ns says nothing.
        (4 * US, 0, Some(1), Some("up to 8.0 µs")),
        // Before the first kernel and after the last one.
        (4 * US, -900 * MS, None, None),
        (4 * US, 900 * MS, None, None),
        // Hardly anything.
        (200, 0, None, None),
    ] {
        let capture = ranges(cost, offset, odd);
        let told = capture.says(&["many NVTX ranges", expected.unwrap_or_default()]);
        assert_eq!(told, expected.is_some(), "{cost} {offset} {odd:?}: {:?}", capture.doubts());
    }
}

#[test]
fn calls_cost_what_they_usually_take() {
    // Short queries of another thread, `gap` apart, from the first kernel on; or all of them before it.
    for (gap, offset, expected) in [
        (2 * US, 0, Some("Recording one takes up to 2.0 µs")),
        (4 * US, 0, Some("Recording one takes up to 4.0 µs")),
        (3 * US, 40 * US, Some("Recording one takes up to 3.0 µs")),
        // Hardly anything; work of the program; before the window.
        (100, 0, None),
        (40 * US, 0, None),
        (2 * US, -900 * MS, None),
    ] {
        let capture = Capture::new();
        for nth in 0..10 {
            let at = START + nth * 200 * US;
            capture.launch(process(100), at - 50 * US, "gemm", (at, at + 10 * US), 9_000 + nth);
        }
        for nth in 0..200 {
            let at = START + offset + nth * (6 * US + gap);
            capture.call(process(100) | 2, "cudaEventQuery_v3020", (at, at + 6 * US), nth + 1, 600);
        }
        let told = capture.says(&["many CUDA calls", expected.unwrap_or_default()]);
        assert_eq!(told, expected.is_some(), "{gap} {offset}: {:?}", capture.doubts());
    }
}

/// Small kernels one after the other, and then ten steps of one kernel.
#[test]
fn calls_cost_what_they_take_in_the_steps() {
    for (has_steps, is_told) in [(false, true), (true, false)] {
        let capture = Capture::new();
        capture.sql("BEGIN");
        for nth in 0..2_000 {
            let at = START + nth * 14 * US;
            capture.launch(process(100), at, "gemm", (at + 12 * US, at + 14 * US), nth + 1);
        }
        for nth in 0..if has_steps { 10 } else { 0 } {
            let at = START + 30 * MS + nth * MS;
            capture.range(process(100) | 1, &format!("step {nth}"), (at, at + MS));
            let times = (at + 30 * US, at + 900 * US);
            capture.launch(process(100), at + 10 * US, "gemm", times, 5_000 + nth);
        }
        capture.sql("COMMIT");
        assert_eq!(capture.says(&["many CUDA calls"]), is_told, "{:?}", capture.doubts());
    }
}

/// A trace of 30 kernels with these members outside the events, and so many Python calls.
fn trace(members: &str, frames: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<String> = (0..30)
        .map(|nth| {
            let at = 1_000 + 100 * nth;
            format!(
                r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,"ts":{at},"dur":3,"args":{{"correlation":{id}}}}},
                   {{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":50,"args":{{"device":0,"context":1,"stream":7,"correlation":{id}}}}}"#,
                at + 10,
                id = nth + 1
            )
        })
        .collect();
    events.extend((0..frames).map(|nth| {
        format!(r#"{{"ph":"X","cat":"python_function","name":"model.py(1): forward","pid":100,"tid":100,"ts":{},"dur":1,"args":{{}}}}"#, 1_000 + nth)
    }));
    let path = folder.path().join("trace.json");
    let text = format!(r#"{{"schemaVersion":1,{members}"traceEvents":[{}]}}"#, events.join(","));
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn call_stacks_make_host_times_longer() {
    for (members, frames, expected) in [
        (
            r#""with_stack":1,"#,
            90,
            Some("distorted,recorded call stacks,\"Recorded with call stacks (90 Python calls, 3.0"),
        ),
        (
            r#""with_stack":true,"record_shapes":true,"#,
            0,
            Some("note,recorded call stacks,\"Recorded with call stacks, shapes:"),
        ),
        (
            r#""profile_memory":1,"with_stack":1,"with_flops":0,"#,
            30,
            Some("note,recorded call stacks,\"Recorded with call stacks, memory (30"),
        ),
        (r#""with_stack":0,"record_shapes":1,"#, 0, None),
        (r#""with_stack":false,"#, 0, None),
        (r#""with_stack":"yes","#, 0, None),
        ("", 0, None),
    ] {
        let (_folder, path) = trace(members, frames);
        let doubts = stdout(&["run", path.to_str().unwrap(), "-q", "capture_trust", "-f", "csv"]);
        assert_eq!(doubts.contains("call stacks"), expected.is_some(), "{members}: {doubts}");
        assert!(doubts.contains(expected.unwrap_or_default()), "{members}: {doubts}");
    }
}

#[test]
fn the_first_screen_names_the_driver() {
    for (members, expected) in [
        (r#""cuda_driver_version":13000,"#, Some("CUDA driver 13.0")),
        (r#""cuda_driver_version":12080,"#, Some("CUDA driver 12.8")),
        (r#""hip_driver_version":60443483,"#, Some("HIP 6.4.43483")),
        (r#""cuda_driver_version":"12080 of me","#, None),
    ] {
        let (folder, path) = trace(members, 0);
        let screen = stdout(&["overview", path.to_str().unwrap()]);
        let first = screen.lines().next().unwrap();
        assert!(first.contains(expected.unwrap_or("1 GPU, ")), "{screen}");
        let page = folder.path().join("page.html");
        stdout(&["overview", path.to_str().unwrap(), "-o", page.to_str().unwrap()]);
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(expected.unwrap_or_default()) && !page.contains("of me"), "{expected:?}");
    }
    // An export of nsys says it among properties of the machine that stay hidden.
    let capture = Capture::new();
    capture.launch(process(100), START - MS, "gemm", (START, START + 2 * MS), 1);
    capture.sql(
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER,
             value TEXT)",
    );
    for (name, value) in
        [("CudaDriverVersion", "12020"), ("CudaDriverVersion", "of /home/me"), ("Hostname", "12030")]
    {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_SYSTEM_ENV (devStateName, name, nameEnum, value) VALUES ('', '{name}', 0, '{value}')"
        ));
    }
    let screen = capture.screen();
    assert!(screen.contains("1 GPU (CUDA driver 12.2), "), "{screen}");
}

#[test]
fn work_that_names_only_its_operator_is_linked_to_its_launch() {
    // One launch for each operator, several, a copy beside it, and more launches than kernels.
    for (launches, copies, kernels, linked) in
        [(1, 0, 1, 20), (3, 0, 3, 60), (2, 1, 2, 60), (2, 0, 1, 0)]
    {
        let folder = tempfile::tempdir().unwrap();
        let (mut events, mut id) = (Vec::new(), 500);
        for operator in 1..=20 {
            let at = 1_000 * operator;
            for (count, call) in [(launches, "cudaLaunchKernel"), (copies, "cudaMemcpyAsync")] {
                for nth in 0..count {
                    id += 1;
                    events.push(format!(
                        r#"{{"ph":"X","cat":"cuda_runtime","name":"{call}","pid":100,"tid":100,"ts":{},"dur":3,"args":{{"External id":{operator},"correlation":{id}}}}}"#,
                        at + 10 * nth
                    ));
                }
            }
            for (count, category, name) in
                [(kernels, "kernel", "gemm"), (copies, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)")]
            {
                for nth in 0..count {
                    events.push(format!(
                        r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":0,"tid":7,"ts":{},"dur":20,"args":{{"device":0,"context":1,"stream":7,"External id":{operator}}}}}"#,
                        at + 100 + 30 * nth
                    ));
                }
            }
        }
        let path = folder.path().join("trace.json");
        std::fs::write(&path, format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))).unwrap();
        let sql = "SELECT count(call_id), count(DISTINCT call_id), coalesce(min(launch.start_ns - cuda_call.start_ns), 0) > 0 \
                   FROM launch LEFT JOIN cuda_call USING (call_id)";
        let found = stdout(&["sql", path.to_str().unwrap(), sql, "-f", "csv", "--no-header"]);
        assert_eq!(
            found,
            format!("{linked},{linked},{}\n", u8::from(linked > 0)),
            "{launches} {copies} {kernels}"
        );
    }
}

/// A context of a process on a CUDA device.
fn context(capture: &Capture, pid: i64, device: i64, is_green: bool) {
    capture.sql(&format!(
        "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId, hwId, vmId, processId, deviceId, contextId, isGreenContext)
         VALUES (7, 0, 1, {pid}, {device}, {}, {})",
        1 + device,
        i64::from(is_green)
    ));
}

#[test]
fn a_context_on_the_gpu_of_another_process() {
    // Process 100 runs on device 0, and 200 on device 1.
    let capture = Capture::new();
    capture.launch(process(100), START, "gemm", (START + MS, START + 2 * MS), 1);
    capture.launch(process(200), START, "gemm", (START + MS, START + 2 * MS), 2);
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE correlationId = 2");
    context(&capture, 100, 0, false);
    context(&capture, 200, 1, false);
    // Parts of a GPU, and GPUs that nobody uses, are no trouble.
    context(&capture, 200, 0, true);
    context(&capture, 100, 5, false);
    assert!(!capture.says(&["context on the GPU"]));
    context(&capture, 200, 0, false);
    assert!(capture.says(&["Process 200 has a CUDA context on GPU 0, runs nothing there"]));
    // With work there, it uses both.
    capture.kernel(process(200), "gemm", (START + 3 * MS, START + 4 * MS), 7, 9);
    assert!(!capture.says(&["context on the GPU"]));
}

#[test]
fn time_without_a_cause_is_not_the_profilers() {
    for (name, is_own) in
        [("Unknown", false), ("dlopen(libcuda.so.1)", false), ("CUDA profiling data flush", true)]
    {
        let capture = Capture::new();
        kernels(&capture, 7, [50 * MS, 0].into_iter());
        let (id, from, to) = (capture.text(name), START + MS, START + 41 * MS);
        capture.sql(&format!(
            "INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId, overheadType) VALUES ({from}, {to}, {}, {id}, 0)",
            process(100) | 1
        ));
        assert_eq!(capture.says(&["Profiling blocked threads for 40.0 ms"]), is_own, "{name}");
    }
}
