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
mod first_word;
mod flame;
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
mod surface;
mod timeline;

use clap::{FromArgMatches, Parser, Subcommand};
pub use external::{BuiltIn, build_in};
use first_word::{in_other_words, with_verb};
pub use list::everything;
use messages::{complain, note, remember_report};
use nsq_files::interrupt::{disarm, handle_signals};
use nsq_files::whole_file::standard_output;
use nsq_render::render::{Format, encoder};
use nsq_report::report::run_as_launcher;
use nsq_value::error::{EXIT_USAGE, Error, Result};
use short::{LONG_USAGE, short_line, short_quotes};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
pub use surface::command;

/// Answers questions about NVIDIA Nsight Systems profiles, with SQL that you can read.
///
/// A report is a .nsys-rep, its SQLite export by nsys, a trace of PyTorch, JAX or ONNX Runtime (.json, .json.gz, .zip), or a
/// database of AMD's profilers (.db, .rpd).
#[derive(Debug, Parser)]
#[command(name = "nsq", version, max_term_width = 100, arg_required_else_help = true)]
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
    #[command(hide = true)]
    Page(page::Args),
    #[command(hide = true)]
    Overview(overview::Args),
    Timeline(timeline::Args),
    Kernels(kernels::Args),
    Flame(flame::Args),
    Answer(answer::Args),
    Diff(diff::Args),
    #[command(hide = true)]
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

/// Time that work has to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    if let Some(code) = run_as_launcher(std::env::args_os()) {
        return ExitCode::from(code);
    }
    if let Some(code) = completions::complete(command) {
        return code;
    }
    let arguments = with_verb(std::env::args_os().collect(), command);
    remember_report(&arguments);
    if let Some(ended) = external::run_export(&arguments) {
        return ended.unwrap_or_else(|error| ExitCode::from(complain(&error)));
    }
    let words = nsq_engine::scope::join_iterations(arguments.iter().cloned());
    let parsed = command().try_get_matches_from(words).and_then(|typed| Cli::from_arg_matches(&typed));
    let parsed = parsed.map_err(|error| first_word::with_tip(error, &arguments));
    if let Some(error) =
        parsed.as_ref().err().and_then(|error| in_other_words(error, &arguments, command))
    {
        return ExitCode::from(complain(&error));
    }
    // Before our handler is set: another program handles Ctrl-C itself.
    match parsed.as_ref().map_err(|e| external::run(e, &arguments, command)) {
        Err(Ok(code)) => return code,
        Err(Err(Some(error))) => return ExitCode::from(complain(&error)),
        _ => {}
    }
    if let Ok(cli) = &parsed
        && cli.command.is_for_arrow()
        && encoder().is_none()
    {
        return external::hand_to_arrow(&arguments)
            .unwrap_or_else(|error| ExitCode::from(complain(&error)));
    }
    if let Ok(Cli { command: Command::Timeline(args) }) = &parsed
        && args.is_to_be_viewed()
        && let Some(ended) = external::view(&arguments)
    {
        return ended.unwrap_or_else(|error| ExitCode::from(complain(&error)));
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
        Command::Baseline(args) => {
            note("`nsq baseline` is now spelled `nsq diff baseline`");
            baseline::run(&args)
        }
        Command::Check(args) => check::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
