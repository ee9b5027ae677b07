//! Facts of PyTorch traces: merged ranks, lost links, other accelerators; and ranks by name and GPU.

use super::capture::{Capture, MS, US, process};
use crate::support::{Fixtures, stdout};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A launch and its kernel, in µs.
pub(super) fn launched(
    rank: &str,
    pid: i64,
    device: i64,
    at: i64,
    dur: i64,
    correlation: i64,
) -> String {
    format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"{rank}{pid}","tid":{pid},"ts":{at},"dur":3,"args":{{"correlation":{correlation}}}}},
           {{"ph":"X","cat":"kernel","name":"gemm","pid":"{rank}{device}","tid":7,"ts":{},"dur":{dur},"args":{{"device":{device},"context":1,"stream":7,"grid":[132,1,1],"block":[256,1,1],"correlation":{correlation}}}}}"#,
        at + 10
    )
}

pub(super) fn trace(folder: &Path, events: &[String]) -> PathBuf {
    let path = folder.join("trace.json");
    let text = format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"rank":0,"world_size":2}},"deviceProperties":[{{"id":0,"name":"NVIDIA H100","numSms":132}},{{"id":1,"name":"NVIDIA H100","numSms":132}}],"traceEvents":[{}]}}"#,
        events.join(",")
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// Launches with a kernel of 50 µs each, 200 µs apart.
fn steady(count: i64) -> Vec<String> {
    (0..count).map(|nth| launched("", 100, 0, 1_000 + 200 * nth, 50, nth + 1)).collect()
}

fn run(path: &Path, query: &str) -> String {
    stdout(&["run", path.to_str().unwrap(), "-q", query, "--format", "csv"])
}

fn sql(path: &Path, statement: &str) -> String {
    let answer = stdout(&["sql", path.to_str().unwrap(), statement, "--format", "csv"]);
    answer.lines().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
fn ranks_of_a_merged_trace_have_calls_and_gpus_of_their_own() {
    // Both ranks count their correlation IDs from 1. Two ranks of two machines have device 0 each.
    for (devices, pids) in [([0, 1], [501, 502]), ([0, 0], [501, 502]), ([0, 0], [501, 501])] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for nth in 0..10 {
            for (rank, dur) in [(0, 50), (1, 100)] {
                let name = format!("[TP0{rank}-DP00-PP00-EP00] ");
                let at = 1_000 + 200 * nth + rank as i64 * 17;
                events.push(launched(&name, pids[rank], devices[rank], at, dur, nth + 1));
            }
        }
        let path = trace(folder.path(), &events);
        let linked = "SELECT count(*), count(DISTINCT launch.global_pid) FROM launch JOIN cuda_call USING (call_id) \
                      WHERE cuda_call.global_pid = launch.global_pid";
        assert_eq!(sql(&path, linked), "20,2", "{devices:?} {pids:?}");
        let busy =
            "SELECT group_concat(compute_ns) FROM (SELECT compute_ns FROM gpu_window ORDER BY gpu_id)";
        assert_eq!(sql(&path, busy), "\"500000,1000000\"", "{devices:?} {pids:?}");
        // The rank that the facts of the trace name is that of its first part.
        assert!(!run(&path, "ranks").contains("PyTorch"));
        let ranks = "SELECT rank, source, gpu_id, (SELECT process_name FROM process WHERE process.pid = rank.pid) \
                     FROM rank ORDER BY rank";
        let expected = [0, 1].map(|rank| {
            format!("{rank},merged trace,{rank},process [TP0{rank}-DP00-PP00-EP00] {}", pids[rank])
        });
        assert_eq!(sql(&path, ranks), expected.join(" "), "{devices:?} {pids:?}");
    }
}

