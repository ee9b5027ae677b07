//! The `nsq` program: parse, run, say what went wrong, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    nsq::cli::main()
}
