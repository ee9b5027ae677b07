//! The tools: what each does with its arguments. They run on a thread of their own, and end soon after they
//! are cancelled.

use crate::arguments::{
    Answer, Describe, Diff, Explain, ListQueries, ListReports, Overview, RunQuery, RunSql, ScopeArgs,
    texts,
};
use crate::compact::{self, Part};
use crate::failure::Failure;
use crate::playbook;
use crate::reports::{Reports, replaced};
use crate::roots::{Located, quoted};
use crate::wording;
use nsq::{Cancel, Library, Report, Row, Table, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Most rows that a question may return inside the server, before paging.
const MOST_ROWS: usize = 200_000;
/// Most bytes of text in these rows.
const MOST_TEXT: usize = 64 << 20;
/// Rows of an answer by default.
const ROWS: usize = 20;
/// Most rows of an answer.
const MOST_SHOWN: usize = 1_000;

/// What the tools of a server share.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) library: Library,
    pub(crate) reports: Reports,
    /// Most bytes of an answer.
    pub(crate) bytes: usize,
    /// How long a call may take.
    pub(crate) timeout: Duration,
}

/// An answer: JSON, or text that is laid out.
#[derive(Debug)]
pub(crate) enum Reply {
    Json(Json),
    Text(String),
}

impl From<Map<String, Json>> for Reply {
    fn from(map: Map<String, Json>) -> Self {
        Self::Json(map.into())
    }
}

type Answered = Result<Reply, Failure>;

impl Tools {
    pub(crate) fn list_reports(&self, args: &ListReports, _: &Cancel) -> Answered {
        let (reports, more) = self.reports.roots.list(args.contains.as_deref());
        let (total, limit) = (reports.len(), args.limit.unwrap_or(50).min(MOST_SHOWN));
        let shown: Vec<Json> = reports.into_iter().skip(args.offset).take(limit).collect();
        let next = args.offset + shown.len();
        let mut answer = Map::new();
        answer.insert("columns".to_owned(), json!(["report", "kind", "size_bytes", "changed_unix_s"]));
        answer.insert("rows".to_owned(), shown.into());
        answer.insert("total_rows".to_owned(), total.into());
        if next < total {
            answer.insert("next_offset".to_owned(), next.into());
        }
        if more {
            answer.insert("note".to_owned(), "the roots hold more files than were looked at".into());
        }
        Ok(answer.into())
    }

    pub(crate) fn overview(&self, args: &Overview, cancel: &Cancel) -> Answered {
        let top = args.top.unwrap_or(5).max(1);
        self.about(&[&args.report], |_, reports| {
            let [report] = reports else { return Err(no_report()) };
            let scope = args.scope.scope();
            let asked = report.page("overview").param("top", top).scope(&scope).cancel(cancel).run()?;
            let tables: BTreeMap<&str, &Table> =
                asked.tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
            let top = usize::from(top);
            let mut answer = Map::new();
            answer.insert("report".to_owned(), compact::text(&report.name(), false).into());
            // What bounds the time, and whether only the steps after the warm-up are judged.
            for fact in ["bound_by", "is_steady", "is_once"] {
                answer.extend(asked.facts.get(fact).map(|value| (fact.to_owned(), value.clone())));
            }
            let mut show =
                |name: &str, columns: &[&str], keep: &dyn Fn(&Row<'_>) -> bool, rows: usize| {
                    let Some(table) = tables.get(name) else { return };
                    let pairs = table.iter().zip(table.rows()).filter(|(row, _)| keep(row));
                    let shown: Vec<Json> = pairs
                        .take(rows)
                        .map(|(_, values)| compact::object(table, values, columns, &NAMES).into())
                        .collect();
                    if !shown.is_empty() {
                        answer.insert(name.to_owned(), shown.into());
                    }
                };
            show("phases", &PHASE, &|_| true, 16);
            show("gpus", &GPU, &|_| true, 64);
            show("iterations", &ITERATIONS, &|_| true, 64);
            let is_yes = |row: &Row<'_>| row.text("verdict") == Some("yes");
            if asked.facts.get("kernel_binds").and_then(Json::as_bool) == Some(true) {
                show("families", &FAMILY, &|_| true, 2);
            }
            show("findings", &FINDING, &is_yes, top);
            show("idle", &IDLE, &|row| row.real("time_pct").is_some_and(|pct| pct >= 1.0), 2 * top);
            show("kernels", &KERNEL, &|_| true, top);
            show("trust", &TRUST, &|_| true, 8);
            let with = |verdict: &str| -> Vec<Json> {
                let findings =
                    tables.get("findings").map_or_else(Vec::new, |table| table.iter().collect());
                let rows = findings.iter().filter(|row| row.text("verdict") == Some(verdict));
                rows.filter_map(|row| row.text("finding").map(Json::from)).collect()
            };
            for (key, verdict) in [
                ("also_gained_by_these", "covered"),
                ("no_gain_while_other_work_binds", "limited"),
                ("cannot_tell", "cannot tell"),
            ] {
                let names = with(verdict);
                if !names.is_empty() {
                    answer.insert(key.to_owned(), names.into());
                }
            }
            // Why findings cannot be told: each reason once.
            let findings = tables.get("findings").map_or_else(Vec::new, |table| table.iter().collect());
            let lacks: BTreeSet<&str> = findings.iter().filter_map(|row| row.text("lacks")).collect();
            if !lacks.is_empty() {
                answer.insert("capture_lacks".to_owned(), json!(lacks));
            }
            answer.insert(
                "untrusted_text".to_owned(),
                json!(["kernel_name", "top_subject", "layer_name", "gpu_name"]),
            );
            let first = tables.get("findings").and_then(|table| table.first());
            let first = first.filter(is_yes).and_then(|row| row.text("finding").map(str::to_owned));
            let next = match first {
                Some(name) => format!("run_query with query {name}: every place of the first finding"),
                None => "list_queries with this report: what it can answer".to_owned(),
            };
            answer.insert("next".to_owned(), next.into());
            notes(&mut answer, &asked.notes);
            Ok(answer.into())
        })
    }

