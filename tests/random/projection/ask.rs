//! Runs both SQL implementations in one session: nsq's relations, and the oracle over nsq's views.

use crate::projection::Reach;
use crate::projection::answer::{Answers, RELATIONS, Row, sort};
use nsq::catalog::Catalog;
use nsq::compile::{Plan, split_statements};
use nsq::error::Result;
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Scope};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use nsq::table::{ResultTable, Value};
use std::collections::HashMap;
use std::path::Path;

/// The compiled statements, which are the same for every report.
pub struct Asker {
    catalog: Catalog,
    scope: Scope,
    /// Creates the tables of the oracle.
    preamble: Vec<Plan>,
    /// The oracle's answers, in the order of [`RELATIONS`].
    oracle: Vec<Plan>,
    /// The answers of nsq's relations, in the same order.
    native: Vec<Plan>,
    /// The name and path ids of nsq's ranges and operations.
    names: Plan,
    range_keys: Plan,
    op_keys: Plan,
}

pub struct Answered {
    pub oracle: Answers,
    pub native: Answers,
    /// An inconsistency between nsq's own relations.
    pub contradiction: Option<String>,
}

impl Asker {
    pub fn new(reach: Reach) -> Self {
        let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
        let plan = |sql: &str, (file, line): (&str, usize)| {
            Plan::ad_hoc(sql, (file.to_owned(), line), &catalog)
        };
        let text = include_str!("oracle.sql");
        let line_of = |offset: usize| 1 + text[..offset].matches('\n').count();
        let mut script: Vec<Plan> = split_statements(text)
            .into_iter()
            .map(|(offset, sql)| plan(sql, ("oracle.sql", line_of(offset))))
            .collect();
        let oracle = script.split_off(script.len() - RELATIONS.len());
        let attribution = format!("CREATE TEMP TABLE attribution AS SELECT '{}' AS reach", reach.name());
        script.insert(0, plan(&attribution, ("attribution", 1)));
        let native = RELATIONS.iter().map(|relation| {
            let columns = relation.columns.join(", ");
            plan(&format!("SELECT {columns} FROM {}", relation.from), (relation.name, 1))
        });
        Self {
            scope: reach.scope(),
            preamble: script,
            oracle,
            native: native.collect(),
            names: plan("SELECT name_id, range_name FROM nvtx_name", ("nvtx_name", 1)),
            range_keys: plan(
                "SELECT range_id, name_id, path_id, range_name FROM nvtx_projection",
                ("names", 1),
            ),
            op_keys: plan("SELECT range_id, name_id, path_id FROM nvtx_op", ("names", 1)),
            catalog,
        }
    }

    pub fn ask(&self, path: &Path) -> Result<Answered> {
        let report = Report::open(path, &ExportOptions::default())?;
        let schema = Schema::detect(&report)?;
        let plans = self.preamble.iter().chain(&self.oracle).chain(&self.native);
        let plans = plans.chain([&self.names, &self.range_keys, &self.op_keys]);
        let roots = plans.flat_map(|plan| plan.reads.iter().map(String::as_str));
        let installation = normalize::plan(&schema, &self.catalog, &self.scope, roots)?;
        let limits = Limits::default();
        let session = Session::begin_script(report.connect()?, &installation, &self.preamble, &limits)?;
        let run = |plan: &Plan| -> Result<ResultTable> {
            let mut table = ResultTable::default();
            session.run(plan, &limits, &mut table)?;
            Ok(table)
        };
        let answers = |plans: &[Plan]| -> Result<Answers> {
            let tables = plans.iter().zip(&RELATIONS).map(|(plan, relation)| {
                let mut table = run(plan)?;
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                assert_eq!(names, relation.columns, "{}", relation.name);
                sort(&mut table.rows, relation.key);
                Ok(table.rows)
            });
            tables.collect()
        };
        Ok(Answered {
            oracle: answers(&self.oracle)?,
            native: answers(&self.native)?,
            contradiction: contradiction(
                &run(&self.names)?.rows,
                &run(&self.range_keys)?.rows,
                &run(&self.op_keys)?.rows,
            ),
        })
    }
}

/// Checks that each `name_id` of a range resolves to its name, and that operations have the ids of their
/// range.
fn contradiction(names: &[Row], ranges: &[Row], ops: &[Row]) -> Option<String> {
    let id = |value: &Value| match value {
        Value::Int(id) => Some(*id),
        _ => None,
    };
    let name_of: HashMap<_, _> = names.iter().map(|row| (id(&row[0]), &row[1])).collect();
    let keys_of: HashMap<_, _> = ranges.iter().map(|row| (id(&row[0]), &row[1..3])).collect();
    if names.len() != name_of.len() {
        return Some(format!("nvtx_name has a name_id twice: {names:?}"));
    }
    let misnamed = ranges.iter().find(|row| name_of.get(&id(&row[1])) != Some(&&row[3]));
    if let Some(row) = misnamed {
        return Some(format!("nvtx_projection and nvtx_name have different names: {row:?}, {names:?}"));
    }
    let none = [Value::Null, Value::Null];
    let expected = |row: &Row| id(&row[0]).map_or(&none[..], |range| keys_of[&Some(range)]);
    let strayed = ops.iter().find(|row| expected(row) != &row[1..3])?;
    Some(format!("nvtx_op and its range have different names or paths: {strayed:?}"))
}
