//! A page with the values of its parameters, and its answer.

use super::no_rows::NoRows;
use super::page_answer::{PageAnswer, PageTableAnswer};
use super::page_report::{PageReport, ReportInput};
use super::planned::{Planned, bind, fault, planned};
use super::template::{Templates, Trouble};
use super::values::{rows, to_json};
use crate::open_report::OpenReport;
use crate::partials::{Gathering, Partials, ReportAnswers};
use minijinja::Value;
use nsq_engine::compile::{Plan, words_among};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::Presence;
use nsq_library::catalog::{Catalog, ClassMaps, Page};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value as Cell};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A page with the values of its parameters, planned.
#[derive(Debug)]
pub struct PageRequest<'a> {
    catalog: &'a Catalog,
    page: &'a Page,
    /// The parameters as given, `key=value`.
    given: Vec<String>,
    templates: Templates,
    /// `params`, for templates and expressions.
    params: Value,
    tables: Vec<Planned<'a>>,
    partials: Partials,
    is_across: bool,
    /// The tables and facts that are used; `None`: all.
    used: Option<BTreeSet<String>>,
}

impl<'a> PageRequest<'a> {
    /// Plans the page `name`. `given` has the user's parameters, as `key=value`.
    pub fn new(
        catalog: &'a Catalog,
        name: &str,
        given: &[String],
        visible: fn(&str) -> String,
    ) -> Result<Self> {
        let page = catalog.page(name)?;
        if page.tables.is_empty() {
            return Err(Error::usage(
                format!("page {name} has questions, and no tables"),
                format!("ask them with `nsq answer REPORT --playbook {name}`"),
            ));
        }
        let params = bind(page, given)?;
        let templates = Templates::new(visible);
        let tables = planned(catalog, page, &templates, &params)?;
        let partials = Partials::of(tables.iter().map(|planned| &planned.plan));
        let is_across = tables.iter().any(|planned| planned.plan.across);
        let (given, used) = (given.to_owned(), None);
        Ok(Self { catalog, page, given, templates, params, tables, partials, is_across, used })
    }

    /// The page.
    pub fn page(&self) -> &Page {
        self.page
    }

    /// Asks only what is used: by a layout, or `None`: by the tables that are not hidden, and the facts.
    pub fn only_for(mut self, layout: Option<&str>) -> Self {
        // Any word may be a name: what a template binds in one place, it may use from outside in another.
        let all: Vec<_> = self.names().map(|name| (name.to_ascii_lowercase(), name)).collect();
        let known: HashSet<&str> = all.iter().map(|(lower, _)| lower.as_str()).collect();
        let names = |source: &str| {
            let words = words_among(source, |word| known.contains(word));
            let used = all.iter().filter(|(lower, _)| words.contains(lower));
            used.map(|(_, name)| name.clone()).collect::<Vec<_>>()
        };
        let mut used = BTreeSet::new();
        match layout {
            Some(layout) => {
                let parts = self.catalog.layouts(&self.page.name);
                let parts = parts.filter(|(name, _)| *name == layout || name.starts_with('_'));
                parts.for_each(|(_, layout)| used.extend(names(&layout.text)));
            }
            None => {
                let shown = self.page.tables.iter().filter(|table| !table.hidden);
                used.extend(shown.map(|table| table.name.clone()));
                used.extend(self.page.facts.iter().map(|fact| fact.name.clone()));
            }
        }
        let required = self.page.tables.iter().filter(|table| table.required.is_some());
        used.extend(required.map(|table| table.name.clone()));
        // Facts and headings use tables, and other facts. Each is read once.
        let facts = self.page.facts.iter().map(|fact| (&fact.name, &fact.expression));
        let headings =
            self.page.tables.iter().flat_map(|table| {
                table.title.iter().chain(&table.rows).map(|source| (&table.name, source))
            });
        let mut unread: Vec<(&String, &String)> = facts.chain(headings).collect();
        loop {
            let (open, rest): (Vec<_>, Vec<_>) =
                unread.into_iter().partition(|(name, _)| used.contains(*name));
            if open.is_empty() {
                break;
            }
            open.iter().for_each(|(_, source)| used.extend(names(source)));
            unread = rest;
        }
        self.tables.retain(|planned| used.contains(&planned.spec.name));
        self.partials = Partials::of(self.tables.iter().map(|planned| &planned.plan));
        self.used = Some(used);
        self
    }

