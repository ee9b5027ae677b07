//! `nsq-arrow`: nsq that can also write Parquet and Arrow. `nsq` runs it for these formats.

use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq::render::set_encoder(nsq_arrow::encoder);
    nsq::cli::main()
}
