//! Why a query returned no rows, and what its figures leave out.

mod open_ranges;

use crate::evidence::Evidence;
use crate::request::Request;
use nsq_engine::compile::{Invocation, Layout, Plan, columns_by_suffix, names_ranges, words_in};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{Attribute, Scope, UNSCOPED};
use nsq_engine::scope::split_instances;
use nsq_library::catalog::{Catalog, Relation};
use nsq_value::error::Result;
use nsq_value::table::{ResultTable, Row, Value, humanize};
use std::collections::BTreeSet;

/// The parameter that ends the rows of a query.
const LIMIT: &str = "limit";

/// The relation with the names that class maps look up.
const NAMED: &str = "gpu_op";

/// Relations whose figures depend on how launches are attributed to ranges.
const ATTRIBUTED: [&str; 5] =
    ["nvtx_op", "nvtx_path", "nvtx_path_kernel", "nvtx_projection", "nvtx_range_kernel"];

/// The query that lists what is outside ranges, so that it needs no note.
const COVERAGE: &str = "nvtx_coverage";

/// The query that tells which processes use a GPU.
const PROCESSES: &str = "process_activity";

/// Shares of GPU time from here on, in percent, are worth a note.
const NOTABLE_PCT: f64 = 1.0;

/// A session that can be asked about what it answered.
pub(super) struct Explainer<'a> {
    pub(super) asking: &'a Request<'a>,
    pub(super) session: &'a Session,
    pub(super) scope: &'a Scope,
    pub(super) limits: &'a Limits,
}

/// The relations that explanations read, besides those of the plans.
pub(super) fn relations(catalog: &Catalog, plans: &[&Plan], scope: &Scope) -> Result<Vec<String>> {
    let mut relations = Vec::new();
    if !scope.is_whole() {
        for plan in plans {
            let filtered = filtered(catalog, plan)?;
            relations.extend(filtered.iter().flat_map(|relation| {
                let name = &relation.header.name;
                [name.clone(), format!("{UNSCOPED}{name}")]
            }));
        }
    }
    if !scope.processes.is_empty() {
        relations.extend(catalog.query(PROCESSES)?.header.reads.iter().cloned());
    }
    if plans.iter().any(|plan| uses_classes(plan)) {
        relations.push(NAMED.to_owned());
    }
    if plans.iter().any(|plan| open_ranges::ends_open_ranges(plan)) {
        relations.push("nvtx_range".to_owned());
    }
    Ok(relations)
}

/// Whether a plan calls the function that looks names up in the class map.
fn uses_classes(plan: &Plan) -> bool {
    words_in(&plan.sql).iter().any(|word| word.starts_with("op_class"))
}

/// The relations behind a plan that the scope options filter.
fn filtered<'c>(catalog: &'c Catalog, plan: &Plan) -> Result<Vec<&'c Relation>> {
    let mut open: Vec<&str> = plan.reads.iter().map(String::as_str).collect();
    let (mut seen, mut filtered) = (BTreeSet::new(), Vec::new());
    while let Some(name) = open.pop() {
        if !seen.insert(name.to_owned()) {
            continue;
        }
        // Raw tables and unfiltered relations are not relations of the catalogue.
        let Some(relation) = catalog.relation(name).transpose()? else { continue };
        if relation.header.scope.is_empty() {
            open.extend(relation.header.reads.iter().map(String::as_str));
        } else {
            filtered.push(relation);
        }
    }
    filtered.sort_by(|a, b| a.header.name.cmp(&b.header.name));
    Ok(filtered)
}

