//! What is read from the pages of a table is what a statement reads.
//!
//! A database whose header names a write-ahead log is read by statements alone, and holds the same.

use crate::support::{nsq, shared_exports};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where a header says how the database is written and read: 1 without, 2 with a write-ahead log.
const FORMATS: std::ops::Range<usize> = 18..20;

/// Everything that native relations answer: attributed by thread, by process and at a graph's creation.
const ASKED: [&str; 3] = [
    "-q nvtx_gpu_proj_trace -q nvtx_gpu_proj_sum -q nvtx_kern_sum:mangled -q nvtx_tree -q nvtx_coverage \
     -q nvtx_layers -q gap_pairs -q stream_concurrency",
    "-q nvtx_coverage -q nvtx_kernels --attribute process",
    "-q nvtx_coverage --attribute capture",
];

/// What `nsq run` says of a report, to whom it may concern.
fn answers(report: &Path) -> Vec<(Option<i32>, Vec<u8>, String)> {
    let ask = |asked: &&str| {
        let mut command = nsq();
        command.arg("run").arg(report).args(asked.split_whitespace()).args(["--format", "csv"]);
        let output = command.output().unwrap();
        let folder = report.parent().unwrap().to_str().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).replace(folder, "");
        (output.status.code(), output.stdout, told)
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
        // Small tables are read by a statement in any case.
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
    assert!(answered > 0, "nothing was answered");
}
