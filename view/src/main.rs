//! Runs `nsq-view`.

use nsq::memory::{self, ExitWhenOutOfMemory};
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    memory::prepare();
    nsq_view::main(std::env::args_os().collect())
}