    pub(crate) fn list_queries(&self, args: &ListQueries, _: &Cancel) -> Answered {
        let found = self.library.find(args.about.as_deref().unwrap_or_default())?;
        let answerable = match &args.report {
            None => None,
            Some(name) => {
                let (_, report) = self.reports.open(name, &self.library)?;
                Some(report.answerable()?.into_iter().map(str::to_owned).collect::<BTreeSet<_>>())
            }
        };
        let rows: Vec<[&str; 3]> = found
            .iter()
            .filter_map(|row| {
                // Rows borrow the table through `found`, not through the iterator.
                let text = |name| row.text(name);
                Some([text("name")?, text("domain")?, text("summary")?])
            })
            .filter(|[name, ..]| answerable.as_ref().is_none_or(|known| known.contains(*name)))
            .collect();
        let mut answer = Map::new();
        if args.about.is_some() {
            let limit = args.limit.unwrap_or(12).min(MOST_SHOWN);
            let shown: Vec<Json> =
                rows.iter().take(limit).map(|[name, _, summary]| json!([name, summary])).collect();
            answer.insert("columns".to_owned(), json!(["query", "summary"]));
            answer.insert("rows".to_owned(), shown.into());
            answer.insert("total_rows".to_owned(), rows.len().into());
            if rows.is_empty() {
                let note = match args.report {
                    Some(_) => {
                        "no query that this report has the data for is about these words: try without report"
                    }
                    None => "no query is about these words: try others, or list all names without about",
                };
                answer.insert("notes".to_owned(), json!([note]));
            }
        } else {
            let mut by_subject = Map::new();
            // The queries of pages are parts of overview and diff.
            for [name, subject, _] in
                rows.iter().filter(|[_, subject, _]| !subject.starts_with("pages/"))
            {
                let names = by_subject.entry((*subject).to_owned()).or_insert_with(|| json!([]));
                if let Json::Array(names) = names {
                    names.push((*name).into());
                }
            }
            answer.insert("queries_by_subject".to_owned(), by_subject.into());
            answer.insert("relations_for_run_sql".to_owned(), self.library.relations().collect());
        }
        Ok(answer.into())
    }

    pub(crate) fn describe(&self, args: &Describe, _: &Cancel) -> Answered {
        // On a command line, three commands list names; here it is one tool.
        let in_one_tool = |error: nsq::Error| {
            let mut failure = Failure::from(error);
            let all = "`nsq list` lists the queries, `nsq list --relations` the relations and `nsq list --functions` the \
                       functions";
            failure.help = failure.help.map(|help| help.replace(all, "`nsq list` lists all names"));
            failure
        };
        Ok(Reply::Text(self.library.manual(&args.name).map_err(in_one_tool)?))
    }

