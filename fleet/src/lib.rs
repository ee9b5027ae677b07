//! `nsq-fleet`, which `nsq fleet` runs: questions about the reports of a whole job.
//!
//! nsq's engine computes what each report contributes; DataFusion runs the statements across reports.

mod asked;
#[cfg(feature = "cluster")]
mod cluster;
mod contributions;
mod engine;
mod functions;
mod given;
mod local;
mod options;
mod output;
mod place;
mod plan;
mod progress;
mod pruning;
mod question;
mod roots;
#[cfg(feature = "stores")]
mod stores;
mod workshop;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
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
    Run(Box<question::Args>),
    #[cfg(feature = "cluster")]
    Scheduler(cluster::scheduler::Args),
    #[cfg(feature = "cluster")]
    Executor(cluster::executor::Args),
    /// Distribute the work of executors [this build lacks it]
    #[cfg(not(feature = "cluster"))]
    #[command(disable_help_flag = true)]
    Scheduler(Anything),
    /// Open reports for a scheduler [this build lacks it]
    #[cfg(not(feature = "cluster"))]
    #[command(disable_help_flag = true)]
    Executor(Anything),
}

/// Arguments that nothing reads.
#[cfg(not(feature = "cluster"))]
#[derive(Debug, clap::Args)]
struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<OsString>,
}

/// What a build for one machine says about clusters.
#[cfg(not(feature = "cluster"))]
fn without_cluster() -> nsq::Error {
    nsq::Error::usage(
        "this nsq-fleet is built for one machine",
        "build it with `cargo install --path fleet --features cluster`",
    )
}

/// Runs the program with these arguments, the first of which is its name.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    nsq::render::set_encoder(nsq_arrow::encoder);
    let done = match Cli::parse_from(nsq::scope::join_iterations(arguments.into_iter())).command {
        Command::Run(args) => question::run(&args),
        #[cfg(feature = "cluster")]
        Command::Scheduler(args) => cluster::scheduler::run(&args),
        #[cfg(feature = "cluster")]
        Command::Executor(args) => cluster::executor::run(&args),
        #[cfg(not(feature = "cluster"))]
        Command::Scheduler(_) | Command::Executor(_) => Err(without_cluster()),
    };
    nsq::interrupt::disarm();
    ExitCode::from(done.unwrap_or_else(|error| output::complain(&error)))
}
