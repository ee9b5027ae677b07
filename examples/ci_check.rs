//! Fails if the GPUs idle too much: `cargo run --example ci_check REPORT MOST_IDLE_PCT`.
//!
//! Exit code 1: they idle more than that, 2: usage, 3: the report has no GPU work, so nobody can tell.

use nsq::Error;
use std::process::ExitCode;

fn idle_pct(path: &str) -> Result<f64, Error> {
    let gpus = nsq::open(path)?.query("gpu_time").run()?;
    let sum = |column| gpus.iter().filter_map(|row| row.real(column)).sum::<f64>();
    Ok(100.0 * sum("idle_ns") / sum("window_ns"))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, most] = arguments.as_slice() else { return ExitCode::from(2) };
    let Ok(most) = most.parse::<f64>() else { return ExitCode::from(2) };
    match idle_pct(path) {
        Ok(idle) => {
            println!("the GPUs idle {idle:.1} % of the time; {most} % are allowed");
            ExitCode::from(u8::from(idle > most))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_code())
        }
    }
}
