//! Compares answers byte by byte, with the files in `tests/golden` and between export versions.
//!
//! Each comparison is a separate test: `cargo test --test golden top_kernels`.

// These modules belong to a binary, so `pub` is never reachable from outside.
#![allow(unreachable_pub)]

mod compat;
#[path = "../support/in_process.rs"]
mod in_process;
mod queries;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = queries::trials().into_iter().chain(compat::trials()).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