/// TraceFuse adds a large number to processes, devices and correlation IDs. Other mergers leave a name.
#[test]
fn ranks_of_a_merged_trace_have_their_processes() {
    for (offset, with_arguments) in [(100_000_000, true), (10_000, true), (100_000_000, false)] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for rank in 0..3 {
            let pid = 501 + rank;
            let moved = |own: i64| own + rank * offset;
            let args = |own: i64| match with_arguments {
                true => format!(r#""rank":{rank},"pid_raw":{own},"#),
                false => String::new(),
            };
            events.push(format!(
                r#"{{"ph":"M","name":"process_name","pid":{},"tid":0,"ts":0,"args":{{{}"name":"rank{rank}.json: python"}}}}"#,
                moved(pid),
                args(pid)
            ));
            for nth in 0..5 {
                let (at, id) = (1_000 + 200 * nth, 100 * rank + nth + 1);
                events.push(format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{},"tid":1,"ts":{at},"dur":3,"args":{{{}"correlation":{id}}}}},
                       {{"ph":"X","cat":"kernel","name":"gemm","pid":{},"tid":7,"ts":{},"dur":{},"args":{{{}"device":0,"context":1,"stream":7,"correlation":{id}}}}}"#,
                    moved(pid),
                    args(pid),
                    moved(0),
                    at + 10,
                    10 * (rank + 1),
                    args(0)
                ));
            }
        }
        let path = trace(folder.path(), &events);
        let sums = "SELECT rank.rank, rank.source, rank.gpu_id, sum(kernel.dur_ns) FROM rank JOIN kernel USING (pid) \
                    GROUP BY rank.rank ORDER BY rank.rank";
        let expected = "0,merged trace,0,50000 1,merged trace,1,100000 2,merged trace,2,150000";
        assert_eq!(sql(&path, sums), expected, "{offset} {with_arguments}");
        if with_arguments {
            assert_eq!(
                sql(&path, "SELECT group_concat(pid, ' ') FROM (SELECT pid FROM rank ORDER BY pid)"),
                "501 502 503"
            );
            let page = stdout(&["run", path.to_str().unwrap(), "-q", "job"]);
            let who = "Processes: 501 (rank 0, GPU 0), 502 (rank 1, GPU 1), 503 (rank 2, GPU 2)";
            assert!(page.contains(who), "{page}");
        }
    }
}

#[test]
fn operations_without_a_correlation_id_have_lost_their_link() {
    for count in [0, 1, 10, 20] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = steady(20);
        for event in &mut events[20 - count..] {
            let kernel = event.rfind("\"correlation\":").unwrap();
            event.replace_range(kernel.., "\"correlation\":0}}");
        }
        let path = trace(folder.path(), &events);
        let doubts = run(&path, "capture_trust");
        let words = format!("{count} of 20 GPU operations have no correlation ID");
        assert_eq!(doubts.contains(&words), count > 0, "{doubts}");
        let coverage = run(&path, "nvtx_coverage");
        assert_eq!(coverage.contains("lost the link"), count > 0, "{coverage}");
        assert!(!coverage.contains("before the trace began"), "{coverage}");
    }
}

#[test]
fn operations_of_earlier_launches_are_counted() {
    for (count, words) in [(1, "1 of 20"), (4, "4 of 20 GPU operations (0.2 ms)"), (12, "12 of 20")] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = steady(20);
        for (nth, event) in events.iter_mut().enumerate().take(count) {
            *event = event.replacen("\"correlation\":", &format!("\"correlation\":9{nth}"), 1);
        }
        let doubts = run(&trace(folder.path(), &events), "capture_trust");
        assert!(doubts.contains(words) && doubts.contains("were launched before"), "{doubts}");
    }
}

#[test]
fn a_capture_of_cpu_samples_has_the_commands_that_show_them() {
    let capture = Capture::new();
    // An export has texts.
    capture.text("solver");
    for sample in 1..=5 {
        capture.sql(&format!(
            "INSERT INTO COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles)
             VALUES ({sample}, {}, 0, 1, {}, 1)",
            sample * MS,
            process(100) | 1
        ));
    }
    let screen = capture.screen();
    for words in ["no GPU work", "It holds 5 CPU samples.", "-q cpu_hot", "nsq flame "] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(!screen.contains("no events that nsq reads"), "{screen}");
}

