//! The open reports of one call, and the queries that run on them.

use super::super::planned::fault;
use super::super::template::Trouble;
use super::super::values::rows;
use super::command::command;
use super::pattern_matches::{Found, Missing, RangeName};
use super::ranges::Ranges;
use super::reply::{PatternMatch, Reply, globs_of};
use super::request::Questions;
use super::stop::Stop;
use crate::open_report::OpenReport;
use minijinja::Value;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{Attribute, Presence, Scope};
use nsq_engine::scope::ScopeText;
use nsq_library::catalog::{Ask, Attribution, PatternUse};
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value as Cell};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// The query that lists the range names of a report.
const RANGE_NAMES: &str = "range_names";

/// The variables of templates.
pub(super) type Context = BTreeMap<String, Value>;

/// The open reports, and the queries that are not asked yet.
pub(super) struct Asking<'q, 'a> {
    pub(super) questions: &'q Questions<'a>,
    reports: Vec<Asked<'q>>,
    limits: &'q Limits,
    /// The queries of each piece of an answer that is left, or why it has none.
    prepared: VecDeque<Result<Vec<Ready<'a>>, Stop>>,
}

/// A report, and what is known of its ranges.
struct Asked<'q> {
    open: &'q OpenReport,
    /// Its ranges. `None`: not read yet.
    ranges: Option<Ranges>,
    /// The ranges of each pattern that was looked up.
    found: BTreeMap<String, std::result::Result<Found, Missing>>,
}

/// A query with its scope, but without its parameters.
pub(super) struct Ready<'a> {
    ask: &'a Ask,
    text: ScopeText,
    within: Rc<Within>,
    ranges: Vec<PatternMatch>,
}

/// A scope of a report. Its session knows what was asked before, and ends with the last of its queries.
struct Within {
    report_index: usize,
    scope: Scope,
    /// The relations that its queries read.
    roots: RefCell<BTreeSet<String>>,
    session: OnceCell<Session>,
}

