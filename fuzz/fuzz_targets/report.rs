//! Fuzz target: arbitrary bytes as a report. Every query must answer or fail with a reason.
#![no_main]

#[path = "../../tests/random/fuzz/asking.rs"]
#[allow(dead_code)]
mod asking;
#[path = "../../tests/random/fuzz/damage.rs"]
#[allow(dead_code)]
mod damage;
mod support;

use asking::Asker;
use damage::{Pages, Random, flip_database};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(support::folder);

/// Each input is asked one in this many queries, so that many inputs are tried.
const SHARE: usize = 128;

thread_local! {
    static ASKER: Asker = Asker::new(SHARE);
}

fuzz_target!(|data: &[u8]| {
    let report: PathBuf = FOLDER.path().join("report.sqlite");
    std::fs::write(&report, data).unwrap();
    ASKER.with(|asker| asker.ask(&report, support::sum_of(data))).unwrap();
});

// Half of the mutations target the parts of the file that SQLite reads first.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let Some(pages) = Pages::of(&data[..size]).filter(|_| seed % 2 == 1) else {
        return fuzzer_mutate(data, size, max_size);
    };
    flip_database(&mut data[..size], &pages, &mut Random(seed.into()));
    size
});