    pub(crate) fn run_query(&self, args: &RunQuery, cancel: &Cancel) -> Answered {
        self.must_be_a_query(&args.query)?;
        self.about(&args.report.list(), |_, reports| {
            let table = self.ask(reports, &args.query, &args.params, &args.scope, cancel)?;
            let part = Part {
                offset: args.offset,
                limit: args.limit.unwrap_or(ROWS).min(MOST_SHOWN),
                columns: &args.columns,
                largest_by: args.largest_by.as_deref(),
                whole_text: args.whole_text,
                bytes: self.bytes,
            };
            let mut answer = Map::new();
            named(&mut answer, &table);
            answer.extend(compact::table(&table, &part)?);
            notes(&mut answer, &table.notes);
            Ok(answer.into())
        })
    }

    /// Fails for a tool or a page, which list_queries and describe name as they name queries.
    fn must_be_a_query(&self, name: &str) -> Result<(), Failure> {
        if self.library.statement(name).is_ok() {
            return Ok(());
        }
        if ["overview", "diff", "answer", "explain"].contains(&name) {
            return Err(Failure::new(
                format!("{name} is a tool of its own, not a query"),
                format!("call the tool {name}"),
            ));
        }
        let manual = self.library.manual(name).unwrap_or_default();
        match manual.lines().next().is_some_and(|title| title.ends_with("(a page)")) {
            true => Err(Failure::new(
                format!("{name} is a page of several queries"),
                format!("describe with name {name} lists its queries"),
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn run_sql(&self, args: &RunSql, cancel: &Cancel) -> Answered {
        self.about(&[&args.report], |_, reports| {
            let [report] = reports else { return Err(no_report()) };
            let question = report.sql(&args.sql).scope(&args.scope.scope()).cancel(cancel);
            let table = question.max_rows(MOST_ROWS).max_bytes(MOST_TEXT).run()?;
            let part = Part {
                offset: args.offset,
                limit: args.limit.unwrap_or(ROWS).min(MOST_SHOWN),
                columns: &[],
                largest_by: None,
                whole_text: args.whole_text,
                bytes: self.bytes,
            };
            let mut answer = compact::table(&table, &part)?;
            notes(&mut answer, &table.notes);
            Ok(answer.into())
        })
    }

    pub(crate) fn diff(&self, args: &Diff, cancel: &Cancel) -> Answered {
        let (before, after) = (args.before.list(), args.after.list());
        let names: Vec<&str> = before.iter().chain(&after).copied().collect();
        if before.is_empty() || after.is_empty() {
            return Err(no_report());
        }
        self.about(&names, |_, reports| {
            let (before, after) = reports.split_at(before.len());
            let mut page =
                self.library.diff(before.iter().map(Arc::as_ref), after.iter().map(Arc::as_ref));
            if let Some(skip) = args.skip {
                page = page.param("skip", skip);
            }
            if let Some(name) = &args.iterations {
                page = page.iterations(name);
            }
            let page = page.cancel(cancel).run()?;
            let tables: BTreeMap<&str, &Table> =
                page.tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
            let mut answer = self.changes(&tables, args)?;
            notes(&mut answer, &page.notes);
            Ok(answer.into())
        })
    }

    /// The tables of a comparison: the verdict, the whole, and the largest changes of each section.
    fn changes(
        &self,
        tables: &BTreeMap<&str, &Table>,
        args: &Diff,
    ) -> Result<Map<String, Json>, Failure> {
        let mut answer = Map::new();
        if let Some(table) = tables.get("verdict")
            && let Some(row) = table.rows().first()
        {
            answer.insert("verdict".to_owned(), compact::object(table, row, &VERDICT, &NAMES).into());
        }
        for (name, columns) in [("runs", &RUN[..]), ("whole", &WHOLE[..])] {
            if let Some(table) = tables.get(name) {
                let rows = table.rows().iter().map(|row| compact::object(table, row, columns, &NAMES));
                answer.insert(name.to_owned(), rows.map(Json::from).collect());
            }
        }
        let Some(rows) = tables.get("rows") else { return Ok(answer) };
        let mut by_section: BTreeMap<usize, Vec<(i64, &[Value])>> = BTreeMap::new();
        for (row, values) in rows.iter().zip(rows.rows()) {
            let section = row.text("section").unwrap_or_default();
            if args.sections.is_empty() || args.sections.iter().any(|wanted| wanted == section) {
                let change = row.int("change_ns").unwrap_or(0).saturating_abs();
                let place = SECTIONS.iter().position(|known| *known == section);
                by_section.entry(place.unwrap_or(SECTIONS.len())).or_default().push((change, values));
            }
        }
        if let Some(unknown) = args.sections.iter().find(|name| !SECTIONS.contains(&name.as_str())) {
            return Err(Failure::new(
                format!("unknown section {}", quoted(unknown)),
                format!("sections: {}", SECTIONS.join(", ")),
            ));
        }
        let (top, mut left) = (args.top.unwrap_or(5), self.bytes);
        let mut changes = Map::new();
        for (section, mut rows_of) in by_section {
            rows_of.sort_by_key(|(change, _)| std::cmp::Reverse(*change));
            let total = rows_of.len();
            let mut shown = Vec::new();
            for (_, values) in rows_of.into_iter().take(top) {
                let row = Json::from(compact::object(rows, values, &CHANGE, &NAMES));
                let bytes = row.to_string().len();
                if bytes > left {
                    break;
                }
                left -= bytes;
                shown.push(row);
            }
            let section = SECTIONS.get(section).copied().unwrap_or("other");
            changes.insert(section.to_owned(), json!({"total_rows": total, "largest": shown}));
        }
        answer.insert("changes".to_owned(), changes.into());
        answer.insert("untrusted_text".to_owned(), json!(["name_a", "name_b", "iteration_name"]));
        Ok(answer)
    }

    pub(crate) fn answer(&self, args: &Answer, cancel: &Cancel) -> Answered {
        let params = texts(&args.params)?;
        self.about(&args.report.list(), |located, _| {
            let paths: Vec<_> = located.iter().map(|report| report.path.as_path()).collect();
            let playbook = args.playbook.as_deref().unwrap_or("cs336");
            let asked = playbook::Asked { paths: &paths, playbook, parts: &args.parts, params: &params };
            playbook::answer(&asked, self.timeout, self.bytes, cancel).map(Reply::Json)
        })
    }

    pub(crate) fn explain(&self, args: &Explain, cancel: &Cancel) -> Answered {
        self.about(&[&args.report], |_, reports| {
            let table = self.ask(reports, &args.query, &args.params, &args.scope, cancel)?;
            let name = table.query.as_ref().map_or(args.query.as_str(), |(name, _)| name);
            let mut answer = Map::new();
            named(&mut answer, &table);
            answer.insert("statement".to_owned(), self.library.statement(name)?.into());
            let columns: Vec<&nsq::Column> = table
                .columns()
                .iter()
                .filter(|column| args.column.as_ref().is_none_or(|wanted| *wanted == column.name))
                .collect();
            if columns.is_empty() {
                let known: Vec<&str> =
                    table.columns().iter().map(|column| column.name.as_str()).collect();
                return Err(Failure::new(
                    format!("unknown column {}", quoted(args.column.as_deref().unwrap_or_default())),
                    format!("columns: {}", known.join(", ")),
                ));
            }
            let meaning = columns.iter().map(|column| {
                let unit = column.unit.map_or("", nsq::Unit::name);
                json!([column.name, column.kind.name(), unit, column.doc])
            });
            answer.insert("columns_mean".to_owned(), meaning.collect());
            answer.insert("limits".to_owned(), limits(&self.library.manual(name)?).into());
            let part = Part {
                offset: args.row,
                limit: 1,
                columns: &[],
                largest_by: None,
                whole_text: true,
                bytes: self.bytes,
            };
            answer.extend(compact::table(&table, &part)?);
            answer.insert("row".to_owned(), args.row.into());
            answer.shift_remove("next_offset");
            notes(&mut answer, &table.notes);
            Ok(answer.into())
        })
    }

    /// Asks a query about one report or several.
    fn ask(
        &self,
        reports: &[Arc<Report>],
        query: &str,
        params: &Map<String, Json>,
        scope: &ScopeArgs,
        cancel: &Cancel,
    ) -> Result<Table, Failure> {
        let mut question = self.library.query(query, reports.iter().map(Arc::as_ref));
        for (name, value) in texts(params)? {
            question = question.param(name, value);
        }
        let question = question.scope(&scope.scope()).cancel(cancel);
        let question = question.max_rows(MOST_ROWS).max_bytes(MOST_TEXT);
        // Pages need all rows, so the limit that a query has by default is lifted.
        if !params.contains_key(LIMIT) {
            match question.clone().param(LIMIT, -1).run() {
                Err(nsq::Error::Unknown { .. } | nsq::Error::Usage { .. }) => {}
                answered => return Ok(answered?),
            }
        }
        Ok(question.run()?)
    }

    /// Opens reports, answers about them, and checks that they are still the same files.
    fn about(
        &self,
        names: &[&str],
        answer: impl FnOnce(&[Located], &[Arc<Report>]) -> Answered,
    ) -> Answered {
        if names.is_empty() || names.len() > MOST_REPORTS {
            return Err(no_report());
        }
        let mut located = Vec::new();
        let mut reports = Vec::new();
        for name in names {
            let (place, report) = self.reports.open(name, &self.library)?;
            located.push(place);
            reports.push(report);
        }
        let answered = answer(&located, &reports);
        match located.iter().find(|report| !self.reports.roots.is_unchanged(report)) {
            None => answered,
            Some(report) => Err(replaced(report)),
        }
    }
}

/// The parameter that ends the rows of a query.
const LIMIT: &str = "limit";
/// Columns of objects that hold text from the profiled program.
const NAMES: [&str; 8] = [
    "kernel_name",
    "top_subject",
    "layer_name",
    "gpu_name",
    "report",
    "iteration_name",
    "name_a",
    "name_b",
];
/// Most reports of one question.
const MOST_REPORTS: usize = 64;

const PHASE: [&str; 4] = ["gpu_id", "phase", "dur_ns", "step_count"];
const GPU: [&str; 13] = [
    "gpu_id",
    "gpu_name",
    "start_ns",
    "end_ns",
    "window_ns",
    "compute_ns",
    "exposed_communication_ns",
    "exposed_memory_ns",
    "idle_ns",
    "compute_pct",
    "exposed_communication_pct",
    "exposed_memory_pct",
    "idle_pct",
];
const ITERATIONS: [&str; 12] = [
    "gpu_id",
    "layer_name",
    "iteration_count",
    "warm_up_count",
    "median_ns",
    "min_ns",
    "max_ns",
    "slowest",
    "compute_pct",
    "exposed_communication_pct",
    "exposed_memory_pct",
    "idle_pct",
];
const FINDING: [&str; 12] = [
    "finding",
    "confidence",
    "adds_ns",
    "adds_pct",
    "now_ns",
    "alone_ns",
    "avoided_ns",
    "interval_count",
    "top_subject",
    "top_subject_pct",
    "claim",
    "remedy",
];
const IDLE: [&str; 5] = ["gpu_id", "cause", "total_ns", "time_pct", "gap_count"];
const KERNEL: [&str; 6] = ["kernel_name", "calls", "time_pct", "total_ns", "mean_ns", "max_ns"];
const FAMILY: [&str; 6] = ["family", "kernel_name", "time_pct", "now_ns", "then_ns", "advice"];
const TRUST: [&str; 4] = ["severity", "problem", "detail", "remedy"];
const VERDICT: [&str; 11] = [
    "verdict",
    "per",
    "a_ns",
    "b_ns",
    "change_pct",
    "noise_pct",
    "detectable_pct",
    "noise_from",
    "judged_pct",
    "is_same_work",
    "same_calls_pct",
];
const RUN: [&str; 6] =
    ["is_b", "report", "iteration_name", "iteration_count", "kernel_count", "kernel_ns"];
const WHOLE: [&str; 8] =
    ["part", "verdict", "a_ns", "b_ns", "change_ns", "change_pct", "noise_pct", "per"];
const CHANGE: [&str; 12] = [
    "verdict",
    "reason",
    "name_a",
    "name_b",
    "calls_a",
    "calls_b",
    "mean_a_ns",
    "mean_b_ns",
    "change_ns",
    "cost_change_pct",
    "noise_pct",
    "match",
];
const SECTIONS: [&str; 7] = ["total", "kernels", "classes", "layers", "nccl", "memory", "api"];

fn no_report() -> Failure {
    Failure::new(
        format!("expected one to {MOST_REPORTS} reports"),
        "list_reports lists the names of the reports that can be opened",
    )
}

/// The name and version of the query.
fn named(answer: &mut Map<String, Json>, table: &Table) {
    if let Some((name, version)) = &table.query {
        answer.insert("query".to_owned(), format!("{name}@{version}").into());
    }
    answer.insert("title".to_owned(), table.title.as_str().into());
}

fn notes(answer: &mut Map<String, Json>, notes: &[String]) {
    if !notes.is_empty() {
        let notes: Vec<String> =
            notes.iter().map(|note| nsq::visible(&wording::message(note))).collect();
        answer.insert("notes".to_owned(), json!(notes));
    }
}

/// The limits of a query, from its manual page.
fn limits(manual: &str) -> String {
    let lines = manual.lines().skip_while(|line| *line != "LIMITS").skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect();
    lines.join(" ")
}