#[test]
fn a_trace_of_another_accelerator_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let event = |category: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"event_wait","pid":1,"tid":1,"ts":1,"dur":2,"args":{{}}}}"#
        )
    };
    let other = "another accelerator";
    for (categories, words) in [
        (vec!["cpu_op", "mtia_ccp_events", "mtia_ccp_events"], [other, "2 events of another"]),
        (vec!["xpu_kernel"], [other, "1 events of another"]),
        (vec!["cpu_op", "privateuse1_kernel", "hpu_op", "hpu_op"], [other, "3 events of another"]),
        (vec!["cpu_op"], ["events of the CPU only", "ProfilerActivity.CUDA"]),
        (vec![], ["no events that nsq reads", "ProfilerActivity.CUDA"]),
    ] {
        let events: Vec<String> = categories.iter().map(|category| event(category)).collect();
        let path = trace(folder.path(), &events);
        let screen = stdout(&["overview", path.to_str().unwrap()]);
        assert!(words.iter().all(|word| screen.contains(word)), "{screen}");
        // The recorder of a trace is not nsys.
        assert!(!screen.contains("nsys profile"), "{screen}");
    }
}

#[test]
fn ranks_come_from_the_names_of_files() {
    let capture = Capture::new();
    capture.launch(process(100), MS, "gemm", (2 * MS, 3 * MS), 1);
    let folder = tempfile::tempdir().unwrap();
    let ranked = |name: &str| {
        let path = folder.path().join(name);
        std::fs::copy(capture.path(), &path).unwrap();
        sql(&path, "SELECT rank, source FROM rank")
    };
    assert_eq!(ranked("rank6.sqlite"), "6,file name");
    assert_eq!(ranked("a-TP-3-DP-0-PP-0-EP-0.sqlite"), "3,file name");
    assert_eq!(ranked("dp0_pp0_tp1_dcp0_ep1_rank12.177.sqlite"), "12,file name");
    assert_eq!(ranked("report6.sqlite"), ",");
    assert_eq!(ranked("node6.sqlite"), ",");
}

/// Prefill and decode of one rank are captures of it, and processes that share the only GPU are no ranks.
#[test]
fn a_page_of_one_rank_says_why_nothing_is_compared() {
    let capture = Capture::new();
    capture.launch(process(100), MS, "gemm", (2 * MS, 3 * MS), 1);
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = folder.path().join(name);
        std::fs::copy(capture.path(), &path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let verdict = |reports: &[&str]| {
        let page = stdout(&[&["run"], reports, &["-q", "job"]].concat());
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (prefill, decode) = (copy("a-TP-0-EXTEND.sqlite"), copy("a-TP-0-DECODE.sqlite"));
    let text = verdict(&[&prefill, &decode]);
    assert!(text.contains("The 2 reports are captures of rank 0, and no other rank is seen."), "{text}");
    assert!(text.contains("-q reports_sum -p of=kernel"), "{text}");
    capture.launch(process(200), MS, "gemm", (4 * MS, 5 * MS), 2);
    let text = verdict(&[&copy("shared.sqlite")]);
    assert!(text.contains("Processes 100 and 200 share GPU 0,"), "{text}");
}

#[test]
fn ranks_of_one_communicator_on_one_gpu_are_a_contradiction() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("nccl_two_ranks");
    assert!(!run(&path, "capture_trust").contains("ranks that share a GPU"));
    let connection = Connection::open(&path).unwrap();
    for (change, gpu) in [
        ("SET gpuId = 0, uuid = NULL", 0),
        ("SET gpuId = 1, uuid = NULL", 1),
        ("SET gpuId = 0, uuid = 'GPU-a'", 0),
    ] {
        connection.execute(&format!("UPDATE TARGET_INFO_CUDA_DEVICE {change}"), []).unwrap();
        let doubts = run(&path, "capture_trust");
        assert!(
            doubts.contains(&format!("2 ranks of one NCCL communicator ran on GPU {gpu}")),
            "{doubts}"
        );
    }
}

#[test]
fn a_graph_capture_ran_on_the_same_gpu_as_an_eager_one() {
    for count in [1, 20, 33] {
        graph_against_eager(count);
    }
}

fn graph_against_eager(count: i64) {
    let gpu = "INSERT INTO TARGET_INFO_GPU (vmId, id, name, cuDevice, smCount) VALUES (0, 0, 'NVIDIA H100', 0, 132)";
    let eager = Capture::new();
    let graphs = Capture::new();
    for nth in 0..count {
        let at = 1_000 * MS + nth * 10 * MS;
        eager.launch(process(100), at, "gemm", (at + 20 * US, at + 5 * MS), nth + 1);
        graphs.call(process(100) | 1, "cudaGraphLaunch_v10000", (at, at + 10 * US), nth + 1, 0);
        graphs.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId)
             VALUES ({}, {}, 0, 1, 7, {}, {}, 1, 1)",
            at + 20 * US,
            at + 5 * MS,
            nth + 1,
            process(100)
        ));
    }
    let (eager, graphs) = (eager.sql(gpu).path(), graphs.sql(gpu).path());
    let out = stdout(&["diff", eager.to_str().unwrap(), graphs.to_str().unwrap()]);
    assert!(
        out.contains(&format!("{count} CUDA graph executions, ")) && out.contains("ms, NVIDIA H100"),
        "{out}"
    );
    assert!(!out.contains("different GPUs") && !out.contains(" 0 kernels"), "{out}");
}

