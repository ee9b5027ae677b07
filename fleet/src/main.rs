//! Runs `nsq-fleet`.

use nsq::memory::{self, ExitWhenOutOfMemory};
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    memory::prepare();
    nsq_fleet::main(std::env::args_os().collect())
}
