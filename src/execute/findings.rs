//! The tables of `asks: [{kind: finding}]`: the intervals of all findings, and a row about each finding.

use super::Session;
use super::guard::Limits;
use super::table_writer::Insert;
use crate::catalog::{FINDING_COLUMNS, FINDING_TABLES, KnownBy};
use crate::compile::{AskedFinding, FINDING_ABOUT, Plan};
use crate::error::{Error, Result};
use crate::schema::quote;
use crate::table::{ResultTable, Value};
use rusqlite::{Connection, Row};
use std::path::Path;

/// The answers of all findings that a plan reads.
#[derive(Debug, Default)]
pub struct Findings {
    /// Each finding that the report has data for, and its rows.
    intervals: Vec<(String, ResultTable)>,
    /// A row about each finding, with the columns [`FINDING_ABOUT`].
    about: Vec<Vec<Value>>,
}

impl Findings {
    /// Creates the tables.
    pub(super) fn create(&self, connection: &Connection) -> Result<()> {
        let [intervals, about] = FINDING_TABLES;
        let columns = std::iter::once("query").chain(FINDING_COLUMNS);
        let mut insert = Insert::create(connection, intervals, columns)?;
        for (name, table) in &self.intervals {
            let name = Value::Text(name.clone());
            let place = |name: &&str| table.columns.iter().position(|column| column.name == **name);
            let places: Vec<usize> = FINDING_COLUMNS.iter().filter_map(place).collect();
            for row in &table.rows {
                insert.row(std::iter::once(&name).chain(places.iter().map(|&place| &row[place])))?;
            }
        }
        let mut insert = Insert::create(connection, about, FINDING_ABOUT.into_iter())?;
        self.about.iter().try_for_each(|row| insert.row(row.iter()))
    }
}

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
        let missing = |requirement: &String| {
            let mut lacks =
                requirement.split('|').map(|relation| self.installation.lacks.get(relation.trim()));
            let first = lacks.next().flatten()?;
            lacks.all(|lack| lack.is_some()).then_some(first)
        };
        let report = Path::new("REPORT");
        if let Some(lack) = plan.requires.iter().find_map(missing) {
            return Ok(Some(plan.lacks(lack, report)));
        }
        let Some(known_by) = &plan.known_by else { return Ok(None) };
        let unknown = || Error::LacksData {
            query: known_by.relation.clone(),
            needs: known_by.needs.clone(),
            report: report.to_owned(),
            detail: String::new(),
            help: known_by.help.clone(),
        };
        Ok((!self.has_rows(known_by)?).then(unknown))
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
