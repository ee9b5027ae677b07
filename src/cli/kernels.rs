//! `nsq kernels`: the page `kernels`, with the command line and the layouts of profiler.py.

mod step;

use super::note;
use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ, write_to};
use super::page::{show, write_files};
use super::reports::{open, tell};
use nsq_ask::input::Input;
use nsq_ask::page::PageRequest;
use nsq_ask::request::Request;
use nsq_engine::normalize::Attribute;
use nsq_render::render::Heading;
use nsq_render::render::visible;
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Rank kernels by simple name, and list the gaps between them
///
/// Takes the command line of profiler.py. Prints a ranked table of kernels; with --gaps also the gaps of
/// each stream, their histogram, and the pairs of kernels around them. Can write two detailed text files.
/// The figures come from the queries of the page `kernels`. On a terminal, the tables fit it; in a pipe and
/// in files they have profiler.py's layout.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq kernels report.sqlite
  nsq kernels report.sqlite --top 20 --sort duration-percentage
  nsq kernels report.sqlite --gaps --hist-min 1 --hist-max 100
  nsq kernels trace.json.gz --iter 'ProfilerStep#6' --gaps --gap-sort count
  nsq kernels report.sqlite --output kernels.txt --gap-output gaps.txt --gaps

Launch calls are not counted as kernels. A stream is identified by its process, device, context and number. \
A gap lasts from the latest end so far on a stream to the next start on it. Other streams may work in that \
time, so the gaps of several streams can add up to more than the idle time of the GPU, which is shown too.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Only work launched in ProfilerStep#N, from any thread; to select by time use --window ProfilerStep#N.
    #[arg(long, hide = true, value_name = "N")]
    pstep: Option<u64>,
    /// Number of kernels to show.
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Write all kernels with full names to this text file, completely or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Order of kernels; duration is the average, percentage the share of launches.
    #[arg(short, long, value_parser = SORT, default_value = SORT[0])]
    sort: String,
    /// Show a full name below each simple name.
    #[arg(short, long)]
    verbose: bool,
    /// On a terminal, show all columns and whole names, however wide the tables get.
    #[arg(hide_short_help = true, long)]
    wide: bool,
    /// Show the gaps between kernels.
    #[arg(short, long)]
    gaps: bool,
    /// Write the gaps of all pairs of kernels to this text file, completely or not at all.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    gap_output: Option<PathBuf>,
    /// Number of pairs of kernels to show.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 15)]
    gap_top: usize,
    /// Order of pairs: number of gaps, or average, maximum, standard deviation, total or GPU idle time of the gaps.
    #[arg(hide_short_help = true, long, value_parser = GAP_SORT, default_value = "avg")]
    gap_sort: String,
    /// Shortest gap in the histogram, in μs; affects only the histogram.
    #[arg(hide_short_help = true, long, value_name = "US", value_parser = microseconds)]
    hist_min: Option<i64>,
    /// Longest gap in the histogram, in μs; affects only the histogram.
    #[arg(hide_short_help = true, long, value_name = "US", value_parser = microseconds)]
    hist_max: Option<i64>,
    /// Bins of the histogram: log is 1, 2, 5, 10, … μs; linear is 15 equal bins (20 in the file).
    #[arg(hide_short_help = true, long, value_parser = ["log", "linear"], default_value = "log")]
    hist_scale: String,
    /// Copies and fills also end a gap.
    #[arg(hide_short_help = true, long)]
    memory: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

const SORT: [&str; 4] = ["count", "duration", "percentage", "duration-percentage"];
const GAP_SORT: [&str; 8] = ["count", "avg", "avggap", "max", "maxgap", "stdev", "total", "idle"];

fn microseconds(text: &str) -> Result<i64, String> {
    let us: f64 =
        text.parse().map_err(|_| "expected a number of microseconds, such as 1 or 0.5".to_owned())?;
    let ns = us * 1e3;
    // Up to this limit, a double represents every whole number of nanoseconds.
    if !(0.0..9e15).contains(&ns) {
        return Err("expected microseconds from 0 to 9e12".to_owned());
    }
    Ok(ns.round() as i64)
}

