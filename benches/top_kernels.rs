//! Benchmark: `top_kernels` over one million kernels, compared with a GROUP BY in the `sqlite3` shell.
//!
//! Run with `cargo bench --bench top_kernels -- [KERNELS]`. The two alternate, so drift of the machine
//! affects both. nsq computes three percentiles; the shell computes none.

mod large_export;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SHELL_SQL: &str = "SELECT demangledName, count(*), sum(end-start), avg(end-start), min(end-start), \
                         max(end-start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY 3 DESC";

fn main() {
    let kernels = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000);
    let export = large_export::export(kernels);
    println!(
        "top_kernels over {kernels} kernels ({} MB)",
        export.metadata().map_or(0, |m| m.len()) / 1_000_000
    );
    let mut ratios = Vec::new();
    for round in 0..8 {
        let (nsq, shell) = (run_nsq(&export), run_shell(&export));
        if round > 0 {
            println!("  nsq {nsq:.3} s   sqlite3 {shell:.3} s   ratio {:.2}", nsq / shell);
            ratios.push(nsq / shell);
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio nsq / sqlite3: {:.2}", ratios[ratios.len() / 2]);
}

fn run_nsq(export: &Path) -> f64 {
    time(Command::new(env!("CARGO_BIN_EXE_nsq")).arg("run").arg(export).args([
        "--query",
        "top_kernels",
        "--format",
        "csv",
    ]))
}

fn run_shell(export: &Path) -> f64 {
    time(Command::new("sqlite3").arg("-readonly").arg(export).arg(SHELL_SQL))
}

/// Seconds from process start to exit.
fn time(command: &mut Command) -> f64 {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status().expect("nsq and sqlite3 can be started");
    assert!(status.success(), "{command:?} failed");
    start.elapsed().as_secs_f64()
}
