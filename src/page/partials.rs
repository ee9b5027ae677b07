//! What each report contributes to a set of queries, and the answers over all reports.

use crate::catalog::ClassMaps;
use crate::compile::Plan;
use crate::error::Result;
use crate::execute::{Limits, Partial, Session};
use crate::table::{Column, ResultTable, Type, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// The queries that every report answers, each once: most plans, and those that plans across reports ask.
#[derive(Debug)]
pub struct Partials {
    plans: Vec<Plan>,
}

/// The answers of one report to the queries of [`Partials`].
#[derive(Debug)]
pub struct ReportAnswers {
    /// Name of the report, as output shows it.
    pub name: String,
    /// Its rows, in the order of [`Partials::plans`]; `None` where it lacks the data.
    pub tables: Vec<Option<ResultTable>>,
}

impl Partials {
    /// What reports must answer for these plans.
    pub fn of<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Self {
        let mut partials = Vec::<Plan>::new();
        for one in plans.into_iter().flat_map(leaves) {
            if !partials.iter().any(|known| is_same(known, one)) {
                partials.push(one.clone());
            }
        }
        Self { plans: partials }
    }

    /// The queries, in the order in which they are asked.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The positions in [`Partials::plans`] of what a plan needs.
    pub fn places(&self, plan: &Plan) -> Vec<usize> {
        let place = |one| self.plans.iter().position(|known| is_same(known, one));
        leaves(plan).into_iter().filter_map(place).collect()
    }

    /// The answers of all plans over all reports, in the order of the plans. With `names_reports`, rows
    /// of several reports begin with the column `report`. A table without columns: every report lacks
    /// the data.
    pub fn answer(
        &self,
        plans: &[&Plan],
        mut reports: Vec<ReportAnswers>,
        names_reports: bool,
        classes: &ClassMaps,
        limits: &Limits,
    ) -> Result<Vec<ResultTable>> {
        let mut answers: Vec<ResultTable> = plans.iter().map(|_| ResultTable::default()).collect();
        let across =
            Across { partials: self, reports: &reports, known: RefCell::default(), classes, limits };
        for (plan, answer) in plans.iter().zip(&mut answers).filter(|(plan, _)| plan.across) {
            *answer = ResultTable::clone(&*across.answer(plan)?);
        }
        for (index, plan) in plans.iter().enumerate().filter(|(_, plan)| !plan.across) {
            let Some(&place) = self.places(plan).first() else { continue };
            // Only the last table of the same query may take the rows away.
            let is_last = !plans[index + 1..].iter().any(|later| is_same(later, plan));
            for report in &mut reports {
                let table = match is_last {
                    true => report.tables[place].take(),
                    false => report.tables[place].clone(),
                };
                append(&mut answers[index], &report.name, table, names_reports);
            }
        }
        Ok(answers)
    }
}

/// The plans that a report answers for a plan: the plan itself, or those that it asks across reports.
fn leaves(plan: &Plan) -> Vec<&Plan> {
    match plan.across {
        true => plan.asks.iter().flat_map(|asked| leaves(&asked.plan)).collect(),
        false => vec![plan],
    }
}

/// Answers plans across reports.
struct Across<'a> {
    partials: &'a Partials,
    reports: &'a [ReportAnswers],
    /// What was asked before.
    known: RefCell<Vec<(Plan, Rc<ResultTable>)>>,
    classes: &'a ClassMaps,
    limits: &'a Limits,
}

impl Across<'_> {
    /// The answer of a plan, after those that it asks. Without columns: every report lacks the data.
    fn answer(&self, plan: &Plan) -> Result<Rc<ResultTable>> {
        if let Some((_, known)) = self.known.borrow().iter().find(|(known, _)| is_same(known, plan)) {
            return Ok(Rc::clone(known));
        }
        let mut asked = Vec::new();
        for one in plan.asks.iter().filter(|asked| asked.plan.across) {
            asked.push(self.answer(&one.plan)?);
        }
        let mut asked = asked.iter().map(Rc::as_ref);
        let over: Vec<Vec<Partial<'_>>> = plan
            .asks
            .iter()
            .map(|one| match one.plan.across {
                true => asked
                    .next()
                    .filter(|table| !table.columns.is_empty())
                    .map(whole)
                    .into_iter()
                    .collect(),
                false => self
                    .partials
                    .places(&one.plan)
                    .first()
                    .map_or_else(Vec::new, |place| of_all(self.reports, *place)),
            })
            .collect();
        let mut answer = ResultTable::default();
        if over.iter().any(|partials| !partials.is_empty()) {
            let session = Session::over(plan, &over, None, self.classes, self.limits)?;
            session.run_statement(plan, self.limits, &mut answer)?;
        }
        let answer = Rc::new(answer);
        self.known.borrow_mut().push((plan.clone(), Rc::clone(&answer)));
        Ok(answer)
    }
}

/// An answer across reports, which names its reports in columns of its own.
fn whole(table: &ResultTable) -> Partial<'_> {
    Partial { report: "", side: 0, table }
}

/// Whether both plans are the same query with the same parameters.
fn is_same(a: &Plan, b: &Plan) -> bool {
    a.query == b.query && a.sql == b.sql && a.bindings == b.bindings
}

/// The answers of all reports to the query at a place.
fn of_all(reports: &[ReportAnswers], place: usize) -> Vec<Partial<'_>> {
    let mut partials = Vec::new();
    for (side, report) in reports.iter().enumerate() {
        if let Some(Some(table)) = report.tables.get(place) {
            partials.push(Partial { report: &report.name, side, table });
        }
    }
    partials
}

/// Adds the rows of a report to those of the reports before it.
fn append(all: &mut ResultTable, report: &str, table: Option<ResultTable>, names_reports: bool) {
    let Some(table) = table else { return };
    let origin = || names_reports.then(|| Value::Text(report.to_owned()));
    if all.columns.is_empty() {
        let column = Column {
            kind: Type::Text,
            priority: 0,
            doc: "Report that the row comes from.".to_owned(),
            ..Column::untyped("report")
        };
        all.columns = names_reports.then_some(column).into_iter().chain(table.columns).collect();
    }
    all.rows
        .extend(table.rows.into_iter().map(|row| origin().into_iter().chain(row).collect::<Vec<_>>()));
}