impl Args {
    /// The parameters of the page.
    fn params(&self) -> Vec<String> {
        let mut params = vec![
            format!("top={}", self.top),
            format!("sort={}", self.sort),
            format!("verbose={}", self.verbose),
            format!("gaps={}", self.gaps || self.gap_output.is_some()),
            format!("gap_top={}", self.gap_top),
            format!("gap_sort={}", self.gap_sort),
            format!("every_pair={}", self.gap_output.is_some()),
            format!("scale={}", self.hist_scale),
            format!("memory={}", self.memory),
        ];
        params.extend(self.pstep.map(|step| format!("step={step}")));
        params.extend(self.hist_min.map(|ns| format!("at_least={ns}ns")));
        params.extend(self.hist_max.map(|ns| format!("at_most={ns}ns")));
        params
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    check(args)?;
    let catalog = args.library.load()?;
    let request = PageRequest::new(&catalog, "kernels", &args.params(), visible)?;
    let opened = open(&args.report, &args.open.export_options())?;
    let limits = args.limits.limits(Threads::default());
    let mut scope = args.scope.resolve(&opened.schema)?;
    if let Some(number) = args.pstep {
        note(&format!(
            "`--pstep {number}` is now spelled `--iter 'ProfilerStep#{number}' --attribute process`"
        ));
        scope.iterations = step::selectors(&opened, &catalog, number, &limits)?;
        if args.scope.attribute.is_none() {
            scope.attribute = Attribute::Process;
        }
    }
    let input = Input { scope: Some(scope), ..Input::open(opened.report.name(), &opened) };
    let asking = Request { limits, ..Request::new(&catalog) };
    let mut begun = asking.page(&request, &[input])?;
    tell(&begun.reports, 0, false);
    "nsq kernels".clone_into(&mut begun.asker);
    let answer = begun.answer()?;
    let mut files: Vec<(&Path, String)> = Vec::new();
    for (path, layout) in [(&args.output, "kernels"), (&args.gap_output, "gaps")] {
        if let Some(path) = path {
            files.push((path, answer.layout(layout)?));
        }
    }
    let mut console = String::new();
    if io::stdout().is_terminal() {
        // The console layout is 200 columns wide.
        let wide = args.wide || args.verbose;
        show(&answer, &OutputArgs { rows: Some(0), wide, ..OutputArgs::default() }, &Heading::of_nsq())?;
    } else {
        console = answer.layout("console")?;
    }
    console.push_str(&write_files(&files)?);
    write_to(None, |out| out.write_all(console.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

/// The canonical path of a file. For a file that does not exist yet, its canonical folder and its name.
fn place(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let whole = path
        .canonicalize()
        .or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())));
    whole.unwrap_or_else(|_: io::Error| path.to_owned())
}

/// Reports command line errors before the report is opened.
fn check(args: &Args) -> Result<()> {
    let outputs = [&args.output, &args.gap_output];
    for output in outputs.into_iter().flatten() {
        must_differ(Some(output), [args.report.as_path()])?;
    }
    // Check before writing anything, so that nsq writes both files or none.
    if let Some(folder) = outputs.into_iter().flatten().find(|output| output.is_dir()) {
        return Err(Error::usage(
            format!("{} is a directory", folder.display()),
            "give the path of a file",
        ));
    }
    if let (Some(kernels), Some(gaps)) = (&args.output, &args.gap_output)
        && place(kernels) == place(gaps)
    {
        return Err(Error::usage(
            format!("--output and --gap-output are both {}", kernels.display()),
            "give two different files",
        ));
    }
    if args.pstep.is_some() && !args.scope.iter.is_empty() {
        return Err(Error::usage(
            "--pstep and --iter both select iterations",
            "leave one out; --nvtx narrows further",
        ));
    }
    if let (Some(least), Some(most)) = (args.hist_min, args.hist_max)
        && least > most
    {
        return Err(Error::usage(
            "--hist-min is above --hist-max",
            "give the shorter gap as --hist-min",
        ));
    }
    Ok(())
}
