//! How often equal work seems to differ, and how often a real change is found.

use super::program::Program;
use crate::support::{depth_of, outcome};
use std::path::Path;

/// Comparisons of each kind.
fn count() -> usize {
    depth_of(200)
}

/// A run with 2 % noise and a clock that drifts by 1 % within a few steps.
fn run(folder: &Path, name: &str, seed: u64, cost: f64) -> String {
    let program = Program { steps: 60, noise: 0.02, drift: (0.01, 3.0), ..Program::training(seed) };
    let program = program.with("gemm", |gemm| (gemm.count, gemm.mean_ns) = (4, cost * gemm.mean_ns));
    let program = program
        .with("softmax", |softmax| (softmax.count, softmax.mean_ns) = (2, cost * softmax.mean_ns));
    program
        .with("adam", |adam| (adam.count, adam.mean_ns) = (1, cost * adam.mean_ns))
        .write(folder, name)
}

/// The number of pairs whose gate at 0 % fails. B costs so much more.
fn failed(pairs: usize, runs: usize, cost: f64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = 0;
    for pair in 0..pairs {
        let mut words = vec!["diff".to_owned()];
        for (side, cost) in [("a", 1.0), ("b", cost)] {
            words.extend((runs > 1).then(|| format!("--{side}")));
            for place in 0..runs {
                let seed = 1000 * (pair as u64 + 1)
                    + 100 * runs as u64
                    + 10 * u64::from(side == "b")
                    + place as u64;
                words.push(run(folder.path(), &format!("{side}{place}"), seed, cost));
            }
        }
        words.extend(["--gate", "0"].map(str::to_owned));
        let (code, _, error) = outcome(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(code == 0 || code == 1, "{error}");
        failed += usize::from(code == 1);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    failed
}

#[test]
fn equal_work_rarely_seems_slower() {
    for runs in [1, 3] {
        let (pairs, failed) = (count(), failed(count(), runs, 1.0));
        println!("{failed} false alarms of {pairs}, {runs} runs a side");
        assert!(100 * failed <= 2 * pairs.max(50), "{failed} of {pairs}, {runs} runs a side");
    }
}

#[test]
fn five_percent_are_found_with_three_runs_a_side() {
    let (pairs, found) = (count(), failed(count(), 3, 1.05));
    println!("{found} of {pairs} found");
    assert!(100 * found >= 95 * pairs, "{found} of {pairs}");
}
