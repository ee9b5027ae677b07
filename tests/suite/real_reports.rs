//! Reports of `nsys stats` on fixtures, against a real nsys, whose path is in `NSQ_TEST_NSYS`.
//!
//! NVIDIA's scripts read any export, so the fixtures are built as the export version of nsys 2023.4.4, with
//! which the rows were compared first.

use crate::support::Fixtures;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The export version of nsys 2023.4.4.
const VERSION: &str = "3.7.2";

/// Traces, and the reports that have rows on them.
const REPORTS: [(&str, &[&str]); 5] = [
    ("openmp_openacc", &["openmp_sum", "openacc_sum"]),
    (
        "graphics_apis",
        &[
            "vulkan_api_sum",
            "vulkan_api_trace",
            "vulkan_marker_sum",
            "vulkan_gpu_marker_sum",
            "opengl_khr_range_sum",
            "opengl_khr_gpu_range_sum",
            "dx11_pix_sum",
            "dx12_pix_sum",
            "dx12_gpu_marker_sum",
            "wddm_queue_sum",
            "dx12_mem_ops",
        ],
    ),
    (
        "mpi_two_ranks",
        &["network_congestion", "network_congestion:ticks_threshold=9999", "mpi_event_trace"],
    ),
    ("video_codecs", &["nvvideo_api_sum"]),
    ("frames", &["gpu_gaps", "gpu_gaps:gap=0", "gpu_time_util", "gpu_time_util:threshold=101:chunks=7"]),
];

/// Rules, which a real nsys answers with `nsys analyze`.
const RULES: [&str; 3] = ["dx12_mem_ops", "gpu_gaps", "gpu_time_util"];

/// The header and the sorted rows of a report, since NVIDIA leaves the order of equal rows open.
fn rows(printed: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(printed);
    let mut lines: Vec<String> =
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if let Some(rows) = lines.get_mut(1..) {
        rows.sort();
    }
    lines
}

fn stats(program: &mut Command, verb: &str, report: &str, export: &Path) -> Vec<String> {
    let output =
        program.args([verb, "--quiet", "-f", "csv", "-r", report]).arg(export).output().unwrap();
    assert!(output.status.success(), "{report}: {output:?}");
    rows(&output.stdout)
}

/// The path of a real nsys. Says so if there is none.
fn real_nsys() -> Option<OsString> {
    let nsys = std::env::var_os("NSQ_TEST_NSYS").filter(|value: &OsString| !value.is_empty());
    if nsys.is_none() {
        drop(writeln!(std::io::stderr(), "skipped: NSQ_TEST_NSYS is not set"));
    }
    nsys
}

/// The names that a program's help lists, without their arguments.
fn names(program: &mut Command, args: [&str; 2]) -> BTreeSet<String> {
    let output = program.args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(" -- "))
        .map(|(spelling, _)| spelling.split([':', '[']).next().unwrap_or_default().to_owned())
        .collect()
}

/// The rows without what NVIDIA's rule says of work on an unknown GPU: 0 %, whatever the work is. A rank counts
/// these rows, so it goes, too.
fn comparable(rows: Vec<String>, report: &str) -> Vec<String> {
    if report != "gpu_time_util" {
        return rows;
    }
    let known = rows.into_iter().filter(|row| row.split(',').nth(5) != Some(""));
    known.map(|row| row.split_once(',').map_or(String::new(), |(_, rest)| rest.to_owned())).collect()
}

#[test]
fn no_name_of_a_real_nsys_is_lacking() {
    let Some(nsys) = real_nsys() else { return };
    let lists = [(["stats", "--help-reports"], 36), (["analyze", "--help-rules"], 7)];
    for (args, count) in lists {
        let want = names(&mut Command::new(&nsys), args);
        let have = names(&mut Command::new(env!("CARGO_BIN_EXE_nsq")), args);
        assert!(want.len() >= count, "{args:?}: {want:?}");
        let lacking: Vec<&String> = want.difference(&have).collect();
        assert!(lacking.is_empty(), "{args:?}: nsq lacks {lacking:?}");
    }
}

#[test]
fn reports_equal_those_of_a_real_nsys() {
    let Some(nsys) = real_nsys() else { return };
    let fixtures = Fixtures::new();
    for (trace, reports) in REPORTS {
        let export = fixtures.version(VERSION, trace);
        for report in reports {
            let name = report.split(':').next().unwrap_or_default();
            let verb = if RULES.contains(&name) { "analyze" } else { "stats" };
            let want = stats(&mut Command::new(&nsys), verb, report, &export);
            let have = stats(&mut Command::new(env!("CARGO_BIN_EXE_nsq")), verb, report, &export);
            assert!(want.len() > 1, "{report}: no rows: {want:?}");
            let (want, have) = (comparable(want, name), comparable(have, name));
            assert_eq!(have, want, "{report} on {trace}");
        }
    }
}
