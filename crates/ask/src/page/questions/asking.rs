//! The open reports of one call, and the queries that run on them.

use super::super::planned::fault;
use super::super::template::Trouble;
use super::super::values::rows;
use super::command::command;
use super::pattern_matches::{Found, Missing, RangeName};
use super::ranges::Ranges;
use super::reply::{PatternMatch, Reply, globs_of};
use super::request::Questions;
use super::sessions::Sessions;
use super::stop::Stop;
use crate::open_report::OpenReport;
use minijinja::Value;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::{Attribute, Presence, Scope};
use nsq_engine::scope::ScopeText;
use nsq_library::catalog::{Ask, Attribution, PatternUse};
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value as Cell};
use std::collections::BTreeMap;

/// The query that lists the range names of a report.
const RANGE_NAMES: &str = "range_names";

/// The variables of templates.
pub(super) type Context = BTreeMap<String, Value>;

/// The open reports, and the results of queries that already ran.
pub(super) struct Asking<'q, 'a> {
    pub(super) questions: &'q Questions<'a>,
    reports: Vec<Asked<'q>>,
    limits: &'q Limits,
    /// Rows and their notes, by report, query, parameters and scope.
    memo: BTreeMap<String, (ResultTable, Vec<String>)>,
}

/// A report, and what is known of its ranges.
struct Asked<'q> {
    open: &'q OpenReport,
    sessions: Sessions<'q>,
    /// Its ranges. `None`: not read yet.
    ranges: Option<Ranges>,
    /// The ranges of each pattern that was looked up.
    found: BTreeMap<String, std::result::Result<Found, Missing>>,
}

/// A query with its report and scope, but without its parameters.
struct Ready<'a> {
    ask: &'a Ask,
    report_index: usize,
    text: ScopeText,
    scope: Scope,
    ranges: Vec<PatternMatch>,
}

impl<'q, 'a> Asking<'q, 'a> {
    pub(super) fn new(
        questions: &'q Questions<'a>,
        opened: &[&'q OpenReport],
        limits: &'q Limits,
    ) -> Self {
        let asked = |open: &&'q OpenReport| {
            let (sessions, found) = (Sessions::new(open), BTreeMap::new());
            Asked { open, sessions, ranges: None, found }
        };
        let reports = opened.iter().map(asked).collect();
        let mut asking = Self { questions, reports, limits, memo: BTreeMap::new() };
        asking.announce_all();
        asking
    }

    /// Announces all queries, so that those with the same report and scope share one session. What cannot be
    /// announced fails, or begins a session of its own, when it is asked.
    fn announce_all(&mut self) {
        let questions = self.questions;
        let answers = questions.parts.iter().flat_map(|part| &part.answers);
        let given =
            answers.filter(|answer| answer.given.iter().all(|name| questions.settings.has(name)));
        let asks: Vec<&Ask> = given.flat_map(|answer| &answer.queries).collect();
        // The names of ranges are read first, in the session of the whole report.
        for index in 0..self.reports.len() {
            for plan in asks.iter().filter_map(|ask| self.possible(ask, index)).collect::<Vec<_>>() {
                self.reports[index].sessions.foresee(&Scope::default(), &plan.reads);
            }
        }
        for ask in asks {
            if let Ok(ready) = self.prepare(ask)
                && let Some(plan) = self.possible(ask, ready.report_index)
            {
                self.reports[ready.report_index].sessions.announce(&ready.scope, &plan.reads);
            }
        }
    }

    /// The query without its parameters, if the report has the data for it.
    fn possible(&self, ask: &Ask, report_index: usize) -> Option<Plan> {
        let plan = self.plan(ask).ok()?;
        matches!(self.lack(&plan, report_index), Ok(None)).then_some(plan)
    }

