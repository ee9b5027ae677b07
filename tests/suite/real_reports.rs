//! Reports of `nsys stats` on fixtures, against a real nsys, whose path is in `NSQ_TEST_NSYS`.
//!
//! NVIDIA's scripts read any export, so the fixtures are built as the export version of nsys 2023.4.4, with
//! which the rows were compared first.

use crate::support::Fixtures;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The export version of nsys 2023.4.4.
const VERSION: &str = "3.7.2";

/// Traces, and the reports that have rows on them.
const REPORTS: [(&str, &[&str]); 3] = [
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
        ],
    ),
    ("video_codecs", &["nvvideo_api_sum"]),
];

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

fn stats(program: &mut Command, report: &str, export: &Path) -> Vec<String> {
    let output =
        program.args(["stats", "--quiet", "-f", "csv", "-r", report]).arg(export).output().unwrap();
    assert!(output.status.success(), "{report}: {output:?}");
    rows(&output.stdout)
}

#[test]
fn reports_equal_those_of_a_real_nsys() {
    let Some(nsys) = std::env::var_os("NSQ_TEST_NSYS").filter(|value: &OsString| !value.is_empty())
    else {
        drop(writeln!(std::io::stderr(), "skipped: NSQ_TEST_NSYS is not set"));
        return;
    };
    let fixtures = Fixtures::new();
    for (trace, reports) in REPORTS {
        let export = fixtures.version(VERSION, trace);
        for report in reports {
            let want = stats(&mut Command::new(&nsys), report, &export);
            let have = stats(&mut Command::new(env!("CARGO_BIN_EXE_nsq")), report, &export);
            assert!(want.len() > 1, "{report}: no rows: {want:?}");
            assert_eq!(have, want, "{report} on {trace}");
        }
    }
}
