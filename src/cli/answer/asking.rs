//! The open reports of one call, and the queries that run on them.

use super::Questions;
use crate::answer::{Found, Missing, RangeName, Ranges};
use crate::catalog::{Ask, Attribution, PatternUse};
use crate::cli::opened::Opened;
use crate::cli::options::{AttributeArg, ScopeArgs};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::{Limits, Session};
use crate::normalize::{Presence, Scope};
use crate::page::{Trouble, rows};
use crate::table::{ResultTable, Value as Cell};
use minijinja::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The query that lists the range names of a report.
const RANGE_NAMES: &str = "range_names";

/// The open reports, and the results of queries that already ran.
pub(super) struct OpenReports<'a> {
    pub(super) questions: &'a Questions<'a>,
    reports: Vec<OpenReport>,
    limits: Limits,
    /// Rows and their notes, by report, query, parameters and scope.
    memo: BTreeMap<String, (ResultTable, Vec<String>)>,
}

/// One open report.
struct OpenReport {
    opened: Opened,
    /// Its ranges, or why they cannot be read. `None`: not read yet.
    ranges: Option<std::result::Result<Ranges, String>>,
    /// The ranges of each pattern that was looked up.
    found: BTreeMap<String, std::result::Result<Found, Missing>>,
}

/// Why a query did not run or has no answer.
pub(super) struct Reason(pub(super) String);

/// The result of a query.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) table: ResultTable,
    /// Name and version of the query.
    pub(super) query: (String, u32),
    pub(super) title: String,
    pub(super) bindings: Vec<(String, Cell)>,
    /// Name of the report.
    pub(super) report: String,
    /// Whether the query reads the report, and not only its parameters.
    pub(super) reads_report: bool,
    /// Index of the report, from 0.
    pub(super) report_index: usize,
    /// The scope, if there is one.
    pub(super) scope: Option<serde_json::Value>,
    /// The words of the command that runs the same query, quoted for the shell.
    pub(super) command: Option<Vec<String>>,
    /// The ranges that its patterns matched. Also lists excluding patterns without a match.
    pub(super) ranges: Vec<PatternMatch>,
    pub(super) attribute: Attribution,
    /// Notes about missing data, or about a scope that cannot be applied.
    pub(super) notes: Vec<String>,
}

/// The ranges that a pattern matched in a report.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PatternMatch {
    pub(super) pattern: String,
    pub(super) excludes: bool,
    pub(super) found: std::result::Result<Found, Missing>,
}

/// A query with its report and scope, but without its parameters.
struct Ready<'p> {
    ask: &'p Ask,
    report_index: usize,
    args: ScopeArgs,
    scope: Scope,
    ranges: Vec<PatternMatch>,
}

impl<'a> OpenReports<'a> {
    pub(super) fn open(questions: &'a Questions<'a>, paths: &[PathBuf]) -> Result<Self> {
        let mut reports = Vec::new();
        for path in paths {
            let open = || Opened::open(path, &questions.args.open);
            let opened = questions.clock.borrow_mut().pause(open)?;
            reports.push(OpenReport { opened, ranges: None, found: BTreeMap::new() });
        }
        let limits = questions.clock.borrow().limits();
        Ok(Self { questions, reports, limits, memo: BTreeMap::new() })
    }

    /// The facts about each report.
    pub(super) fn facts(&self) -> Vec<serde_json::Value> {
        let facts = |report: &OpenReport| {
            let mut facts = report.opened.heading(&Scope::default()).facts;
            facts.shift_remove("nsq");
            facts.into()
        };
        self.reports.iter().map(facts).collect()
    }

