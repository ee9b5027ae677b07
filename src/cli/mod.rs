//! The command line: one file per verb.
//!
//! The `cli` parses the arguments, runs the verb, writes its output, prints errors and sets the exit
//! code. Options that several verbs share are in `options` and `output`. Code that a library user of
//! this crate could need belongs elsewhere.

mod analyze;
mod answer;
mod baseline;
mod baselines;
mod breakdown;
mod cache;
mod check;
mod classes;
mod completions;
mod diff;
mod drop_in;
mod export;
mod external;
mod failures;
mod flame;
mod gate;
mod import;
mod kernels;
mod list;
mod materialize;
mod messages;
mod new;
mod options;
mod output;
mod overview;
mod page;
mod progress;
mod reports;
mod run;
mod schema;
mod short;
mod show;
mod sql;
mod stats;
mod timeline;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use messages::{complain, note};
use nsq_files::interrupt::{disarm, handle_signals};
use nsq_files::whole_file::{standard_output, tell};
use nsq_render::render::{Format, encoder};
use nsq_report::report::{looks_like_path, run_as_launcher};
use nsq_value::error::{EXIT_USAGE, Error, Result};
use short::{LONG_USAGE, short_line, short_quotes};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Answers questions about NVIDIA Nsight Systems profiles, with SQL that you can read.
///
/// A report is a SQLite file written by `nsys export --type sqlite`, a .nsys-rep or .qdrep capture, or a
/// PyTorch profiler trace (.json, .json.gz). nsq exports a capture with your own nsys, imports a trace
/// itself, and keeps the result in your cache folder for the next run.
#[derive(Debug, Parser)]
#[command(name = "nsq", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  nsq report.sqlite                                an overview, and what to fix first
  nsq run/ 'rank*.sqlite'                          the same for a folder, and for a pattern
  nsq run report.sqlite --query top_kernels        the kernels that use the most GPU time
  nsq schema report.sqlite                         what was captured, and which queries can run
  nsq list                                         all queries
  nsq show top_kernels                             what a query does and what its columns mean
  nsq sql report.sqlite \"SELECT count(*) FROM kernel WHERE dur_ns > :least\" -p least=1ms
  nsq new query long_kernels                       the skeleton of a query of your own
  nsq stats --report cuda_gpu_kern_sum --format csv report.sqlite
  nsq page kernels report.sqlite                   the tables of a page
  nsq timeline report.sqlite -o timeline.html      a page to zoom, search and click
  nsq diff before.sqlite after.sqlite              what changed, and whether it exceeds the noise

`nsq NAME` runs the program nsq-NAME beside nsq or on PATH, for verbs that are not listed here, such as mcp.

Exit codes: 0 success, 1 failure, 2 usage error, 3 data missing in the report, 4 inconclusive gate, 130
interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Sql(sql::Args),
    List(list::Args),
    New(new::Args),
    Show(show::Args),
    Schema(schema::Args),
    Materialize(materialize::Args),
    Export(export::Args),
    Import(import::Args),
    Stats(stats::Args),
    Analyze(analyze::Args),
    Classes(classes::Args),
    Breakdown(breakdown::Args),
    Page(page::Args),
    Overview(overview::Args),
    Timeline(timeline::Args),
    Kernels(kernels::Args),
    Flame(flame::Args),
    Answer(answer::Args),
    Diff(diff::Args),
    Baseline(baseline::Args),
    Check(check::Args),
    Cache(cache::Args),
    Completions(completions::Args),
}

impl Command {
    /// Whether it writes a format that nsq itself cannot write.
    fn is_for_arrow(&self) -> bool {
        let output = match self {
            Self::Run(args) => args.output(),
            Self::Sql(args) => args.output(),
            Self::Materialize(args) => return args.is_parquet(),
            _ => return false,
        };
        output.format().is_ok_and(Format::is_columnar)
    }
}

