//! `nsq fleet run`: one question about many reports.

use crate::contributions::{Part, Parts, collect};
use crate::engine::Engine;
use crate::output;
use nsq::error::EXIT_FAILED;
use nsq::render::Format;
use nsq::report::WorkFolder;
use nsq::{Cancel, Column, Error, Library, Result, report_paths};
use std::path::PathBuf;

/// Ask a query about many reports, such as the ranks of a job
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq fleet run job/ --query stragglers
  nsq fleet run job/ --query bus_bandwidth -o bandwidth.parquet

Queries across reports (`nsq list` shows them under ranks) run on DataFusion. A report that fails is tried twice, then named; the
others are answered, and the exit code is 1.")]
pub(crate) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders of them, or quoted patterns.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Query to ask.
    #[arg(short, long, value_name = "QUERY")]
    query: String,
    /// Folder with queries of your own; may be repeated.
    #[arg(long, value_name = "DIR")]
    queries: Vec<PathBuf>,
    /// Output format [default: by the extension of the output file, else text]
    #[arg(short, long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write to this file instead of standard output; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Reports at the same time [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Stop at the first report that fails.
    #[arg(long)]
    strict: bool,
    /// Folder for what reports contribute, until the answer is there [default: that of temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    let format = output::format(args)?;
    let library = match args.queries.as_slice() {
        [] => Library::built_in()?,
        folders => Library::load(folders)?,
    };
    let (paths, notes) = report_paths(&args.reports)?;
    notes.iter().for_each(|text| output::note(text));
    output::must_differ(args, &paths)?;
    let cancel = Cancel::default();
    let stop = cancel.clone();
    // Without our handler, the system's default still ends the program.
    let _ = ctrlc::set_handler(move || stop.cancel());
    let mut leaves = Vec::new();
    add_leaves(&library, &args.query, &mut leaves)?;
    let threads = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let place = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let scratch = WorkFolder::beside(&place)?;
    let answers = collect(&library, &paths, &leaves, scratch.path(), threads, args.strict, &cancel);
    if cancel.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let (mut answered, mut failed, mut code): (Vec<(String, Parts)>, usize, u8) = (Vec::new(), 0, 0);
    for (path, answer) in paths.iter().zip(answers) {
        let name = path.display().to_string();
        match answer {
            Some(Ok(parts)) => {
                for lacks in parts.iter().filter_map(|part| part.as_ref().err()) {
                    code = code.max(output::complain(lacks));
                }
                answered.push((name, parts));
            }
            Some(Err(error)) => {
                output::complain_about(&name, &error);
                failed += 1;
            }
            None => {}
        }
    }
    if failed > 0 {
        code = EXIT_FAILED;
        output::note(&format!("{failed} of {} reports failed, after two tries each", paths.len()));
        if args.strict || answered.is_empty() {
            return Ok(code);
        }
    }
    if answered.iter().all(|(_, parts)| parts.iter().all(Result::is_err)) {
        return Ok(code);
    }
    let heading = output::heading(&library, &args.query, answered.len())?;
    if !library.is_across(&args.query)? {
        output::parts(args, format, &heading, &answered)?;
        return Ok(code);
    }
    let columns = library.columns(&args.query)?;
    let rows = across(&library, &args.query, &leaves, &answered, threads)?;
    output::batches(args, format, &heading, &columns, &rows)?;
    Ok(code)
}

/// The queries about one report that a query needs.
fn add_leaves(library: &Library, query: &str, leaves: &mut Vec<String>) -> Result<()> {
    if !library.is_across(query)? {
        if !leaves.iter().any(|known| known == query) {
            leaves.push(query.to_owned());
        }
        return Ok(());
    }
    for (_, asked) in library.asks_across(query)? {
        add_leaves(library, &asked, leaves)?;
    }
    Ok(())
}

fn across(
    library: &Library,
    query: &str,
    leaves: &[String],
    answered: &[(String, Parts)],
    threads: usize,
) -> Result<Vec<datafusion::arrow::array::RecordBatch>> {
    let engine_failed = |error: datafusion::error::DataFusionError| Error::Usage {
        reason: format!("{query} cannot run on DataFusion: {error}"),
        help: "ask it with `nsq run`, or report this if the query is nsq's own".to_owned(),
    };
    let mut engine = Engine::new(library, threads);
    for (place, leaf) in leaves.iter().enumerate() {
        let parts: Vec<(String, usize, &Part)> = answered
            .iter()
            .enumerate()
            .filter_map(|(side, (name, parts))| Some((name.clone(), side, parts[place].as_ref().ok()?)))
            .collect();
        let columns: Vec<Column> = library.columns(leaf)?;
        engine.add(leaf, &columns, &parts).map_err(engine_failed)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .build()
        .map_err(Error::Output)?;
    runtime.block_on(engine.ask(query)).map_err(engine_failed)
}
