//! `nsq show --sql`: a script gives the same rows as its query.
//!
//! A script that uses only SQLite's own functions runs in the `sqlite3` shell. Any other script says in
//! its first line that it needs nsq, and runs with `nsq sql --file`.

use crate::support::golden::Golden;
use crate::support::{Fixtures, depth_of, queries, sqlite3, stdout, traces, turn};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

/// Queries whose script needs functions of nsq.
const NEED_NSQ: [&str; 262] = [
    "after_last_call",
    "after_last_operation",
    "allocating_range",
    "allocation",
    "attention_work",
    "below_roofline",
    "bus_bandwidth",
    "capture_phases",
    "capture_trust",
    "captured",
    "class_capture",
    "class_figures",
    "class_iterations",
    "class_notes",
    "class_seed_sums",
    "class_seed_windows",
    "class_side_by_side",
    "class_sum",
    "class_sums",
    "class_windows",
    "clock_groups",
    "clock_steps",
    "collective_arrivals",
    "collective_work",
    "collectives",
    "comm_overlap",
    "comm_overlap_by_group",
    "communicator_roles",
    "copy_rate",
    "cpu_hot",
    "cpu_stacks",
    "critical_path",
    "cuda_api_costs",
    "cuda_api_gpu_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_gb_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_size_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_sum",
    "cuda_gpu_time_util_map",
    "cuda_kern_exec_sum",
    "data_loading",
    "dataloader_wait",
    "ddp_copies",
    "decode_gaps",
    "decode_steps",
    "decompression_sum",
    "default_stream",
    "device_copies",
    "diff_calls",
    "diff_causes",
    "diff_clocks",
    "diff_costs",
    "diff_explained",
    "diff_gpu_work",
    "diff_pairs",
    "diff_path",
    "diff_phases",
    "diff_places",
    "diff_ranges",
    "diff_regressions",
    "diff_replaced",
    "diff_rows",
    "diff_runs",
    "diff_sequence",
    "diff_side",
    "diff_strata",
    "diff_verdict",
    "diff_whole",
    "diff_windows",
    "dx11_pix_sum",
    "dx12_gpu_marker_sum",
    "dx12_pix_sum",
    "elapsed_bars",
    "elapsed_classes",
    "elapsed_kernels",
    "elapsed_operations",
    "exposed_communication",
    "exposed_copies",
    "exposed_pageable_copies",
    "exposed_peer_copies",
    "few_blocks",
    "finding_edits",
    "finding_gains",
    "finding_intervals",
    "finding_methods",
    "finding_places",
    "finding_strip",
    "findings",
    "first_rest",
    "fp32_matmul",
    "gap_histogram",
    "gap_pairs",
    "gap_sum",
    "gemm_shapes",
    "gpu_clocks",
    "gpu_context_switches",
    "gpu_elapsed",
    "gpu_gap_sum",
    "gpu_gaps",
    "gpu_idle_cause_sum",
    "gpu_idle_causes",
    "gpu_idle_cpu",
    "gpu_idle_host",
    "gpu_idle_host_sum",
    "gpu_limits",
    "gpu_metric_by_idle_cause",
    "gpu_metric_by_kernel",
    "gpu_metric_by_range",
    "gpu_metric_by_step",
    "gpu_metric_map",
    "gpu_metric_sum",
    "gpu_parts",
    "gpu_share",
    "gpu_strip",
    "gpu_time",
    "gpu_time_by_range",
    "gpu_time_by_stack",
    "gpu_time_util",
    "graph_replays",
    "host_callback_sum",
    "host_ranges",
    "host_sync",
    "host_work",
    "idle_calls",
    "idle_doubt",
    "interval_places",
    "iteration_border",
    "iteration_chart",
    "iteration_ranges",
    "iteration_sum",
    "iterations",
    "jit_and_module_load",
    "job_differences",
    "job_doubts",
    "job_experts",
    "job_gain",
    "job_matches",
    "job_members",
    "job_ranks",
    "job_roles",
    "kernel_classes",
    "kernel_costs",
    "kernel_families",
    "kernel_iteration_costs",
    "kernel_stats",
    "launch_bound",
    "launch_latency",
    "launch_outcomes",
    "link_use",
    "lock_contention",
    "longest_collective",
    "longest_wait",
    "memcpy_bandwidth",
    "memory_bound_ops",
    "memory_op_sizes",
    "memory_ops",
    "metric_means",
    "mfu",
    "mpi_event_sum",
    "mpi_gpu_time_util_map",
    "mpi_msg_size_sum",
    "mpi_wait",
    "named_range",
    "nccl_sum",
    "network_traffic_map",
    "nvtx_coverage",
    "nvtx_cpu_tree",
    "nvtx_gpu_proj_pace",
    "nvtx_gpu_proj_sum",
    "nvtx_gpu_proj_trace",
    "nvtx_host_waits",
    "nvtx_kern_sum",
    "nvtx_kernels",
    "nvtx_layers",
    "nvtx_pace",
    "nvtx_path_times",
    "nvtx_pushpop_sum",
    "nvtx_pushpop_trace",
    "nvtx_startend_sum",
    "nvtx_sum",
    "nvtx_tree",
    "nvvideo_api_sum",
    "once_costs",
    "once_parts",
    "op_efficiency",
    "openacc_sum",
    "opengl_khr_gpu_range_sum",
    "opengl_khr_range_sum",
    "openmp_sum",
    "osrt_sum",
    "oversubscribed",
    "paced_idle",
    "pageable_copy_call",
    "phases",
    "pipeline_bubbles",
    "pipeline_time",
    "point_to_point",
    "point_to_point_waits",
    "profiler_stalls",
    "profiler_steps",
    "queued_work",
    "range_names",
    "range_time",
    "range_time_sum",
    "rank_balance",
    "rank_clocks",
    "rank_doubts",
    "rank_heat",
    "rank_iterations",
    "rank_kernels",
    "rank_measures",
    "rank_wait",
    "reached_bandwidth",
    "run_times",
    "serialised_communication",
    "serving_steps",
    "serving_sum",
    "single_step",
    "slow_iterations",
    "small_blocks",
    "steady_states",
    "step_ranges",
    "step_scope",
    "steps",
    "straggler_causes",
    "stragglers",
    "stream_concurrency",
    "stream_gap_sum",
    "stream_gaps",
    "stream_strip",
    "suspect_events",
    "syscall_sum",
    "tail_waves",
    "tensor_core_use",
    "thread_time",
    "timeline_bounds",
    "timeline_clocks",
    "timeline_findings",
    "timeline_lanes",
    "timeline_metrics",
    "timeline_names",
    "timeline_path",
    "timeline_path_kinds",
    "timeline_path_parts",
    "timeline_pieces",
    "timeline_slices",
    "timeline_starts",
    "tiny_kernels",
    "top_kernels",
    "ucx_sum",
    "um_migrations",
    "unexplained_idle",
    "unfused_attention",
    "vulkan_api_sum",
    "vulkan_gpu_marker_sum",
    "vulkan_marker_sum",
    "wddm_queue_sum",
    "what_bounds",
    "what_if",
    "work_coverage",
];

