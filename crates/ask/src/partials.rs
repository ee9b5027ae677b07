//! What each report contributes to a set of queries, and the answers over all reports.

use nsq_engine::compile::{Asked, Plan};
use nsq_engine::execute::{Limits, Session, Shelf};
use nsq_library::catalog::ClassMaps;
use nsq_value::error::Result;
use nsq_value::table::{Column, ResultTable, Type, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The queries that every report answers, each once: most plans, and those that plans across reports ask.
#[derive(Debug)]
pub struct Partials {
    plans: Vec<Plan>,
}

/// The answers of one report to the queries of [`Partials`].
#[derive(Debug, Default)]
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
            if !partials.iter().any(|known| known.is_same(one)) {
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
        let place = |one| self.plans.iter().position(|known| known.is_same(one));
        leaves(plan).into_iter().filter_map(place).collect()
    }

    /// Collects the answers of reports for these plans.
    pub fn gather(&self, plans: &[&Plan]) -> Result<Gathering> {
        let of_kind = |across: bool| {
            let plans = plans.iter().filter(|plan| plan.across == across);
            let places: BTreeSet<usize> = plans.flat_map(|plan| self.places(plan)).collect();
            (0..self.plans.len()).map(|place| places.contains(&place)).collect::<Vec<bool>>()
        };
        let (asked, shown) = (of_kind(true), of_kind(false));
        let shelf = Shelf::new()?;
        for (place, plan) in self.plans.iter().enumerate().filter(|(place, _)| asked[*place]) {
            shelf.create(&table_of(place), plan)?;
        }
        let has_data = vec![false; self.plans.len()];
        let gathered =
            Gathered { shelf, has_data, reports: Vec::new(), waiting: BTreeMap::new(), next: 0 };
        Ok(Gathering { asked, shown, gathered: Mutex::new(gathered) })
    }

    /// The answers of all plans over all reports, in the order of the plans. With `names_reports`, rows
    /// of several reports begin with the column `report`. A table without columns: every report lacks
    /// the data.
    pub fn answer(
        &self,
        plans: &[&Plan],
        gathering: Gathering,
        names_reports: bool,
        classes: &ClassMaps,
        limits: &Limits,
    ) -> Result<Vec<ResultTable>> {
        let mut answers: Vec<ResultTable> = plans.iter().map(|_| ResultTable::default()).collect();
        let gathered = gathering.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Gathered { shelf, has_data, mut reports, .. } = gathered;
        if plans.iter().any(|plan| plan.across) {
            let session = shelf.open(classes, limits)?;
            let across = Across { partials: self, has_data, session, known: RefCell::default(), limits };
            for (plan, answer) in plans.iter().zip(&mut answers).filter(|(plan, _)| plan.across) {
                if let Some(table) = across.answer(plan)? {
                    across.session.shelved(plan, &table, limits, answer)?;
                }
            }
        }
        for (index, plan) in plans.iter().enumerate().filter(|(_, plan)| !plan.across) {
            let Some(&place) = self.places(plan).first() else { continue };
            // Only the last table of the same query may take the rows away.
            let is_last = !plans[index + 1..].iter().any(|later| later.is_same(plan));
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

/// The answers of reports, from any number of threads. Rows for queries across reports go to a shelf, so that memory
/// does not grow with them.
#[derive(Debug)]
pub struct Gathering {
    /// Which of the partials queries across reports ask.
    asked: Vec<bool>,
    /// Which are shown themselves.
    shown: Vec<bool>,
    gathered: Mutex<Gathered>,
}

#[derive(Debug)]
struct Gathered {
    shelf: Shelf,
    /// Which partials have the answer of a report.
    has_data: Vec<bool>,
    /// The reports with their answers that are shown.
    reports: Vec<ReportAnswers>,
    /// Reports that came before their turn: the order of rows is that of the reports.
    waiting: BTreeMap<usize, Option<ReportAnswers>>,
    /// Whose turn it is.
    next: usize,
}

impl Gathering {
    /// Adds the answers of the report at a place, from 0, or says that it has none. Each place must be added once.
    pub fn add(&self, place: usize, report: Option<ReportAnswers>) -> Result<()> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.waiting.insert(place, report);
        loop {
            let next = gathered.next;
            let Some(report) = gathered.waiting.remove(&next) else { return Ok(()) };
            gathered.next += 1;
            if let Some(report) = report {
                self.keep(&mut gathered, report)?;
            }
        }
    }

    fn keep(&self, gathered: &mut Gathered, mut report: ReportAnswers) -> Result<()> {
        let side = gathered.reports.len();
        for (place, table) in report.tables.iter_mut().enumerate() {
            if let (true, Some(answer)) = (self.asked[place], &*table) {
                gathered.shelf.add(&table_of(place), &report.name, side, answer)?;
                gathered.has_data[place] = true;
            }
            if !self.shown[place] {
                *table = None;
            }
        }
        gathered.reports.push(report);
        Ok(())
    }
}

/// The table of a shelf for the partials at a place.
fn table_of(place: usize) -> String {
    format!("partial {place}")
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
    has_data: Vec<bool>,
    session: Session,
    /// What was asked before, and its table.
    known: RefCell<Vec<(Plan, Option<String>)>>,
    limits: &'a Limits,
}

impl Across<'_> {
    /// The table of the shelf with the answer of a plan, after those that it asks. `None`: every report lacks the data.
    fn answer(&self, plan: &Plan) -> Result<Option<String>> {
        if let Some((_, table)) = self.known.borrow().iter().find(|(known, _)| known.is_same(plan)) {
            return Ok(table.clone());
        }
        let table = |asked: &Asked| match asked.plan.across {
            true => self.answer(&asked.plan),
            false => {
                let place = self.partials.places(&asked.plan).first().copied();
                Ok(place.filter(|place| self.has_data[*place]).map(table_of))
            }
        };
        let asked = plan.asks.iter().map(table).collect::<Result<Vec<_>>>()?;
        let mut answer = None;
        if asked.iter().any(Option::is_some) {
            let name = format!("answer {}", self.known.borrow().len());
            self.session.shelve(plan, &asked, &name, self.limits)?;
            answer = Some(name);
        }
        self.known.borrow_mut().push((plan.clone(), answer.clone()));
        Ok(answer)
    }
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
