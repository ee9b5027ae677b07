//! Runs `nsq-perfetto`.

use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq_perfetto::main(std::env::args_os().collect())
}
