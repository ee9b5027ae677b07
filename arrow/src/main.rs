//! `nsq-arrow`: nsq that can also write Parquet and Arrow. `nsq` runs it for these formats.

use std::process::ExitCode;

fn main() -> ExitCode {
    nsq::render::set_encoder(nsq_arrow::encoder);
    nsq::cli::main()
}