impl<'q, 'a> Asking<'q, 'a> {
    /// Prepares all queries before the first is asked, so that those with the same report and scope share a session.
    pub(super) fn new(
        questions: &'q Questions<'a>,
        opened: &[&'q OpenReport],
        limits: &'q Limits,
    ) -> Self {
        let asked = |open: &&'q OpenReport| Asked { open, ranges: None, found: BTreeMap::new() };
        let reports = opened.iter().map(asked).collect();
        let mut asking = Self { questions, reports, limits, prepared: VecDeque::new() };
        let mut scopes = Vec::new();
        for answer in questions.parts.iter().flat_map(|part| &part.answers) {
            let is_given = answer.given.iter().all(|name| questions.settings.has(name));
            let asks = if is_given { answer.queries.as_slice() } else { &[] };
            let ready = asks.iter().map(|ask| asking.prepare(ask, &mut scopes)).collect();
            asking.prepared.push_back(ready);
        }
        asking
    }

    /// The queries of the next piece.
    pub(super) fn next(&mut self) -> Result<Vec<Ready<'a>>, Stop> {
        self.prepared.pop_front().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The query without its parameters. `None`: the report lacks its data, and it may have no rows.
    fn plan(&self, ask: &Ask, report_index: usize) -> Result<Option<Plan>, Stop> {
        let invocation = Invocation::parse(&ask.query);
        let mut plan = Plan::without_values(self.questions.catalog, &invocation, &Layout::Own)?;
        plan.requires.extend(ask.requires.iter().cloned());
        match self.must_have_data(&plan, report_index) {
            Ok(()) => Ok(Some(plan)),
            Err(Stop::Lacking(_)) if ask.may_be_empty => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// The variables that templates see before any query.
    pub(super) fn context(&self) -> Context {
        let mut context = self.questions.settings.context();
        context.insert("options".to_owned(), self.options().into());
        context
    }

    /// The scope that the user set for every query, as command-line options.
    fn options(&self) -> Vec<String> {
        self.questions.scope.words().chunks(2).map(|option| option.join(" ")).collect()
    }

    /// An error of a template: no answer, or a fault in the manifest, with its line.
    pub(super) fn stop(&self, source: &str, place: &str, trouble: Trouble) -> Stop {
        match trouble {
            Trouble::NoAnswer(reason) => Stop::Lacking(reason),
            Trouble::Fault(reason) => {
                let trouble = Trouble::Fault(format!("{place}: {reason}"));
                Stop::Failed(fault(self.questions.page, source, trouble))
            }
        }
    }

    /// Runs related queries in order, and stops at the first one without an answer.
    ///
    /// Templates see `context`; each reply is added to it.
    pub(super) fn ask(
        &self,
        ready: &[Ready<'a>],
        context: &mut Context,
    ) -> Result<Vec<Reply<'a>>, Stop> {
        let mut replies = Vec::new();
        // Notes are those of neighbours with the same report and scope.
        for group in ready.chunk_by(|a, b| Rc::ptr_eq(&a.within, &b.within)) {
            replies.extend(self.ask_group(group, context)?);
        }
        Ok(replies)
    }

    /// Finds the first report with the ranges that the query needs.
    fn prepare(&mut self, ask: &'a Ask, scopes: &mut Vec<Rc<Within>>) -> Result<Ready<'a>, Stop> {
        let (mut reasons, mut needs_another) = (Vec::new(), false);
        for &place in &ask.report {
            let Some(index) = place.checked_sub(1).filter(|index| *index < self.reports.len()) else {
                needs_another = true;
                continue;
            };
            match self.match_patterns(ask, index) {
                Ok(ranges) => return self.ready(ask, index, ranges, scopes),
                Err(Stop::Lacking(reason)) => reasons.push(reason),
                Err(failed) => return Err(failed),
            }
        }
        reasons.dedup();
        if needs_another {
            let or = if reasons.is_empty() { "it needs" } else { "or give" };
            reasons.push(format!("{or} a second report that has it: nsq answer REPORT REPORT2"));
        }
        Err(Stop::Lacking(reasons.join("; ")))
    }

    /// Finds the ranges of a report that match the patterns of a query.
    fn match_patterns(&mut self, ask: &Ask, report_index: usize) -> Result<Vec<PatternMatch>, Stop> {
        let mut matches = Vec::new();
        let excluded: Vec<&str> =
            ask.exclude.iter().filter_map(|text| PatternUse::of(text)).map(|used| used.name).collect();
        for used in ask.patterns() {
            let found = self.find_pattern(report_index, used.name)?;
            let excludes = excluded.contains(&used.name);
            match found {
                Err(missing) if !used.is_optional => {
                    let name = self.reports[report_index].open.report.name();
                    return Err(Stop::Lacking(format!("in {name}, {missing}")));
                }
                Err(_) if !excludes => {}
                found => {
                    let matched = PatternMatch { pattern: used.name.to_owned(), excludes, found };
                    if !matches.contains(&matched) {
                        matches.push(matched);
                    }
                }
            }
        }
        Ok(matches)
    }

    fn find_pattern(
        &mut self,
        report_index: usize,
        pattern: &str,
    ) -> Result<std::result::Result<Found, Missing>, Stop> {
        if let Some(found) = self.reports[report_index].found.get(pattern) {
            return Ok(found.clone());
        }
        let ranges = match self.reports[report_index].ranges.take() {
            Some(ranges) => ranges,
            None => self.read_ranges(report_index)?,
        };
        let found = ranges.find(self.questions.page, &self.questions.settings.patterns, pattern)?;
        let report = &mut self.reports[report_index];
        report.ranges = Some(ranges);
        report.found.insert(pattern.to_owned(), found.clone());
        Ok(found)
    }

    fn read_ranges(&self, report_index: usize) -> Result<Ranges, Stop> {
        let catalog = self.questions.catalog;
        let plan = Plan::new(catalog, &Invocation::parse(RANGE_NAMES), &Layout::Own)?;
        self.must_have_data(&plan, report_index)?;
        let open = self.reports[report_index].open;
        let (tables, _) = open.answers(catalog, &Scope::default(), &[plan], self.limits)?;
        let rows = tables.iter().flat_map(ResultTable::iter);
        Ok(Ranges::new(rows.map(|row| {
            let text = |column| row.text(column).unwrap_or_default().to_owned();
            let int = |column| row.int(column).unwrap_or_default();
            RangeName {
                name: text("range_name"),
                text: text("range_text"),
                layer: text("layer_name"),
                count: int("range_count"),
                cpu_ns: int("cpu_ns"),
                depth: int("depth"),
            }
        })))
    }

    /// The scope of a query: what the user set, and the ranges of its patterns.
    fn ready(
        &self,
        ask: &'a Ask,
        report_index: usize,
        ranges: Vec<PatternMatch>,
        scopes: &mut Vec<Rc<Within>>,
    ) -> Result<Ready<'a>, Stop> {
        let mut text = self.questions.scope.clone();
        let globs = |texts: &[String], excludes: bool| -> Vec<String> {
            let globs = |text: &String| match PatternUse::of(text) {
                Some(used) => globs_of(&ranges, used.name, Some(excludes)),
                None => vec![text.clone()],
            };
            texts.iter().flat_map(globs).collect()
        };
        text.nvtx = globs(&ask.nvtx, false);
        // Several `--iter` are a union, so the user's tags replace the page's instead of narrowing them.
        if text.iterations.is_empty() {
            text.iterations = globs(&ask.iter, false);
        }
        text.exclude.extend(globs(&ask.exclude, true));
        text.attribute = match ask.attribute {
            // What fits the source.
            Attribution::Thread => None,
            Attribution::Process => Some(Attribute::Process),
            Attribution::Capture => Some(Attribute::Capture),
        };
        let scope = text.resolve(&self.reports[report_index].open.schema)?;
        let is_it = |within: &&Rc<Within>| within.report_index == report_index && within.scope == scope;
        let within = scopes.iter().find(is_it).cloned().unwrap_or_else(|| {
            let (roots, session) = (RefCell::default(), OnceCell::new());
            scopes.push(Rc::new(Within { report_index, scope, roots, session }));
            Rc::clone(&scopes[scopes.len() - 1])
        });
        // What cannot be planned fails when it is asked.
        if let Ok(Some(plan)) = self.plan(ask, report_index) {
            within.roots.borrow_mut().extend(plan.reads);
        }
        Ok(Ready { ask, text, within, ranges })
    }

    fn ask_group(&self, group: &[Ready<'a>], context: &mut Context) -> Result<Vec<Reply<'a>>, Stop> {
        let plan = |one: &Ready<'_>| self.plan(one.ask, one.within.report_index);
        let plans = group.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
        let reads = plans.iter().flatten().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let mut replies = Vec::new();
        for (one, planned) in group.iter().zip(&plans) {
            let plan = self.bind(one, context)?;
            let (mut table, mut notes) = (Rc::default(), Vec::new());
            if planned.is_some() {
                let (within, catalog) = (&one.within, self.questions.catalog);
                let open = self.reports[within.report_index].open;
                if !plan.reads.is_empty() {
                    notes = open.notes(catalog, &within.scope, reads.clone())?;
                }
                if within.session.get().is_none() {
                    let roots = within.roots.borrow();
                    let roots = roots.iter().map(String::as_str);
                    let begun = open.begin(catalog, &within.scope, roots, self.limits)?;
                    _ = within.session.set(begun.0);
                }
                if let Some(session) = within.session.get() {
                    table = session.ask(&plan, self.limits)?;
                }
            }
            replies.push(self.reply(one, &plan, (table, notes), context)?);
        }
        Ok(replies)
    }

    /// The query with its parameters.
    fn bind(&self, one: &Ready<'_>, context: &Context) -> Result<Plan, Stop> {
        let mut invocation = Invocation::parse(&one.ask.query);
        for (key, text) in &one.ask.params {
            let value = match PatternUse::of(text) {
                Some(used) => {
                    let globs = serde_json::to_string(&globs_of(&one.ranges, used.name, None));
                    Some(Cell::Text(globs.unwrap_or_default()))
                }
                None => {
                    let value = self.questions.templates.argument(text, context);
                    value.map_err(|trouble| self.stop(text, &format!("parameter {key}"), trouble))?
                }
            };
            invocation.values.extend(value.map(|value| (key.clone(), value)));
        }
        Ok(Plan::new(self.questions.catalog, &invocation, &Layout::Own)?)
    }

    fn reply(
        &self,
        one: &Ready<'a>,
        plan: &Plan,
        (table, notes): (Rc<ResultTable>, Vec<String>),
        context: &mut Context,
    ) -> Result<Reply<'a>, Stop> {
        if table.rows.is_empty() && !one.ask.may_be_empty {
            let general = || format!("{} returned no rows", one.ask.query);
            let reason = one.ask.when_empty.clone().unwrap_or_else(general);
            let options = self.options();
            return Err(Stop::Lacking(match options.is_empty() || plan.reads.is_empty() {
                true => reason,
                false => format!("{reason} (within {})", options.join(", ")),
            }));
        }
        context.insert(one.ask.name.clone(), rows(&table, one.ask.key.as_deref()));
        let (within, report_index) = (&one.within, one.within.report_index);
        let report = &self.reports[report_index].open.report;
        Ok(Reply {
            ask: one.ask,
            table,
            query: plan.query.clone().unwrap_or_default(),
            title: plan.title.clone(),
            bindings: plan.bindings.clone(),
            report: report.name(),
            reads_report: !plan.reads.is_empty(),
            report_index,
            scope: (!within.scope.is_whole())
                .then(|| serde_json::to_value(&within.scope).unwrap_or_default()),
            command: command(self.questions, report, plan, (&one.ask.query, &one.text)),
            ranges: one.ranges.clone(),
            notes,
        })
    }

    fn must_have_data(&self, plan: &Plan, report_index: usize) -> Result<(), Stop> {
        let open = self.reports[report_index].open;
        let presence = Presence::new(&open.schema, self.questions.catalog);
        plan.check_presence(&presence, &open.report.path).map_err(|error| match error {
            Error::LacksData { needs, detail, help, .. } => {
                let tables: Vec<&str> = detail.lines().map(str::trim).collect();
                let (name, tables) = (open.report.name(), tables.join(", "));
                Stop::Lacking(format!("it needs {needs}, but {name} contains none ({tables}); {help}"))
            }
            error => Stop::Failed(error),
        })
    }
}
