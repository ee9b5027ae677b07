//! Physical GPUs, by what identifies hardware, and a report without GPU work.

use super::capture::{Capture, MS, US, process};
use crate::support::{nsq, outcome, stdout};

/// A kernel of 2 ms every 3 ms on device 0 of a process, four times: window 11 ms, busy 8 ms.
fn steady(capture: &Capture, pid: i64, offset: i64) {
    for nth in 0..4 {
        let at = 1_000 * MS + offset + nth * 3 * MS;
        capture.launch(process(pid), at - 500 * US, "gemm", (at, at + 2 * MS), nth + 1);
    }
}

/// GPUs as exports before 2022.2 list them: process, ordinal, PCI address.
fn old_gpus(capture: &Capture, gpus: &[(i64, i64, &str)]) {
    capture.sql(
        "CREATE TABLE TARGET_INFO_CUDA_GPU (vmId INTEGER, name TEXT, pciBusId TEXT, numMultiprocessors INTEGER,
             computeCapabilityMajor INTEGER, computeCapabilityMinor INTEGER, deviceId INTEGER, pid INTEGER)",
    );
    for (pid, device, address) in gpus {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'NVIDIA A100', '{address}', 108, 8, 0, {device}, {pid})"
        ));
    }
}

/// One GPU of 132 SMs, and the devices of processes: process, uuid, SMs.
fn devices(capture: &Capture, devices: &[(i64, &str, i64)]) {
    capture.sql(
        "INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, uuid, cuDevice, computeMajor, computeMinor)
         VALUES (0, 0, 'NVIDIA H100 80GB HBM3', 132, 'GPU-a', 0, 9, 0)",
    );
    for (pid, uuid, count) in devices {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, {pid}, '{uuid}', {count})"
        ));
    }
}

fn windows(capture: &Capture) -> Vec<Vec<String>> {
    capture.rows("gpu_time", &["gpu_id", "window_ns", "busy_ns"])
}

#[test]
fn processes_that_each_see_their_gpu_as_0_use_several() {
    for (addresses, gpus) in [
        // Two GPUs, one ordinal.
        (vec![(100, 0, "0000:07:00.0"), (200, 0, "0000:0A:00.0")], 2),
        // One GPU for both.
        (vec![(100, 0, "0000:07:00.0"), (200, 0, "0000:07:00.0")], 1),
        // Every process lists all, in an order of its own.
        (
            vec![
                (100, 0, "0000:0A:00.0"),
                (100, 1, "0000:07:00.0"),
                (200, 0, "0000:07:00.0"),
                (200, 1, "0000:0A:00.0"),
            ],
            2,
        ),
    ] {
        let capture = Capture::new();
        old_gpus(&capture, &addresses);
        // The second process works while the first one's GPU idles.
        steady(&capture, 100, 0);
        steady(&capture, 200, 2 * MS);
        let found = windows(&capture);
        assert_eq!(found.len(), gpus, "{addresses:?}: {found:?}");
        if gpus == 2 {
            assert!(found.iter().all(|row| row[1..] == ["11000000", "8000000"]), "{found:?}");
        }
        let listed = capture.rows("report_info", &["fact", "value"]);
        assert_eq!(listed.iter().filter(|row| row[0] == "PCI address").count(), gpus, "{listed:?}");
    }
}

/// Two processes, each of which sees a GPU of its own as device 0.
fn two_gpus() -> Capture {
    let capture = Capture::new();
    old_gpus(&capture, &[(100, 0, "0000:07:00.0"), (200, 0, "0000:0A:00.0")]);
    steady(&capture, 100, 0);
    capture.launch(process(200), 1_000 * MS, "softmax", (1_001 * MS, 1_002 * MS), 1);
    capture
}