    /// The names of all tables and facts.
    fn names(&self) -> impl Iterator<Item = String> {
        let tables = self.page.tables.iter().map(|table| table.name.clone());
        tables.chain(self.page.facts.iter().map(|fact| fact.name.clone()))
    }

    fn is_used(&self, name: &str) -> bool {
        self.used.as_ref().is_none_or(|used| used.contains(name))
    }

    /// The page's version.
    pub fn version(&self) -> u32 {
        self.page.version
    }

    /// Whether the page compares reports. If not, its facts and layouts are about one report.
    pub fn is_across(&self) -> bool {
        self.is_across
    }

    /// The queries that each report answers, each once.
    pub fn partials(&self) -> &[Plan] {
        self.partials.plans()
    }

    /// For each of [`PageRequest::partials`], the error if the report lacks its data.
    pub fn lacks(&self, open: &OpenReport, catalog: &Catalog) -> Result<Vec<Option<Error>>> {
        let presence = Presence::new(&open.schema, catalog);
        let lack = |plan: &Plan| match plan.check_presence(&presence, &open.report.path) {
            Ok(()) => Ok(None),
            Err(error @ Error::LacksData { .. }) => Ok(Some(error)),
            Err(error) => Err(error),
        };
        self.partials().iter().map(lack).collect()
    }

    /// The relations that a report needs for the partials whose data it has.
    pub fn roots(&self, lacks: &[Option<Error>]) -> Vec<&str> {
        self.roots_of(lacks, |_| true)
    }

    /// Those that it needs in a session about steps.
    pub fn roots_of_steps(&self, lacks: &[Option<Error>]) -> Vec<&str> {
        let about_whole = self.about_whole();
        self.roots_of(lacks, |place| !about_whole.contains(&place))
    }

    fn roots_of(&self, lacks: &[Option<Error>], is_meant: impl Fn(usize) -> bool) -> Vec<&str> {
        let partials = self.partials().iter().zip(lacks).enumerate();
        let present = partials.filter(|(place, (_, lack))| lack.is_none() && is_meant(*place));
        present.flat_map(|(_, (plan, _))| plan.reads.iter().map(String::as_str)).collect()
    }

    /// The places of the partials that are about the whole capture, also where steps are judged.
    fn about_whole(&self) -> BTreeSet<usize> {
        let about_whole = self.tables.iter().filter(|planned| planned.spec.whole);
        about_whole.flat_map(|planned| self.partials.places(&planned.plan)).collect()
    }

    /// Whether the page judges the steps after the warm-up, where a report has any and no scope is given.
    pub fn is_steady(&self) -> Result<bool> {
        let Some(expression) = &self.page.steady else { return Ok(false) };
        let context = BTreeMap::from([("params".to_owned(), self.params.clone())]);
        let is_steady = self.templates.value(expression, &context);
        Ok(is_steady.map_err(|trouble| fault(self.page, expression, trouble))?.is_true())
    }

    /// Stage one: the answers of a report. `whole` is its session without a scope, for tables about the whole capture. `lacks` has an entry for each of [`PageRequest::partials`]:
    /// the error if the report lacks its data.
    pub fn ask(
        &self,
        report: ReportInput,
        session: &Session,
        whole: Option<&Session>,
        lacks: Vec<Option<Error>>,
        limits: &Limits,
    ) -> Result<PageReport> {
        let own = match report.params.as_slice() {
            [] => None,
            own => Some(self.partials_with(own)?),
        };
        let partials = own.as_ref().unwrap_or(&self.partials).plans();
        let present = || partials.iter().enumerate().filter(|(place, _)| lacks[*place].is_none());
        let about_whole = self.about_whole();
        let session_of = |place: usize| match whole {
            Some(whole) if about_whole.contains(&place) => whole,
            _ => session,
        };
        let plans_of = |asked: &Session| -> Vec<&Plan> {
            let own = present().filter(|(place, _)| std::ptr::eq(session_of(*place), asked));
            own.map(|(_, plan)| plan).collect()
        };
        // Queries over answers go first: the session keeps the answers that they share with others, theirs included.
        let ask_over_answers = |asked: &Session| {
            let mut over_answers = plans_of(asked).into_iter().filter(|plan| plan.is_over_answers());
            over_answers.try_for_each(|plan| asked.ask(plan, limits).map(drop))
        };
        // One thread asks them, because most need the one before. What they do not need is asked meanwhile.
        match whole {
            Some(whole) => {
                session.ask_ahead(&plans_of(session), limits)?;
                whole.ask_ahead_while(&plans_of(whole), limits, || ask_over_answers(session))?;
                ask_over_answers(whole)?;
            }
            None => {
                let (over_answers, others): (Vec<&Plan>, Vec<&Plan>) =
                    plans_of(session).into_iter().partition(|plan| plan.is_over_answers());
                session.ask_ahead(&over_answers, limits)?;
                session.ask_ahead_while(&others, limits, || ask_over_answers(session))?;
            }
        }
        let mut tables = vec![None; partials.len()];
        for (place, plan) in present() {
            tables[place] = Some(session_of(place).take_answer(plan, limits)?);
        }
        let ReportInput { name, facts, .. } = report;
        Ok(PageReport { answers: ReportAnswers { name: name.clone(), tables }, name, lacks, facts })
    }