    /// Runs related queries in order, and stops at the first one without an answer.
    ///
    /// Templates see `context`; each reply is added to it.
    pub(super) fn ask(
        &mut self,
        asks: &[Ask],
        context: &mut BTreeMap<String, Value>,
    ) -> Result<std::result::Result<Vec<Reply>, Reason>> {
        let mut ready = Vec::new();
        for ask in asks {
            match self.prepare(ask)? {
                Ok(one) => ready.push(one),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        let mut replies = Vec::new();
        // Queries with the same report and scope share a session and the native relations in it.
        for group in ready.chunk_by(|a, b| a.report_index == b.report_index && a.scope == b.scope) {
            match self.ask_group(group, context)? {
                Ok(group) => replies.extend(group),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(replies))
    }

    /// Finds the first report with the ranges that the query needs.
    fn prepare<'p>(&mut self, ask: &'p Ask) -> Result<std::result::Result<Ready<'p>, Reason>> {
        let (mut reasons, mut needs_another) = (Vec::new(), false);
        for &place in &ask.report {
            let Some(report_index) =
                place.checked_sub(1).filter(|&report_index| report_index < self.reports.len())
            else {
                needs_another = true;
                continue;
            };
            match self.match_patterns(ask, report_index)? {
                Ok(ranges) => return Ok(Ok(self.ready(ask, report_index, ranges)?)),
                Err(reason) => reasons.push(reason.0),
            }
        }
        reasons.dedup();
        if needs_another {
            let or = if reasons.is_empty() { "it needs" } else { "or give" };
            reasons.push(format!("{or} a second report that has it: nsq answer REPORT REPORT2"));
        }
        Ok(Err(Reason(reasons.join("; "))))
    }

    /// Finds the ranges of a report that match the patterns of a query.
    fn match_patterns(
        &mut self,
        ask: &Ask,
        report_index: usize,
    ) -> Result<std::result::Result<Vec<PatternMatch>, Reason>> {
        let mut matches = Vec::new();
        let excluded: Vec<&str> =
            ask.exclude.iter().filter_map(|text| PatternUse::of(text)).map(|used| used.name).collect();
        for used in ask.patterns() {
            let found = match self.find_pattern(report_index, used.name)? {
                Ok(found) => found,
                Err(reason) => return Ok(Err(reason)),
            };
            let excludes = excluded.contains(&used.name);
            match found {
                Err(missing) if !used.is_optional => {
                    let name = self.reports[report_index].opened.report.name();
                    return Ok(Err(Reason(format!("in {name}, {missing}"))));
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
        Ok(Ok(matches))
    }

    fn find_pattern(
        &mut self,
        report_index: usize,
        pattern: &str,
    ) -> Result<std::result::Result<std::result::Result<Found, Missing>, Reason>> {
        if let Some(found) = self.reports[report_index].found.get(pattern) {
            return Ok(Ok(found.clone()));
        }
        if self.reports[report_index].ranges.is_none() {
            let ranges = self.read_ranges(report_index)?;
            self.reports[report_index].ranges = Some(ranges);
        }
        let (playbook, given) = (self.questions.playbook, &self.questions.settings.patterns);
        let found = match &self.reports[report_index].ranges {
            Some(Ok(ranges)) => ranges.find(playbook, given, pattern)?,
            Some(Err(reason)) => return Ok(Err(Reason(reason.clone()))),
            None => return Ok(Err(Reason("its ranges could not be read".to_owned()))),
        };
        self.reports[report_index].found.insert(pattern.to_owned(), found.clone());
        Ok(Ok(found))
    }

    fn read_ranges(&self, report_index: usize) -> Result<std::result::Result<Ranges, String>> {
        let catalog = self.questions.catalog;
        let plan = Plan::new(catalog, &Invocation::parse(RANGE_NAMES), &Layout::Own)?;
        if let Some(reason) = self.missing_data(&plan, report_index)? {
            return Ok(Err(reason));
        }
        let (session, _) = self.session(report_index, &Scope::default(), &[&plan])?;
        let table = session.table(&plan, &self.limits)?;
        let place = |name: &str| table.columns.iter().position(|column| column.name == name);
        let text = |row: &[Cell], name: &str| match place(name).and_then(|at| row.get(at)) {
            Some(Cell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let int = |row: &[Cell], name: &str| match place(name).and_then(|at| row.get(at)) {
            Some(Cell::Int(int)) => *int,
            _ => 0,
        };
        let names = table.rows.iter().map(|row| RangeName {
            name: text(row, "range_name"),
            text: text(row, "range_text"),
            layer: text(row, "layer_name"),
            count: int(row, "range_count"),
            cpu_ns: int(row, "cpu_ns"),
            depth: int(row, "depth"),
        });
        Ok(Ok(Ranges::new(names.collect())))
    }

    fn ready<'p>(
        &self,
        ask: &'p Ask,
        report_index: usize,
        ranges: Vec<PatternMatch>,
    ) -> Result<Ready<'p>> {
        let mut args = self.questions.args.scope();
        let globs = |texts: &[String], excludes: bool| -> Vec<String> {
            let mut all = Vec::new();
            for text in texts {
                match PatternUse::of(text) {
                    Some(used) => {
                        let found = ranges
                            .iter()
                            .filter(|matched| {
                                matched.pattern == used.name && matched.excludes == excludes
                            })
                            .filter_map(|matched| matched.found.as_ref().ok());
                        found.for_each(|found| all.extend(found.globs.iter().cloned()));
                    }
                    None => all.push(text.clone()),
                }
            }
            all
        };
        args.nvtx = globs(&ask.nvtx, false);
        let within = globs(&ask.iter, false);
        // Several `--iter` are a union, so the user's tags replace the playbook's instead of narrowing them.
        if !within.is_empty() && args.iter.is_empty() {
            args.iter = within;
        }
        args.exclude.extend(globs(&ask.exclude, true));
        args.attribute = match ask.attribute {
            // What fits the source.
            Attribution::Thread => None,
            Attribution::Process => Some(AttributeArg::Process),
            Attribution::Capture => Some(AttributeArg::Capture),
        };
        let scope = args.resolve(&self.reports[report_index].opened.schema)?;
        Ok(Ready { ask, report_index, args, scope, ranges })
    }

    fn ask_group(
        &mut self,
        group: &[Ready<'_>],
        context: &mut BTreeMap<String, Value>,
    ) -> Result<std::result::Result<Vec<Reply>, Reason>> {
        let (mut plans, mut lacking) = (Vec::new(), Vec::new());
        for one in group {
            let invocation = Invocation::parse(&one.ask.query);
            let mut plan = Plan::without_values(self.questions.catalog, &invocation, &Layout::Own)?;
            plan.requires.extend(one.ask.requires.iter().cloned());
            match self.missing_data(&plan, one.report_index)? {
                None => plans.push(plan),
                Some(_) if one.ask.may_be_empty => lacking.push(one.ask.name.as_str()),
                Some(reason) => return Ok(Err(Reason(reason))),
            }
        }
        let Some(first) = group.first() else { return Ok(Ok(Vec::new())) };
        let mut replies = Vec::new();
        let mut rest = group;
        while let [one, others @ ..] = rest {
            let (plan, key) = match self.bind(one, context)? {
                Ok(bound) => bound,
                Err(reason) => return Ok(Err(reason)),
            };
            let known = match lacking.contains(&one.ask.name.as_str()) {
                true => (ResultTable::default(), Vec::new()),
                false => match self.memo.get(&key).cloned() {
                    Some(known) => known,
                    None => break,
                },
            };
            match self.reply(one, &plan, known, context) {
                Ok(reply) => replies.push(reply),
                Err(reason) => return Ok(Err(reason)),
            }
            rest = others;
        }
        if rest.is_empty() {
            return Ok(Ok(replies));
        }
        let needed: Vec<&Plan> = plans.iter().collect();
        let (session, notes) = self.session(first.report_index, &first.scope, &needed)?;
        for one in rest {
            let (plan, key) = match self.bind(one, context)? {
                Ok(bound) => bound,
                Err(reason) => return Ok(Err(reason)),
            };
            let answered = match self.memo.get(&key) {
                _ if lacking.contains(&one.ask.name.as_str()) => (ResultTable::default(), Vec::new()),
                Some(known) => known.clone(),
                None => {
                    let table = session.table(&plan, &self.limits)?;
                    let notes = if plan.reads.is_empty() { Vec::new() } else { notes.clone() };
                    self.memo.insert(key, (table.clone(), notes.clone()));
                    (table, notes)
                }
            };
            match self.reply(one, &plan, answered, context) {
                Ok(reply) => replies.push(reply),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(replies))
    }

    /// The query with its parameters, and the key of its result in `memo`.
    fn bind(
        &self,
        one: &Ready<'_>,
        context: &BTreeMap<String, Value>,
    ) -> Result<std::result::Result<(Plan, String), Reason>> {
        let mut invocation = Invocation::parse(&one.ask.query);
        for (key, text) in &one.ask.params {
            let value = match PatternUse::of(text) {
                Some(used) => {
                    let matches = one.ranges.iter().filter(|matched| matched.pattern == used.name);
                    let globs: Vec<&String> = matches
                        .filter_map(|matched| matched.found.as_ref().ok())
                        .flat_map(|f| &f.globs)
                        .collect();
                    serde_json::to_string(&globs).unwrap_or_default()
                }
                None => match self.questions.templates.parameter(text, context) {
                    Ok(value) => value,
                    Err(Trouble::NoAnswer(reason)) => return Ok(Err(Reason(reason))),
                    Err(Trouble::Fault(reason)) => {
                        return Err(self.fault(text, &format!("parameter {key}: {reason}")));
                    }
                },
            };
            if !value.is_empty() {
                invocation.params.push((key.clone(), value));
            }
        }
        let plan = Plan::new(self.questions.catalog, &invocation, &Layout::Own)?;
        let key =
            format!("{}\n{}\n{:?}\n{:?}", one.report_index, one.ask.query, plan.bindings, one.scope);
        Ok(Ok((plan, key)))
    }

    fn reply(
        &self,
        one: &Ready<'_>,
        plan: &Plan,
        (table, notes): (ResultTable, Vec<String>),
        context: &mut BTreeMap<String, Value>,
    ) -> std::result::Result<Reply, Reason> {
        if table.rows.is_empty() && !one.ask.may_be_empty {
            let general = || format!("{} returned no rows", one.ask.query);
            let reason = one.ask.when_empty.clone().unwrap_or_else(general);
            let options = &self.questions.settings.options;
            return Err(Reason(match options.is_empty() || plan.reads.is_empty() {
                true => reason,
                false => format!("{reason} (within {})", options.join(", ")),
            }));
        }
        context.insert(one.ask.name.clone(), rows(&table, one.ask.key.as_deref()));
        let report = &self.reports[one.report_index].opened.report;
        let command = command(&report.path, &one.ask.query, plan, &one.args, self.questions);
        Ok(Reply {
            table,
            query: plan.query.clone().unwrap_or_default(),
            title: plan.title.clone(),
            bindings: plan.bindings.clone(),
            report: report.name(),
            reads_report: !plan.reads.is_empty(),
            report_index: one.report_index,
            scope: (!one.scope.is_whole()).then(|| serde_json::to_value(&one.scope).unwrap_or_default()),
            command,
            ranges: one.ranges.clone(),
            attribute: one.ask.attribute,
            notes,
        })
    }

    /// An error in the playbook, with its line.
    pub(super) fn fault(&self, near: &str, reason: &str) -> Error {
        let playbook = self.questions.playbook;
        let needle = near.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let line = match needle {
            "" => 1,
            needle => crate::catalog::line_of(&playbook.text, needle),
        };
        Error::catalog(
            &playbook.file,
            line,
            reason,
            "see queries/README.md for the playbook format, and run `nsq check`",
        )
    }

    /// Why the report lacks the data for the plan; `None` if it has the data.
    fn missing_data(&self, plan: &Plan, report_index: usize) -> Result<Option<String>> {
        let opened = &self.reports[report_index].opened;
        let presence = Presence::new(&opened.schema, self.questions.catalog);
        match plan.check_presence(&presence, &opened.report.path) {
            Ok(()) => Ok(None),
            Err(Error::LacksData { needs, detail, help, .. }) => {
                let tables: Vec<&str> = detail.lines().map(str::trim).collect();
                let name = opened.report.name();
                Ok(Some(format!(
                    "it needs {needs}, but {name} contains none ({}); {help}",
                    tables.join(", ")
                )))
            }
            Err(error) => Err(error),
        }
    }

    fn session(
        &self,
        report_index: usize,
        scope: &Scope,
        plans: &[&Plan],
    ) -> Result<(Session, Vec<String>)> {
        let roots = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        self.reports[report_index].opened.begin(self.questions.catalog, scope, roots, &self.limits)
    }
}

/// The longest parameter, in bytes, that a printed command contains.
const LONG: usize = 160;

/// The words of the command that runs the same query. `None` if a parameter is too long to print, such
/// as rows.
fn command(
    report: &Path,
    query: &str,
    plan: &Plan,
    args: &ScopeArgs,
    questions: &Questions<'_>,
) -> Option<Vec<String>> {
    let mut words = vec!["nsq".to_owned(), "run".to_owned(), report.display().to_string()];
    words.extend(["--query".to_owned(), query.to_owned()]);
    let header = &questions.catalog.query(query).ok()?.header;
    for (name, value) in &plan.bindings {
        let text = match value {
            Cell::Null => continue,
            Cell::Int(int) => int.to_string(),
            Cell::Real(real) => real.to_string(),
            Cell::Text(text) => text.clone(),
        };
        let param = header.params.iter().find(|param| param.name == *name)?;
        if text == crate::compile::scalar(&param.default) {
            continue;
        }
        let plain = match serde_json::from_str::<Vec<String>>(&text) {
            Ok(items) if items.iter().all(|item| !item.contains(',')) => items.join(","),
            _ => text,
        };
        if plain.len() > LONG {
            return None;
        }
        words.extend(["-p".to_owned(), format!("{name}={plain}")]);
    }
    words.extend(args.words());
    if matches!(args.attribute, Some(AttributeArg::Process | AttributeArg::Capture)) {
        let process = matches!(args.attribute, Some(AttributeArg::Process));
        words.extend(["--attribute".to_owned(), if process { "process" } else { "capture" }.to_owned()]);
    }
    if let Some(map) = &questions.args.classes.classes {
        words.extend(["--classes".to_owned(), map.clone()]);
    }
    Some(words.iter().map(|word| quoted(word)).collect())
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
