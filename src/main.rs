//! The `nsq` program: parses the command line, runs it, reports errors, exits.

mod out_of_memory;

use std::process::ExitCode;

#[global_allocator]
static MEMORY: out_of_memory::ExitWhenOutOfMemory = out_of_memory::ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq::cli::main()
}
