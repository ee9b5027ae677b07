//! The `nsq` program: parse, run, say what went wrong, exit.

mod out_of_memory;

use std::process::ExitCode;

#[global_allocator]
static MEMORY: out_of_memory::OrEnd = out_of_memory::OrEnd;

fn main() -> ExitCode {
    nsq::cli::main()
}
