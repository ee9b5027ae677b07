//! Compares every query on every fixture with `tests/golden/<query>.txt`.
//!
//! The header of each fixture in `fixtures/traces` derives the expected values by hand. `NSQ_BLESS=1`
//! rewrites what has changed, except in CI. Every query needs at least one fixture with rows.

use crate::in_process::Opened;
use crate::support::golden::Golden;
use crate::support::{Fixtures, depth_of, queries, traces, turn};
use libtest_mimic::{Failed, Trial};
use nsq::error::Error;
use nsq::render::Format;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

/// Held while a golden is read, changed and written: other trials change other sections of the same file.
static BLESSING: Mutex<()> = Mutex::new(());

thread_local! {
    // The fixtures that this thread has opened, by trace: they do not change.
    static OPENED: RefCell<HashMap<String, Rc<Opened>>> = RefCell::default();
}

/// What a query says of a trace: nothing where the trace lacks the data, or why it failed.
type Answer = Result<Option<String>, String>;

/// The answers of all queries on a trace, by their place. They share a session, which is several times faster.
struct Trace {
    name: String,
    path: PathBuf,
    answers: OnceLock<Vec<Answer>>,
}

impl Trace {
    /// The answer of the `nth` query: in a session of its own, or in that of all queries.
    fn answer(&self, queries: &[String], nth: usize, is_shared: bool) -> Answer {
        let opened = self.opened().map_err(|error| error.to_string())?;
        if !is_shared {
            return self.told(opened.csv(&queries[nth]));
        }
        let all = || -> Vec<Answer> {
            let names: Vec<&str> = queries.iter().map(String::as_str).collect();
            let tables = opened.tables(&names).into_iter();
            tables
                .map(|table| self.told(table.and_then(|table| opened.written(&table, Format::Csv))))
                .collect()
        };
        self.answers.get_or_init(all)[nth].clone()
    }

    fn opened(&self) -> Result<Rc<Opened>, Error> {
        OPENED.with_borrow_mut(|all| match all.get(&self.name) {
            Some(opened) => Ok(opened.clone()),
            None => {
                let opened = Rc::new(Opened::new(&self.path)?);
                all.insert(self.name.clone(), opened.clone());
                Ok(opened)
            }
        })
    }

