//! What a report can tell about each finding: its intervals, or what it lacks.

use super::findings::Findings;
use super::intervals::Intervals;
use super::limits::Limits;
use super::session::Session;
use crate::compile::{AskedFinding, Plan};
use foldhash::HashMap;
use nsq_library::catalog::{FINDING_WINDOWS, KnownBy};
use nsq_report::schema::quote;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;
use rusqlite::Row;
use std::path::Path;
use std::sync::Arc;

/// The report in the errors: the overview shows them beside its name.
const REPORT: &str = "REPORT";

impl Session {
    /// Asks all findings, in the order of their names, if the plan reads them. Each is asked once.
    pub(super) fn findings(&self, plan: &Plan, limits: &Limits) -> Result<Option<Arc<Findings>>> {
        let Some(asked) = &plan.findings else { return Ok(None) };
        if let Some(found) = self.found.get() {
            return Ok(Some(Arc::clone(found)));
        }
        let mut findings = Findings { windows: self.finding_windows()?, ..Findings::default() };
        for asked in asked.iter() {
            let lack = self.lack_of(&asked.plan)?;
            if lack.is_none() {
                let intervals = self.take_intervals(&asked.plan, limits)?;
                findings.push(name_of(asked).to_owned(), intervals);
            }
            findings.about.push(about_row(asked, lack));
        }
        Ok(Some(Arc::clone(self.found.get_or_init(|| Arc::new(findings)))))
    }

    /// The window of each GPU to which intervals are cut.
    fn finding_windows(&self) -> Result<HashMap<i64, (i64, i64)>> {
        // A GPU without work has no window.
        let statement =
            format!("SELECT gpu_id, start_ns, end_ns FROM {FINDING_WINDOWS} WHERE start_ns < end_ns");
        self.store_for(&statement)?;
        let failed = |e| self.explain(&self.limits, e);
        let mut statement = self.connection.prepare(&statement).map_err(failed)?;
        let window = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
        let windows = statement.query_map([], window).map_err(failed)?;
        windows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The intervals of a finding, which nothing else asks any more.
    fn take_intervals(&self, plan: &Plan, limits: &Limits) -> Result<Intervals> {
        let place = self.judged.borrow().iter().position(|(judged, _)| judged.is_same(plan));
        if let Some((_, Some(intervals))) =
            place.map(|place| self.judged.borrow_mut().swap_remove(place))
        {
            return Ok(intervals);
        }
        match self.known(plan) {
            Some(table) => {
                let mut intervals = Intervals::default();
                table.replay(&mut intervals)?;
                Ok(intervals)
            }
            None => self.intervals(plan, limits),
        }
    }

    /// For a finding that was asked ahead: whether the report can tell.
    pub(super) fn judgement(&self, plan: &Plan) -> Option<bool> {
        let judged = self.judged.borrow();
        judged.iter().find(|(judged, _)| judged.is_same(plan)).map(|(_, intervals)| intervals.is_some())
    }

    /// Asks for the intervals of a finding.
    pub(super) fn intervals(&self, plan: &Plan, limits: &Limits) -> Result<Intervals> {
        let mut intervals = Intervals::default();
        self.run(plan, limits, &mut intervals)?;
        Ok(intervals)
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
        let is_known = match self.judgement(plan) {
            Some(is_known) => is_known,
            None => self.known(plan).is_some() || self.has_rows(known_by)?,
        };
        Ok((!is_known).then(unknown))
    }

    /// The error for a relation that the report lacks for a plan.
    pub(super) fn absent_of(&self, plan: &Plan) -> Option<Error> {
        Some(plan.lacks(self.installation.lack_of(plan)?, Path::new(REPORT)))
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
