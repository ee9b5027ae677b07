//! Real captures in `fixtures/real`: nsys's export and PyTorch's trace of the same program must agree
//! with each other and with what the program measured itself.
//!
//! The checks are tested on a simulated capture in the same layout: a correct one passes, and a capture
//! with a single fault fails.

mod checks;
mod simulated;

use crate::support::project;
use checks::check;
use simulated::{Fault, make};

#[test]
fn real_captures_are_consistent() {
    let entries = std::fs::read_dir(project("fixtures/real")).unwrap();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    for folder in folders {
        let checks = check(&folder);
        assert!(checks.failed.is_empty(), "{}:\n{}", folder.display(), checks.failed.join("\n"));
        assert!(checks.count > 0, "{}: nothing was checked", folder.display());
    }
}

#[test]
fn a_correct_simulated_capture_is_consistent() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), None);
    let checks = check(folder.path());
    assert!(checks.failed.is_empty(), "{}", checks.failed.join("\n"));
    // Times of two runs, FLOPs of two products, kernels in two ways, and the answers of both runs.
    assert!(checks.count > 60, "only {} checks were made", checks.count);
}

#[test]
fn each_single_fault_is_found() {
    let faults = [
        (Fault::KernelMissing, "kernels in the steps"),
        (Fault::KernelsLonger, "GPU time of"),
        (Fault::SummaryMiscounts, "PyTorch's own summary"),
        (Fault::EventsLonger, "CUDA events"),
        (Fault::PhaseCutShort, "CUDA events"),
        (Fault::FlopsDoubled, "FLOPs"),
        (Fault::RangeUnnamed, "answer"),
        (Fault::StepMissing, "steps"),
    ];
    let find = |(fault, expected)| {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), Some(fault));
        let failed = check(folder.path()).failed;
        let found = failed.iter().any(|line| line.contains(expected));
        assert!(found, "{fault:?}: no failed check contains {expected:?}:\n{}", failed.join("\n"));
    };
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || find(fault));
        }
    });
}