#[test]
fn a_sampled_trace_concludes_nothing() {
    for (distance, is_sampled) in [(1, false), (20, false), (60, true), (216, true)] {
        let folder = tempfile::tempdir().unwrap();
        let launches =
            (0..150).map(|nth| launched("", 100, 0, 1_000 + 200 * nth, 50, 1 + distance * nth));
        let path = trace(folder.path(), &launches.collect::<Vec<_>>());
        assert_eq!(
            run(&path, "capture_trust").contains("The trace is a sample"),
            is_sampled,
            "{distance}"
        );
        let screen = stdout(&[path.to_str().unwrap()]);
        let verdict = "Idle time is unknown, because most of the launched work is not in the report.";
        assert_eq!(screen.contains(verdict), is_sampled, "{screen}");
    }
    // Runtimes of other accelerators number their calls in their own way.
    for (runtime, event) in
        [("mtia_runtime", "mtia_ccp_events"), ("cuda_runtime", "hpu_op"), ("cuda_runtime", "cpu_op")]
    {
        let folder = tempfile::tempdir().unwrap();
        let calls = (0..150).map(|nth| {
            let at = 1_000 + 200 * nth;
            format!(
                r#"{{"ph":"X","cat":"{runtime}","name":"launch","pid":100,"tid":100,"ts":{at},"dur":3,"args":{{"correlation":{}}}}},
                   {{"ph":"X","cat":"{event}","name":"gemm","pid":1,"tid":7,"ts":{at},"dur":3,"args":{{}}}}"#,
                1 + 1_209_630 * nth
            )
        });
        let path = trace(folder.path(), &calls.collect::<Vec<_>>());
        let screen = stdout(&[path.to_str().unwrap()]);
        assert!(!screen.contains("is a sample") && screen.contains("no GPU work"), "{screen}");
    }
    // Few calls may be far apart.
    let folder = tempfile::tempdir().unwrap();
    let launches = (0..50).map(|nth| launched("", 100, 0, 1_000 + 200 * nth, 50, 1 + 216 * nth));
    let path = trace(folder.path(), &launches.collect::<Vec<_>>());
    assert!(!run(&path, "capture_trust").contains("The trace is a sample"));
}

/// An event of thread 100 without correlation, in µs.
fn event(kind: &str, name: &str, at: i64, dur: i64) -> String {
    format!(
        r#"{{"ph":"X","cat":"{kind}","name":"{name}","pid":"100","tid":100,"ts":{at},"dur":{dur},"args":{{}}}}"#
    )
}

