//! A real capture, `fixtures/real`: what nsq answers from nsys's export and from PyTorch's trace of
//! the same program is held against each other and against what the program wrote about itself.
//!
//! What is held is tested with a stand-in of the same layout, a made one: a right one passes, and one
//! that is wrong in a single thing does not.

mod held;
mod stand_in;

use crate::support::project;
use held::hold;
use stand_in::{Fault, make};
use std::io::Write;

#[test]
fn the_real_capture_holds() {
    let mut folders: Vec<_> = match std::fs::read_dir(project("fixtures/real")) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect(),
        Err(_) => Vec::new(),
    };
    if folders.is_empty() {
        // Past the test harness, which keeps what passing tests print to itself.
        let text = "skipped: fixtures/real is empty, no GPU has recorded fixtures/capture yet";
        drop(writeln!(std::io::stderr(), "{text}"));
        return;
    }
    folders.sort();
    for folder in folders {
        let held = hold(&folder);
        assert!(held.wrong.is_empty(), "{}:\n{}", folder.display(), held.wrong.join("\n"));
        assert!(held.count > 0, "{}: nothing was held", folder.display());
    }
}

#[test]
fn a_right_stand_in_holds() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), None);
    let held = hold(folder.path());
    assert!(held.wrong.is_empty(), "{}", held.wrong.join("\n"));
    // Two runs with times, two products of FLOPs, kernels by two paths, the answers of both.
    assert!(held.count > 60, "only {} things were held", held.count);
}

#[test]
fn one_wrong_thing_is_found() {
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
        let wrong = hold(folder.path()).wrong;
        let found = wrong.iter().any(|line| line.contains(expected));
        assert!(found, "{fault:?} shows nothing of {expected:?}:\n{}", wrong.join("\n"));
    };
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || find(fault));
        }
    });
}