    /// The query without its parameters, to tell what it needs.
    fn plan(&self, ask: &Ask) -> Result<Plan> {
        let invocation = Invocation::parse(&ask.query);
        let mut plan = Plan::without_values(self.questions.catalog, &invocation, &Layout::Own)?;
        plan.requires.extend(ask.requires.iter().cloned());
        Ok(plan)
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
        &mut self,
        asks: &'a [Ask],
        context: &mut Context,
    ) -> Result<Vec<Reply<'a>>, Stop> {
        let ready = asks.iter().map(|ask| self.prepare(ask)).collect::<Result<Vec<_>, _>>()?;
        let mut replies = Vec::new();
        // Notes are those of neighbours with the same report and scope.
        for group in ready.chunk_by(|a, b| a.report_index == b.report_index && a.scope == b.scope) {
            replies.extend(self.ask_group(group, context)?);
        }
        Ok(replies)
    }

    /// Finds the first report with the ranges that the query needs.
    fn prepare(&mut self, ask: &'a Ask) -> Result<Ready<'a>, Stop> {
        let (mut reasons, mut needs_another) = (Vec::new(), false);
        for &place in &ask.report {
            let Some(index) = place.checked_sub(1).filter(|index| *index < self.reports.len()) else {
                needs_another = true;
                continue;
            };
            match self.match_patterns(ask, index) {
                Ok(ranges) => return Ok(self.ready(ask, index, ranges)?),
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

    fn read_ranges(&mut self, report_index: usize) -> Result<Ranges, Stop> {
        let invocation = Invocation::parse(RANGE_NAMES);
        let plan = Plan::new(self.questions.catalog, &invocation, &Layout::Own)?;
        if let Some(reason) = self.lack(&plan, report_index)? {
            return Err(Stop::Lacking(reason));
        }
        let scope = Scope::default();
        self.reports[report_index].sessions.announce(&scope, &plan.reads);
        let table = self.table(report_index, &scope, &plan)?;
        self.reports[report_index].sessions.asked(&scope);
        Ok(Ranges::new(table.iter().map(|row| {
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
    fn ready(&self, ask: &'a Ask, report_index: usize, ranges: Vec<PatternMatch>) -> Result<Ready<'a>> {
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
        Ok(Ready { ask, report_index, text, scope, ranges })
    }

    fn ask_group(&mut self, group: &[Ready<'a>], context: &mut Context) -> Result<Vec<Reply<'a>>, Stop> {
        let mut plans = Vec::new();
        for one in group {
            let plan = self.plan(one.ask)?;
            plans.push(match self.lack(&plan, one.report_index)? {
                None => Some(plan),
                Some(_) if one.ask.may_be_empty => None,
                Some(reason) => return Err(Stop::Lacking(reason)),
            });
        }
        let reads = plans.iter().flatten().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let mut replies = Vec::new();
        for (one, planned) in group.iter().zip(&plans) {
            let plan = self.bind(one, context)?;
            let key =
                format!("{}\n{}\n{:?}\n{:?}", one.report_index, one.ask.query, plan.bindings, one.scope);
            let answered = match self.memo.get(&key) {
                _ if planned.is_none() => (ResultTable::default(), Vec::new()),
                Some(known) => known.clone(),
                None => {
                    let notes = match plan.reads.is_empty() {
                        true => Vec::new(),
                        false => {
                            let open = self.reports[one.report_index].open;
                            open.notes(self.questions.catalog, &one.scope, reads.clone())?
                        }
                    };
                    let answered = (self.table(one.report_index, &one.scope, &plan)?, notes);
                    self.memo.insert(key, answered.clone());
                    answered
                }
            };
            self.reports[one.report_index].sessions.asked(&one.scope);
            replies.push(self.reply(one, &plan, answered, context)?);
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
        (table, notes): (ResultTable, Vec<String>),
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
        let report = &self.reports[one.report_index].open.report;
        Ok(Reply {
            ask: one.ask,
            table,
            query: plan.query.clone().unwrap_or_default(),
            title: plan.title.clone(),
            bindings: plan.bindings.clone(),
            report: report.name(),
            reads_report: !plan.reads.is_empty(),
            report_index: one.report_index,
            scope: (!one.scope.is_whole()).then(|| serde_json::to_value(&one.scope).unwrap_or_default()),
            command: command(self.questions, report, plan, (&one.ask.query, &one.text)),
            ranges: one.ranges.clone(),
            notes,
        })
    }

    /// Why the report lacks the data for the plan; `None` if it has the data.
    fn lack(&self, plan: &Plan, report_index: usize) -> Result<Option<String>> {
        let open = self.reports[report_index].open;
        let presence = Presence::new(&open.schema, self.questions.catalog);
        match plan.check_presence(&presence, &open.report.path) {
            Ok(()) => Ok(None),
            Err(Error::LacksData { needs, detail, help, .. }) => {
                let tables: Vec<&str> = detail.lines().map(str::trim).collect();
                let (name, tables) = (open.report.name(), tables.join(", "));
                Ok(Some(format!("it needs {needs}, but {name} contains none ({tables}); {help}")))
            }
            Err(error) => Err(error),
        }
    }

    fn table(&mut self, report: usize, scope: &Scope, plan: &Plan) -> Result<ResultTable> {
        let sessions = &mut self.reports[report].sessions;
        let session = sessions.session(self.questions.catalog, scope, &plan.reads, self.limits)?;
        session.table(plan, self.limits)
    }
}
