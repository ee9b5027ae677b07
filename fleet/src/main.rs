//! `nsq-fleet`, which `nsq fleet` runs: questions about the reports of a whole job.
//!
//! nsq's engine computes what each report contributes; DataFusion runs the statements across reports.

mod contributions;
mod engine;
mod functions;
mod output;
mod question;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Asks nsq's questions about the reports of a whole job
#[derive(Debug, Parser)]
#[command(name = "nsq-fleet", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(question::Args),
}

fn main() -> ExitCode {
    nsq::render::set_encoder(nsq_arrow::encoder);
    let Command::Run(args) = Cli::parse().command;
    ExitCode::from(question::run(&args).unwrap_or_else(|error| output::complain(&error)))
}