/// The command line, for its manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Time that work has to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    if let Some(code) = run_as_launcher(std::env::args_os()) {
        return ExitCode::from(code);
    }
    if let Some(code) = completions::complete(Cli::command) {
        return code;
    }
    let arguments = with_verb(std::env::args_os().collect());
    if let Some(ended) = external::run_export(&arguments) {
        return ended.unwrap_or_else(|error| ExitCode::from(complain(&error)));
    }
    let parsed = Cli::try_parse_from(nsq_engine::scope::join_iterations(arguments.iter().cloned()));
    // Before our handler is set: another program handles Ctrl-C itself.
    let unknown = match parsed.as_ref().map_err(|e| external::run(e, &arguments)) {
        Err(Ok(code)) => return code,
        Err(Err(message)) => message,
        Ok(_) => None,
    };
    if let Ok(cli) = &parsed
        && cli.command.is_for_arrow()
        && encoder().is_none()
    {
        return external::hand_to_arrow(&arguments)
            .unwrap_or_else(|error| ExitCode::from(complain(&error)));
    }
    handle_signals(complain, GRACE);
    let cli = match parsed {
        Ok(cli) => cli,
        Err(e) => {
            // --help and --version print to standard output and exit with 0.
            let code = if e.use_stderr() { EXIT_USAGE } else { 0 };
            let text = e.render().to_string();
            let printed = match e.use_stderr() && text.len() > LONG_USAGE {
                true => {
                    let text = short_quotes(&text, '\'');
                    let lines: Vec<String> = text.trim_end().lines().map(short_line).collect();
                    writeln!(io::stderr(), "{}", lines.join("\n"))
                }
                false => match standard_output().map(drop) {
                    Err(error) if !e.use_stderr() => return ExitCode::from(complain(&error)),
                    _ => e.print(),
                },
            };
            if lacks_query(&e) {
                tell("  help: `nsq list` shows the queries; for a start: --query gpu_time");
            }
            if let Some(message) = unknown {
                tell(&format!("  help: {message}"));
            }
            return ExitCode::from(match printed {
                Err(e) if code == 0 => complain(&Error::Output(e)),
                _ => code,
            });
        }
    };
    let ended = dispatch(cli.command);
    progress::end();
    disarm();
    let code = ended.unwrap_or_else(|error| complain(&error));
    ExitCode::from(code)
}

/// `nsq PATH…` means `nsq overview PATH…`.
fn with_verb(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|first| is_report(first)) {
        arguments.insert(1, "overview".into());
    }
    arguments
}

/// Whether the first argument names a report: a path, also of nothing. A verb comes before a file of its name, for
/// which `./NAME` stands.
fn is_report(first: &OsStr) -> bool {
    let path = Path::new(first);
    let is_verb = |name: &str| {
        name == "help" || Cli::command().find_subcommand(name).is_some() || external::names_program(name)
    };
    !first.as_encoded_bytes().starts_with(b"-")
        && (looks_like_path(path) || path.exists() && !first.to_str().is_some_and(is_verb))
}

/// Whether `--query` is missing: somebody does not know the names of the queries.
fn lacks_query(error: &clap::Error) -> bool {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if error.kind() == ErrorKind::MissingRequiredArgument => {
            missing.iter().any(|name| name.starts_with("--query"))
        }
        _ => false,
    }
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Sql(args) => sql::run(&args),
        Command::List(args) => list::run(&args),
        Command::New(args) => new::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Materialize(args) => materialize::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Classes(args) => classes::run(&args),
        Command::Breakdown(args) => breakdown::run(&args),
        Command::Page(args) => page::run(&args),
        Command::Overview(args) => overview::run(&args),
        Command::Timeline(args) => timeline::run(&args),
        Command::Kernels(args) => kernels::run(&args),
        Command::Flame(args) => flame::run(&args),
        Command::Answer(args) => answer::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Baseline(args) => baseline::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
