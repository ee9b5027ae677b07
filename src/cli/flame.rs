//! `nsq flame`: the stacks of CPU samples or of GPU time as a flame graph, or for its viewers.

use super::options::{LibraryArgs, LimitArgs, OpenWithArgs, ScopeArgs};
use super::output::{must_differ, write_to};
use crate::cli::reports;
use crate::cli::reports::noted;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::normalize::Presence;
use nsq_library::catalog::Catalog;
use nsq_render::render::{FlameFormat, FlameStack, FlameWeight, compare_stacks, write_flame};
use nsq_sweep::threads::Threads;
use nsq_value::error::{EXIT_LACKS_DATA, Error, Result};
use nsq_value::shell;
use nsq_value::table::ResultTable;
use std::path::{Path, PathBuf};

/// Draw a flame graph of CPU samples or of GPU time
///
/// The stacks are the rows of the query `cpu_stacks`; with `--gpu-time`, those of `gpu_time_by_stack`. With two
/// reports, the graph is that of the second, and colours say which functions have a larger or smaller share than
/// in the first. Folded stacks are the input of flamegraph.pl and other programs; the site speedscope.app shows
/// them, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq flame report.sqlite -o flame.svg
  nsq flame report.sqlite --idle -o idle.svg            only samples while a GPU idled
  nsq flame before.sqlite after.sqlite -o change.svg    what takes a larger share now
  nsq flame report.sqlite -o stacks.json                for speedscope
  nsq flame report.sqlite --nvtx forward --by-thread    folded stacks
  nsq flame trace.json.gz --gpu-time -o gpu.svg         GPU time by range, module and Python function

nsys takes CPU samples with `nsys profile --sample=process-tree`.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep file or PyTorch trace. Two are compared: before and after.
    #[arg(value_name = "REPORT", required = true, num_args = 1..=2)]
    reports: Vec<PathBuf>,
    /// GPU time by the ranges, modules and Python functions that launched it, instead of CPU samples.
    #[arg(long, conflicts_with_all = ["idle", "by_thread", "tid"])]
    gpu_time: bool,
    /// Only samples taken while at least one GPU idled.
    #[arg(long)]
    idle: bool,
    /// Begin each stack with the thread.
    #[arg(long)]
    by_thread: bool,
    /// Only samples of the thread with this operating system thread ID.
    #[arg(long, value_name = "TID")]
    tid: Option<i64>,
    /// Format [default: by the extension of the output file: .svg, .json for speedscope, else folded]
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
    open: OpenWithArgs,
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
                    "use .svg, .json or .folded, or add --format svg, speedscope or folded",
                )
            }),
        }
    }

    /// The query that the stacks come from.
    fn query(&self) -> &'static str {
        if self.gpu_time { "gpu_time_by_stack" } else { "cpu_stacks" }
    }

    fn weight(&self) -> FlameWeight {
        if self.gpu_time { FlameWeight::GpuTime } else { FlameWeight::CpuSamples }
    }

    fn params(&self) -> Vec<String> {
        if self.gpu_time {
            return vec!["limit=-1".to_owned()];
        }
        let by = if self.by_thread { "thread" } else { "capture" };
        let mut params = vec!["limit=-1".to_owned(), format!("idle={}", self.idle), format!("by={by}")];
        params.extend(self.tid.map(|tid| format!("tid={tid}")));
        params
    }

    /// The name of a report, and its stacks.
    fn ask(&self, report: &Path, catalog: &Catalog, plan: &Plan) -> Result<(String, Vec<FlameStack>)> {
        let opened = reports::open(report, &self.open.for_reports(&self.reports)?)?;
        let limits = self.limits.limits(Threads::default());
        let presence = Presence::new(&opened.schema, catalog);
        plan.check_presence(&presence, &opened.report.path)
            .map_err(|error| self.or_gpu_time(error, &presence))?;
        let scope = self.scope.resolve(&opened.schema)?;
        let tables = noted(opened.answers(catalog, &scope, std::slice::from_ref(plan), &limits)?);
        let stacks = tables.iter().flat_map(|table| self.stacks(table)).collect();
        Ok((opened.report.name(), stacks))
    }

    /// The error for a report without CPU samples. Most reports have none, but GPU work, which has a graph of its own.
    fn or_gpu_time(&self, error: Error, presence: &Presence<'_>) -> Error {
        let has_work =
            ["launch", "nvtx_range"].iter().all(|name| matches!(presence.lack(name), Ok(None)));
        match error {
            Error::LacksData { query, needs, report, detail, help } if !self.gpu_time && has_work => {
                let instead =
                    format!("a graph of GPU time: nsq flame {} --gpu-time", shell::path(&report));
                Error::LacksData { query, needs, report, detail, help: format!("{instead}; {help}") }
            }
            error => error,
        }
    }

    /// The rows of the query as stacks.
    fn stacks(&self, table: &ResultTable) -> impl Iterator<Item = FlameStack> {
        let (by_thread, number) =
            (self.by_thread, if self.gpu_time { "gpu_ns" } else { "sample_count" });
        table.iter().filter_map(move |row| {
            let mut frames: Vec<String> = row.text("stack")?.split(';').map(str::to_owned).collect();
            if by_thread && let Some(tid) = row.int("tid") {
                let thread = match row.text("thread_name") {
                    Some(name) => format!("{} ({tid})", name.replace(';', ":")),
                    None => format!("thread {tid}"),
                };
                frames.insert(0, thread);
            }
            Some(FlameStack { frames, samples: row.int(number)?, before: None })
        })
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let format = args.format()?;
    if args.reports.len() > 1 && format == FlameFormat::Speedscope {
        return Err(Error::usage(
            "speedscope shows one report",
            "give one report, or use --format svg to compare two",
        ));
    }
    let read = args.reports.iter().map(PathBuf::as_path).chain(args.open.trace());
    must_differ(args.output.as_deref(), read)?;
    let catalog = args.library.load()?;
    let invocation = Invocation::parse(args.query()).with_params(&args.params())?;
    let plan = Plan::new(&catalog, &invocation, &Layout::Own)?;
    let ask = |report: &PathBuf| args.ask(report, &catalog, &plan);
    let mut answers = args.reports.iter().map(ask).collect::<Result<Vec<_>>>()?;
    let (title, mut stacks) = answers.pop().unwrap_or_default();
    let title = match answers.pop() {
        None => title,
        Some((before, known)) => {
            stacks = compare_stacks(known, stacks);
            format!("{before} → {title}")
        }
    };
    if stacks.is_empty() {
        super::note(match args.weight() {
            FlameWeight::CpuSamples => "no CPU sample matches, so there are no stacks",
            FlameWeight::GpuTime => "no GPU operation matches, so there are no stacks",
        });
        if format == FlameFormat::Svg {
            return Ok(EXIT_LACKS_DATA);
        }
    }
    write_to(args.output.as_deref(), |out| write_flame(out, format, &title, args.weight(), &stacks))?;
    Ok(0)
}
