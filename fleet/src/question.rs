//! `nsq fleet run`: one question about many reports.

use crate::asked::{Ask, Source, path_text};
use crate::local::{self, Found, Leaf};
use crate::options::params;
use crate::output;
use crate::place;
use crate::workshop::{Contribution, Workshop};
use nsq::error::EXIT_FAILED;
use nsq::interrupt::{handle_signals, interrupt};
use nsq::options::ScopeArgs;
use nsq::render::Format;
use nsq::whole_file::WorkFolder;
use nsq::{Cancel, Error, Library, Result, report_paths};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Ask a query about many reports, such as the ranks of a job
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq fleet run job/ --query stragglers
  nsq fleet run job/ --query bus_bandwidth -o bandwidth.parquet
  nsq fleet run job/ --query stragglers --cluster df://node0:50050

Queries across reports (`nsq list` shows them under ranks) run on DataFusion. A report that fails is tried twice, then named; the
others are answered, and the exit code is 1.")]
pub(crate) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders of them, quoted patterns, or URLs of object stores.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Query to ask.
    #[arg(short, long, value_name = "QUERY")]
    query: String,
    /// Set a parameter of a query about one report; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Folder with queries of your own; may be repeated.
    #[arg(long, value_name = "DIR")]
    queries: Vec<PathBuf>,
    /// Output format [default: by the extension of the output file, else text]
    #[arg(short, long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write to this file instead of standard output; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Reports at the same time on this machine [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Stop at the first report that fails.
    #[arg(long)]
    strict: bool,
    /// Folder for what reports contribute, until the answer is there [default: that of temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Scheduler of a cluster whose executors open the reports: df://HOST:PORT.
    ///
    /// `nsq fleet scheduler` and `nsq fleet executor` start one. The paths of the reports must be the same there.
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// Time that work has to stop by itself after Ctrl-C: a scheduler is told, which takes 3 s if it does not answer.
const GRACE: Duration = Duration::from_secs(4);

pub(crate) fn run(args: &Args) -> Result<u8> {
    let format = output::format(args)?;
    let library = match args.queries.as_slice() {
        [] => nsq::library()?,
        folders => nsq::library_with(folders)?,
    };
    handle_signals(output::complain, GRACE);
    let cancel = interrupt().clone();
    let library = library.cancelled_by(&cancel);
    let paths = paths(&args.reports, &cancel)?;
    output::must_differ(args, &paths)?;
    let asks = asks(&library, args)?;
    let is_far = args.cluster.is_some();
    let sources = paths.iter().enumerate().map(|(side, path)| source(side, path, is_far));
    let mut sources = sources.collect::<Result<Vec<_>>>()?;
    // As in `nsq run`, the folder of a single report says nothing.
    if let ([source], [path]) = (sources.as_mut_slice(), paths.as_slice()) {
        source.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    }
    let threads = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let question = Question { args, library: &library, sources: &sources, asks: &asks, format };
    match &args.cluster {
        #[cfg(feature = "cluster")]
        Some(url) => crate::cluster::client::run(&question, url, &cancel),
        #[cfg(not(feature = "cluster"))]
        Some(_) => Err(crate::without_cluster()),
        None => {
            let place = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
            let workshop = Workshop::own(library.clone(), WorkFolder::beside(&place)?, threads);
            let workshop = Arc::new(workshop);
            let found = local::census(&workshop, &sources, &asks, threads, args.strict, &cancel);
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            question.answer(
                &found,
                |leaves| local::across(&workshop, &library, &args.query, leaves, threads),
                |ask, columns, found| local::rows_of(&workshop, &library, ask, columns, found, threads),
            )
        }
    }
}

/// The reports that the arguments name.
fn paths(given: &[PathBuf], cancel: &Cancel) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for path in given {
        if place::is_url(path) {
            paths.extend(place::reports_at(path, cancel)?);
            continue;
        }
        let (files, notes) = report_paths(std::slice::from_ref(path))?;
        notes.iter().for_each(|text| output::note(text));
        paths.extend(files);
    }
    Ok(paths)
}

