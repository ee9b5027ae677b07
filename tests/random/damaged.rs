//! Random captures with damaged rows: every figure is that of the capture without these rows.
//!
//! Every query of the library that has its data in these captures is asked, with three exceptions:
//! - `suspect_events` lists the damaged rows. They are compared with the rows that the test damaged.
//! - `capture_trust` has one row about the damaged rows, which is left out.
//! - `idle_doubt`, `findings`, and what reads them, `capture_trust` and `launch_outcomes` say whether launches have no
//!   work. If only an operation is deleted, its launch has none; if it is damaged, the launch has. So they are compared
//!   where the launches of damaged operations are damaged, too.
//!
//! NVIDIA's reports keep the rows that NVIDIA's tools keep. So queries with their names are asked without that, which
//! shows that their statements leave these rows to the relations.

use crate::projection::trace::{LARGE, Trace, definition};
use crate::support::tried;
use nsq::catalog::Catalog;
use nsq::compile::{Invocation, Layout, Plan};
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Presence, Scope};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use nsq::table::{ResultTable, Value};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Kinds of events, their tables, and whether a row may be at 0.
const TABLES: [(&str, &str, bool); 7] = [
    ("kernel", "CUPTI_ACTIVITY_KIND_KERNEL", false),
    ("memcpy", "CUPTI_ACTIVITY_KIND_MEMCPY", false),
    ("memset", "CUPTI_ACTIVITY_KIND_MEMSET", false),
    ("graph", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", false),
    ("sync", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", false),
    ("call", CALLS, false),
    ("range", "NVTX_EVENTS", true),
];
const CALLS: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as i64
    }
}

/// Statements that damage a row, of which some need not be at 0.
fn damage(random: &mut Random, may_be_at_zero: bool) -> &'static str {
    let forms = [
        "start = end + 1 + abs(random() % 1000)",
        "end = start + 1000000000000001",
        "start = 9223372036854775807 - (end - start), end = 9223372036854775807",
        "start = -9223372036854775807 - 1",
        "start = 0, end = 0",
    ];
    forms[random.below(forms.len() as i64 - i64::from(may_be_at_zero)) as usize]
}

/// A damaged row: its kind and its ID.
type Row = (String, i64);

/// Damages one row in a hundred. Returns the rows, and what deletes them from another copy.
fn damaged(connection: &Connection, seed: u64, with_launches: bool) -> (BTreeSet<Row>, String) {
    let (mut random, mut rows, mut deletes) = (Random(seed), BTreeSet::new(), String::new());
    for (kind, table, may_be_at_zero) in TABLES {
        let ranges = if may_be_at_zero { "WHERE eventType IN (59, 60) AND end IS NOT NULL" } else { "" };
        for id in ids(connection, &format!("SELECT rowid FROM {table} {ranges} ORDER BY rowid")) {
            if random.below(100) != 0 {
                continue;
            }
            let mut all = vec![(kind, table, id)];
            if with_launches && !["call", "range"].contains(&kind) {
                let calls = format!(
                    "SELECT call.rowid FROM {table} AS op JOIN {CALLS} AS call ON call.correlationId = op.correlationId \
                     AND call.globalTid >> 24 = op.globalPid >> 24 WHERE op.rowid = {id}"
                );
                all.extend(ids(connection, &calls).into_iter().map(|call| ("call", CALLS, call)));
            }
            for (kind, table, id) in all {
                if rows.insert((kind.to_owned(), id)) {
                    let form = damage(&mut random, may_be_at_zero);
                    let update = format!("UPDATE {table} SET {form} WHERE rowid = {id}");
                    connection.execute(&update, []).unwrap();
                    deletes += &format!("DELETE FROM {table} WHERE rowid = {id};");
                }
            }
        }
    }
    (rows, deletes)
}

