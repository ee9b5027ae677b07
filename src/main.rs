//! The `nsq` program: parses the command line, runs it, reports errors, exits.

use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq::cli::main()
}
