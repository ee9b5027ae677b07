//! One of the two reports of a comparison, and the rows of its queries.

use crate::catalog::Catalog;
use crate::cli::opened::Opened;
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::{Presence, Scope};
use crate::table::{ResultTable, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// One of the two reports, and how to query it.
pub(super) struct InputReport<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) opened: &'a Opened,
    pub(super) limits: &'a Limits,
    /// A or B.
    pub(super) label: &'static str,
    /// Notes of the relations about data they could not follow, each once.
    pub(super) notes: RefCell<BTreeSet<String>>,
}

/// The rows of a query, and its name.
pub(super) struct Rows(ResultTable, &'static str);

impl InputReport<'_> {
    /// Runs queries; `None` for a query whose data the report lacks.
    pub(super) fn ask(
        &self,
        scope: &Scope,
        queries: &[(&'static str, Vec<String>)],
    ) -> Result<Vec<Option<Rows>>> {
        let presence = Presence::new(&self.opened.schema, self.catalog);
        let mut plans = Vec::new();
        for (name, params) in queries {
            let invocation = Invocation::parse(name).with_params(params)?;
            let plan = Plan::new(self.catalog, &invocation, &Layout::Own)?;
            plans.push(match plan.check_presence(&presence, &self.opened.report.path) {
                Ok(()) => Some(plan),
                Err(Error::LacksData { .. }) => None,
                Err(error) => return Err(error),
            });
        }
        if plans.iter().flatten().next().is_none() {
            return Ok(plans.iter().map(|_| None).collect());
        }
        let roots = plans.iter().flatten().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let (session, notes) = self.opened.begin(self.catalog, scope, roots, self.limits)?;
        self.notes.borrow_mut().extend(notes);
        let mut answers = Vec::new();
        for (plan, (name, _)) in plans.iter().zip(queries) {
            answers.push(match plan {
                Some(plan) => Some(Rows(session.table(plan, self.limits)?, name)),
                None => None,
            });
        }
        Ok(answers)
    }
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.0.rows.len()
    }

    fn column<T>(&self, name: &str, value: impl Fn(&Value) -> T) -> Result<Vec<T>> {
        let place = self.0.columns.iter().position(|column| column.name == name);
        let place = place.ok_or_else(|| {
            Error::usage(
                format!("your query {} replaces the built-in one and lacks the column {name}", self.1),
                "add the column, or leave out --queries and NSQ_PATH",
            )
        })?;
        Ok(self.0.rows.iter().map(|row| value(&row[place])).collect())
    }

    pub(super) fn ints(&self, name: &str) -> Result<Vec<Option<i64>>> {
        self.column(name, |value| match value {
            Value::Int(int) => Some(*int),
            _ => None,
        })
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<Option<String>>> {
        self.column(name, |value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub(super) fn reals(&self, name: &str) -> Result<Vec<Option<f64>>> {
        self.column(name, |value| match value {
            Value::Int(int) => Some(*int as f64),
            Value::Real(real) => Some(*real),
            _ => None,
        })
    }
}
