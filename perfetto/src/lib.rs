//! `nsq-perfetto`, which `nsq perfetto` runs: writes reports as one trace for ui.perfetto.dev.
//!
//! The statements in `sql/` say what is in the trace; this program turns their rows into packets.

mod output;
mod packets;
mod schema;
mod slices;
mod tracks;

use clap::Parser;
use nsq::interrupt::{disarm, handle_signals, interrupt};
use nsq::options::ScopeArgs;
use nsq::whole_file::{self, tell};
use nsq::{Error, Library, Report, Result, Scope, Value, report_paths, visible};
use output::Compressed;
use packets::{Counts, Packets};
use slices::{Clock, Counters, Slices, Target};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tracks::{Owner, Tracks, Unit};

/// Statements whose rows are slices, and whether these begin flows. Calls come first.
const SLICES: [(&str, bool); 8] = [
    (include_str!("../sql/cuda_calls.sql"), true),
    (include_str!("../sql/gpu_operations.sql"), false),
    (include_str!("../sql/gpu_idle.sql"), false),
    (include_str!("../sql/projected_ranges.sql"), false),
    (include_str!("../sql/ranges.sql"), false),
    (include_str!("../sql/os_calls.sql"), false),
    (include_str!("../sql/thread_states.sql"), false),
    (include_str!("../sql/steps.sql"), false),
];
const CRITICAL_PATH: &str = include_str!("../sql/critical_path.sql");
/// The places of a finding, as `:intervals`.
const FINDINGS: &str = include_str!("../sql/findings.sql");
/// Statements whose rows are values of counters, and their units.
const COUNTERS: [(&str, Unit); 4] = [
    (include_str!("../sql/operations_running.sql"), Unit::Count),
    (include_str!("../sql/operations_waiting.sql"), Unit::Count),
    (include_str!("../sql/memory_used.sql"), Unit::Bytes),
    (include_str!("../sql/metrics.sql"), Unit::InName),
];
const NAMES: &str = include_str!("../sql/names.sql");

/// Reports in a trace: their process IDs have 7 bits for the report.
const MOST_REPORTS: usize = 127;

/// Write reports as one Perfetto trace, to look at in ui.perfetto.dev
///
/// The trace has the streams of each GPU, its idle time by cause, its critical path, the places of findings, hardware
/// metrics, how many operations run and wait, and the memory that CUDA allocated (nsys profile --cuda-memory-usage=true);
/// for each process its steps; and for each thread its CUDA API calls, NVTX ranges, the same ranges on the GPU, OS calls
/// and states. Arrows lead from a launch to its first operation. The clocks of several
/// reports are aligned by their collectives.
#[derive(Debug, Parser)]
#[command(name = "nsq-perfetto", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  nsq perfetto report.sqlite -o trace.pftrace.gz
  nsq export --perfetto rank*.sqlite -o job.pftrace.gz  all ranks on one clock
  nsq perfetto report.sqlite --time 10s/12s -o part.pftrace
  nsq perfetto report.sqlite --nvtx 'step*/3' -o step.pftrace")]
struct Args {
    /// SQLite exports, .nsys-rep captures, PyTorch traces, or folders of them.
    #[arg(value_name = "REPORT", required = true)]
    reports: Vec<PathBuf>,
    /// File to write. It is compressed if its name ends in .gz; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out findings and the critical path, which take most of the time to compute
    #[arg(long)]
    no_findings: bool,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// Runs the program with these arguments, the first of which is its name.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(arguments);
    handle_signals(complain, GRACE);
    let done = run(&args);
    disarm();
    match done {
        Ok(counts) => {
            tell(&format!(
                "{} slices and {} counter values on {} tracks, {} flows",
                counts.slices, counts.counter_values, counts.tracks, counts.flows
            ));
            ExitCode::SUCCESS
        }
        Err(error) => ExitCode::from(complain(&error)),
    }
}

/// Time that work has to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

fn complain(error: &Error) -> u8 {
    let text = error.to_string();
    let lines: Vec<_> = text.lines().map(visible).collect();
    tell(&format!("error: {}", lines.join("\n")));
    if let Some(help) = error.help() {
        tell(&format!("  help: {}", visible(&help)));
    }
    error.exit_code()
}

fn note(text: &str) {
    tell(&format!("note: {}", visible(text)));
}

