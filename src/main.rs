//! The `nsq` program: parses the command line, runs it, reports errors, exits.

use nsq::memory::{self, ExitWhenOutOfMemory};
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    memory::prepare();
    nsq::cli::main()
}
