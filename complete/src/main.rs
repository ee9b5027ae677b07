//! `nsq` with all its parts in one program: what a release, a package and a wheel install.

use nsq::cli::{self, BuiltIn};
use nsq_memory::ExitWhenOutOfMemory;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ExitWhenOutOfMemory = ExitWhenOutOfMemory;

const PROGRAMS: &[BuiltIn] = &[
    #[cfg(feature = "fleet")]
    ("fleet", nsq_fleet::main),
    ("mcp", nsq_mcp::main),
    ("perfetto", nsq_perfetto::main),
    ("view", nsq_view::main),
];

fn main() -> ExitCode {
    nsq_memory::prepare();
    nsq::render::set_encoder(nsq_arrow::encoder);
    cli::build_in(PROGRAMS);
    cli::main()
}