/// The innermost function of the program that has the idle time, and not the step or the program around it.
#[test]
fn the_python_function_of_the_idle_time_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut events = vec![event("python_function", "train.py(5): main", 500, 200_000)];
    for nth in 0..20 {
        let at = 1_000 + 5_000 * nth;
        events.push(event("python_function", "engine.py(9): step", at, 4_990));
        events.push(launched("", 100, 0, at + 10, 1_000, nth + 1));
        events.push(event("python_function", "sampling.py(12): choose", at + 1_100, 3_800));
        events.push(event("python_function", "<built-in method sort>", at + 1_110, 3_700));
    }
    let path = trace(folder.path(), &events);
    let rows = run(&path, "idle_functions");
    assert!(rows.contains("sampling.py(12): choose,19,72200000,95.0"), "{rows}");
    let screen = stdout(&[path.to_str().unwrap()]);
    assert!(screen.contains("Where: sampling.py(12): choose (95.0 % of the idle time)."), "{screen}");
}

/// A function with most of the time, in which GPUs idle, is no program around it.
#[test]
fn a_function_with_most_of_the_time_is_named_where_the_gpu_idles_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut events = vec![event("python_function", "train.py(5): main", 500, 300_000)];
    for nth in 0..20 {
        let at = 1_000 + 10_000 * nth;
        events.push(launched("", 100, 0, at + 10, 500, nth + 1));
        events.push(event("python_function", "train.py(40): save", at + 600, 9_300));
    }
    let rows = run(&trace(folder.path(), &events), "idle_functions");
    assert!(rows.contains("train.py(40): save,19,176700000,97.8"), "{rows}");
}

/// A matcher that waits 6 ms for the GPU and then works 3 ms has less than half of its time in idle time.
#[test]
fn a_function_that_waits_before_its_work_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut events = Vec::new();
    for nth in 0..20 {
        let at = 1_000 + 20_000 * nth;
        events.push(launched("", 100, 0, at + 10, 6_000, 2 * nth + 1));
        events.push(event("python_function", "matcher.py(55): forward", at + 100, 9_000));
        events.push(event("cuda_runtime", "cudaStreamSynchronize", at + 110, 5_920));
        events.push(launched("", 100, 0, at + 9_200, 10_000, 2 * nth + 2));
    }
    let path = trace(folder.path(), &events);
    assert!(!run(&path, "idle_functions").contains("matcher.py"));
    let rows = run(&path, "work_functions");
    assert!(rows.contains("0,matcher.py(55): forward,20,61400000,78.1"), "{rows}");
    let screen = stdout(&[path.to_str().unwrap()]);
    assert!(screen.contains("Where: matcher.py(55): forward (78.1 % of this work)."), "{screen}");
}

/// What the host does after the data loader, which is a fix of its own.
#[test]
fn work_of_the_host_that_a_loader_leaves_has_a_place_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    let mut events = Vec::new();
    for nth in 0..20 {
        let at = 1_000 + 20_000 * nth;
        events.push(event("user_annotation", loader, at, 6_000));
        events.push(event(
            "python_function",
            "torch/utils/data/dataloader.py(700): __next__",
            at + 5,
            5_990,
        ));
        events.push(launched("", 100, 0, at + 6_010, 8_000, nth + 1));
        events.push(event("cuda_runtime", "cudaStreamSynchronize", at + 6_020, 8_000));
        events.push(event("python_function", "metrics.py(8): confusion", at + 14_100, 5_800));
    }
    let screen = stdout(&[trace(folder.path(), &events).to_str().unwrap()]);
    assert!(screen.contains("\n 1. Data loading:") && screen.contains("\n 2. Host-bound:"), "{screen}");
    assert!(screen.contains("Where: metrics.py(8): confusion (96.7 % of what is left)."), "{screen}");
}