/// The queries about one report that the question needs.
fn asks(library: &Library, args: &Args) -> Result<Vec<Ask>> {
    let mut names = Vec::new();
    add_leaves(library, &args.query, &mut names)?;
    let given = params(&args.param)?;
    if let (Some((name, _)), true) = (given.first(), library.is_across(&args.query)?) {
        return Err(Error::Usage {
            reason: format!("parameter '{name}' is for a query about one report"),
            help: format!("{} reads many reports: ask it with `nsq run` to set parameters", args.query),
        });
    }
    names.iter().map(|name| Ask::new(library, name, &given, &args.scope.text())).collect()
}

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

/// Elsewhere, only an absolute path means the same file.
fn source(side: usize, path: &Path, is_far: bool) -> Result<Source> {
    let whole = match is_far && !place::is_url(path) {
        true => match path.canonicalize() {
            Ok(whole) => whole,
            Err(_) => std::path::absolute(path).map_err(|error| Error::io(path, error))?,
        },
        false => path.to_owned(),
    };
    let side = i64::try_from(side).unwrap_or(i64::MAX);
    Ok(Source { side, name: path.display().to_string(), path: path_text(&whole), not_on: None })
}

/// What is asked, of which reports.
pub(crate) struct Question<'q> {
    pub(crate) args: &'q Args,
    pub(crate) library: &'q Library,
    pub(crate) sources: &'q [Source],
    pub(crate) asks: &'q [Ask],
    format: Format,
}

/// Rows of an answer.
pub(crate) type Rows = Vec<datafusion::arrow::array::RecordBatch>;

impl Question<'_> {
    pub(crate) fn query(&self) -> &str {
        &self.args.query
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.args.strict
    }

    /// Says which reports failed, and writes the answer of the others: `across` computes the rows across reports,
    /// `rows_of` those of one query.
    pub(crate) fn answer(
        &self,
        found: &[Option<Found>],
        across: impl FnOnce(&[Leaf<'_>]) -> Result<Rows>,
        rows_of: impl FnOnce(&Ask, &[nsq::Column], &[(Source, &Contribution)]) -> Result<Rows>,
    ) -> Result<u8> {
        let (mut failed, mut code) = (0, 0);
        let mut answered: Vec<(&Source, &[Contribution])> = Vec::new();
        for (source, found) in self.sources.iter().zip(found) {
            match found {
                Some(Ok(parts)) => {
                    for lacks in parts.iter().filter_map(|part| part.as_ref().err()) {
                        code = code.max(output::complain_of(lacks));
                    }
                    answered.push((source, parts));
                }
                Some(Err(failure)) => {
                    output::complain_about(&source.name, failure);
                    failed += 1;
                }
                None => {}
            }
        }
        if failed > 0 {
            code = EXIT_FAILED;
            let all = self.sources.len();
            output::note(&format!("{failed} of {all} reports failed, after two tries each"));
            if self.is_strict() || answered.is_empty() {
                return Ok(code);
            }
        }
        if answered.iter().all(|(_, parts)| parts.iter().all(std::result::Result::is_err)) {
            return Ok(code);
        }
        let heading = output::heading(self.library, self.query(), answered.len())?;
        let mut leaves = Vec::new();
        for (place, ask) in self.asks.iter().enumerate() {
            let of_ask = answered.iter().map(|(source, parts)| (Source::clone(source), &parts[place]));
            leaves.push((ask, self.library.columns(&ask.query)?, of_ask.collect()));
        }
        if self.library.is_across(self.query())? {
            let columns = self.library.columns(self.query())?;
            output::batches(self.args, self.format, &heading, &columns, &across(&leaves)?, &[])?;
        } else if let Some((ask, columns, found)) = leaves.first() {
            let rows = rows_of(ask, columns, found)?;
            output::of_reports(self.args, self.format, &heading, columns, &rows)?;
        }
        Ok(code)
    }
}