#[test]
fn a_gpu_is_chosen_by_the_number_that_outputs_show() {
    let capture = two_gpus();
    let path = capture.path();
    let ask = |words: &[&str]| {
        let head = ["run", path.to_str().unwrap(), "-f", "csv", "--no-header", "-q"];
        stdout(&[&head, words].concat())
    };
    let busy = ["gpu_time", "--columns", "gpu_id,device_id,busy_ns"];
    let of = |options: &[&str]| ask(&[&busy, options].concat());
    assert_eq!(of(&[]), "0,0,8000000\n1,0,1000000\n");
    assert_eq!(of(&["--gpu", "0"]), "0,0,8000000\n");
    assert_eq!(of(&["--gpu", "1"]), "1,0,1000000\n");
    assert_eq!(of(&["--gpu", "0,1"]), of(&[]));
    assert_eq!(of(&["--device", "0"]), of(&[]));
    // Relations that nsq does not compute itself, and a script for other tools.
    let names = ["top_kernels", "--columns", "calls,kernel_name", "--gpu", "1"];
    assert_eq!(ask(&names), "1,softmax\n");
    let script = stdout(&["show", "kernel", "--sql", "--gpu", "1", "--report", path.to_str().unwrap()]);
    assert!(script.contains("pid = 200 AND device_id = 0"), "{script}");
    assert_eq!(
        ask(&["gpu_devices", "--columns", "gpu_id,device_id,pid,bus_location"]),
        "0,0,100,0000:07:00.0\n1,0,200,0000:0A:00.0\n"
    );
    assert_eq!(ask(&["scope_ids", "-p", "option=gpu", "--columns", "id,op_count"]), "0,4\n1,1\n");
}

#[test]
fn a_device_says_on_which_gpus_it_lies() {
    let capture = two_gpus();
    let path = capture.path();
    let told = |path: &std::path::Path, option: &str, id: &str| {
        let words = ["run", path.to_str().unwrap(), "-q", "gpu_time", option, id];
        String::from_utf8(nsq().args(words).output().unwrap().stderr).unwrap()
    };
    let note = told(&path, "--device", "0");
    assert!(note.contains("CUDA device 0 is GPU 0 in process 100, GPU 1 in process 200"), "{note}");
    assert_eq!(told(&path, "--gpu", "1"), "");
    let unknown = told(&path, "--gpu", "2");
    assert!(unknown.contains("no such GPU number") && unknown.contains("0, 1"), "{unknown}");
    // One process, to which CUDA_VISIBLE_DEVICES shows the second GPU only.
    let capture = Capture::new();
    old_gpus(&capture, &[(100, 0, "0000:0A:00.0"), (100, 1, "0000:07:00.0"), (200, 0, "0000:07:00.0")]);
    steady(&capture, 100, 0);
    let note = told(&capture.path(), "--device", "0");
    assert!(note.contains("CUDA device 0 is GPU 0 in other processes, GPU 1 in process 100"), "{note}");
    // The same numbers: nothing to say.
    let capture = Capture::new();
    steady(&capture, 100, 0);
    assert_eq!(told(&capture.path(), "--device", "0"), "");
}

#[test]
fn mig_instances_are_gpus_with_the_multiprocessors_of_their_slice() {
    for (slices, gpus) in [
        (vec![(100, "MIG-1", 16), (200, "MIG-2", 16)], 2),
        (vec![(100, "MIG-1", 16), (200, "MIG-1", 16)], 1),
        (vec![(100, "GPU-a", 132), (200, "GPU-a", 132)], 1),
    ] {
        let capture = Capture::new();
        devices(&capture, &slices);
        steady(&capture, 100, 0);
        steady(&capture, 200, 2 * MS);
        // As many blocks as a slice has multiprocessors.
        capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 16");
        assert_eq!(windows(&capture).len(), gpus, "{slices:?}");
        let counts = capture.rows("report_info", &["fact", "number"]);
        let counts: Vec<&str> =
            counts.iter().filter(|row| row[0] == "SMs").map(|row| row[1].as_str()).collect();
        assert_eq!(counts, vec![slices[0].2.to_string(); gpus]);
        // Few blocks for the whole GPU, and enough for a slice.
        assert_eq!(capture.rows("few_blocks", &["gpu_id"]).is_empty(), slices[0].2 == 16, "{slices:?}");
    }
}

