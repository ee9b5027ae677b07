//! What a report can tell about each finding: its intervals, or what it lacks.

use super::findings::Findings;
use super::guard::Limits;
use super::session::{Session, is_same};
use crate::catalog::KnownBy;
use crate::compile::{AskedFinding, Plan};
use crate::error::{Error, Result};
use crate::schema::quote;
use crate::table::Value;
use rusqlite::Row;
use std::path::Path;

/// The report in the errors: the overview shows them beside its name.
const REPORT: &str = "REPORT";

impl Session {
    /// Asks all findings that the plan reads, in the order of their names. `None` if it reads none.
    pub(super) fn findings(&self, plan: &Plan, limits: &Limits) -> Result<Option<Findings>> {
        let Some(asked) = &plan.findings else { return Ok(None) };
        let mut findings = Findings::default();
        for asked in asked {
            let lack = self.lack_of(&asked.plan)?;
            if lack.is_none() {
                let answer = self.take_answer(&asked.plan, limits)?;
                findings.intervals.push((name_of(asked).to_owned(), answer));
            }
            findings.about.push(about_row(asked, lack));
        }
        Ok(Some(findings))
    }

    /// The error for the data that the report lacks for a plan.
    pub(super) fn lack_of(&self, plan: &Plan) -> Result<Option<Error>> {
        if let Some(absent) = self.absent_of(plan) {
            return Ok(Some(absent));
        }
        let Some(known_by) = &plan.known_by else { return Ok(None) };
        let unknown = || Error::LacksData {
            query: known_by.relation.clone(),
            needs: known_by.needs.clone(),
            report: Path::new(REPORT).to_owned(),
            detail: String::new(),
            help: known_by.help.clone(),
        };
        let is_known = if self.unknown.borrow().iter().any(|unknown| is_same(unknown, plan)) {
            false
        } else {
            self.known(plan).is_some() || self.has_rows(known_by)?
        };
        Ok((!is_known).then(unknown))
    }

    /// The error for a relation that the report lacks for a plan.
    pub(super) fn absent_of(&self, plan: &Plan) -> Option<Error> {
        let missing = |requirement: &String| {
            let mut lacks =
                requirement.split('|').map(|relation| self.installation.lacks.get(relation.trim()));
            let first = lacks.next().flatten()?;
            lacks.all(|lack| lack.is_some()).then_some(first)
        };
        let lack = plan.requires.iter().find_map(missing)?;
        Some(plan.lacks(lack, Path::new(REPORT)))
    }

    fn has_rows(&self, known_by: &KnownBy) -> Result<bool> {
        let condition = known_by.condition.as_deref().unwrap_or("true");
        let rows = format!("SELECT 1 FROM {} WHERE {condition}", quote(&known_by.relation));
        let statement = format!("SELECT EXISTS ({rows})");
        self.store_for(&statement)?;
        let first = |row: &Row<'_>| row.get(0);
        self.rights.with_all(&self.connection, || {
            let failed = |e| self.explain(&self.limits, e);
            self.connection.query_row(&statement, [], first).map_err(failed)
        })
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
    let texts = std::iter::once(name_of(asked).to_owned()).chain(asked.texts());
    texts.map(Value::Text).chain([needs, help]).collect()
}
