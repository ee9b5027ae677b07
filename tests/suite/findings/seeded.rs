//! Findings against captures with a fault of known cost: see README.md.

mod faults;
mod training;

use crate::in_process::answer;
use crate::made::export;
use crate::made::program::{Program, Random};
use crate::made::simulate::{Run, simulate};
use crate::support::project;
use faults::{FAULTS, Fault, PAIRS};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use training::{Shape, train};

/// Seed and size of each capture of a fault.
const SIZES: [(u64, f64); 3] = [(1, 0.5), (2, 1.0), (3, 2.0)];
/// A finding with a smaller share of the windows, in percent, claims nothing much.
const NOTABLE_PCT: f64 = 2.0;
/// Most by which a step without the fault may be predicted wrong, as a share.
const OFF: f64 = 0.05;
/// Largest ceiling of a finding, as a multiple of the time that the fix of its fault saves.
const MOST: f64 = 1.2;

const ALL: &[u64] = &[1, 2, 3];
const COLLECTIVES: &str = "collectives run in some gaps, and hold up the next kernel there";
const WAIT_FIRST: &str = "the wait at the end of each step costs the lead that slow launches need: host_sync has most of the gain, \
                          and goes first";
const NO_LEAD: &str =
    "after each wait the host has no lead for some launches: launch_bound has these gaps";
const TRANSFERS: &str = "collectives that queue up behind the wait do not count";
const SLOW: &str = "the slow GPU waits for nobody, but its time is won too";
const FUSED: &str = "the fused kernel still reads and writes once, which the ceiling does not take off";
const FIRST_BATCH: &str = "the wait for the first batch counts too, which nothing can hide";
const BESIDE: &str =
    "collectives and copies of the next batch run meanwhile, and exposed_communication has that time";
const FAULTS_IN_KERNELS: &str = "a kernel waits for longer than its pages take to move";
const AT_PEAK: &str =
    "the fix is predicted at the peak rate of the tensor cores, which no program reaches";
const QUEUED: &str = "1 us is taken off each interval, and copies of the next batch run in some";
const GRAPH: &str = "after the tiny kernels, another fix gains more than the waits: a graph has shorter gaps than \
                     single launches";

/// Faults whose finding misses: capture, seeds, fault, and why.
const MISSES: [(&str, &[u64], &str, &str); 14] = [
    ("blocking_copies", &[1], "blocking_copies", NO_LEAD),
    ("slow_launches", &[1], "slow_launches", WAIT_FIRST),
    ("uneven_batches", &[2, 3], "uneven_batches", TRANSFERS),
    ("slow_gpu", ALL, "slow_gpu", SLOW),
    ("tiny_kernels", &[1, 2], "tiny_kernels", FUSED),
    ("slow_launches_beside_collectives", ALL, "slow_launches_beside_collectives", COLLECTIVES),
    ("data_loading_by_thread", &[1], "data_loading_by_thread", FIRST_BATCH),
    ("device_copies", ALL, "device_copies", BESIDE),
    ("device_copies_beside_collectives", ALL, "device_copies_beside_collectives", BESIDE),
    ("fp32_matmul", ALL, "fp32_matmul", AT_PEAK),
    ("gpu_page_faults", ALL, "gpu_page_faults", FAULTS_IN_KERNELS),
    ("profiler_stalls_in_step", &[1], "profiler_stalls_in_step", COLLECTIVES),
    ("host_functions", ALL, "host_functions", QUEUED),
    ("sync_per_layer+tiny_kernels", &[3], "sync_per_layer", GRAPH),
];

const HEADER: &str = "capture\tseed\tsize\tgpus\toperations\twindows_ms\tfault\ttrue_ms\tfinding\trank\tverdict\t\
     ceiling_ms\tratio\tstep_off_pct\tfirst\tfirst_pct\tresult\twhy";

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
    /// A step as it is, and with the fix; null if nothing was replayed.
    now_ns: Option<i64>,
    alone_ns: Option<i64>,
    ceiling_ns: i64,
}

