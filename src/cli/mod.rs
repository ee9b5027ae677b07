//! The command line: one file per verb, each reading like a sentence.
//!
//! For: what was typed, where output goes, and the exit code. Options that several verbs share
//! stand in `options` and `output`, each documented once.
//!
//! Not for: anything that a program using this crate as a library would need.

mod answer;
mod breakdown;
mod cache;
mod check;
mod classes;
mod completions;
mod deadline;
mod diff;
mod export;
mod import;
mod kernels;
mod list;
mod materialize;
mod opened;
mod options;
mod output;
mod progress;
mod record;
mod run;
mod schema;
mod short;
mod show;
mod sql;
mod stats;

use crate::error::{EXIT_USAGE, Error, Result};
use crate::interrupt::{interrupt, is_interrupted};
use crate::render::{is_closed_pipe, visible};
use crate::report::{discard_temporaries, remove_work_folders, run_as_launcher};
use clap::{Parser, Subcommand};
use short::{LONG_USAGE, short_line, short_quotes};
use std::io::{self, Write};
use std::process::ExitCode;

/// Answers questions about NVIDIA Nsight Systems profiles, with SQL that you can read.
///
/// A report is what `nsys export --type sqlite` wrote, a .nsys-rep or .qdrep, which is exported once by
/// your own nsys, or a trace of the PyTorch profiler (.json, .json.gz), which is imported once. What is
/// made once is kept in your cache folder.
#[derive(Debug, Parser)]
#[command(name = "nsq", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  nsq run report.sqlite --query top_kernels        where the GPU's time went
  nsq schema report.sqlite                         what was captured, and what can be asked
  nsq list                                         all questions
  nsq show top_kernels                             what its columns mean, and its SQL
  nsq sql report.sqlite \"SELECT count(*) FROM kernel\"
  nsq stats --report cuda_gpu_kern_sum --format csv report.sqlite
  nsq diff before.sqlite after.sqlite              what changed, and whether it is more than noise

Exit codes: 0 ok, 1 failed, 2 usage, 3 the report lacks the data, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Sql(sql::Args),
    List(list::Args),
    Show(show::Args),
    Schema(schema::Args),
    Materialize(materialize::Args),
    Export(export::Args),
    Import(import::Args),
    Stats(stats::Args),
    Classes(classes::Args),
    Breakdown(breakdown::Args),
    Kernels(kernels::Args),
    Answer(answer::Args),
    Diff(diff::Args),
    Check(check::Args),
    Cache(cache::Args),
    Completions(completions::Args),
}

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    if let Some(code) = run_as_launcher(std::env::args_os()) {
        return ExitCode::from(code);
    }
    // A failure to set the handler leaves the system's own: Ctrl-C still ends the program.
    let _ = ctrlc::set_handler(stop);
    let cli = match Cli::try_parse_from(options::join_iterations(std::env::args_os())) {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are asked for: they go to standard output and are a success.
            let code = if e.use_stderr() { EXIT_USAGE } else { 0 };
            let text = e.render().to_string();
            let printed = match e.use_stderr() && text.len() > LONG_USAGE {
                true => {
                    let text = short_quotes(&text, '\'');
                    let lines: Vec<String> = text.trim_end().lines().map(short_line).collect();
                    writeln!(io::stderr(), "{}", lines.join("\n"))
                }
                false => e.print(),
            };
            return match printed {
                Err(e) if !is_closed_pipe(&e) => ExitCode::FAILURE,
                _ => ExitCode::from(code),
            };
        }
    };
    let ended = dispatch(cli.command);
    deadline::call_off();
    let code = ended.unwrap_or_else(|error| complain(&error));
    discard_temporaries();
    ExitCode::from(code)
}

/// Ctrl-C: asks what runs to stop; what does not react is ended soon, and at once when asked twice.
fn stop() {
    if is_interrupted() {
        remove_work_folders();
        std::process::exit(i32::from(Error::Interrupted.exit_code()));
    }
    interrupt();
    deadline::keep_interrupted();
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Sql(args) => sql::run(&args),
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Materialize(args) => materialize::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Classes(args) => classes::run(&args),
        Command::Breakdown(args) => breakdown::run(&args),
        Command::Kernels(args) => kernels::run(&args),
        Command::Answer(args) => answer::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}

/// Says on standard error what went wrong and what to do, and returns the exit code.
fn complain(error: &Error) -> u8 {
    let code = error.exit_code();
    if code != 0 {
        let text = error.to_string();
        let text = if matches!(error, Error::Sql { .. }) { text } else { short_both(&text) };
        let lines: Vec<String> = text.lines().map(|line| short_line(&visible(line))).collect();
        eprintln!("error: {}", lines.join("\n"));
        if let Some(help) = error.help() {
            eprintln!("  help: {}", short_line(&visible(&help)));
        }
    }
    code
}

/// Says something on standard error that is no error.
fn note(text: &str) {
    eprintln!("note: {}", short_line(&visible(&short_both(text))));
}

/// Shortens the text in quotes of both kinds: names in messages are in '...', commands in `...`.
fn short_both(text: &str) -> String {
    short_quotes(&short_quotes(text, '`'), '\'')
}
