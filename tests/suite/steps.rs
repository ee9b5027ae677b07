//! Steps: found by repetition, compared with marks that are there, and with what people read from real captures.

mod growth;
mod kinds;
mod programs;

use crate::support::{nsq, shared, stdout};
use std::path::{Path, PathBuf};

/// A statement's rows on a report, with their cells.
fn rows(report: &Path, sql: &str) -> Vec<Vec<String>> {
    let text = stdout(&["sql", report.to_str().unwrap(), sql, "--format", "csv", "--no-header"]);
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn data(shared: &Path, name: &str) -> PathBuf {
    let folder = if name.contains(".json") { "torch" } else { "exports" };
    shared.join("data").join(folder).join(name)
}

/// Captures, the steps that people count in them, and the length of a step in ms. `None`: nothing repeats, or only layers
/// of one pass. Where nsq counts another number, the comment says why.
const READ: [(&str, Option<(i64, f64)>); 33] = [
    // Ten launches of one graph.
    ("a100_cudagraph_graphtrace.sqlite", Some((10, 781.07))),
    ("a100_fwd_nvtx_2026.3.sqlite", None),
    // Three passes after one of warm-up.
    ("a100_gpt2.7b_2024.6.2.sqlite", Some((4, 841.25))),
    ("a100_gpt2.7b_nvtx.sqlite", Some((4, 841.1))),
    ("a100_mpi_2pids.sqlite", None),
    ("a100_opt_nvtx_2026.3.sqlite", None),
    ("cestwc_9k_2025.5.sqlite", Some((3170, 0.0196))),
    // 23 blocks, and those of the next pass.
    ("h100_2gpu_1s.sqlite", Some((27, 29.34))),
    // 15 whole blocks, and parts of two more at the ends.
    ("h100_mfu_2gpu_before.sqlite", Some((17, 17.57))),
    ("h100x8_nvfuser_a.sqlite", None),
    ("h200_nvfuser_13k_nvtx.sqlite", None),
    ("perlmutter_mpi_saxpy.sqlite", Some((5, 255.7))),
    ("rtx3060_23k.sqlite", Some((25, 82.3))),
    ("rtx3060_graph_2025.5.sqlite", None),
    ("rtx3080_mock.sqlite", None),
    ("rtx3090x2_ddp_nccl_2026.3.sqlite", None),
    ("rtx3090x7_rodinia_8190.sqlite", Some((4095, 0.7015))),
    ("v100_julia_trixi.sqlite", None),
    // Four passes after a cold one.
    ("windows_rtx5000ada_2026.2.sqlite", Some((5, 34.0))),
    ("wsl_like_memcpy_no_kernel.sqlite", None),
    ("b200_vllm_eager_tp8_rank0.json.gz", None),
    ("h100_bert_small.json.gz", None),
    ("h100_qwen1.5_0.5b.json.gz", None),
    ("h100_vit_base.json.gz", None),
    ("hta_alexnet.json.gz", None),
    ("hta_backward_thread.json", None),
    ("hta_diff_control.json.gz", Some((6, 76.8))),
    ("hta_nccl.json.gz", Some((3, 220.9))),
    ("mi300_bert_small.json.gz", None),
    ("mi300_resnet_ddp.json.gz", Some((3, 18.84))),
    ("sglang_qwen3_8b_prefill.json.gz", None),
    ("vllm_decode_graph.json.gz", None),
    ("vllm_mixed_piecewise.json.gz", None),
];

#[test]
fn steps_without_marks_are_those_that_people_read() {
    let Some(shared) = shared() else { return };
    for (name, read) in READ {
        // The middle one of the distances between the ends of steps, on each GPU.
        let found = rows(
            &data(&shared, name),
            "SELECT step_count, median(dur_ns) FROM (
               SELECT gpu_id, pid, step_count, end_ns - lag(end_ns) OVER (PARTITION BY gpu_id, pid ORDER BY step) AS dur_ns
               FROM repeated_step WHERE kind = 'step'
             ) GROUP BY gpu_id, pid",
        );
        match read {
            None => assert!(found.is_empty(), "{name}: {found:?}"),
            Some((count, ms)) => {
                assert!(!found.is_empty(), "{name}: no step");
                for row in found {
                    assert_eq!(row[0].parse::<i64>().unwrap(), count, "{name}");
                    let ratio = row[1].parse::<f64>().unwrap() / 1e6 / ms;
                    // Other borders of a step, and a mean instead of the middle, differ a little.
                    assert!((0.92..=1.08).contains(&ratio), "{name}: {} ns against {ms} ms", row[1]);
                }
            }
        }
    }
}

/// Launches between the first one of a marked step and the first one of the repeated step of this number.
const OFF: &str = "
WITH
launched AS MATERIALIZED (
  SELECT pid, at, row_number() OVER (PARTITION BY pid ORDER BY at) AS nth
  FROM (SELECT DISTINCT pid, call_start_ns AS at FROM launch WHERE call_start_ns IS NOT NULL)
),
marked AS (
  SELECT iteration, pid, (
    SELECT min(nth) FROM launched WHERE launched.pid = iteration.pid AND at >= iteration.start_ns
  ) AS nth
  FROM iteration
),
repeated AS (
  SELECT step, found.pid, nth
  FROM repeated_step AS found
  JOIN launched ON launched.pid = found.pid AND launched.at = found.cpu_start_ns
  WHERE kind = 'step'
)
SELECT marked.iteration, abs(marked.nth - repeated.nth)
FROM marked LEFT JOIN repeated ON repeated.step = marked.iteration AND repeated.pid = marked.pid
ORDER BY 1";

