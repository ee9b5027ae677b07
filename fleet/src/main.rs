//! Runs `nsq-fleet`.

use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq_fleet::main(std::env::args_os().collect())
}