    /// Stage one for answers that are known: a table for each query, by name. A column that a table lacks is
    /// null.
    pub fn given(&self, report: ReportInput, tables: &BTreeMap<&str, ResultTable>) -> PageReport {
        let table = |plan: &Plan| {
            let table = tables.get(plan.query.as_ref()?.0.as_str())?;
            let place = |column: &Column| table.columns.iter().position(|own| own.name == column.name);
            let places: Vec<Option<usize>> = plan.columns.iter().map(place).collect();
            let row = |row: &Vec<Cell>| {
                places.iter().map(|place| place.map_or(Cell::Null, |place| row[place].clone())).collect()
            };
            Some(ResultTable {
                columns: plan.columns.clone(),
                rows: table.rows.iter().map(row).collect(),
            })
        };
        let tables: Vec<Option<ResultTable>> = self.partials().iter().map(table).collect();
        let lacks = tables.iter().map(|_| None).collect();
        let ReportInput { name, facts, .. } = report;
        PageReport { answers: ReportAnswers { name: name.clone(), tables }, name, lacks, facts }
    }

    /// The partials of a report with parameters of its own, in the order of those of all reports.
    fn partials_with(&self, own: &[String]) -> Result<Partials> {
        let given: Vec<String> = self.given.iter().chain(own).cloned().collect();
        let params = bind(self.page, &given)?;
        let tables = planned(self.catalog, self.page, &self.templates, &params)?;
        let used = tables.iter().filter(|planned| self.is_used(&planned.spec.name));
        Ok(Partials::of(used.map(|planned| &planned.plan)))
    }

    /// Collects the answers of reports, which [`PageRequest::gather_from`] adds.
    pub fn gather(&self) -> Result<Gathering> {
        let plans: Vec<&Plan> = self.tables.iter().map(|planned| &planned.plan).collect();
        self.partials.gather(&plans)
    }

    /// Moves the rows of the report at a place, from 0, to those that are collected.
    pub fn gather_from(
        &self,
        report: &mut PageReport,
        place: usize,
        gathering: &Gathering,
    ) -> Result<()> {
        gathering.add(place, Some(std::mem::take(&mut report.answers)))
    }

    /// Stage two: the page, from the answers of all reports.
    pub fn answer(
        &'a self,
        mut reports: Vec<PageReport>,
        classes: &ClassMaps,
        limits: &Limits,
    ) -> Result<std::result::Result<PageAnswer<'a>, NoRows<'a>>> {
        let gathering = self.gather()?;
        for (place, report) in reports.iter_mut().enumerate() {
            self.gather_from(report, place, &gathering)?;
        }
        self.answer_gathered(reports, gathering, classes, limits)
    }

