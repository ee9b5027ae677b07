//! Compares answers byte by byte, with the files in `tests/golden` and between export versions, and what SQLite does for them.
//!
//! Each comparison is a separate test: `cargo test --test golden top_kernels`.

// These modules belong to a binary, so `pub` is never reachable from outside.
#![allow(unreachable_pub)]

mod compat;
#[path = "../support/in_process.rs"]
mod in_process;
mod plans;
mod queries;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = queries::trials(arguments.filter.is_none())
        .into_iter()
        .chain(plans::trials())
        .chain(compat::trials())
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
