//! Fuzz target: PyTorch traces whose JSON is mostly valid, with damaged values. Each is imported and
//! queried, or refused with a reason, and no private member gets into the database.
#![no_main]

#[path = "../../../tests/random/fuzz/asking.rs"]
#[allow(dead_code)]
mod asking;
mod grammar;
#[path = "../support.rs"]
mod support;

use asking::Asker;
use grammar::{Grammar, SECRET};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nsq::error::Error;
use nsq::trace::{ImportOptions, import};
use std::fs;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(support::folder);

/// Each input is asked one in this many queries, so that many inputs are tried.
const SHARE: usize = 128;

thread_local! {
    static ASKER: Asker = Asker::new(SHARE);
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let (Ok(kind), Ok(text)) = (bytes.arbitrary::<u8>(), Grammar::trace(&mut bytes)) else { return };
    if std::env::var_os("NSQ_FUZZ_SHOW").is_some() {
        println!("{text}");
    }
    let (trace, database) = (FOLDER.path().join("trace.json"), FOLDER.path().join("trace.sqlite"));
    fs::write(&trace, &text).unwrap();
    let _ = fs::remove_file(&database);
    let options = ImportOptions { python_functions: kind % 2 == 1 };
    match import(&trace, &database, options, &|_| true) {
        Ok(imported) => {
            assert!(imported.rows <= imported.events, "{imported}");
            let bytes = fs::read(&database).unwrap();
            assert!(!support::holds(&bytes, SECRET), "a private member of the trace is in the database");
            // The queries take most of the time: the reader is tried more often alone.
            if kind % 8 < 2 {
                ASKER.with(|asker| asker.ask(&database, support::sum_of(data))).unwrap();
            }
        }
        Err(Error::Report { reason, help, .. }) => assert!(!reason.is_empty() && !help.is_empty()),
        Err(other) => panic!("unexpected import error: {other:?}"),
    }
});
