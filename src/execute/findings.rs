//! The tables of `asks: [{kind: finding}]`: the intervals of all findings, and a row about each finding.

use super::Session;
use super::guard::Limits;
use crate::catalog::FINDING_COLUMNS;
use crate::compile::{AskedFinding, FINDING_ABOUT, Plan};
use crate::error::{Error, Result};
use crate::table::{Column, ResultTable, Value};
use std::path::Path;

/// The tables without rows.
pub(super) fn empty(plan: &Plan) -> Vec<ResultTable> {
    let table = |names: Vec<&str>| ResultTable {
        columns: names.into_iter().map(Column::untyped).collect(),
        rows: Vec::new(),
    };
    let intervals = ["query"].into_iter().chain(FINDING_COLUMNS).collect();
    match plan.findings {
        None => Vec::new(),
        Some(_) => vec![table(intervals), table(FINDING_ABOUT.to_vec())],
    }
}

impl Session {
    /// Asks all findings that the plan reads, in the order of their names.
    pub(super) fn findings(&self, plan: &Plan, limits: &Limits) -> Result<Vec<ResultTable>> {
        let mut tables = empty(plan);
        let [intervals, about] = tables.as_mut_slice() else { return Ok(tables) };
        for asked in plan.findings.iter().flatten() {
            let lack = self.lack_of(&asked.plan);
            if lack.is_none() {
                self.add_intervals(asked, limits, intervals)?;
            }
            about.rows.push(about_row(asked, lack));
        }
        Ok(tables)
    }

    /// The error for the data that the report lacks for a plan.
    pub(super) fn lack_of(&self, plan: &Plan) -> Option<Error> {
        let missing = |requirement: &String| {
            let mut lacks =
                requirement.split('|').map(|relation| self.installation.lacks.get(relation.trim()));
            let first = lacks.next().flatten()?;
            lacks.all(|lack| lack.is_some()).then_some(first)
        };
        let lack = plan.requires.iter().find_map(missing)?;
        Some(plan.lacks(lack, Path::new("REPORT")))
    }

    fn add_intervals(
        &self,
        asked: &AskedFinding,
        limits: &Limits,
        intervals: &mut ResultTable,
    ) -> Result<()> {
        let answer = self.ask(&asked.plan, limits)?;
        let name = Value::Text(name_of(asked).to_owned());
        let place = |name: &&str| answer.columns.iter().position(|column| column.name == **name);
        let places: Vec<usize> = FINDING_COLUMNS.iter().filter_map(place).collect();
        intervals.rows.extend(answer.rows.iter().map(|row| {
            let own = places.iter().map(|place| row[*place].clone());
            std::iter::once(name.clone()).chain(own).collect::<Vec<Value>>()
        }));
        Ok(())
    }
}

fn name_of(asked: &AskedFinding) -> &str {
    asked.plan.query.as_ref().map_or("", |(name, _)| name)
}

fn about_row(asked: &AskedFinding, lack: Option<Error>) -> Vec<Value> {
    let (needs, help) = match lack {
        Some(Error::LacksData { needs, help, .. }) => (Value::Text(needs), Value::Text(help)),
        _ => (Value::Null, Value::Null),
    };
    let texts = std::iter::once(name_of(asked)).chain(asked.texts());
    texts.map(|text| Value::Text(text.to_owned())).chain([needs, help]).collect()
}