    /// As [`PageRequest::answer`], of reports whose rows were collected.
    pub fn answer_gathered(
        &'a self,
        reports: Vec<PageReport>,
        gathering: Gathering,
        classes: &ClassMaps,
        limits: &Limits,
    ) -> Result<std::result::Result<PageAnswer<'a>, NoRows<'a>>> {
        let about = reports.iter().map(PageReport::to_value).collect::<Vec<Value>>();
        let mut context = BTreeMap::from([
            ("params".to_owned(), self.params.clone()),
            ("reports".to_owned(), Value::from(about)),
            ("nsq".to_owned(), Value::from(env!("CARGO_PKG_VERSION"))),
        ]);
        let several = reports.len() > 1;
        let lacks: Vec<_> = reports.into_iter().map(|report| report.lacks).collect();
        let plans: Vec<&Plan> = self.tables.iter().map(|planned| &planned.plan).collect();
        let names = several || self.is_across();
        let tables = self.partials.answer(&plans, gathering, names, classes, limits)?;
        for (Planned { spec, plan }, table) in self.tables.iter().zip(&tables) {
            if let (Some(what), true) = (&spec.required, table.rows.is_empty()) {
                let places = self.partials.places(plan);
                let of_plan = |report: Vec<Option<Error>>| {
                    report.into_iter().enumerate().filter(|(place, _)| places.contains(place))
                };
                let lack = lacks.into_iter().flat_map(of_plan).find_map(|(_, lack)| lack);
                return Ok(Err(NoRows { what, lack }));
            }
            context.insert(spec.name.clone(), rows(table, None));
        }
        let mut facts = serde_json::Map::new();
        for fact in self.page.facts.iter().filter(|fact| self.is_used(&fact.name)) {
            let result = match self.templates.value(&fact.expression, &context) {
                Ok(result) => result,
                Err(Trouble::NoAnswer(_)) => Value::from(()),
                Err(trouble) => return Err(fault(self.page, &fact.expression, trouble)),
            };
            facts.insert(fact.name.clone(), to_json(&result));
            context.insert(fact.name.clone(), result);
        }
        let answered = self.tables.iter().zip(tables);
        let tables = answered.map(|(planned, table)| self.shown(planned, table, &context));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        let mut notes: Vec<String> = Vec::new();
        let noted = |place: &usize| {
            self.tables.iter().any(|planned| {
                !planned.spec.optional && self.partials.places(&planned.plan).contains(place)
            })
        };
        let lacking = lacks.iter().flat_map(|report| report.iter().enumerate());
        for error in lacking.filter(|(place, _)| noted(place)).filter_map(|(_, lack)| lack.as_ref()) {
            let note = error.to_string().lines().next().unwrap_or_default().to_owned();
            notes.extend((!notes.contains(&note)).then_some(note));
        }
        for Planned { plan, .. } in tables.iter().zip(&self.tables).filter_map(|(table, planned)| {
            let is_empty = table.table.rows.is_empty() && !table.table.columns.is_empty();
            (is_empty && !planned.spec.optional).then_some(planned)
        }) {
            notes.extend(self.why_empty(plan));
        }
        let is_about_one = !several || self.is_across();
        if !is_about_one {
            facts.clear();
        }
        Ok(Ok(PageAnswer {
            catalog: self.catalog,
            page: self.page,
            templates: &self.templates,
            tables,
            context,
            facts,
            notes,
            is_about_one,
        }))
    }

    /// What it means that a query, or one that it asks, returned no rows.
    fn why_empty(&self, plan: &Plan) -> Option<String> {
        let (name, _) = plan.query.as_ref()?;
        let asked = plan.asks.iter().filter_map(|asked| asked.plan.query.as_ref());
        let mut names = std::iter::once(name).chain(asked.map(|(name, _)| name));
        let reason = names.find_map(|name| {
            self.catalog.query(name).ok().and_then(|query| query.header.when_empty.as_ref())
        })?;
        Some(format!("{name} returned no rows: {}", reason.trim_end_matches('.')))
    }

    fn shown(
        &'a self,
        Planned { spec, plan }: &'a Planned<'a>,
        table: ResultTable,
        context: &BTreeMap<String, Value>,
    ) -> Result<PageTableAnswer<'a>> {
        let title = match &spec.title {
            Some(source) => self.templates.parameter(source, context),
            None => Ok(plan.title.clone()),
        };
        let title = title.map_err(|trouble| fault(self.page, "title:", trouble))?;
        let rows = match &spec.rows {
            Some(source) => {
                let count = self.templates.value(source, context);
                let count = count.map_err(|trouble| fault(self.page, source, trouble))?;
                count.as_i64().and_then(|count| usize::try_from(count).ok())
            }
            None => None,
        };
        Ok(PageTableAnswer { name: &spec.name, title, plan, rows, hidden: spec.hidden, table })
    }
}