#[test]
fn a_report_without_gpu_work_says_why_and_what_can_run() {
    let pid = process(100);
    let traced = Capture::new();
    traced.call(pid | 1, "cudaMalloc_v3020", (MS, 2 * MS), 1, 0);
    let failing = Capture::new();
    failing.call(pid | 1, "cudaLaunchKernel_v7000", (MS, 2 * MS), 1, 209);
    let ranges = Capture::new();
    ranges.range(pid | 1, "step", (MS, 2 * MS));
    let (lost, captured) = (Capture::new(), Capture::new());
    captured.call(pid | 1, "cudaStreamBeginCapture_v10000", (MS, 2 * MS), 1, 0);
    for (capture, end) in
        [(&lost, "cudaDeviceSynchronize_v3020"), (&captured, "cudaStreamEndCapture_v10000")]
    {
        for nth in 0..3 {
            let at = (3 + nth) * MS;
            capture.call(pid | 1, "cudaLaunchKernel_v7000", (at, at + MS / 2), 2 + nth, 0);
        }
        capture.call(pid | 1, end, (8 * MS, 9 * MS), 9, 0);
    }
    for (capture, why, query) in [
        (traced, "no GPU operation was recorded: no call launches a kernel or a graph.", "cuda_api_sum"),
        (
            lost,
            "recorded: the program launched work, but its records are not in the report.",
            "cuda_api_sum",
        ),
        (captured, "recorded: launches were only captured into CUDA graphs", "cuda_api_sum"),
        (failing, "every launch failed", "cuda_api_sum"),
        (ranges, "CUDA was not traced", "nvtx_sum"),
    ] {
        let screen = capture.screen();
        assert!(screen.contains(why), "{screen}");
        assert_eq!(screen.matches("nsq run ").count(), 1, "{screen}");
        let path = capture.path();
        // What it names runs.
        assert!(screen.contains(&format!("-q {query} ")), "{screen}");
        stdout(&["run", path.to_str().unwrap(), "-q", query]);
    }
}

#[test]
fn what_the_first_screen_suggests_runs() {
    let pid = process(100);
    let tid = pid | 100;
    let (ranges, calls) = (Capture::new(), Capture::new());
    ranges.range(tid, "step", (MS, 2 * MS));
    calls.call(tid, "cudaMalloc_v3020", (MS, 2 * MS), 1, 0).range(tid, "step", (MS, 2 * MS));
    let (mpi, os, copies, kernels) = (Capture::new(), Capture::new(), Capture::new(), Capture::new());
    let name = mpi.text("MPI_Barrier");
    mpi.sql(&format!(
        "INSERT INTO MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId) VALUES ({MS}, {}, {tid}, {name})",
        2 * MS
    ));
    let name = os.text("poll");
    os.sql(&format!(
        "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
         VALUES ({MS}, {}, 27, {tid}, {name}, 0, 0, 0, 0)",
        2 * MS
    ));
    copies.call(tid, "cudaMemcpyAsync_v3020", (MS, 2 * MS), 1, 0).copy(pid, (2 * MS, 3 * MS), 1);
    steady(&kernels, 100, 0);
    for (capture, least) in [(ranges, 2), (calls, 3), (mpi, 2), (os, 2), (copies, 1), (kernels, 2)] {
        let screen = capture.screen();
        let path = capture.path();
        let html = path.with_file_name("overview.html");
        let path = path.to_str().unwrap();
        let commands = screen.lines().filter_map(|line| {
            let command = line.strip_prefix("  nsq ")?;
            Some(command.split("   ").next()?.replace("overview.html", html.to_str()?))
        });
        let commands: Vec<String> = commands.collect();
        assert!(commands.len() >= least, "{screen}");
        for command in commands {
            assert!(command.contains(path), "{screen}");
            let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
            let (code, _, error) = outcome(&words);
            assert_eq!(code, 0, "{command}: {error}");
        }
    }
}

