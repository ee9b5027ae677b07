//! Reading the pages of a table directly gives the same rows as an SQL statement.
//!
//! To compare, each test copies a database and sets write-ahead logging in its header: nsq reads such a
//! database through SQL statements only.

use crate::support::{nsq, shared_exports};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The header bytes of the write and read version: 1 without, 2 with a write-ahead log.
const FORMATS: std::ops::Range<usize> = 18..20;

/// Queries over the native relations, attributed by thread, by process and by graph capture.
const ASKED: [&str; 3] = [
    "-q nvtx_gpu_proj_trace -q nvtx_gpu_proj_sum -q nvtx_kern_sum:mangled -q nvtx_tree -q nvtx_coverage \
     -q nvtx_layers -q gap_pairs -q stream_concurrency",
    "-q nvtx_coverage -q nvtx_kernels --attribute process",
    "-q nvtx_coverage --attribute capture",
];

/// Exit code, standard output and standard error of `nsq run` for each entry of [`ASKED`].
fn answers(report: &Path) -> Vec<(Option<i32>, Vec<u8>, String)> {
    let ask = |asked: &&str| {
        let mut command = nsq();
        command.arg("run").arg(report).args(asked.split_whitespace()).args(["--format", "csv"]);
        let output = command.output().unwrap();
        let folder = report.parent().unwrap().to_str().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).replace(folder, "");
        (output.status.code(), output.stdout, error)
    };
    ASKED.iter().map(ask).collect()
}

#[test]
fn pages_and_statements_read_the_same() {
    let mut reports: Vec<PathBuf> = vec![crate::large_export::export(30_000)];
    reports.extend(shared_exports());
    let (mut answered, folder) = (0, TempDir::new().unwrap());
    for report in reports {
        let copy = folder.path().join(report.file_name().unwrap());
        let mut bytes = fs::read(&report).unwrap();
        // Small tables are always read by a statement.
        if bytes[FORMATS] != [1, 1] || bytes.len() < 1_000_000 {
            continue;
        }
        bytes[FORMATS].fill(2);
        fs::write(&copy, &bytes).unwrap();
        let (by_pages, by_statements) = (answers(&report), answers(&copy));
        for (asked, (left, right)) in ASKED.iter().zip(by_pages.iter().zip(&by_statements)) {
            assert_ne!(left.0, Some(2), "{asked}: {}", left.2);
            assert!(left == right, "{} {asked}:\n{left:?}\n{right:?}", report.display());
            answered += usize::from(left.0 == Some(0));
        }
    }
    assert!(answered > 0, "no query was answered");
}