#[test]
fn hidden_marks_are_found_again() {
    let Some(shared) = shared() else { return };
    // The sampled traces lack most launches; in hta_diff_test, 614 operations before the first step have no launch.
    let known: [(&str, &[i64]); 6] = [
        ("hta_diff_control.json.gz", &[0, 0, 0, 0, 0, 0]),
        ("hta_diff_test.json.gz", &[24, 0, 0, 0, 0, 0]),
        ("hta_nccl.json.gz", &[0, 0, 0]),
        ("hta_sampled_rank0.json.gz", &[0, 67]),
        ("hta_sampled_rank1.json.gz", &[0, 65]),
        ("mi300_resnet_ddp.json.gz", &[0, 0, 0]),
    ];
    for (name, off) in known {
        let report = data(&shared, name);
        let found: Vec<i64> =
            rows(&report, OFF).iter().map(|row| row[1].parse().unwrap_or(i64::MAX)).collect();
        assert_eq!(found, off, "{name}");
        let count = rows(&report, "SELECT count(*) FROM repeated_step WHERE kind = 'step'");
        assert_eq!(count[0][0], off.len().to_string(), "{name}: as many steps as marks");
    }
}

#[test]
fn the_steady_scope_is_that_of_its_window() {
    let Some(shared) = shared() else { return };
    for name in
        ["a100_gpt2.7b_nvtx.sqlite", "windows_rtx5000ada_2026.2.sqlite", "mi300_resnet_ddp.json.gz"]
    {
        let report = data(&shared, name);
        let report = report.to_str().unwrap();
        let window = rows(
            Path::new(report),
            "SELECT min(start_ns), max(end_ns) FROM step_window WHERE part <> 'warm-up'",
        );
        let time = format!("{}ns/{}ns", window[0][0], window[0][1]);
        for query in ["gpu_time", "top_kernels", "cuda_api_sum"] {
            let ask = |scope: &[&str]| {
                let fixed = ["run", report, "--query", query, "--format", "csv"];
                stdout(&[&fixed[..], scope].concat())
            };
            assert_eq!(ask(&["--steady"]), ask(&["--time", &time]), "{query} on {name}");
            assert_ne!(
                ask(&["--steady"]),
                ask(&[]),
                "{query} on {name}: the scope leaves something out"
            );
        }
    }
}

#[test]
fn one_repeated_step_can_be_selected() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "a100_gpt2.7b_nvtx.sqlite");
    let report = report.to_str().unwrap();
    let count = |scope: &[&str]| {
        let fixed = ["sql", report, "SELECT count(*) FROM kernel", "--format", "csv", "--no-header"];
        stdout(&[&fixed[..], scope].concat()).trim().to_owned()
    };
    // 1,832 equal kernels each.
    assert_eq!(count(&["--iter", "step", "2"]), "1832");
    assert_eq!(count(&["--iter", "step", "1..3"]), "5496");
    assert_eq!(count(&["--steady"]), "5496");
}

#[test]
fn a_capture_in_which_nothing_repeats_has_no_steady_state() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "h100x8_nvfuser_a.sqlite");
    let error = nsq().arg("run").arg(&report).args(["--query", "gpu_time", "--steady"]).assert().code(2);
    let error = String::from_utf8_lossy(&error.get_output().stderr).into_owned();
    assert!(error.contains("--steady needs steps"), "{error}");
    let screen = stdout(&[report.to_str().unwrap()]);
    assert!(
        screen.contains("\nNothing to conclude about speed: no kernel ran more than three times."),
        "{screen}"
    );
}

#[test]
fn the_first_screen_judges_the_steady_state() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "a100_gpt2.7b_nvtx.sqlite");
    let screen = stdout(&[report.to_str().unwrap()]);
    assert!(
        screen
            .contains("\nJudged: the steady state, 3 of 4 steps, found by repetition, 2.52 s in all.\n")
    );
    assert!(
        screen
            .contains("\nNot judged: 33.87 s of start-up with the first step, on CPU and GPU, including 27.87 s outside CUDA calls, 3.16 s for uploads of 13.63 GB. With it: "),
        "{screen}"
    );
    // The uploads of the start-up are no finding, and FP32 products are the first.
    assert!(screen.contains("\n 1. FP32 on CUDA cores: "), "{screen}");
    assert!(!screen.contains("pageable"), "{screen}");
    let whole = stdout(&["overview", report.to_str().unwrap(), "-p", "whole=true"]);
    assert!(whole.contains("pageable") && !whole.contains("Judged:"), "{whole}");
}

#[test]
fn where_something_is_not_judged_the_first_screen_says_what_is() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "cestwc_9k_2025.5.sqlite");
    // The steps are all but 5 % of the time on the GPU, and the start-up is before it.
    let judged =
        "Judged: all 87.20 ms from first to last GPU operation. Not judged: 148.59 ms before it.";
    for format in ["text", "markdown", "html"] {
        let page = stdout(&["overview", report.to_str().unwrap(), "-f", format]);
        assert!(page.contains(judged), "{format}: {page}");
    }
}
