//! Random captures with damaged rows: every figure is that of the capture without these rows.

use crate::projection::trace::{LARGE, Trace};
use crate::support::depth_of;
use nsq::catalog::{Catalog, Kind};
use nsq::compile::{Invocation, Layout, Plan};
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Presence, Scope};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use nsq::table::{ResultTable, Value};
use rusqlite::Connection;
use std::path::Path;

/// Tables with events, and whether a row may be at 0.
const TABLES: [(&str, bool); 5] = [
    ("CUPTI_ACTIVITY_KIND_KERNEL", false),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", false),
    ("CUPTI_ACTIVITY_KIND_MEMSET", false),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", false),
    ("NVTX_EVENTS", true),
];

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

/// Damages one row in a hundred, and at least one. Returns how many, and what deletes them from another copy.
fn damaged(connection: &Connection, seed: u64) -> (i64, String) {
    let (mut random, mut count, mut deletes) = (Random(seed), 0, String::new());
    for (table, may_be_at_zero) in TABLES {
        let ranges = if may_be_at_zero { "WHERE eventType IN (59, 60) AND end IS NOT NULL" } else { "" };
        let ids = format!("SELECT rowid FROM {table} {ranges} ORDER BY rowid");
        let Ok(mut statement) = connection.prepare(&ids) else { continue };
        let ids: Vec<i64> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for id in ids {
            if random.below(100) == 0 {
                let form = damage(&mut random, may_be_at_zero);
                connection
                    .execute(&format!("UPDATE {table} SET {form} WHERE rowid = {id}"), [])
                    .unwrap();
                deletes += &format!("DELETE FROM {table} WHERE rowid = {id};");
                count += 1;
            }
        }
    }
    (count, deletes)
}

/// The answers of all queries that see no damaged rows.
fn answers(catalog: &Catalog, path: &Path) -> Vec<(String, Result<ResultTable, String>)> {
    let report = Report::open(path, &ExportOptions::default()).unwrap();
    let schema = Schema::detect(&report).unwrap();
    let presence = Presence::new(&schema, catalog);
    let mut plans = Vec::new();
    for query in catalog.readable_queries() {
        let header = &query.header;
        // These say what is damaged, or whether the work of launches is missing.
        let tells = ["capture_trust", "suspect_events", "launch_outcomes", "idle_doubt", "findings"]
            .contains(&header.name.as_str());
        let is_asked = !header.across && !tells && (header.nsys.is_none() || header.kind == Kind::Rule);
        let Ok(plan) = Plan::new(catalog, &Invocation::parse(&header.name), &Layout::Own) else {
            continue;
        };
        if is_asked && plan.check_presence(&presence, path).is_ok() {
            plans.push((header.name.clone(), plan));
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
    let [broken, without] = ["broken", "without"].map(|name| folder.path().join(name));
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let mut all = 0;
    for seed in 0..depth_of(40) as u64 {
        for path in [&broken, &without] {
            _ = std::fs::remove_file(path);
            Trace::random(4_000_000 + seed, LARGE).write(path);
            let connection = Connection::open(path).unwrap();
            // Nothing that is not damaged lies at 0.
            for (table, _) in TABLES {
                _ = connection.execute(
                    &format!("UPDATE {table} SET start = start + 10000, end = end + 10000"),
                    [],
                );
            }
        }
        let (count, deletes) = damaged(&Connection::open(&broken).unwrap(), seed);
        Connection::open(&without).unwrap().execute_batch(&deletes).unwrap();
        all += count;
        let [of_broken, of_without] = [&broken, &without].map(|path| answers(&catalog, path));
        assert!(of_broken.len() > 50);
        for ((name, own), (_, expected)) in of_broken.iter().zip(&of_without) {
            let rows = |answer: &Result<ResultTable, String>| {
                answer.as_ref().map(|table| table.rows.clone()).map_err(String::clone)
            };
            assert_eq!(rows(own), rows(expected), "seed {seed}: {name}");
        }
        assert_eq!(counted(&catalog, &broken), count, "seed {seed}");
        assert_eq!(counted(&catalog, &without), 0, "seed {seed}");
    }
    assert!(all >= 20, "{all}");
}

/// The number of rows of `suspect_event`.
fn counted(catalog: &Catalog, path: &Path) -> i64 {
    let report = Report::open(path, &ExportOptions::default()).unwrap();
    let schema = Schema::detect(&report).unwrap();
    let installation = normalize::plan(&schema, catalog, &Scope::default(), ["suspect_event"]).unwrap();
    let limits = Limits::default();
    let session = Session::begin(report.connect().unwrap(), &installation, &limits).unwrap();
    let plan = Plan::ad_hoc("SELECT count(*) FROM suspect_event", ("SQL".to_owned(), 1), catalog);
    match session.table(&plan, &limits).unwrap().rows[0][0] {
        Value::Int(count) => count,
        ref other => panic!("{other:?}"),
    }
}