impl Explainer<'_> {
    /// What the user must know about the answers.
    pub(super) fn notes(&self, answered: &[Evidence<'_>]) -> Result<Vec<String>> {
        // A program that reads the rows must know that there are more.
        let mut notes: Vec<String> =
            answered.iter().filter_map(|answer| self.why_short(answer)).collect();
        if self.asking.explains {
            for answer in answered.iter().filter(|answer| answer.rows == 0) {
                notes.push(self.why_empty(answer.plan)?);
            }
            notes.extend(self.unmatched_classes(answered)?);
            notes.extend(self.lost_launches(answered)?);
            for answer in answered {
                notes.extend(self.open_ranges(answer.plan)?);
            }
        }
        Ok(notes)
    }

    /// That the plan's own limit ended its rows, unless the user asked for that limit.
    fn why_short(&self, answer: &Evidence<'_>) -> Option<String> {
        let (name, _) = answer.plan.query.as_ref()?;
        let is_given = self.asking.params.iter().any(|param| param.trim_start().starts_with(LIMIT));
        let limit = answer.plan.bindings.iter().find_map(|(bound, value)| match value {
            Value::Int(limit) if bound == LIMIT => usize::try_from(*limit).ok(),
            _ => None,
        })?;
        (answer.rows == limit && limit > 0 && !is_given)
            .then(|| format!("{name} stopped at its limit of {limit} rows; -p {LIMIT}=-1 returns all"))
    }

    /// Why the plan returned no rows.
    fn why_empty(&self, plan: &Plan) -> Result<String> {
        let query = plan.query.as_ref().map_or("the query", |(name, _)| name);
        Ok(format!("{query} returned no rows{}", self.lack(plan)?))
    }

    /// What the plan lacks: if a query that it asks has no rows, what that one lacks.
    fn lack(&self, plan: &Plan) -> Result<String> {
        // Parameters of other queries say nothing about this one.
        let is_own = |param: &&String| plan.bindings.iter().any(|(own, _)| own == key_of(param));
        let given: Vec<&str> = self.asking.params.iter().filter(is_own).map(String::as_str).collect();
        let with = match given.as_slice() {
            [] => String::new(),
            given => format!(" with -p {}", given.join(" -p ")),
        };
        if let Some(reason) = self.why_filtered(plan)? {
            return Ok(format!(": {reason}"));
        }
        if plan.bindings.contains(&(LIMIT.to_owned(), Value::Int(0))) {
            return Ok(": the parameter limit is 0".to_owned());
        }
        // Tables that may be empty are no reason.
        for asked in plan.asks.iter().filter(|asked| asked.given.is_empty() && !asked.is_optional) {
            if self.session.ask(&asked.plan, self.limits)?.rows.is_empty() {
                return self.lack(&asked.plan);
            }
        }
        let header = plan.query.as_ref().and_then(|(name, _)| self.asking.catalog.query(name).ok());
        let reason = self.why_no_range(plan).or_else(|| {
            let when_empty = header.and_then(|query| query.header.when_empty.as_ref());
            when_empty.map(|reason| reason.trim_end_matches('.').to_owned())
        });
        let reason =
            reason.as_deref().unwrap_or("the report has the tables, but nothing in them matches");
        Ok(format!("{with}: {reason}"))
    }

    /// The parameter that names the ranges of a plan, its value, and whether the user gave it.
    fn range_param<'p>(&self, plan: &'p Plan) -> Option<(&'p str, &'p Value, bool)> {
        let (query, _) = plan.query.as_ref()?;
        let params = &self.asking.catalog.query(query).ok()?.header.params;
        let param = params.iter().find(|param| names_ranges(param))?;
        let (name, value) = plan.bindings.iter().find(|(name, _)| *name == param.name)?;
        Some((name, value, self.asking.params.iter().any(|given| key_of(given) == name)))
    }

    /// Why the parameter that names ranges finds none: its value is written like a scope option, or its
    /// default does not fit the ranges of the scope.
    fn why_no_range(&self, plan: &Plan) -> Option<String> {
        let (param, value, is_given) = self.range_param(plan)?;
        let patterns = patterns_of(value);
        if is_given {
            return patterns.iter().find_map(|pattern| match split_instances(pattern) {
                Some((name, instances)) => Some(format!(
                    "{param} takes a name only; `--iter '{name}' {instances}` selects instances"
                )),
                None => pattern.rsplit_once('@').map(|(name, domain)| {
                    format!("{param} takes no @DOMAIN; write {param}='{domain}:{name}'")
                }),
            });
        }
        let selector = self.scope.iterations.iter().chain(&self.scope.nvtx).next()?;
        let (inside, wanted) =
            (self.asking.scope.words().join(" "), selector.name.trim_end_matches('*'));
        let lack = match patterns.as_slice() {
            [] => "is one that the query picks by itself".to_owned(),
            patterns => format!("matches the default {param}={}", patterns.join(",")),
        };
        Some(format!("no range inside {inside} {lack}; name the ranges with -p {param}='{wanted}*'"))
    }

    /// What the scope leaves out, if it leaves nothing of what the plan reads.
    fn why_filtered(&self, plan: &Plan) -> Result<Option<String>> {
        if self.scope.is_whole() {
            return Ok(None);
        }
        // Kernels, copies and fills stand for each other: one kind that is left is enough.
        let (ops, others): (Vec<&Relation>, Vec<&Relation>) = filtered(self.asking.catalog, plan)?
            .into_iter()
            .partition(|relation| relation.header.scope.op.is_some());
        for relations in std::iter::once(ops).chain(others.into_iter().map(|other| vec![other])) {
            let mut emptied = None;
            for relation in &relations {
                match self.left_of(relation)? {
                    Left::Some => {
                        emptied = None;
                        break;
                    }
                    Left::None(count, reason) => emptied = emptied.max(Some((count, reason))),
                    Left::NeverAny => {}
                }
            }
            let Some((_, reason)) = emptied else { continue };
            let is_cuda = relations.iter().any(|relation| {
                relation.header.scope.op.is_some() || relation.header.name.starts_with("cuda")
            });
            let idle = if is_cuda { self.idle_processes()? } else { None };
            return Ok(Some(idle.unwrap_or(reason)));
        }
        Ok(None)
    }

    /// What the scope leaves of a relation.
    fn left_of(&self, relation: &Relation) -> Result<Left> {
        let name = &relation.header.name;
        let extent = match &relation.header.scope.time {
            Some((start, end)) => format!("min({start}) AS start_ns, max({end}) AS end_ns"),
            None => "NULL AS start_ns, NULL AS end_ns".to_owned(),
        };
        let table = self.table(&format!(
            "SELECT EXISTS (SELECT 1 FROM {name}) AS is_left, count(*) AS row_count, {extent} FROM {UNSCOPED}{name}"
        ))?;
        let row = table.iter().next();
        let count = |column| row.as_ref().and_then(|row| row.int(column)).unwrap_or_default();
        if count("is_left") != 0 {
            return Ok(Left::Some);
        }
        if count("row_count") == 0 {
            return Ok(Left::NeverAny);
        }
        let seconds = |column| row.as_ref().and_then(|row| row.int(column)).map(|ns| ns as f64 / 1e9);
        let when = match (seconds("start_ns"), seconds("end_ns")) {
            (Some(start), Some(end)) => format!(", from {start:.6} s to {end:.6} s"),
            _ => String::new(),
        };
        let (options, count) = (self.asking.scope.words().join(" "), count("row_count"));
        let reason =
            format!("{options} leaves none of the {count} rows of `{name}` in the report{when}");
        Ok(Left::None(count, reason))
    }

    /// That the processes of `--process` use no GPU, if that is so.
    fn idle_processes(&self) -> Result<Option<String>> {
        if self.scope.processes.is_empty() {
            return Ok(None);
        }
        let plan = Plan::new(self.asking.catalog, &Invocation::parse(PROCESSES), &Layout::Own)?;
        let is_chosen =
            |row: &Row<'_>| row.int("pid").is_some_and(|pid| self.scope.processes.contains(&pid));
        let is_idle = |row: &Row<'_>| row.int("op_count") == Some(0) && row.int("call_count") == Some(0);
        let table = self.session.table(&plan, self.limits)?;
        let chosen: Vec<Row<'_>> = table.iter().filter(is_chosen).collect();
        if chosen.is_empty() || !chosen.iter().all(is_idle) {
            return Ok(None);
        }
        let named = |row: &Row<'_>| {
            let name = row
                .text("process_name")
                .filter(|name| !name.is_empty())
                .map(|name| format!(" ({name})"));
            format!("{}{}", row.int("pid").unwrap_or_default(), name.unwrap_or_default())
        };
        let names: Vec<String> = chosen.iter().map(named).collect();
        let (processes, have) =
            if names.len() == 1 { ("process", "has") } else { ("processes", "have") };
        Ok(Some(format!(
            "{processes} {} {have} no GPU work and no CUDA calls in the report; `--query {PROCESSES}` lists those that do",
            names.join(", ")
        )))
    }

    /// How much GPU time the figures leave out, because other threads launched it.
    fn lost_launches(&self, answered: &[Evidence<'_>]) -> Result<Vec<String>> {
        if self.scope.attribute == Attribute::Process {
            return Ok(Vec::new());
        }
        // With --nvtx and --iter, the figures of all queries are about the selected ranges.
        if !(self.scope.nvtx.is_empty() && self.scope.iterations.is_empty()) {
            let scope = &self.asking.scope;
            let names = scope.nvtx.iter().map(|name| ("--nvtx", name));
            let names = names.chain(scope.iterations.iter().map(|name| ("--iter", name)));
            let selected: Vec<String> =
                names.map(|(option, name)| format!("{option} '{name}'")).collect();
            return Ok(self.lost_in(&selected.join(" "), &[])?.into_iter().collect());
        }
        let (mut notes, mut anywhere) = (Vec::new(), Vec::new());
        for answer in answered {
            let Some((query, _)) = answer.plan.query.as_ref().filter(|(name, _)| name != COVERAGE)
            else {
                continue;
            };
            if !answer.plan.reads.iter().any(|name| ATTRIBUTED.contains(&name.as_str())) {
                continue;
            }
            let ranges = match self.range_param(answer.plan) {
                Some((_, Value::Null, _)) => answer.chosen.iter().cloned().collect(),
                Some((_, value, _)) => patterns_of(value),
                None => Vec::new(),
            };
            if ranges.is_empty() || ranges.iter().any(|range| range == "*") {
                anywhere.push(query.as_str());
            } else {
                notes.extend(self.lost_in(&format!("'{}'", ranges.join("', '")), &ranges)?);
            }
        }
        if anywhere.is_empty() {
            return Ok(notes);
        }
        let time = self.session.attributed_time(&[])?;
        let lost =
            time.map(|time| 100.0 * (time.process_ns - time.thread_ns) as f64 / time.all_ns as f64);
        notes.extend(lost.filter(|lost| *lost >= NOTABLE_PCT).map(|lost| {
            format!(
                "{lost:.1} % of GPU time is in no range of {}: threads without ranges launched it, such as \
                 PyTorch's autograd thread; `--attribute process` includes it",
                anywhere.join(", ")
            )
        }));
        notes.dedup();
        Ok(notes)
    }

    /// How much GPU time attribution by process adds to the ranges.
    fn lost_in(&self, ranges: &str, names: &[String]) -> Result<Option<String>> {
        let Some(time) = self.session.attributed_time(names)? else { return Ok(None) };
        let lost_ns = time.process_ns.saturating_sub(time.thread_ns);
        let is_notable = lost_ns > 0 && 100.0 * lost_ns as f64 >= NOTABLE_PCT * time.process_ns as f64;
        let shown = |ns: i64| match columns_by_suffix(&["gpu_ns"]).first() {
            Some(column) => humanize(&Value::Int(ns), column),
            None => format!("{ns} ns"),
        };
        Ok(is_notable.then(|| {
            format!(
                "the threads of {ranges} launched {} of GPU time; `--attribute process` adds {} that other threads, \
                 such as PyTorch's autograd thread, launched meanwhile",
                shown(time.thread_ns),
                shown(lost_ns)
            )
        }))
    }

    /// Whether the class map that the user named matches nothing.
    fn unmatched_classes(&self, answered: &[Evidence<'_>]) -> Result<Option<String>> {
        let Some(map) = &self.asking.class_map else { return Ok(None) };
        if !answered.iter().any(|answer| uses_classes(answer.plan)) {
            return Ok(None);
        }
        let table = self.table(&format!(
            "SELECT count(*) AS name_count, count(*) FILTER (WHERE op_class(op_name) <> 'others') AS known \
             FROM (SELECT DISTINCT op_name FROM {NAMED})"
        ))?;
        let counts = table
            .iter()
            .next()
            .map(|row| (row.int("name_count").unwrap_or(0), row.int("known").unwrap_or(0)));
        Ok(counts.filter(|&(names, known)| names > 0 && known == 0).map(|(names, _)| {
            format!("class map {map} matches none of the {names} names of GPU operations")
        }))
    }

    fn table(&self, sql: &str) -> Result<ResultTable> {
        let origin = ("explanation".to_owned(), 1);
        // A statement of nsq's own, over the library's relations.
        let plan = Plan { is_built_in: true, ..Plan::ad_hoc(sql, origin, self.asking.catalog) };
        self.session.table(&plan, self.limits)
    }
}

/// What the scope leaves of a relation.
enum Left {
    Some,
    /// None of this many rows, for this reason.
    None(i64, String),
    /// The report has no such rows.
    NeverAny,
}

/// The key of `KEY=VALUE`.
fn key_of(param: &str) -> &str {
    param.split('=').next().unwrap_or_default().trim()
}

/// The patterns of a parameter that names ranges: a text, or a list as JSON.
fn patterns_of(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| vec![text.clone()]),
        _ => Vec::new(),
    }
}