/// What came of a capture.
struct Outcome {
    operations: usize,
    windows_ns: i64,
    /// Time that the GPUs would save without each fault.
    true_ns: Vec<i64>,
    /// Mean time of a step without each fault, as a capture of that program has it.
    made_ns: Vec<f64>,
    findings: Vec<Finding>,
}

impl Outcome {
    /// How much longer a step is predicted than it is without a fault, as a share.
    fn error(&self, case: &Case, nth: usize) -> Option<f64> {
        let predicted = self.finding(case.faults[nth].finding).alone_ns?;
        Some(predicted as f64 / self.made_ns[nth] - 1.0)
    }

    fn finding(&self, name: &str) -> &Finding {
        self.findings.iter().find(|finding| finding.name == name).expect("a finding of this name")
    }
}

impl Case {
    fn program(&self, without: Option<usize>) -> Program {
        let mut program = train(&self.shape);
        for (nth, fault) in self.faults.iter().enumerate() {
            if without == Some(nth) {
                continue;
            }
            for process in &mut program {
                // A fault is the same on all GPUs, and with and without the other.
                let mut random = Random::new(self.shape.seed + 1_000 * (nth as u64 + 1));
                (fault.inject)(process, self.size, &mut random);
            }
        }
        program
    }

    fn outcome(&self, folder: &Path) -> Outcome {
        let program = self.program(None);
        let mut run = simulate(&program);
        let windows_ns = run.windows_ns();
        is_causal(&run);
        let path = folder.join(format!("{}-{}.sqlite", self.name, self.shape.seed));
        let write = |program: &Program, run: &mut Run| {
            let _ = std::fs::remove_file(&path);
            export::write(program, run, &path);
        };
        let without = |nth| {
            let fixed = self.program(Some(nth));
            let mut run = simulate(&fixed);
            write(&fixed, &mut run);
            (windows_ns - run.windows_ns(), step_ns(&path))
        };
        let (true_ns, made_ns) = (0..self.faults.len()).map(without).unzip();
        write(&program, &mut run);
        let findings = findings(&path);
        Outcome { operations: run.operations.len(), windows_ns, true_ns, made_ns, findings }
    }
}

/// The mean time of a step after the warm-up, on the GPU where it is longest.
fn step_ns(report: &Path) -> f64 {
    let mut of_gpus: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in super::rows(&answer(report, "steps").unwrap()) {
        if row["part"] == "median" || row["part"] == "steady" {
            of_gpus.entry(row["gpu_id"].clone()).or_default().push(row["dur_ns"].parse().unwrap());
        }
    }
    let mean = |of: &Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
    of_gpus.values().map(mean).fold(0.0, f64::max)
}

fn findings(report: &Path) -> Vec<Finding> {
    let table = answer(report, "findings").unwrap();
    super::rows(&table)
        .iter()
        .map(|row| Finding {
            name: row["finding"].clone(),
            rank: row["rank"].parse().unwrap(),
            verdict: row["verdict"].clone(),
            adds_ns: row["adds_ns"].parse().unwrap(),
            adds_pct: row["adds_pct"].parse().unwrap(),
            now_ns: row["now_ns"].parse().ok(),
            alone_ns: row["alone_ns"].parse().ok(),
            ceiling_ns: row["ceiling_ns"].parse().unwrap(),
        })
        .collect()
}