    fn told(&self, answer: Result<String, Error>) -> Answer {
        match answer {
            // The name of a fixture has the version of its schema.
            Ok(csv) => {
                Ok(Some(csv.replace(self.path.file_name().unwrap().to_str().unwrap(), &self.name)))
            }
            Err(Error::LacksData { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// One trial per query and trace, two per query that check its golden as a whole, and one for all files.
///
/// A query has a session of its own, so that one that forgets to say what it reads fails. If all queries are asked, an
/// eighth of them have, on each trace others.
pub fn trials(are_all: bool) -> Vec<Trial> {
    let fixtures = Arc::new(Fixtures::new());
    let trace = |name: String| {
        let path = fixtures.trace(&name);
        Arc::new(Trace { name, path, answers: OnceLock::new() })
    };
    let all_traces: Vec<Arc<Trace>> = traces().into_iter().map(trace).collect();
    let all_queries = Arc::new(queries());
    let mut trials = vec![Trial::test("goldens_of_queries_only", goldens_of_queries_only)];
    for (nth, query) in all_queries.iter().cloned().enumerate() {
        for (place, trace) in all_traces.iter().enumerate() {
            let (fixtures, queries, trace) = (fixtures.clone(), all_queries.clone(), trace.clone());
            let is_shared = are_all && (nth + place + turn()) % 8 >= depth_of(8);
            let name = format!("{query}::{}", trace.name);
            trials.push(Trial::test(name, move || {
                // They are deleted after the last trial.
                let _fixtures = fixtures;
                compare(&queries[nth], &trace.name, trace.answer(&queries, nth, is_shared)?)
            }));
        }
        let name = format!("{query}::sections_of_fixtures_only");
        trials.push(Trial::test(name, {
            let query = query.clone();
            move || sections_of_fixtures_only(&query)
        }));
        let name = format!("{query}::has_rows_somewhere");
        trials.push(Trial::test(name, move || has_rows(&query)));
    }
    trials
}

pub fn is_blessing() -> bool {
    let is_wanted = std::env::var_os("NSQ_BLESS").is_some();
    assert!(!is_wanted || std::env::var_os("CI").is_none(), "NSQ_BLESS is not allowed in CI");
    is_wanted
}

fn bless(query: &str, change: impl FnOnce(&mut Golden)) {
    let _blessing = BLESSING.lock();
    let mut golden = Golden::read(query);
    change(&mut golden);
    golden.write(query);
}

/// Compares the golden with the answer. There is no section where the trace lacks the data.
fn compare(query: &str, trace: &str, got: Option<String>) -> Result<(), Failed> {
    if is_blessing() {
        bless(query, |golden| golden.set(trace, got.as_deref()));
        return Ok(());
    }
    let want = Golden::read(query).answer(trace);
    if got == want {
        return Ok(());
    }
    let show = |text: Option<String>| text.unwrap_or_else(|| "(exit 3: no data)".to_owned());
    let path = Golden::path(query);
    Err(format!("{}, {trace}\nwant:\n{}\ngot:\n{}", path.display(), show(want), show(got)).into())
}

/// A golden has no section of a fixture that was renamed or removed, or twice, or out of order: a merge
/// could leave one that no comparison reads.
fn sections_of_fixtures_only(query: &str) -> Result<(), Failed> {
    let known = traces();
    if is_blessing() {
        bless(query, |golden| golden.retain(&known));
        return Ok(());
    }
    let golden = Golden::read(query);
    if let Some(unknown) = golden.fixtures().find(|fixture| !known.iter().any(|trace| trace == fixture))
    {
        return Err(format!("{unknown} is not a trace in fixtures/traces").into());
    }
    let path = Golden::path(query);
    if path.exists() && std::fs::read_to_string(&path)? != golden.text() {
        return Err(format!("{}: not as NSQ_BLESS=1 writes it", path.display()).into());
    }
    Ok(())
}

/// No golden is left of a query that was renamed or removed, and the folder has nothing else.
fn goldens_of_queries_only() -> Result<(), Failed> {
    let known: Vec<_> = queries().iter().map(|query| Golden::path(query)).collect();
    let entries = std::fs::read_dir(Golden::folder())?.map(|entry| entry.map(|entry| entry.path()));
    for path in entries.collect::<Result<Vec<_>, _>>()? {
        if known.contains(&path) {
            continue;
        }
        if !is_blessing() {
            return Err(format!("{} is not the golden of a query", path.display()).into());
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Queries that compare reports, and have no rows for one: see `tests/suite/diff` and
/// `ranks.rs`.
const ROWS_FROM_SEVERAL: [&str; 11] = [
    "clock_steps",
    "collective_shifts",
    "diff_causes",
    "diff_clocks",
    "diff_place_times",
    "diff_places",
    "diff_regressions",
    "diff_replaced",
    "diff_rows",
    "diff_spots",
    "diff_whole",
];

/// Queries that have no rows without parameters. `tests/suite/answer.rs`, `classes.rs` and `findings/places.rs` test them.
const ROWS_FROM_PARAMETERS: [&str; 5] =
    ["interval_places", "iteration_ranges", "kernel_passes", "share_change", "timing_compare"];

/// Needs what no fixture has: element types, see `tests/suite/work.rs`, kernels that send, see
/// `tests/suite/pipelines.rs`, all-to-alls, see `tests/suite/ranks.rs`, or memory and Python calls of PyTorch and
/// operations of XLA, see `tests/suite/makers`.
const ROWS_FROM_TRACES: [&str; 12] = [
    "below_roofline",
    "job_experts",
    "memory_at_peak",
    "memory_bound_ops",
    "memory_by_range",
    "memory_over_time",
    "memory_peaks",
    "module_time",
    "point_to_point_waits",
    "python_line_time",
    "timeline_memory",
    "xla_op_sum",
];

/// Findings that only real reports, seeded faults, captures of `tests/suite/facts`, `recipes` and `steps`, or the example show: see
/// `tests/suite/findings.rs`.
const ROWS_ON_REAL_REPORTS: [&str; 40] = [
    "allocating_range",
    "blocking_launches",
    "collective_traffic",
    "compile_gaps",
    "compiled_regions",
    "contended_launches",
    "downloaded_gaps",
    "feeding_calls",
    "finding_gpus",
    "fp32_matmul",
    "freeing_gaps",
    "graph_building",
    "green_contexts",
    "idle_functions",
    "interpreter_waits",
    "job_hang",
    "kernel_trend",
    "late_collectives",
    "late_ranks",
    "lock_turns",
    "longest_collective",
    "main_collective",
    "metric_facts",
    "mpi_wait",
    "peer_wait",
    "peer_waits",
    "rank_wait",
    "recomputation",
    "shared_gpu",
    "slow_calls",
    "slow_steps",
    "small_collectives",
    "small_copies",
    "step_trend",
    "stream_turns",
    "tiny_kernels",
    "unequal_gpus",
    "unjudged_parts",
    "waited_ranges",
    "work_functions",
];

fn has_rows(query: &str) -> Result<(), Failed> {
    let elsewhere =
        [&ROWS_FROM_SEVERAL[..], &ROWS_FROM_PARAMETERS, &ROWS_FROM_TRACES, &ROWS_ON_REAL_REPORTS];
    if elsewhere.concat().contains(&query) {
        return Ok(());
    }
    if Golden::read(query).has_rows() {
        return Ok(());
    }
    Err("no golden has rows: add them to a trace in fixtures/traces".into())
}
