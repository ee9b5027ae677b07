//! Fuzz target: arbitrary bytes as a report. Every query must answer or fail with a reason.
#![no_main]

#[path = "../../tests/random/fuzz/asking.rs"]
mod asking;
#[path = "../../tests/random/fuzz/damage.rs"]
#[allow(dead_code)]
mod damage;

use asking::Asker;
use damage::{Pages, Random, flip_database};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

thread_local! {
    static ASKER: Asker = Asker::new();
}

fuzz_target!(|data: &[u8]| {
    let report: PathBuf = FOLDER.path().join("report.sqlite");
    std::fs::write(&report, data).unwrap();
    // The bytes determine which queries run and how, so a run is reproducible.
    let variant = data.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    ASKER.with(|asker| asker.ask(&report, variant)).unwrap();
});

// Half of the mutations target the parts of the file that SQLite reads first.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let Some(pages) = Pages::of(&data[..size]).filter(|_| seed % 2 == 1) else {
        return fuzzer_mutate(data, size, max_size);
    };
    flip_database(&mut data[..size], &pages, &mut Random(seed.into()));
    size
});