fn run(args: &Args) -> Result<Counts> {
    let (paths, notes) = report_paths(&args.reports)?;
    notes.iter().for_each(|text| note(text));
    if paths.len() > MOST_REPORTS {
        return Err(Error::Usage {
            reason: format!(
                "{} reports are more than the {MOST_REPORTS} that a trace can have",
                paths.len()
            ),
            help: "give fewer reports".to_owned(),
        });
    }
    whole_file::must_differ(Some(&args.output), paths.iter().map(PathBuf::as_path))?;
    let library = nsq::library()?.cancelled_by(interrupt());
    let reports = paths.iter().map(|path| library.open(path)).collect::<Result<Vec<_>>>()?;
    let clocks = clocks(&library, &reports)?;
    let mut counts = Counts::default();
    whole_file::write(&args.output, |out| {
        let mut packets = Packets::new(Compressed::new(out, &args.output));
        for (place, (report, clock)) in reports.iter().zip(clocks).enumerate() {
            let prefix = if reports.len() > 1 { format!("{}: ", report.name()) } else { String::new() };
            let mut tracks = Tracks::new(place as u64, prefix, names(report)?);
            let mut target =
                Target { packets: &mut packets, tracks: &mut tracks, clock, place: place as u64 };
            write(report, args, &mut target)?;
        }
        counts = packets.counts;
        packets.into_inner().finish().map_err(Error::Output)
    })?;
    Ok(counts)
}

/// What to add to the times of each report. One report keeps its own clock.
fn clocks(library: &Library, reports: &[Report]) -> Result<Vec<Clock>> {
    let mut clocks = vec![Clock::default(); reports.len()];
    if reports.len() < 2 {
        return Ok(clocks);
    }
    let aligned = match library.query("rank_clocks", reports).run() {
        Ok(aligned) => aligned,
        Err(Error::LacksData { .. }) => {
            note("the clocks of the reports are not aligned: they have no collectives");
            return Ok(clocks);
        }
        Err(error) => return Err(error),
    };
    let mut is_known = vec![false; reports.len()];
    for row in aligned.iter() {
        let place = row.int("side").and_then(|side| usize::try_from(side).ok());
        if let (Some(place), Some(offset_ns)) = (place, row.int("offset_ns")) {
            let (at_ns, drift_ppm) =
                (row.int("at_ns").unwrap_or(0), row.real("drift_ppm").unwrap_or(0.0));
            clocks[place] = Clock { at_ns, offset_ns, drift_ppm };
            is_known[place] = true;
        }
    }
    for (report, _) in reports.iter().zip(is_known).skip(1).filter(|(_, is_known)| !is_known) {
        note(&format!("{}: its clock is not aligned with that of the first report", report.name()));
    }
    // No time may be negative.
    let earliest = clocks.iter().map(|clock| clock.offset_ns).min().unwrap_or(0).min(0);
    clocks.iter_mut().for_each(|clock| clock.offset_ns -= earliest);
    Ok(clocks)
}

/// The names of processes and threads.
fn names(report: &Report) -> Result<HashMap<Owner, String>> {
    let mut names = HashMap::new();
    for row in report.sql(NAMES).run()?.iter() {
        let owner = match (row.int("global_tid"), row.int("global_pid")) {
            (Some(thread), _) => Owner::Thread(thread),
            (None, Some(process)) => Owner::Process(process),
            (None, None) => continue,
        };
        if let Some(name) = row.text("name") {
            names.entry(owner).or_insert_with(|| name.to_owned());
        }
    }
    Ok(names)
}

/// Writes all events of a report.
fn write<W: Write>(report: &Report, args: &Args, target: &mut Target<'_, W>) -> Result<()> {
    let scope = args.scope.text();
    for (statement, begins_flows) in SLICES {
        report.sql(statement).scope(&scope).run_into(&mut Slices::new(target, begins_flows))?;
    }
    for (statement, unit) in COUNTERS {
        report.sql(statement).scope(&scope).run_into(&mut Counters { target, unit })?;
    }
    if args.no_findings {
        return Ok(());
    }
    report.sql(CRITICAL_PATH).scope(&scope).run_into(&mut Slices::new(target, false))?;
    for intervals in findings(report, scope)? {
        let question = report.sql(FINDINGS).bind("intervals", Value::Text(intervals));
        question.run_into(&mut Slices::new(target, false))?;
    }
    Ok(())
}

/// The places of each finding: those of the overview, which are about the steps after the warm-up, if there are steps
/// and nothing else was asked for.
fn findings(report: &Report, scope: Scope) -> Result<Vec<String>> {
    let ask = |scope: &Scope| report.query("finding_intervals").scope(scope).run();
    let steady = Scope { steady: scope.words().is_empty(), ..scope.clone() };
    let found = match ask(&steady) {
        Err(Error::Usage { .. }) if steady.steady => ask(&scope),
        found => found,
    };
    match found {
        Ok(found) => {
            Ok(found.iter().filter_map(|row| row.text("intervals").map(str::to_owned)).collect())
        }
        Err(Error::LacksData { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
