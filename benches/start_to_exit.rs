//! Benchmark: `top_kernels` on a small report, from process start to exit. It measures the overhead
//! around a query.
//!
//! The report is a real export if one lies beside the checkout, else the example. Run with
//! `cargo bench --bench start_to_exit`. The floor is `nsq --version`, which opens no file.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let real = project.join("../shared/data/exports/h100_2gpu_1s.sqlite");
    let export = if real.exists() { real } else { project.join("fixtures/example.sqlite") };
    let export = export.to_str().expect("the path is UTF-8");
    let answer = median(&["run", export, "--query", "top_kernels"]);
    let floor = median(&["--version"]);
    println!("{export}");
    println!(
        "  top_kernels {:.1} ms   --version {:.1} ms   ratio {:.2}",
        answer * 1e3,
        floor * 1e3,
        answer / floor
    );
}

/// Median seconds of 41 runs.
fn median(arguments: &[&str]) -> f64 {
    let mut seconds: Vec<f64> = (0..41)
        .map(|_| {
            let start = Instant::now();
            let mut command = Command::new(env!("CARGO_BIN_EXE_nsq"));
            let status =
                command.args(arguments).stdout(Stdio::null()).status().expect("nsq can be started");
            assert!(status.success(), "nsq {arguments:?} failed");
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
