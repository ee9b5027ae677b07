//! Findings against captures with a fault of known cost: see README.md.

mod export;
mod faults;
mod program;
mod simulate;
mod training;

use crate::support::project;
use faults::{FAULTS, Fault, PAIRS};
use program::{Program, Random};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use training::{Shape, train};

/// Seed and size of each capture of a fault.
const SIZES: [(u64, f64); 3] = [(1, 0.5), (2, 1.0), (3, 2.0)];
/// Findings with less than this share of the windows, in percent, claim nothing.
const NOTABLE_PCT: f64 = 2.0;

/// A capture: a clean program with faults.
struct Case {
    name: String,
    shape: Shape,
    size: f64,
    faults: Vec<&'static Fault>,
}

/// A finding of a capture.
struct Finding {
    name: String,
    rank: usize,
    verdict: String,
    adds_ns: i64,
    adds_pct: f64,
    ceiling_ns: i64,
}

/// What came of a capture.
struct Outcome {
    operations: usize,
    windows_ns: i64,
    /// Time that the GPUs would save without each fault.
    true_ns: Vec<i64>,
    findings: Vec<Finding>,
}

impl Case {
    fn program(&self, without: Option<usize>) -> Program {
        let mut program = train(&self.shape);
        for (nth, fault) in self.faults.iter().enumerate() {
            // A fault is the same with and without the other.
            let mut random = Random::new(self.shape.seed + 1_000 * (nth as u64 + 1));
            if without != Some(nth) {
                (fault.inject)(&mut program, self.size, &mut random);
            }
        }
        program
    }

    fn outcome(&self, folder: &Path) -> Outcome {
        let program = self.program(None);
        let mut run = simulate::simulate(&program);
        let windows_ns = run.windows_ns();
        let saved = |nth| windows_ns - simulate::simulate(&self.program(Some(nth))).windows_ns();
        let true_ns = (0..self.faults.len()).map(saved).collect();
        let path = folder.join(format!("{}-{}.sqlite", self.name, self.shape.seed));
        let _ = std::fs::remove_file(&path);
        export::write(&program, &mut run, &path);
        let findings = findings(path.to_str().unwrap());
        Outcome { operations: run.operations.len(), windows_ns, true_ns, findings }
    }
}

fn findings(report: &str) -> Vec<Finding> {
    let rows = super::ask(report, "findings", &[]);
    rows.iter()
        .map(|row| Finding {
            name: row["finding"].clone(),
            rank: row["rank"].parse().unwrap(),
            verdict: row["verdict"].clone(),
            adds_ns: row["adds_ns"].parse().unwrap(),
            adds_pct: row["adds_pct"].parse().unwrap(),
            ceiling_ns: row["ceiling_ns"].parse().unwrap(),
        })
        .collect()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 1..=3 {
        let shape = Shape::new(seed);
        let mut clean = |name: &str, shape: Shape| {
            cases.push(Case { name: name.to_owned(), shape, size: 0.0, faults: Vec::new() });
        };
        clean("clean", shape.clone());
        clean("clean_without_loss", Shape { reads_loss: false, ..shape.clone() });
        clean("clean_four_gpus", Shape { gpus: 4, steps: 4, ..shape.clone() });
        clean("clean_one_gpu", Shape { gpus: 1, ..shape.clone() });
        clean("clean_short_kernels", Shape { scale: 0.25, ..shape });
    }
    let mut add = |faults: Vec<&'static Fault>| {
        for (seed, size) in SIZES {
            let mut shape = Shape::new(seed);
            faults.iter().for_each(|fault| (fault.shape)(&mut shape, size));
            let name = faults.iter().map(|fault| fault.name).collect::<Vec<_>>().join("+");
            cases.push(Case { name, shape, size, faults: faults.clone() });
        }
    };
    FAULTS.iter().for_each(|fault| add(vec![fault]));
    let named = |name: &str| FAULTS.iter().find(|fault| fault.name == name).unwrap();
    PAIRS.iter().for_each(|(one, other)| add(vec![named(one), named(other)]));
    cases
}

/// The outcomes of all cases, in their order.
fn outcomes(cases: &[Case], folder: &Path) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, case)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            cases.get(index).map(|case| (index, case))
        } {
            done.push((index, case.outcome(folder)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn seeded_faults_are_found() {
    let kept = std::env::var_os("NSQ_SEEDED_DIR").map(PathBuf::from);
    let folder = tempfile::tempdir().unwrap();
    let folder = kept.as_deref().unwrap_or(folder.path());
    std::fs::create_dir_all(folder).unwrap();
    let cases = cases();
    let outcomes = outcomes(&cases, folder);
    let mut table = String::new();
    for (case, outcome) in cases.iter().zip(&outcomes) {
        for (nth, fault) in case.faults.iter().enumerate() {
            let f = outcome.findings.iter().find(|f| f.name == fault.finding).unwrap();
            let t = outcome.true_ns[nth];
            writeln!(table, "{} {} ops {} win {:.1} | {} true {:.2} rank {} {} ceil {:.2} ratio {:.3} adds {:.2}", case.name, case.size, outcome.operations, outcome.windows_ns as f64/1e6, fault.finding, t as f64/1e6, f.rank, f.verdict, f.ceiling_ns as f64/1e6, f.ceiling_ns as f64/t as f64, f.adds_ns as f64/1e6).unwrap();
        }
        if case.faults.is_empty() {
            writeln!(table, "{} {} ops {} win {:.1}", case.name, case.shape.seed, outcome.operations, outcome.windows_ns as f64/1e6).unwrap();
        }
        for f in outcome.findings.iter().filter(|f| f.adds_pct >= 0.3) {
            writeln!(table, "        {} {} {:.2} ms {:.2} %", f.name, f.verdict, f.adds_ns as f64/1e6, f.adds_pct).unwrap();
        }
    }
    let _ = (NOTABLE_PCT, project("x"));
    std::fs::write("/tmp/seeded_table.txt", table).unwrap();
}
