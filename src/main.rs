//! The `nsq` program: parses the command line, runs it, reports errors, exits.

mod memory;

use std::process::ExitCode;

#[global_allocator]
static MEMORY: memory::ExitWhenOutOfMemory = memory::ExitWhenOutOfMemory;

fn main() -> ExitCode {
    memory::return_when_freed();
    memory::do_not_count();
    nsq::cli::main()
}
