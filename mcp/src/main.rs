//! Runs `nsq-mcp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    nsq_mcp::main(std::env::args_os().collect())
}