/// Queries whose script runs in any SQLite shell.
const RUN_ANYWHERE: [&str; 37] = [
    "api_errors",
    "cuda_api_sync",
    "cuda_api_trace",
    "cuda_gpu_kern_hist",
    "cuda_gpu_kern_pace",
    "cuda_gpu_trace",
    "cuda_kern_exec_trace",
    "cuda_memcpy_async",
    "cuda_memcpy_sync",
    "cuda_memset_sync",
    "dx12_mem_ops",
    "event_counts",
    "file_access_sum",
    "gpu_devices",
    "gpu_span",
    "graph_launches",
    "jit_sum",
    "kernel_durations",
    "kernel_passes",
    "kernel_trend",
    "link_peaks",
    "mpi_event_trace",
    "network_congestion",
    "network_sum",
    "one_warp_kernel",
    "process_activity",
    "profiler_step_names",
    "ranks",
    "report_info",
    "run_time",
    "scope_ids",
    "share_change",
    "timing_compare",
    "um_cpu_page_faults_sum",
    "um_sum",
    "um_total_sum",
    "vulkan_api_trace",
];

#[test]
fn scripts_give_the_same_rows_without_nsq() {
    let fixtures = Fixtures::new();
    let (mut needing, mut anywhere) = (BTreeSet::new(), BTreeSet::new());
    let step = 8 / depth_of(8).min(8);
    for (nth, query) in queries().into_iter().enumerate() {
        let golden = Golden::read(&query);
        // Each query on an eighth of the fixtures that have its data, and on all at full depth.
        let answered: Vec<String> =
            traces().into_iter().filter(|trace| golden.answer(trace).is_some()).collect();
        for trace in answered.iter().skip((nth + turn()) % step.min(answered.len().max(1))).step_by(step)
        {
            let report = fixtures.trace(trace);
            let name = report.file_name().unwrap().to_str().unwrap().to_owned();
            let report = report.to_str().unwrap();
            // The golden is what `nsq run` prints; without a section, the report lacks the data.
            let want = golden.answer(trace).unwrap();
            let script = stdout(&["show", &query, "--sql", "--report", report]);
            if script.starts_with("-- needs nsq: ") {
                needing.insert(query.clone());
                let file = fixtures.path().join("script.sql");
                std::fs::write(&file, &script).unwrap();
                let got = stdout(&["sql", report, "--file", file.to_str().unwrap(), "--format", "csv"]);
                let got = got.replace(&name, trace);
                // A script does not know what a report lacks, so it says `no` instead of `cannot tell`. The native relations
                // that it asks leave out impossible times, which NVIDIA's reports have, and end open ranges later.
                let differs = ["findings", "finding_methods"].contains(&query.as_str())
                    || trace == "impossible_times"
                    || trace == "nested_nvtx";
                assert!(differs || got == want, "{query} on {trace}:\n{got}\n{want}");
                continue;
            }
            anywhere.insert(query.clone());
            if let Some(mut shell) = sqlite3() {
                let mut child = shell
                    .args(["-batch", "-bail", "-csv", "-readonly", report])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
                let output = child.wait_with_output().unwrap();
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && error.is_empty(), "{query} on {trace}: {error}");
                assert_eq!(parsed(&output.stdout), parsed(want.as_bytes())[1..], "{query} on {trace}");
            }
        }
    }
    let is_as_listed = |found: &BTreeSet<String>, listed: &[&str]| match step {
        1 => found.iter().eq(listed),
        // A query may need nsq for some reports only.
        _ => found.iter().all(|query| listed.contains(&query.as_str())),
    };
    assert!(is_as_listed(&needing, &NEED_NSQ), "{needing:?}");
    assert!(is_as_listed(&anywhere, &RUN_ANYWHERE), "{anywhere:?}");
}

/// Rows with real numbers rounded to twelve digits, since shells print them differently.
fn parsed(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let field = |text: &str| match text.parse::<f64>() {
        Ok(number) if text.contains(['.', 'e']) => format!("{number:.12e}"),
        _ => text.to_owned(),
    };
    reader.records().map(|row| row.unwrap().iter().map(field).collect()).collect()
}

#[test]
fn materialized_relations_are_ordinary_tables() {
    let Some(mut shell) = sqlite3() else { return };
    let fixtures = Fixtures::new();
    let plain = fixtures.path().join("plain.sqlite");
    let report = fixtures.trace("two_streams_overlap");
    stdout(&["materialize", report.to_str().unwrap(), "-o", plain.to_str().unwrap()]);
    let sql = "SELECT op_kind, count(*), count(call_id) FROM launch GROUP BY 1 ORDER BY 1";
    let output = shell.arg(&plain).arg(sql).output().unwrap();
    let ours = stdout(&["sql", report.to_str().unwrap(), sql, "--format", "csv", "--no-header"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().replace('|', ","), ours);
}
