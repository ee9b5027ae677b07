//! What captures would take after changes, beside what people read from their rows.

use crate::support::{nsq, shared, stdout};
use std::path::{Path, PathBuf};

/// Rows of `what_if`: the GPU, its steps, and their mean time in ns, now and then.
fn what_if(report: &Path, changes: &[&str]) -> Vec<[f64; 4]> {
    let mut arguments = vec!["run", report.to_str().unwrap(), "-q", "what_if", "--format", "csv"];
    arguments.push("--no-header");
    arguments.extend(changes.iter().flat_map(|change| ["-p", *change]));
    let number = |cell: &str| cell.parse().unwrap_or(0.0);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        [0, 1, 2, 3].map(|place| number(cells[place]))
    };
    stdout(&arguments).lines().map(row).collect()
}

fn data(shared: &Path, name: &str) -> PathBuf {
    let folder = if name.contains(".json") { "torch" } else { "exports" };
    shared.join("data").join(folder).join(name)
}

/// Changes, and between what a step takes with them, in ms, by hand. Where a change leaves nothing else, the time is that of what
/// remains; else it lies between what the GPU does in the step and what is said to be the best case.
const READ: [(&str, &[&str], f64, f64); 11] = [
    // FP32 products fill a third of the GPU's time, and the host is the limit.
    ("a100_opt_nvtx_2026.3.sqlite", &["faster=*gemm*:8"], 234.0, 234.67),
    ("windows_rtx5000ada_2026.2.sqlite", &["faster=*gemm*:8"], 33.0, 34.0),
    // All idle time gone: the GPU is busy for 148.4 ms.
    ("a100_opt_nvtx_2026.3.sqlite", &["launch=free", "host=*:0"], 148.4, 154.0),
    // Of 26.8 µs, a one-thread kernel costs the host 14 ms in 3,170 launches; the read-back 85.0 → ≥ 19.7 ms.
    ("cestwc_9k_2025.5.sqlite", &["without=reset_d_changed*"], 0.02240, 0.0229),
    ("cestwc_9k_2025.5.sqlite", &["without=cudaMemcpyFromSymbol*"], 0.00622, 0.0268),
    // 252 → ≥ 115 ms, and 256 on average.
    ("perlmutter_mpi_saxpy.sqlite", &["host=-:0"], 115.0, 120.0),
    // Kernels run for 0.76 of 29.34 ms; without uploads, 1.44 ms are left if nothing else moves. Uploads take 28.4 ms, beside
    // kernels too: the mean is less, because they begin before the first step that is counted.
    ("h100_2gpu_1s.sqlite", &["without=memcpy"], 0.76, 1.44),
    ("h100_2gpu_1s.sqlite", &["overlap=copies"], 27.4, 29.34),
    // 222 → 200 ms without a host range at the start of the forward pass.
    ("hta_nccl.json.gz", &["host=*unflatten_dense_tensors*:0"], 194.0, 202.0),
    // Compute is 6.4 of 18.84 ms, and exposed communication nearly all of the rest; then the host is the limit, whose steps take
    // 15.9 to 16.8 ms with the launches of the collectives.
    ("mi300_resnet_ddp.json.gz", &["without=ncclDevKernel*"], 7.1, 16.8),
    // FP32 products at a fifth of their time: 841 → ≥ 171 ms at the peak of TF32.
    ("a100_gpt2.7b_2024.6.2.sqlite", &["faster=*gemm*:8"], 171.0, 173.0),
];

#[test]
fn changes_take_what_people_read() {
    let Some(shared) = shared() else { return };
    for (name, changes, least, most) in READ {
        for [gpu, _, now, then] in what_if(&data(&shared, name), changes) {
            let ms = then / 1e6;
            assert!((least..=most).contains(&ms), "{name} {changes:?}, GPU {gpu}: {now} to {then} ns");
        }
    }
}

/// 0.2 s.
#[test]
fn a_gpu_takes_turns_as_it_did() {
    let Some(shared) = shared() else { return };
    // Two processes whose kernels take 0.70 ms of each step, and products that wait for collectives.
    for (case, least, most) in [
        ("round2/11-mps-two-processes/report.sqlite", 0.70, 0.75),
        ("torch/11-cuda-sync/trace.json", 0.15, 0.16),
    ] {
        for [_, _, now, then] in what_if(&shared.join("cases").join(case), &["launch=free", "host=*:0"])
        {
            let ms = then / 1e6;
            assert!((least..=most).contains(&ms), "{case}: {now} to {then} ns");
        }
    }
}

/// 0.3 s.
#[test]
fn time_after_the_last_operation_is_named() {
    let Some(shared) = shared() else { return };
    for (case, ns) in [
        ("round2/01-names-not-utf8/trace.json", 730_000),
        ("round2/02-inf-and-control-char/inf.json", 590_000),
        ("torch/12-kernel-without-op/trace.json", 3_008_000),
    ] {
        let path = shared.join("cases").join(case);
        let query = ["--steady", "-q", "unexplained_idle", "-f", "csv", "--no-header"];
        let got = stdout(&[&["run", path.to_str().unwrap()], &query[..]].concat());
        assert!(
            got.trim_end().ends_with(&format!(",after the last GPU operation,{ns}")),
            "{case}: {got}"
        );
    }
}