#[test]
fn recording_costs_only_in_the_window_that_is_judged() {
    for (overhead, is_told) in
        [((0, 900 * MS), false), ((1_001 * MS, 1_003 * MS), true), ((1_050 * MS, 1_900 * MS), false)]
    {
        let capture = Capture::new();
        steady(&capture, 100, 0);
        let name = capture.text("CUDA profiling data flush");
        capture.sql(&format!(
            "INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId, overheadType) VALUES ({}, {}, {}, {name}, 0)",
            overhead.0,
            overhead.1,
            process(100) | 1
        ));
        let told = capture.says(&["Profiling blocked threads for 2.0 ms in the 11.0 ms"]);
        assert_eq!(told, is_told, "{overhead:?}: {:?}", capture.doubts());
    }
}

/// The largest cause of the idle time of all GPUs is named, not that of the first GPU.
#[test]
fn the_verdict_names_what_all_gpus_wait_for() {
    let capture = Capture::new();
    capture.sql("BEGIN");
    for device in [0, 1] {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, cuDevice, computeMajor, computeMinor)
             VALUES (0, {device}, 'NVIDIA A100', 108, {device}, 8, 0)"
        ));
    }
    // A thread is 10 ms ahead of GPU 0, so that each launch waits for it: 90 of 101 µs, in which GPU 1 has no work.
    for nth in 0..300 {
        let at = 1_000 * MS + nth * 101 * US;
        capture.call(process(100) | 1, "cudaLaunchKernel_v7000", (at, at + 90 * US), 2 * nth + 1, 0);
        capture.kernel(process(100), "long", (at + 10 * MS, at + 10 * MS + 100 * US), 7, 2 * nth + 1);
        let call = (at + 92 * US, at + 96 * US);
        capture.call(process(100) | 1, "cudaLaunchKernel_v7000", call, 2 * nth + 2, 0);
        capture.kernel(process(100), "short", (at + 97 * US, at + 117 * US), 7, 2 * nth + 2);
    }
    capture.sql(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1, contextId = 2 WHERE correlationId % 2 = 0",
    );
    capture.sql("COMMIT");
    let screen = capture.screen();
    assert!(screen.contains("% of that is other API call."), "{screen}");
}

#[test]
fn what_the_schema_says_can_run_runs() {
    let pid = process(100);
    let (ranges, calls, copies) = (Capture::new(), Capture::new(), Capture::new());
    ranges.range(pid | 1, "step", (MS, 2 * MS));
    calls.call(pid | 1, "cudaMalloc_v3020", (MS, 2 * MS), 1, 0);
    copies.call(pid | 1, "cudaMemcpyAsync_v3020", (MS, 2 * MS), 1, 0).copy(pid, (2 * MS, 3 * MS), 1);
    for capture in [ranges, calls, copies] {
        let path = capture.path();
        let report = path.to_str().unwrap();
        let listed = stdout(&["schema", report, "-f", "csv", "--no-header"]);
        let queries = listed.lines().filter_map(|line| {
            let (name, rest) = line.split_once(',')?;
            let can_run = rest.split(',').next()?;
            ["yes", "no"].contains(&can_run).then_some((name, can_run == "yes"))
        });
        let mut counts = [0, 0];
        for (query, can_run) in queries {
            let output = nsq().args(["run", report, "-q", query]).output().unwrap();
            // 2: a parameter is required.
            let has_data = output.status.code() != Some(3);
            assert_eq!(has_data, can_run, "{query}: {}", String::from_utf8_lossy(&output.stderr));
            counts[usize::from(can_run)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    }
}
