//! Benchmark: the questions about all ranks of a job, over many reports.
//!
//! Run with `cargo bench --bench ranks -- 10 100 1000`: the numbers of reports, of 20,000 kernels each. Each row also
//! shows a loop in Python with pandas, if it is installed, which reads the same tables, matches collectives by their
//! place and sums waits. The floor is the `sqlite3` shell, started once for each report, which sums the times of kernels.

mod measured;
mod rank_job;

use measured::{Bench, report};
use std::ffi::OsStr;

const QUERIES: [&str; 3] = ["stragglers", "rank_balance", "straggler_causes"];

const FLOOR: &str = "for report in \"$0\"/*.sqlite; do \
    sqlite3 -readonly $report 'SELECT sum(end), sum(start), sum(demangledName) FROM CUPTI_ACTIVITY_KIND_KERNEL'; done";

/// What people write: one frame of collectives for each report, matched by their order.
const PANDAS: &str = r#"
import glob, sqlite3, sys
import pandas as pd
frames = []
for rank, path in enumerate(sorted(glob.glob(sys.argv[1] + "/*.sqlite"))):
    with sqlite3.connect(path) as report:
        kernels = pd.read_sql("SELECT k.start, k.end, s.value AS name FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
                              "JOIN StringIds AS s ON s.id = k.shortName", report)
    nccl = kernels[kernels.name.str.startswith("nccl")].sort_values("start").reset_index(drop=True)
    frames.append(nccl.assign(rank=rank, sequence=nccl.index, before=nccl.start - nccl.end.shift()))
every = pd.concat(frames)
late = every.before - every.groupby("sequence").before.transform("min")
print(late.groupby(every["rank"]).sum().sort_values(ascending=False).head())
"#;

fn main() {
    let mut counts: Vec<i64> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    if counts.is_empty() {
        counts = vec![10, 100];
    }
    for count in counts {
        let folder = rank_job::reports(count);
        println!("{count} reports of 20,000 kernels");
        let bench = Bench::new("ranks", folder.clone());
        let folder = folder.as_os_str();
        let floor = bench.command("bash", &[OsStr::new("-c"), OsStr::new(FLOOR), folder]);
        let floor = floor.expect("sqlite3 reads the reports");
        report("floor: sqlite3, once a report", Some(floor), floor);
        for query in QUERIES {
            let arguments = ["run", "--query", query, "--format", "csv"].map(OsStr::new);
            let arguments = [&arguments[..], &[folder]].concat();
            report(&format!("nsq {query}"), bench.command(env!("CARGO_BIN_EXE_nsq"), &arguments), floor);
        }
        let pandas = bench.command("python3", &[OsStr::new("-c"), OsStr::new(PANDAS), folder]);
        report("Python with pandas", pandas, floor);
    }
}