#[test]
fn changes_of_nothing_change_nothing() {
    let Some(shared) = shared() else { return };
    for name in
        ["h100_mfu_2gpu_before.sqlite", "hta_diff_control.json.gz", "rtx3090x7_rodinia_8190.sqlite"]
    {
        for change in ["faster=*:1", "fused=*:1", "host=*:1"] {
            let rows = what_if(&data(&shared, name), &[change]);
            assert!(!rows.is_empty());
            for [gpu, steps, now, then] in rows {
                assert!(steps > 0.0 && now == then, "{name}, {change}, GPU {gpu}: {now} to {then}");
            }
        }
    }
}

#[test]
fn an_invalid_change_is_an_error() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "rtx3060_graph_2025.5.sqlite");
    for (change, says) in [
        ("faster=gemm", "invalid edit 'faster=gemm': expected faster=KERNEL:TIMES"),
        ("host=>5parsec:0", "invalid time '5parsec'"),
        (
            "launch=later",
            "invalid edit 'launch=later': expected launch=graph, launch=graph:RANGE or launch=free",
        ),
    ] {
        let arguments = ["run", report.to_str().unwrap(), "-q", "what_if", "-p", change];
        let output = nsq().args(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(says), "{change}: {error}");
    }
}

#[test]
fn a_change_of_no_kernel_is_refused() {
    let report = crate::support::project("fixtures/example.sqlite");
    let ask = |change: &str| {
        let arguments = ["run", report.to_str().unwrap(), "-q", "what_if", "-p", change];
        let output = nsq().args(arguments).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    for (change, what) in [
        ("faster=jet*:2", "no kernel matches 'jet*'"),
        ("fused=jet*:2", "no kernel matches 'jet*'"),
        ("without=jet*", "no kernel matches 'jet*'"),
        (
            "overlap=jet",
            "no kernel matches 'jet'\n  help: a part of a name needs stars, such as '*jet*'",
        ),
        (
            "host=dat:0",
            "no NVTX range matches 'dat'\n  help: a part of a name needs stars, such as '*dat*'",
        ),
    ] {
        let [out, error] = ask(change);
        assert!(out.is_empty() && error.starts_with(&format!("error: {what}")), "{change}: {error}");
    }
    for change in [
        "faster=*jet*:2",
        "fused=*jet*:2",
        "faster=cudaLaunch*:2",
        "faster=:2",
        "faster=memcpy:2",
        "without=nccl*",
        "without=compute",
        "overlap=copies",
        "host=data:0",
        "host=-:0",
        "host=>5ms:0",
    ] {
        let [out, error] = ask(change);
        assert!(!out.contains("(no rows)"), "{change}: {error}");
    }
}

#[test]
fn a_list_that_is_given_again_goes_on() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "rtx3090x7_rodinia_8190.sqlite");
    let both = what_if(&report, &["faster=Fan1:2", "faster=Fan2:2"]);
    assert_eq!(both, what_if(&report, &["faster=Fan1:2,Fan2:2"]));
    assert!(
        both != what_if(&report, &["faster=Fan2:2"]) && both != what_if(&report, &["faster=Fan1:2"])
    );
}

#[test]
fn times_with_a_name_are_those_that_are_written() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "h100_2gpu_1s.sqlite");
    // Intervals that touch each other are written one by one.
    let ask = |times: &str| {
        let sql = format!(
            "WITH after AS (SELECT device_id, end_ns FROM gpu_op ORDER BY end_ns, op_id LIMIT 3000), \
             times AS MATERIALIZED (SELECT {times} AS text FROM after), \
             win AS (SELECT device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM gpu_op GROUP BY 1) \
             SELECT part.gpu_id, part.new_dur_ns, part.busiest_ns, part.busy_ns \
             FROM times CROSS JOIN win CROSS JOIN all_replayed_window AS part \
             WHERE part.edits = 'idle=@' || times.text || char(10) || 'work=@' || times.text \
             AND part.gpu_id = win.device_id AND part.start_ns = win.start_ns AND part.end_ns = win.end_ns \
             ORDER BY 1"
        );
        nsq().args(["sql", report.to_str().unwrap(), &sql, "--format", "csv"]).output().unwrap()
    };
    let rows = |times: &str| String::from_utf8(ask(times).stdout).unwrap();
    let named = rows("gpu_times(device_id, end_ns, end_ns + 2000)");
    assert_eq!(named.lines().count(), 3, "{named}");
    assert_eq!(named, rows("group_concat(device_id || ':' || end_ns || '+2000', ';')"));
    assert_ne!(named, rows("max('')"));
    let unknown = String::from_utf8(ask("max('#101+303+0')").stderr).unwrap();
    assert!(unknown.contains("unknown times '#101+303+0': a name of gpu_times() is known"), "{unknown}");
}
