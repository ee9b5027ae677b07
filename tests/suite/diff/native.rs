//! The verdict on steps that are known: the queries of the page, without reports and without a process.
//!
//! A pair takes a few milliseconds, so that hundreds can be compared. `calibration` shows that the command says the same.

use super::program::Window;
use nsq::catalog::Catalog;
use nsq::compile::{Invocation, Layout, Plan};
use nsq::execute::{Limits, Session, Shelf};
use nsq::table::{ResultTable, Value};
use std::collections::BTreeMap;

/// The queries from the windows to the verdict, in their order.
const QUERIES: [&str; 4] = ["diff_runs", "diff_whole", "diff_regressions", "diff_verdict"];

/// Judges pairs of sides at one limit.
pub struct Judge {
    catalog: Catalog,
    /// What a report answers: what it is, and its windows.
    partials: [Plan; 2],
    plans: Vec<Plan>,
    runs_a: usize,
}

/// What the verdict says.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub verdict: String,
    pub outcome: String,
    /// change_pct, noise_pct and detectable_pct; NaN for null.
    pub pcts: [f64; 3],
    pub runs_needed: Option<i64>,
}

impl Verdict {
    /// The smallest change that would have been found.
    pub fn size(&self) -> f64 {
        if self.pcts[2].is_nan() { f64::INFINITY } else { self.pcts[2] }
    }
}

impl Judge {
    pub fn new(runs_a: usize, gate: &str) -> Self {
        let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
        let plan = |name: &str, params: &[(&str, String)]| {
            let params =
                params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let invocation = Invocation { params, ..Invocation::parse(name) };
            Plan::new(&catalog, &invocation, &Layout::Own).unwrap()
        };
        let runs_of_a = ("runs_a", runs_a.to_string());
        let limit = ("gate", gate.to_owned());
        let plans = QUERIES.iter().map(|name| match *name {
            "diff_runs" | "diff_whole" => plan(name, std::slice::from_ref(&runs_of_a)),
            _ => plan(name, &[runs_of_a.clone(), limit.clone()]),
        });
        let plans = plans.collect();
        let partials = ["diff_side", "diff_windows"].map(|name| plan(name, &[]));
        Self { catalog, partials, plans, runs_a }
    }

    /// Compares runs of A with runs of B, each given by its steps without the warm-up.
    pub fn compare(&self, a: &[Vec<Window>], b: &[Vec<Window>]) -> Verdict {
        assert_eq!(a.len(), self.runs_a);
        let limits = Limits::default();
        let shelf = Shelf::new().unwrap();
        for plan in &self.partials {
            shelf.create(&partial(plan), plan).unwrap();
        }
        for (side, windows) in a.iter().chain(b).enumerate() {
            let answers = [vec![self.side()], windows.iter().map(|window| self.row(window)).collect()];
            for (plan, rows) in self.partials.iter().zip(answers) {
                let answer = ResultTable { columns: plan.columns.clone(), rows };
                shelf.add(&partial(plan), "a run", side, &answer).unwrap();
            }
        }
        let session = shelf.open(self.catalog.classes(), &limits).unwrap();
        let mut known: BTreeMap<&str, String> =
            self.partials.iter().map(|plan| (name_of(plan), partial(plan))).collect();
        for plan in &self.plans {
            let asked: Vec<Option<String>> =
                plan.asks.iter().map(|asked| known.get(asked.table.as_str()).cloned()).collect();
            let name = format!("answer of {}", name_of(plan));
            session.shelve(plan, &asked, &name, &limits).unwrap();
            known.insert(name_of(plan), name);
        }
        let last = self.plans.last().unwrap();
        read(&session, last, &known[name_of(last)], &limits)
    }

    /// A report of steps on one GPU.
    fn side(&self) -> Vec<Value> {
        let value = |name: &str| match name {
            "gpu_names" => Value::Text("GPU".to_owned()),
            "step_blocks" | "span_ns" => Value::Null,
            _ => Value::Int(0),
        };
        self.partials[0].columns.iter().map(|column| value(&column.name)).collect()
    }

    fn row(&self, window: &Window) -> Vec<Value> {
        let value = |name: &str| match name {
            "kind" | "layer_name" => Value::Text("step".to_owned()),
            "place" => Value::Int(window.step as i64),
            "window_ns" | "dur_ns" => Value::Int(window.time_ns),
            "compute_ns" => Value::Int(window.compute_ns),
            "exposed_memory_ns" => Value::Int(window.copies_ns),
            "idle_ns" => Value::Int(window.time_ns - window.compute_ns - window.copies_ns),
            "range_id" => Value::Int(1 + window.step as i64),
            _ => Value::Int(0),
        };
        self.partials[1].columns.iter().map(|column| value(&column.name)).collect()
    }
}

/// The table with the answers of all runs.
fn partial(plan: &Plan) -> String {
    format!("partial {}", name_of(plan))
}

fn name_of(plan: &Plan) -> &str {
    plan.query.as_ref().map(|(name, _)| name.as_str()).unwrap()
}

fn read(session: &Session, plan: &Plan, name: &str, limits: &Limits) -> Verdict {
    let mut table = ResultTable::default();
    session.shelved(plan, name, limits, &mut table).unwrap();
    let row = table.iter().next().unwrap();
    let text = |column: &str| row.text(column).unwrap().to_owned();
    Verdict {
        verdict: text("verdict"),
        outcome: text("outcome"),
        pcts: ["change_pct", "noise_pct", "detectable_pct"]
            .map(|column| row.real(column).unwrap_or(f64::NAN)),
        runs_needed: row.int("runs_needed"),
    }
}
