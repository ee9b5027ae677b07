//! Fuzz target: arbitrary bytes as a PyTorch trace. It is imported and queried, or refused with a
//! reason.
#![no_main]

#[path = "../../tests/random/fuzz/asking.rs"]
#[allow(dead_code)]
mod asking;
mod support;

use asking::Asker;
use libfuzzer_sys::fuzz_target;
use nsq::error::Error;
use nsq::trace::{ImportOptions, import};
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(support::folder);

/// Each input is asked one in this many queries, so that many inputs are tried.
const SHARE: usize = 128;

thread_local! {
    static ASKER: Asker = Asker::new(SHARE);
}

fuzz_target!(|data: &[u8]| {
    let (trace, database) = (FOLDER.path().join("trace.json"), FOLDER.path().join("trace.sqlite"));
    std::fs::write(&trace, data).unwrap();
    let _ = std::fs::remove_file(&database);
    match import(&trace, &database, ImportOptions::default(), &|_| true) {
        Ok(_) => drop(ASKER.with(|asker| asker.ask(&database, support::sum_of(data))).unwrap()),
        Err(Error::Report { .. }) => {}
        Err(other) => panic!("unexpected import error: {other:?}"),
    }
});
