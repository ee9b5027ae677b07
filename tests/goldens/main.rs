//! Answers compared byte by byte: with the files in `tests/golden`, and between export versions.
//!
//! Each comparison is a test of its own: `cargo test --test golden top_kernels`.

// The parts are modules of a program, not of a library.
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