/// The IDs that a statement selects; none if a table is missing.
fn ids(connection: &Connection, sql: &str) -> Vec<i64> {
    let Ok(mut statement) = connection.prepare(sql) else { return Vec::new() };
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A random capture, with synchronizations, in which nothing lies at 0.
fn write(path: &Path, seed: u64) {
    _ = std::fs::remove_file(path);
    Trace::random(4_000_000 + seed, LARGE).write(path);
    let connection = Connection::open(path).unwrap();
    let sync = TABLES[4].1;
    connection.execute_batch(&definition(sync)).unwrap();
    // Every third call waits.
    _ = connection.execute(
        &format!(
            "INSERT INTO {sync} (start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId) \
             SELECT start, end, 0, 1, 7, correlationId, globalTid & -16777216, 1 + rowid % 4, 0 FROM {CALLS} \
             WHERE rowid % 3 = 0 ORDER BY rowid"
        ),
        [],
    );
    for (_, table, _) in TABLES {
        _ = connection
            .execute(&format!("UPDATE {table} SET start = start + 10000, end = end + 10000"), []);
    }
}

/// Queries that say whether the work of launches is missing, or what is damaged.
const SAYS_WHAT_IS_MISSING: [&str; 4] = ["capture_trust", "launch_outcomes", "idle_doubt", "findings"];

/// Whether a query, or one that it asks, says whether the work of launches is missing.
fn says_what_is_missing(plan: &Plan) -> bool {
    let is_one = |name: &str| SAYS_WHAT_IS_MISSING.contains(&name);
    plan.query.as_ref().is_some_and(|(name, _)| is_one(name))
        || plan.findings.is_some()
        || plan.asks.iter().any(|asked| says_what_is_missing(&asked.plan))
}

/// The plan of a query on the relations that leave damaged rows out.
fn plan(catalog: &Catalog, name: &str) -> Plan {
    let mut invocation = Invocation::parse(name);
    if name == "attention_flops" {
        let shape = ["batch_size=2", "context_length=8", "num_heads=4", "d_head=16"].map(str::to_owned);
        invocation = invocation.with_params(&shape).unwrap();
    }
    let mut plan = Plan::new(catalog, &invocation, &Layout::Own).unwrap();
    as_others(&mut plan);
    plan
}

fn as_others(plan: &mut Plan) {
    plan.as_recorded = false;
    plan.asks.iter_mut().for_each(|asked| as_others(Arc::make_mut(&mut asked.plan)));
}

/// The rows of an answer, without those about damaged rows.
fn figures(name: &str, answer: &Result<ResultTable, String>) -> Result<Vec<Vec<Value>>, String> {
    let mut rows = answer.as_ref().map_err(String::clone)?.rows.clone();
    if name == "capture_trust" {
        rows.retain(|row| row[2] != Value::Text("impossible times".into()));
        // The place among the problems.
        rows.iter_mut().for_each(|row| row[0] = Value::Null);
    }
    Ok(rows)
}

/// The answers of all queries.
fn answers(
    catalog: &Catalog,
    path: &Path,
    with_launches: bool,
) -> Vec<(String, Result<ResultTable, String>)> {
    let report = Report::open(path, &ExportOptions::default()).unwrap();
    let schema = Schema::detect(&report).unwrap();
    let presence = Presence::new(&schema, catalog);
    let mut plans = Vec::new();
    for query in catalog.queries().unwrap() {
        let name = &query.header.name;
        let plan = plan(catalog, name);
        let is_asked = name != "suspect_events" && (with_launches || !says_what_is_missing(&plan));
        if is_asked && plan.check_presence(&presence, path).is_ok() {
            plans.push((name.clone(), plan));
        }
    }
    let roots = plans.iter().flat_map(|(_, plan)| plan.reads.iter().map(String::as_str));
    let installation = normalize::plan(&schema, catalog, &Scope::default(), roots).unwrap();
    let limits = Limits::default();
    let session = Session::begin(report.connect().unwrap(), &installation, &limits).unwrap();
    let answer = |(name, plan): (String, Plan)| {
        let answer = session.table(&plan, &limits).map_err(|error| error.to_string());
        (name, answer)
    };
    plans.into_iter().map(answer).collect()
}

#[test]
fn damaged_rows_change_no_figure_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    // The name of a report is in some answers.
    let [broken, without] = ["broken", "without"].map(|name| {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        folder.path().join(name).join("report.sqlite")
    });
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let (mut all, mut asked, mut differing) = (0, BTreeSet::new(), Vec::new());
    let seeds = tried(24);
    for seed in seeds.clone().map(|nth| nth as u64) {
        write(&broken, seed);
        write(&without, seed);
        let with_launches = seed % 2 == 0;
        let (damaged, deletes) = damaged(&Connection::open(&broken).unwrap(), seed, with_launches);
        Connection::open(&without).unwrap().execute_batch(&deletes).unwrap();
        all += damaged.len();
        let [of_broken, of_without] =
            [&broken, &without].map(|path| answers(&catalog, path, with_launches));
        for ((name, own), (_, expected)) in of_broken.iter().zip(&of_without) {
            let (own, expected) = (figures(name, own), figures(name, expected));
            if own != expected {
                differing.push(format!("seed {seed}: {name}\n  {own:?}\n  {expected:?}"));
            } else if own.is_ok() {
                asked.insert(name.clone());
            }
        }
        assert_eq!(suspects(&catalog, &broken), damaged, "seed {seed}");
        assert_eq!(suspects(&catalog, &without), BTreeSet::new(), "seed {seed}");
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(all >= 2 * seeds.count(), "{all}");
    // The others need tables that these captures lack, such as those of MPI or Vulkan.
    assert!(asked.len() > 100, "{asked:?}");
}

/// The rows of `suspect_event`.
fn suspects(catalog: &Catalog, path: &Path) -> BTreeSet<Row> {
    let report = Report::open(path, &ExportOptions::default()).unwrap();
    let schema = Schema::detect(&report).unwrap();
    let installation = normalize::plan(&schema, catalog, &Scope::default(), ["suspect_event"]).unwrap();
    let limits = Limits::default();
    let session = Session::begin(report.connect().unwrap(), &installation, &limits).unwrap();
    let sql = "SELECT event_kind, row_id FROM suspect_event";
    let plan = Plan::ad_hoc(sql, ("SQL".to_owned(), 1), catalog);
    let row = |row: Vec<Value>| match row.as_slice() {
        [Value::Text(kind), Value::Int(id)] => (kind.clone(), *id),
        other => panic!("{other:?}"),
    };
    session.table(&plan, &limits).unwrap().rows.into_iter().map(row).collect()
}