/// Twenty collectives in a step, after a product each: of 2 KiB, of a batch norm or not, and of 16 MiB.
#[test]
fn small_collectives_that_take_the_time_have_a_fix_of_their_own() {
    for (elements, norm, fix) in [
        (
            1024,
            true,
            "each: latency and late ranks bind, so do fewer. SyncBatchNorm has two for each layer:",
        ),
        (1024, false, "each: latency and late ranks bind, so do fewer. Join them into one"),
        (8 << 20, true, "Fix: The next kernel needs each result, as in tensor parallelism: split"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let size = format!(
            r#""Collective name":"allreduce","In msg nelems":{elements},"Out msg nelems":{elements},"Group size":2,"dtype":"BFloat16","Process Group Name":"0","Process Group Ranks":"[0, 1]","#
        );
        let mut events = Vec::new();
        for step in 0..20 {
            let at = 1_000 + 18_000 * step;
            events.push(event("user_annotation", &format!("ProfilerStep#{step}"), at, 17_990));
            if norm {
                events.push(event("cpu_op", "SyncBatchNorm", at + 1, 10));
            }
            for nth in 0..20 {
                let start = at + 2_000 + 900 * nth;
                let (called, correlation) = (at + 20 + 20 * nth, 40 * step + 2 * nth + 1);
                let product = launched("", 100, 0, called, 500, correlation);
                events.push(
                    product.replace(&format!("\"ts\":{},", called + 10), &format!("\"ts\":{start},")),
                );
                let reduced = launched("", 100, 0, called + 10, 390, correlation + 1)
                    .replace("\"gemm\"", "\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\"")
                    .replace("\"tid\":7", "\"tid\":20")
                    .replace("\"stream\":7", &format!("{size}\"stream\":20"))
                    .replace(&format!("\"ts\":{},", called + 20), &format!("\"ts\":{},", start + 505));
                events.push(reduced);
            }
        }
        let screen = stdout(&[trace(folder.path(), &events).to_str().unwrap()]);
        assert!(screen.contains(fix), "{screen}");
    }
}

/// A server that waits for requests or sleeps, and a loader whose workers are late.
#[test]
fn functions_of_python_that_wait_for_requests_set_the_pace() {
    let loader = "torch/utils/data/dataloader.py(700): __next__";
    for (functions, paced) in [
        (vec!["zmq/sugar/poll.py(80): poll"], Some("zmq/sugar/poll.py(80): poll")),
        (vec!["<built-in function sleep>"], Some("<built-in function sleep>")),
        (vec![loader, "multiprocessing/connection.py(250): poll", "selectors.py(402): select"], None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for nth in 0..20 {
            let at = 1_000 + 10_000 * nth;
            events.push(launched("", 100, 0, at + 10, 500, nth + 1));
            for (depth, function) in (0..).zip(&functions) {
                events.push(event(
                    "python_function",
                    function,
                    at + 600 + 10 * depth,
                    9_300 - 20 * depth,
                ));
            }
        }
        let path = trace(folder.path(), &events);
        let screen = stdout(&[path.to_str().unwrap()]);
        let rows = run(&path, "idle_functions");
        match paced {
            Some(function) => {
                let waits = format!("the launching thread waits in {function}, for a request");
                assert!(screen.contains("Paced from outside: ") && screen.contains(&waits), "{screen}");
                assert!(!rows.contains(function), "{rows}");
            }
            None => {
                assert!(!screen.contains("Paced from outside"), "{screen}");
                assert!(rows.contains(loader), "{rows}");
            }
        }
    }
}

/// A wait for the size of a result, and one for a copy.
#[test]
fn operators_whose_size_only_the_gpu_knows_have_a_fix() {
    for (operator, fix) in [
        ("aten::nonzero", "Fix: The host waits for the size of a result. Keep sizes fixed:"),
        ("aten::to", "Fix: Remove the wait, or move it behind the next launches."),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for nth in 0..40 {
            let at = 1_000 + 800 * nth;
            events.push(launched("", 100, 0, at, 500, nth + 1));
            events.push(event("cpu_op", operator, at + 20, 495));
            events.push(event("cuda_runtime", "cudaStreamSynchronize", at + 25, 487));
        }
        let screen = stdout(&[trace(folder.path(), &events).to_str().unwrap()]);
        assert!(screen.contains("Mean step: 800.00 µs → 501.00 µs (1.6×)."), "{screen}");
        assert!(screen.contains(fix), "{screen}");
    }
}

/// A quarter of the collectives of one size take six times as long as the others. Of unknown sizes, they may be larger.
#[test]
fn collectives_of_one_rank_that_wait_for_others_are_counted() {
    for (has_size, is_late) in [(true, true), (true, false), (false, true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for nth in 0..40 {
            let (at, correlation) = (1_000 + 5_000 * nth, 2 * nth + 1);
            let dur = if is_late && nth % 4 == 2 { 3_000 } else { 500 };
            let size = match has_size {
                true => {
                    r#""Collective name":"allreduce","In msg nelems":1048576,"Out msg nelems":1048576,"Group size":2,"dtype":"BFloat16","Process Group Name":"0","Process Group Ranks":"[0, 1]","#
                }
                false => "",
            };
            events.push(launched("", 100, 0, at, 1_000, correlation));
            events.push(format!(
                r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"100","tid":100,"ts":{},"dur":3,"args":{{"correlation":{}}}}},
                   {{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL","pid":"0","tid":20,"ts":{},"dur":{dur},"args":{{"device":0,"context":1,"stream":20,{size}"correlation":{}}}}}"#,
                at + 10,
                correlation + 1,
                at + 1_020,
                correlation + 1
            ));
        }
        let path = trace(folder.path(), &events);
        let rows = run(&path, "late_collectives");
        let is_counted = has_size && is_late;
        assert_eq!(rows.contains("AllReduce,10,40,3000000,500000,25000000"), is_counted, "{rows}");
        let screen = stdout(&[path.to_str().unwrap()]);
        let words = "10 of 40 calls of AllReduce take 3.00 ms on average, where 500.00 µs is usual";
        assert_eq!(screen.contains(words), is_counted, "{screen}");
    }
}

/// Six regions in a step are five graph breaks, or more; two may be a model and its loss, and one again and again a loop.
#[test]
fn graph_breaks_are_the_fix_where_python_runs_between_compiled_regions() {
    for (regions, names, is_broken) in [(6, 6, true), (2, 2, false), (6, 1, false)] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for step in 0..20 {
            let at = 1_000 + 2_000 * step;
            events.push(event("user_annotation", &format!("ProfilerStep#{step}"), at, 1_990));
            for region in 0..regions {
                let at = at + 300 * region;
                let name = format!("Torch-Compiled Region: {}/0", region % names);
                events.push(event("user_annotation", &name, at + 5, 60));
                for nth in 0..2 {
                    let correlation = 2 * (regions * step + region) + nth + 1;
                    events.push(launched("", 100, 0, at + 10 + 20 * nth, 10, correlation));
                }
            }
        }
        let screen = stdout(&[trace(folder.path(), &events).to_str().unwrap()]);
        let fix = "Fix: Remove graph breaks: Python runs between 6 compiled regions of a step for 87.";
        assert_eq!(screen.contains(fix), is_broken, "{screen}");
    }
}

/// Both have the same kernel: what PyTorch calls says whether a stage waits for the one before, or all for each other.
#[test]
fn a_receive_of_a_pipeline_waits_for_the_stage_before() {
    for (name, fix) in [
        ("nccl:recv", "Fix: In a pipeline: balance the stages, use more and smaller microbatches"),
        ("nccl:all_to_all", "Fix: Start the exchange before its result is needed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        for step in 0..20 {
            let (at, gpu) = (1_000 + 60 * step, 10_000 + 6_000 * step);
            events.push(event("user_annotation", &format!("ProfilerStep#{step}"), at, 58));
            events.push(event("user_annotation", name, at + 2, 12));
            for (called, kernel, start, dur, stream) in [
                (at + 5, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", gpu, 2_000, 20),
                (at + 30, "gemm", gpu + 2_005, 3_980, 7),
            ] {
                let launch = launched("", 100, 0, called, dur, called)
                    .replace("\"gemm\"", &format!("\"{kernel}\""))
                    .replace("\"tid\":7", &format!("\"tid\":{stream}"))
                    .replace("\"stream\":7", &format!("\"stream\":{stream}"))
                    .replace(&format!("\"ts\":{},", called + 10), &format!("\"ts\":{start},"));
                events.push(launch);
            }
        }
        let screen = stdout(&[trace(folder.path(), &events).to_str().unwrap()]);
        assert!(screen.contains(fix), "{screen}");
    }
}
