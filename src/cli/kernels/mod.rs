//! `nsq kernels`: kernels by simple name, and the gaps between them.

mod answer;
mod gap_text;
mod histogram;
mod kernel_text;
mod layout;
mod step;

use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ, write_to};
use crate::error::{Error, Result};
use crate::render::Heading;
use crate::table::ResultTable;
use answer::{Answer, Question};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Rank kernels by simple name, and list the gaps between them
///
/// Takes the command line of profiler.py. Prints a ranked table of kernels; with --gaps also the gaps of
/// each stream, their histogram, and the pairs of kernels around them. Can write two detailed text files.
/// The figures come from the queries kernel_stats, stream_gaps, gap_histogram and gap_pairs. On a terminal,
/// the tables fit it; in a pipe and in files they have profiler.py's layout.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq kernels report.sqlite
  nsq kernels report.sqlite --top 20 --sort duration-percentage
  nsq kernels report.sqlite --gaps --hist-min 1 --hist-max 100
  nsq kernels report.sqlite --pstep 6 --gaps --gap-sort count
  nsq kernels report.sqlite --output kernels.txt --gap-output gaps.txt --gaps

Launch calls are not counted as kernels. A stream is identified by its process, device, context and number.
A gap lasts from the latest end so far on a stream to the next start on it. Other streams may work in that
time, so the gaps of several streams can add up to more than the idle time of the GPU, which is shown too.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Only work launched in ProfilerStep#N, from any thread; to select by time use --window ProfilerStep#N.
    #[arg(long, value_name = "N")]
    pstep: Option<u64>,
    /// Number of kernels to show.
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Write all kernels with full names to this text file, completely or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Order of kernels; duration is the average, percentage the share of launches.
    #[arg(short, long, value_enum, default_value = "count")]
    sort: Sort,
    /// Show a full name below each simple name.
    #[arg(short, long)]
    verbose: bool,
    /// On a terminal, show all columns and whole names, however wide the tables get.
    #[arg(long)]
    wide: bool,
    /// Show the gaps between kernels.
    #[arg(short, long)]
    gaps: bool,
    /// Write the gaps of all pairs of kernels to this text file, completely or not at all.
    #[arg(long, value_name = "FILE")]
    gap_output: Option<PathBuf>,
    /// Number of pairs of kernels to show.
    #[arg(long, value_name = "N", default_value_t = 15)]
    gap_top: usize,
    /// Order of pairs: number of gaps, or average, maximum, standard deviation, total or GPU idle time of the gaps.
    #[arg(long, value_enum, default_value = "avg")]
    gap_sort: GapSort,
    /// Shortest gap in the histogram, in μs; affects only the histogram.
    #[arg(long, value_name = "US", value_parser = microseconds)]
    hist_min: Option<i64>,
    /// Longest gap in the histogram, in μs; affects only the histogram.
    #[arg(long, value_name = "US", value_parser = microseconds)]
    hist_max: Option<i64>,
    /// Bins of the histogram: log is 1, 2, 5, 10, … μs; linear is 15 equal bins (20 in the file).
    #[arg(long, value_enum, default_value = "log")]
    hist_scale: Scale,
    /// Copies and fills also end a gap.
    #[arg(long)]
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

/// Order of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    Count,
    Duration,
    Percentage,
    DurationPercentage,
}

impl Sort {
    /// The value of the query's parameter.
    fn param(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Duration => "duration",
            Self::Percentage => "percentage",
            Self::DurationPercentage => "duration-percentage",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Duration => "average duration",
            Self::Percentage => "percentage of total launches",
            Self::DurationPercentage => "percentage of total duration",
        }
    }
}

/// Order of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GapSort {
    Count,
    Avg,
    Avggap,
    Max,
    Maxgap,
    Stdev,
    Total,
    Idle,
}

impl GapSort {
    /// The value of the query's parameter.
    fn param(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Avg | Self::Avggap => "avg",
            Self::Max | Self::Maxgap => "max",
            Self::Stdev => "stdev",
            Self::Total => "total",
            Self::Idle => "idle",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Count => "gap count",
            Self::Avg | Self::Avggap => "average gap duration",
            Self::Max | Self::Maxgap => "maximum gap duration",
            Self::Stdev => "standard deviation of gap duration",
            Self::Total => "total gap duration",
            Self::Idle => "idle GPU time",
        }
    }
}

/// Bins of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scale {
    Log,
    Linear,
}

impl Scale {
    /// The value of the query's parameter.
    fn param(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Linear => "linear",
        }
    }
}

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

pub(super) fn run(args: &Args) -> Result<u8> {
    check(args)?;
    let catalog = args.library.load()?;
    let question = Question {
        sort: args.sort.param(),
        with_gaps: args.gaps || args.gap_output.is_some(),
        gap_sort: args.gap_sort.param(),
        // The file lists every pair.
        pairs: if args.gap_output.is_some() { None } else { Some(args.gap_top) },
        memory: args.memory,
        scale: args.hist_scale.param(),
        range_ns: (args.hist_min, args.hist_max),
        file_bins: args.gap_output.is_some(),
    };
    let answer = Answer::ask(args, &catalog, &question)?;
    let mut files: Vec<(&Path, String)> = Vec::new();
    if let Some(path) = &args.output {
        files.push((path, kernel_text::file(args, &answer)));
    }
    if let (Some(path), Some(gaps)) = (&args.gap_output, &answer.gaps) {
        files.push((path, gap_text::file(args, gaps)));
    }
    let mut console = String::new();
    if io::stdout().is_terminal() {
        show_tables(args, &answer)?;
    } else {
        console.push_str(&kernel_text::console(args, &answer));
        if let (true, Some(gaps)) = (args.gaps, &answer.gaps) {
            console.push_str(&gap_text::console(args, gaps));
        }
    }
    for (path, text) in &files {
        write_to(Some(path), |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        if *path != Path::new("-") {
            console.push_str(&layout::wrote(path, text.len()));
        }
    }
    write_to(None, |out| out.write_all(console.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

/// The rows as tables that fit the terminal: profiler.py's layout is 200 columns wide.
fn show_tables(args: &Args, answer: &Answer) -> Result<()> {
    let output = OutputArgs { rows: Some(0), wide: args.wide || args.verbose, ..OutputArgs::default() };
    // The histogram of the file, which comes last, has other bins.
    let shown = if args.gaps { answer.tables.len().min(SHOWN_TABLES) } else { 1 };
    output.write(shown, |writer| {
        for (index, (title, table)) in answer.tables[..shown].iter().enumerate() {
            let (title, rows) = match index {
                0 => (
                    format!(
                        "{title}: {} of {}, by {}",
                        args.top.min(table.rows.len()),
                        table.rows.len(),
                        args.sort.label()
                    ),
                    args.top,
                ),
                _ => (title.clone(), table.rows.len()),
            };
            let rows = table.rows.iter().take(rows).cloned().collect();
            let table = ResultTable { columns: table.columns.clone(), rows };
            let heading = Heading { title, ..Heading::default() };
            writer.result(&heading, |sink| table.replay(sink))?;
        }
        Ok(())
    })
}

/// Kernels, histogram, streams and pairs.
const SHOWN_TABLES: usize = 4;

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
    // Check before writing anything, so that nsq writes both files or neither.
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
