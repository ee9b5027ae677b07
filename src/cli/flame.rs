//! `nsq flame`: the stacks of CPU samples, for flame graph viewers.

use super::opened::Opened;
use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{must_differ, write_to};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::normalize::Presence;
use crate::render::{FlameFormat, FlameStack, write_flame};
use crate::table::ResultTable;
use std::path::PathBuf;

/// The query that the stacks come from.
const QUERY: &str = "cpu_stacks";

/// Write the stacks of CPU samples for flame graph viewers
///
/// The stacks are the rows of the query `cpu_stacks`. Folded stacks are the input of flamegraph.pl, inferno
/// and other programs that draw flame graphs. The site speedscope.app shows both formats.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq flame report.sqlite -o stacks.folded
  nsq flame report.sqlite --idle -o idle.json           only samples while a GPU idled, for speedscope
  nsq flame report.sqlite --nvtx forward --by-thread
  nsq flame report.sqlite | inferno-flamegraph > flame.svg

nsys takes CPU samples with `nsys profile --sample=process-tree`.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Only samples taken while at least one GPU idled.
    #[arg(long)]
    idle: bool,
    /// Begin each stack with the thread.
    #[arg(long)]
    by_thread: bool,
    /// Only samples of the thread with this operating system thread ID.
    #[arg(long, value_name = "TID")]
    tid: Option<i64>,
    /// Format [default: by the extension of the output file, .json for speedscope, else folded]
    #[arg(short, long, value_enum)]
    format: Option<FlameFormat>,
    /// Write to this file instead of standard output; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

impl Args {
    fn format(&self) -> Result<FlameFormat> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(FlameFormat::Folded),
            (None, Some(path)) => FlameFormat::from_extension(path).ok_or_else(|| {
                Error::usage(
                    format!("{}: no format for stacks has this extension", path.display()),
                    "use .folded or .json, or add --format folded or speedscope; to draw an SVG, pipe the folded \
                     stacks to inferno-flamegraph or flamegraph.pl",
                )
            }),
        }
    }

    fn params(&self) -> Vec<String> {
        let by = if self.by_thread { "thread" } else { "capture" };
        let mut params = vec!["limit=-1".to_owned(), format!("idle={}", self.idle), format!("by={by}")];
        params.extend(self.tid.map(|tid| format!("tid={tid}")));
        params
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let format = args.format()?;
    must_differ(args.output.as_deref(), [args.report.as_path()])?;
    let catalog = args.library.load()?;
    let invocation = Invocation::parse(QUERY).with_params(&args.params())?;
    let plan = Plan::new(&catalog, &invocation, &Layout::Own)?;
    let opened = Opened::open(&args.report, &args.open)?;
    let limits = args.limits.limits();
    plan.check_presence(&Presence::new(&opened.schema, &catalog), &opened.report.path)?;
    let scope = args.scope.resolve(&opened.schema)?;
    let tables = opened.ask(&catalog, &scope, std::slice::from_ref(&plan), &limits)?;
    let stacks: Vec<FlameStack> =
        tables.iter().flat_map(|table| stacks(table, args.by_thread)).collect();
    if stacks.is_empty() {
        super::note("no CPU sample matches, so there are no stacks");
    }
    let title = opened.report.name();
    write_to(args.output.as_deref(), |out| write_flame(out, format, &title, &stacks))?;
    Ok(0)
}

/// The rows of the query as stacks.
fn stacks(table: &ResultTable, by_thread: bool) -> impl Iterator<Item = FlameStack> {
    table.iter().filter_map(move |row| {
        let mut frames: Vec<String> = row.text("stack")?.split(';').map(str::to_owned).collect();
        if by_thread && let Some(tid) = row.int("tid") {
            let thread = match row.text("thread_name") {
                Some(name) => format!("{} ({tid})", name.replace(';', ":")),
                None => format!("thread {tid}"),
            };
            frames.insert(0, thread);
        }
        Some(FlameStack { frames, samples: row.int("sample_count")? })
    })
}
