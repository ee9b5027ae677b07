//! Measures commands from start to exit: seconds, CPU seconds and memory, and their ratios to a floor.

// Each benchmark uses only a part of this module.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Time limit of nsys for one report, in seconds.
const NSYS_SECONDS: &str = "300";

/// Runs nsq and its peers on one export.
pub(crate) struct Bench {
    pub(crate) export: PathBuf,
    out: PathBuf,
}

impl Bench {
    /// Output is written to a folder with this name, as a user would do, and is not checked.
    pub(crate) fn new(name: &str, export: PathBuf) -> Self {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&out).expect("the target folder can be written");
        Self { export, out }
    }

    /// Runs a query with nsq.
    pub(crate) fn nsq(&self, query: &str) -> Option<Cost> {
        let answer = self.out.join("nsq.csv");
        // Delete the previous output first, so that discarding it is not measured.
        let _ = std::fs::remove_file(&answer);
        let mut command = Measured::new(env!("CARGO_BIN_EXE_nsq"));
        command.0.arg("run").arg(&self.export).args(["--query", query, "--format", "csv", "-o"]);
        command.0.arg(answer);
        command.run(&self.out)
    }

    /// Runs nsq with other arguments.
    pub(crate) fn nsq_with(&self, arguments: &[&OsStr]) -> Option<Cost> {
        self.command(env!("CARGO_BIN_EXE_nsq"), arguments)
    }

    /// The number of rows that the last query returned.
    pub(crate) fn rows(&self) -> usize {
        let answer = csv::Reader::from_path(self.out.join("nsq.csv"));
        answer.map_or(0, |answer| answer.into_byte_records().count())
    }

    /// Runs any command.
    pub(crate) fn command(&self, program: &str, arguments: &[&OsStr]) -> Option<Cost> {
        let mut command = Measured::new(program);
        command.0.args(arguments);
        command.run(&self.out)
    }

    /// Runs statements in the `sqlite3` shell.
    pub(crate) fn shell(&self, sql: &str) -> Option<Cost> {
        let mut command = Measured::new("sqlite3");
        command.0.arg("-readonly").arg(&self.export).arg(sql);
        command.run(&self.out)
    }

    /// Runs a report of `nsys stats` or a rule of `nsys analyze`.
    pub(crate) fn nsys(&self, nsys: &Path, verb: &str, report: &str) -> Option<Cost> {
        let mut command = Measured::new("timeout");
        command.0.arg(NSYS_SECONDS).arg(nsys);
        command.0.args([verb, "-q", "-r", report, "-f", "csv", "--force-overwrite", "true", "-o"]);
        command.0.arg(self.out.join("nsys")).arg(&self.export);
        command.run(&self.out)
    }
}

/// The path of nsys: the value of `NSQ_BENCH_NSYS`, else the first nsys on the PATH.
pub(crate) fn nsys() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("NSQ_BENCH_NSYS") {
        return std::path::absolute(named).ok();
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("nsys")).find(|file| file.is_file())
}

/// The cost of a command.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// Seconds from start to exit.
    pub(crate) wall: f64,
    usage: Option<Usage>,
}

#[derive(Clone, Copy)]
struct Usage {
    cpu: f64,
    peak_mb: f64,
}

impl Cost {
    /// CPU seconds; wall seconds if nothing measures them.
    pub(crate) fn cpu(&self) -> f64 {
        self.usage.map_or(self.wall, |usage| usage.cpu)
    }
}

/// A command that runs under GNU `time`, if it is installed.
struct Measured(Command);

impl Measured {
    const TIME: &str = "/usr/bin/time";

    fn new(program: &str) -> Self {
        if !Path::new(Self::TIME).is_file() {
            return Self(Command::new(program));
        }
        let mut command = Command::new(Self::TIME);
        command.args(["--quiet", "-f", "%U %S %M", "-o", "usage", program]);
        Self(command)
    }

    /// Runs the command in `folder` and returns its cost; `None` if it failed.
    fn run(mut self, folder: &Path) -> Option<Cost> {
        let start = Instant::now();
        let command = self.0.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().expect("nsq, sqlite3 and timeout can be started");
        let wall = start.elapsed().as_secs_f64();
        status.success().then(|| Cost { wall, usage: usage(&folder.join("usage")) })
    }
}

fn usage(file: &Path) -> Option<Usage> {
    let text = std::fs::read_to_string(file).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [user, system, peak_kib] = numbers[..] else { return None };
    Some(Usage { cpu: user + system, peak_mb: peak_kib * 1.024e-3 })
}

/// Keeps the run of less CPU time.
pub(crate) fn keep_best(best: &mut Option<Cost>, cost: Option<Cost>) {
    if let Some(cost) = cost
        && best.is_none_or(|best| cost.cpu() < best.cpu())
    {
        *best = Some(cost);
    }
}

/// A row of a table in markdown: wall and CPU seconds, memory, rows, and the ratio of CPU seconds to the
/// floor.
pub(crate) fn table_row(what: &str, cost: Cost, rows: &str, floor: Cost) -> String {
    let (cpu, memory) = cost.usage.map_or((String::new(), String::new()), |used| {
        (format!("{:.2}", used.cpu), format!("{:.0}", used.peak_mb))
    });
    let (wall, ratio) = (cost.wall, cost.cpu() / floor.cpu());
    format!("| {what} | {wall:.2} | {cpu} | {memory} | {rows} | {ratio:.1} |")
}

/// Prints one line: the cost of a command, and its ratio to the floor.
pub(crate) fn report(what: &str, cost: Option<Cost>, floor: Cost) {
    let Some(cost) = cost else {
        println!("  {what:<40} failed or timed out");
        return;
    };
    print!("  {what:<40} {:>8.2} s wall {:>7.1}×", cost.wall, cost.wall / floor.wall);
    if let (Some(used), Some(least)) = (cost.usage, floor.usage) {
        print!("   {:>8.2} s CPU {:>7.1}×   {:>6.0} MB", used.cpu, used.cpu / least.cpu, used.peak_mb);
    }
    println!();
}
