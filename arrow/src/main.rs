//! `nsq-arrow`: nsq that can also write Parquet and Arrow. `nsq` runs it for these formats.

// Of the program nsq: each program has an allocator of its own.
#[path = "../../src/memory.rs"]
mod memory;

use std::process::ExitCode;

#[global_allocator]
static MEMORY: memory::ExitWhenOutOfMemory = memory::ExitWhenOutOfMemory;

fn main() -> ExitCode {
    memory::return_when_freed();
    memory::do_not_count();
    nsq::render::set_encoder(nsq_arrow::encoder);
    nsq::cli::main()
}