/// A stream does one thing at a time, and no work begins before its call.
fn is_causal(run: &Run) {
    let mut launched = BTreeMap::new();
    for call in &run.calls {
        assert!(call.start <= call.end);
        launched.insert((call.thread.0, call.correlation), call.start);
    }
    let mut operations: Vec<_> = run.operations.iter().filter(|op| op.correlation > 0).collect();
    operations.sort_by_key(|op| (op.gpu, op.stream, op.start));
    for pair in operations.windows(2) {
        let same = (pair[0].gpu, pair[0].stream) == (pair[1].gpu, pair[1].stream);
        assert!(!same || pair[0].end < pair[1].start);
    }
    for op in operations {
        assert!(op.start < op.end && launched[&(op.gpu, op.correlation)] < op.start);
    }
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
        clean("clean_four_gpus", Shape { gpus: 4, ..shape.clone() });
        clean("clean_loader_copies", Shape { loader_copies: true, ..shape.clone() });
        clean("clean_one_gpu", Shape { gpus: 1, ..shape.clone() });
        clean("clean_small_model", Shape { scale: 0.2, ..shape });
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

/// What is wrong with the finding of a fault, or of a clean capture; empty if nothing.
fn wrong(case: &Case, outcome: &Outcome, nth: Option<usize>) -> String {
    let first = &outcome.findings[0];
    let Some(nth) = nth else {
        let is_notable = first.verdict == "yes" && first.adds_pct >= NOTABLE_PCT;
        return if is_notable { "false alarm".to_owned() } else { String::new() };
    };
    let finding = outcome.finding(case.faults[nth].finding);
    let ratio = finding.ceiling_ns as f64 / outcome.true_ns[nth] as f64;
    let mut wrong = Vec::new();
    if finding.verdict != "yes" || finding.rank > case.faults.len() {
        wrong.push(if case.faults.len() > 1 { "not in the first two" } else { "not first" });
    }
    // A fix frees less while the other fault remains, or more: so pairs have no bounds.
    if case.faults.len() == 1 && outcome.error(case, nth).is_none_or(|error| error.abs() > OFF) {
        wrong.push("gain");
    }
    if case.faults.len() == 1 && !(case.faults[nth].least..=MOST).contains(&ratio) {
        wrong.push(if ratio < 1.0 { "ceiling too low" } else { "ceiling too high" });
    }
    wrong.join(", ")
}

/// The row of a fault, or of a clean capture.
fn row(case: &Case, outcome: &Outcome, nth: Option<usize>, wrong: &str, why: &str) -> String {
    let ms = |ns: i64| format!("{:.2}", ns as f64 / 1e6);
    let first = &outcome.findings[0];
    let (name, pct) = match first.verdict.as_str() {
        "yes" => (first.name.as_str(), format!("{:.2}", first.adds_pct)),
        _ => ("-", "-".to_owned()),
    };
    let about = nth.map_or_else(
        || vec!["-".to_owned(); 8],
        |nth| {
            let (fault, saved) = (case.faults[nth], outcome.true_ns[nth]);
            let finding = outcome.finding(fault.finding);
            vec![
                fault.name.to_owned(),
                ms(saved),
                fault.finding.to_owned(),
                finding.rank.to_string(),
                finding.verdict.clone(),
                ms(finding.ceiling_ns),
                format!("{:.3}", finding.ceiling_ns as f64 / saved as f64),
                outcome
                    .error(case, nth)
                    .map_or("-".to_owned(), |error| format!("{:+.1}", 100.0 * error)),
            ]
        },
    );
    let mut cells = vec![
        case.name.clone(),
        case.shape.seed.to_string(),
        case.size.to_string(),
        case.shape.gpus.to_string(),
        outcome.operations.to_string(),
        ms(outcome.windows_ns),
    ];
    cells.extend(about);
    cells.extend([name, &pct, if wrong.is_empty() { "pass" } else { wrong }, why].map(str::to_owned));
    cells.join("\t")
}

/// Lines that count what the table says.
fn summary(cases: &[Case], outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let mut line = |what: &str, part: usize, all: usize| {
        writeln!(text, "# {what}: {part} of {all}, {:.1} %", 100.0 * part as f64 / all as f64).unwrap();
    };
    let all = || cases.iter().zip(outcomes);
    let with = |faults: usize| all().filter(move |(case, _)| case.faults.len() == faults);
    let is = |(case, outcome): &(&Case, &Outcome), what: &str| {
        (0..case.faults.len()).all(|nth| !wrong(case, outcome, Some(nth)).contains(what))
    };
    line(
        "recall: one fault, and its finding is first",
        with(1).filter(|c| is(c, "not")).count(),
        with(1).count(),
    );
    line(
        "ceiling: one fault, and its ceiling is within the bounds",
        with(1).filter(|c| is(c, "ceiling")).count(),
        with(1).count(),
    );
    line(
        "recall: two faults, and their findings are the first two",
        with(2).filter(|c| is(c, "not")).count(),
        with(2).count(),
    );
    let is_named =
        |case: &Case, finding: &Finding| case.faults.iter().any(|fault| fault.finding == finding.name);
    let notable = |finding: &&Finding| finding.verdict == "yes" && finding.adds_pct >= NOTABLE_PCT;
    let claims: Vec<bool> = all()
        .flat_map(|(case, outcome)| {
            let of = outcome.findings.iter().filter(notable);
            of.map(|finding| is_named(case, finding)).collect::<Vec<_>>()
        })
        .collect();
    line(
        "precision: a finding adds 2 % of the windows, and a fault has it",
        claims.iter().filter(|right| **right).count(),
        claims.len(),
    );
    let firsts: Vec<bool> = all()
        .filter(|(_, outcome)| notable(&&outcome.findings[0]))
        .map(|(case, outcome)| is_named(case, &outcome.findings[0]))
        .collect();
    line(
        "precision: the first finding adds 2 % of the windows, and a fault has it",
        firsts.iter().filter(|right| **right).count(),
        firsts.len(),
    );
    let quiet = with(0).filter(|(case, outcome)| wrong(case, outcome, None).is_empty()).count();
    line("clean: no finding adds 2 % of the windows", quiet, with(0).count());
    text
}

#[test]
fn the_finding_of_a_seeded_fault_comes_first() {
    let kept = std::env::var_os("NSQ_SEEDED_DIR").map(PathBuf::from);
    let folder = tempfile::tempdir().unwrap();
    let folder = kept.as_deref().unwrap_or(folder.path());
    std::fs::create_dir_all(folder).unwrap();
    let cases = cases();
    let outcomes = outcomes(&cases, folder);
    let mut table = format!("{HEADER}\n");
    let mut unexpected = Vec::new();
    for (case, outcome) in cases.iter().zip(&outcomes) {
        let adds: i64 = outcome.findings.iter().map(|finding| finding.adds_ns).sum();
        let now = outcome.findings.iter().filter_map(|finding| finding.now_ns).max().unwrap_or(0);
        assert!(adds <= now, "{}: {adds} of {now}", case.name);
        assert!((1_000..=20_000).contains(&outcome.operations), "{}: {}", case.name, outcome.operations);
        let rows: Vec<Option<usize>> = match case.faults.len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        for nth in rows {
            let fault = nth.map_or("-", |nth| case.faults[nth].name);
            let why = MISSES
                .iter()
                .find(|(name, seeds, missed, _)| {
                    *name == case.name && seeds.contains(&case.shape.seed) && *missed == fault
                })
                .map_or("", |(.., why)| why);
            let wrong = wrong(case, outcome, nth);
            if wrong.is_empty() != why.is_empty() {
                unexpected.push(format!("{} {} {fault}: {wrong}", case.name, case.shape.seed));
            }
            writeln!(table, "{}", row(case, outcome, nth, &wrong, why)).unwrap();
        }
    }
    table.push_str(&summary(&cases, &outcomes));
    let golden = project("tests/suite/findings/seeded.tsv");
    if std::env::var_os("NSQ_BLESS").is_some() {
        std::fs::write(&golden, &table).unwrap();
    }
    assert!(
        unexpected.is_empty(),
        "MISSES must have exactly these:\n{}\n{table}",
        unexpected.join("\n")
    );
    let before = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(before, table, "NSQ_BLESS=1 cargo test --test suite seeded writes it anew");
}
