//! Runs `nsq-view`.

use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq_view::main(std::env::args_os().collect())
}
