//! Turns a [`Query`] and its arguments into a checked [`Plan`] that is ready to run.
//!
//! It handles typed parameters, NVIDIA's colon arguments and the choice of columns, and checks that the
//! report has the data that the query needs. It does not run SQL.

mod asked_finding;
mod dialect;
mod invocation;
mod layout;
mod origins;
mod own_functions;
mod params;
mod relations;
mod standalone;
mod statement_params;
mod statements;

pub use asked_finding::{AskedFinding, FINDING_ABOUT};
pub use dialect::{parse, without_hints};
pub use invocation::Invocation;
pub use layout::{ByteUnit, Layout, NsysUnits, TimeUnit};
pub use origins::Origin;
pub use own_functions::{OWN_FORMS, in_own_functions};
pub use params::{names_ranges, parse_duration, parse_param, scalar};
pub use relations::{
    code_only, functions_in, names_in, relations_in, with_similar_relations, words_among, words_in,
};
pub use standalone::script;
pub use statement_params::{named_params, typed_params, unknown_param};
pub use statements::split_statements;

use crate::normalize::{Lack, Presence};
use nsq_library::catalog::{AskedQuery, Catalog, FINDING_WINDOWS, Kind, KnownBy, Query, line_of};
use nsq_value::error::{Error, Result};
use nsq_value::shell;
use nsq_value::table::{Column, ResultTable, Type, Unit, Value};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A query that a plan asks, and the table that its answer becomes.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Name of the table.
    pub table: String,
    /// The query.
    pub plan: Arc<Plan>,
    /// The parameters that get a column of a table asked before: their names, which are those of the columns, and the
    /// tables.
    pub given: Vec<(String, String)>,
    /// Whether the table is empty if the report lacks the data of the query.
    pub is_optional: bool,
}

impl Asked {
    /// The query with the parameters that others give it. `table`: an answer, by the name of its table.
    pub fn with_given<'a>(&self, table: impl Fn(&str) -> Option<&'a ResultTable>) -> Cow<'_, Plan> {
        if self.given.is_empty() {
            return Cow::Borrowed(&self.plan);
        }
        let mut plan = Plan::clone(&self.plan);
        for (param, name) in &self.given {
            let values = table(name).map_or_else(Vec::new, |table| texts_of(table, param));
            plan.bindings.retain(|(bound, _)| bound != param);
            // Texts become a list without a failure.
            let list = serde_json::to_string(&values).unwrap_or_default();
            plan.bindings.push((param.clone(), Value::Text(list)));
        }
        Cow::Owned(plan)
    }
}

fn texts_of<'a>(table: &'a ResultTable, column: &str) -> Vec<&'a str> {
    let place = table.columns.iter().position(|of| of.name == column);
    let text = |row: &'a Vec<Value>| match row.get(place?)? {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    table.rows.iter().filter_map(text).collect()
}

/// Most queries that ask each other in a row. More are taken for a circle.
const MAX_ASKING: usize = 8;

/// A statement that is ready to run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Name and version of the query. `None` for a user's statement.
    pub query: Option<(String, u32)>,
    /// Heading.
    pub title: String,
    /// The statement.
    pub sql: String,
    /// File and first line of the statement, for error messages.
    pub origin: (String, usize),
    /// Values of the `:name` parameters.
    pub bindings: Vec<(String, Value)>,
    /// The columns it returns. Empty for a user's statement: its column names are used.
    pub columns: Vec<Column>,
    /// For a user's statement, which of its columns are those of relations; empty if that is not known.
    pub origins: Vec<Origin>,
    /// The relations that it and the queries of `asks` read, and those that its findings require.
    pub reads: Vec<String>,
    /// The queries whose answers it reads. If there are any, it reads no relation itself.
    pub asks: Vec<Asked>,
    /// The findings whose intervals it reads. A report may lack the data of some.
    pub findings: Option<Arc<Vec<AskedFinding>>>,
    /// Whether it reads the answers of all reports together.
    pub across: bool,
    /// The relations that the report must have, each `a` or `a | b`.
    pub requires: Vec<String>,
    /// A condition without which it has no rows.
    pub rows_if: Option<String>,
    /// For a finding: the relation that must have rows.
    pub known_by: Option<KnownBy>,
    /// Whether the statement comes from the embedded library, not from a user.
    pub is_built_in: bool,
    /// Whether it sees rows whose times cannot be true, as NVIDIA's report of its name does. NVIDIA's rules do not.
    pub as_recorded: bool,
}

/// Plans queries. A query that several ask with the same parameters is planned once.
#[derive(Debug)]
pub struct Planner<'c> {
    catalog: &'c Catalog,
    /// The queries that others ask, by name.
    planned: RefCell<HashMap<String, Vec<Arc<Plan>>>>,
    findings: OnceCell<Arc<Vec<AskedFinding>>>,
}

impl<'c> Planner<'c> {
    /// A planner of the queries of a library.
    pub fn new(catalog: &'c Catalog) -> Self {
        Self { catalog, planned: RefCell::default(), findings: OnceCell::new() }
    }

    /// Plans the query that an invocation names. Fails if a required parameter is missing.
    pub fn plan(&self, invocation: &Invocation, layout: &Layout) -> Result<Plan> {
        let plan = self.without_values(invocation, layout)?;
        params::require(self.catalog.query(&invocation.query)?, &plan.bindings)?;
        Ok(plan)
    }

    /// Plans a query whose required parameters may be missing.
    fn without_values(&self, invocation: &Invocation, layout: &Layout) -> Result<Plan> {
        let query = self.catalog.query(&invocation.query)?;
        let bindings = params::bind(query, invocation)?;
        self.bound(query, bindings, &invocation.args, layout, 0)
    }

    /// Plans a query with the values of all its parameters.
    fn bound(
        &self,
        query: &Query,
        bindings: Vec<(String, Value)>,
        args: &[String],
        layout: &Layout,
        depth: usize,
    ) -> Result<Plan> {
        let header = &query.header;
        let asks = header
            .asks
            .iter()
            .filter(|ask| ask.kind.is_none())
            .map(|ask| self.asked(query, ask, &bindings, depth + 1))
            .collect::<Result<Vec<Asked>>>()?;
        let findings = match header.asks.iter().any(|ask| ask.kind.is_some()) {
            true => Some(self.of_all_findings()?),
            false => None,
        };
        let own: Vec<Column> = header.columns.iter().map(|spec| spec.to_column()).collect();
        let (sql, columns) = match layout {
            Layout::Own => (query.sql.clone(), own),
            Layout::Nsys(units) => layout::nsys(query, units)?,
        };
        let mut requires = header.requires.as_ref().unwrap_or(&header.reads).clone();
        let needed = asks.iter().filter(|asked| !asked.is_optional);
        requires.extend(needed.flat_map(|asked| asked.plan.requires.iter().cloned()));
        for arg in header.nsys.iter().flat_map(|nsys| &nsys.args) {
            if args.contains(&arg.name) {
                requires.extend(arg.requires.iter().cloned());
            }
        }
        let each_finding = || findings.iter().flat_map(|findings| findings.iter());
        let of_asked = asks.iter().flat_map(|asked| &asked.plan.reads);
        let of_findings = each_finding().flat_map(|asked| &asked.plan.reads);
        let mut reads: Vec<String> =
            header.reads.iter().chain(of_asked).chain(of_findings).cloned().collect();
        reads.extend(findings.iter().map(|_| FINDING_WINDOWS.to_owned()));
        // A session knows whether the report has the relations that its plans read.
        reads.extend(
            asks.iter().filter(|asked| asked.is_optional).flat_map(|asked| asked.plan.required()),
        );
        reads.extend(each_finding().flat_map(|asked| asked.plan.required()));
        // Queries that ask the same ones read the same relations.
        for list in [&mut reads, &mut requires] {
            let mut seen = HashSet::new();
            list.retain(|relation| seen.insert(relation.clone()));
        }
        Ok(Plan {
            query: Some((header.name.clone(), header.version)),
            title: match (layout, &header.nsys) {
                (Layout::Nsys(_), Some(nsys)) => nsys.title.clone(),
                _ => header.title.clone(),
            },
            sql,
            origin: (query.file.clone(), query.sql_line),
            bindings,
            columns,
            origins: Vec::new(),
            reads,
            requires,
            rows_if: header.rows_if.clone(),
            known_by: header.finding.as_ref().and_then(|finding| finding.known_by.clone()),
            is_built_in: self.catalog.built_in().has(&query.header.name, &query.text)
                && asks.iter().all(|asked| asked.plan.is_built_in)
                && each_finding().all(|asked| asked.plan.is_built_in),
            as_recorded: header.nsys.is_some() && header.kind != Kind::Rule,
            asks,
            findings,
            across: header.across,
        })
    }

    /// Plans all findings of the library, with the defaults of their parameters.
    fn of_all_findings(&self) -> Result<Arc<Vec<AskedFinding>>> {
        if let Some(findings) = self.findings.get() {
            return Ok(Arc::clone(findings));
        }
        let mut findings = Vec::new();
        for query in self.catalog.findings() {
            if let Some(about) = &query.header.finding {
                let plan = self.plan(&Invocation::parse(&query.header.name), &Layout::Own)?;
                findings.push(AskedFinding { plan, about: about.clone() });
            }
        }
        Ok(Arc::clone(self.findings.get_or_init(|| Arc::new(findings))))
    }

    /// Plans a query of `asks`. Parameters that it does not set have the values of those of `asking`.
    fn asked(
        &self,
        asking: &Query,
        ask: &AskedQuery,
        bindings: &[(String, Value)],
        depth: usize,
    ) -> Result<Asked> {
        let refuse = |reason: String, help: &str| {
            let line = line_of(&asking.text, "asks:");
            Error::catalog(&asking.file, line, reason, help)
        };
        let query = self
            .catalog
            .query(&ask.query)
            .map_err(|error| refuse(error.to_string(), "`asks` names queries; `nsq list` shows them"))?;
        let before = asking.header.asks.iter().take_while(|other| other.table != ask.table);
        let before: Vec<&str> = before.map(|other| other.table.as_str()).collect();
        if let Some((param, table)) = ask.given.iter().find(|(_, of)| !before.contains(&of.as_str())) {
            return Err(refuse(
                format!("{param} is given by {table}, which is not asked before {}", ask.table),
                "ask it first",
            ));
        }
        if depth > MAX_ASKING {
            return Err(refuse(
                format!("more than {MAX_ASKING} queries ask each other, or they do so in a circle"),
                "ask the queries that read relations",
            ));
        }
        if query.header.across && !asking.header.across {
            return Err(refuse(
                format!("{} is about all reports, and this query about each", ask.query),
                "write `across: true` in this query as well",
            ));
        }
        let mut invocation = Invocation::parse(&ask.query);
        invocation.params = ask.params.clone().into_iter().collect();
        let mut own = params::bind(query, &invocation)?;
        for param in query.header.params.iter().filter(|param| !ask.params.contains_key(&param.name)) {
            if let Some((_, value)) = bindings.iter().find(|(given, _)| *given == param.name) {
                own.retain(|(bound, _)| *bound != param.name);
                own.push((param.name.clone(), value.clone()));
            }
        }
        params::require(query, &own)?;
        let known = |planned: &HashMap<String, Vec<Arc<Plan>>>| {
            let same = planned.get(&ask.query)?.iter().find(|plan| plan.bindings == own)?;
            Some(Arc::clone(same))
        };
        let known = known(&self.planned.borrow());
        let plan = match known {
            Some(plan) => plan,
            None => {
                let plan = Arc::new(self.bound(query, own, &[], &Layout::Own, depth)?);
                self.planned.borrow_mut().entry(ask.query.clone()).or_default().push(Arc::clone(&plan));
                plan
            }
        };
        let given = ask.given.clone().into_iter().collect();
        Ok(Asked { table: ask.table.clone(), plan, given, is_optional: ask.optional })
    }
}

impl Plan {
    /// Plans the query that an invocation names, with its arguments. Fails if a required parameter is
    /// missing.
    pub fn new(catalog: &Catalog, invocation: &Invocation, layout: &Layout) -> Result<Self> {
        Planner::new(catalog).plan(invocation, layout)
    }

    /// Plans a query whose required parameters may be missing: to read what it needs, not to run it.
    pub fn without_values(catalog: &Catalog, invocation: &Invocation, layout: &Layout) -> Result<Self> {
        Planner::new(catalog).without_values(invocation, layout)
    }

    /// Whether it reads the answers of other queries.
    pub fn is_over_answers(&self) -> bool {
        !self.asks.is_empty() || self.findings.is_some()
    }

    /// Plans a user's statement over the normalised vocabulary. `origin` is its file and first line.
    pub fn ad_hoc(sql: &str, origin: (String, usize), catalog: &Catalog) -> Self {
        let is_relation = |word: &String| {
            let plain = word.strip_prefix("all_").unwrap_or(word);
            catalog.relation_names().any(|name| name == word || name == plain) || word == "scope"
        };
        Self {
            sql: sql.to_owned(),
            origin,
            origins: origins::origins(sql, catalog),
            reads: words_in(sql).into_iter().filter(is_relation).collect(),
            ..Self::default()
        }
    }

    /// Whether both plans ask the same with the same parameters.
    pub fn is_same(&self, other: &Self) -> bool {
        self.query == other.query && self.sql == other.sql && self.bindings == other.bindings
    }

    /// The relations of [`Plan::requires`].
    fn required(&self) -> impl Iterator<Item = String> {
        let alternatives = self.requires.iter().flat_map(|requirement| requirement.split('|'));
        alternatives.map(|relation| relation.trim().to_owned())
    }

    /// Fails with exit code 3 if the report lacks data that the query needs.
    pub fn check_presence(&self, presence: &Presence<'_>, report: &Path) -> Result<()> {
        for requirement in &self.requires {
            if let Some(lack) = presence.lack(requirement)? {
                return Err(self.lacks(&lack, report));
            }
        }
        Ok(())
    }

    /// The error for a report that lacks data.
    pub fn lacks(&self, lack: &Lack, report: &Path) -> Error {
        let name = self.query.as_ref().map_or("the statement", |(name, _)| name);
        let lines: Vec<String> = lack.tables.iter().map(|table| format!("  {table}")).collect();
        let see = format!("`nsq schema {}` shows what it holds", shell::path(report));
        let maker = lack.maker.as_deref();
        // PyTorch trace (legacy profiler)
        let kind = maker.and_then(|maker| maker.split(" (").next());
        Error::LacksData {
            query: name.to_owned(),
            needs: lack.titles.iter().map(|title| in_sentence(title)).collect::<Vec<_>>().join(" or "),
            report: report.to_owned(),
            detail: lines.join("\n"),
            help: match lack.flags.as_slice() {
                [] => match kind {
                    Some(kind) => format!("{kind}s do not record it, or not this one; {see}"),
                    None if lack.is_automatic => {
                        format!("nsys records it without an option where the system allows it; {see}")
                    }
                    // Only tables of nsq's own are left, which are those of imported traces.
                    None => format!(
                        "nsys does not record it, but a PyTorch trace of the same program can: add --with TRACE; {see}"
                    ),
                },
                flags if lack.was_recorded => {
                    format!("the capture used {}, but recorded no such event; {see}", flags.join(" or "))
                }
                [flag, ..] if maker.is_some() => {
                    let profiler =
                        if flag.starts_with("ProfilerActivity") { "torch.profiler and " } else { "" };
                    format!("record with {profiler}{flag}; {see}")
                }
                flags => format!("capture with `nsys profile {} …`; {see}", flags.join("` or `")),
            },
        }
    }
}

/// The title of a source inside a sentence: its first letter is small, unless the word is a name or an abbreviation.
fn in_sentence(title: &str) -> String {
    const NAMES: [&str; 1] = ["Vulkan"];
    let word = title.split(' ').next().unwrap_or_default();
    let is_plain = word.chars().count() > 1 && word.chars().skip(1).all(char::is_lowercase);
    let mut letters = title.chars();
    match letters.next() {
        Some(first) if is_plain && !NAMES.contains(&word) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

/// The columns of a user's statement, by the names that SQLite gives them. A column of a relation has its type, unit
/// and meaning; those of others come from the suffixes of their names.
pub fn columns_of_statement(names: &[&str], origins: &[Origin]) -> Vec<Column> {
    let mut columns = columns_by_suffix(names);
    if columns.len() == origins.len() {
        for ((column, origin), name) in columns.iter_mut().zip(origins).zip(names) {
            let is_named = origin.name.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name));
            if let Some(known) = origin.column.as_ref().filter(|_| is_named) {
                // People see the name that they gave, unless it ends with a unit.
                column.label = (column.kind == Type::Any).then(|| column.name.clone());
                (column.kind, column.unit) = (known.kind, known.unit);
                column.doc.clone_from(&known.doc);
            }
        }
    }
    columns
}

/// The columns of these names. Types and units come from their suffixes.
///
/// A repeated name gets its position appended, so that no column hides another in JSON.
pub fn columns_by_suffix(names: &[&str]) -> Vec<Column> {
    let mut columns = columns_of_names(names);
    for index in 1..columns.len() {
        if names[..index].contains(&names[index]) {
            columns[index].name = format!("{}:{}", names[index], index + 1);
        }
    }
    columns
}

fn columns_of_names(names: &[&str]) -> Vec<Column> {
    names
        .iter()
        .map(|name| {
            let mut column = Column::untyped(name);
            (column.kind, column.unit) = match name.rsplit_once('_').map(|(_, suffix)| suffix) {
                Some("ns") if name.ends_with("start_ns") || name.ends_with("end_ns") => {
                    (Type::Timestamp, Some(Unit::Ns))
                }
                Some("ns") => (Type::Duration, Some(Unit::Ns)),
                Some("bytes") => (Type::Bytes, Some(Unit::Bytes)),
                Some("pct") => (Type::Percent, Some(Unit::Percent)),
                Some("s") if name.ends_with("_bytes_per_s") => (Type::Real, Some(Unit::BytesPerS)),
                _ => (Type::Any, None),
            };
            column
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::in_sentence;

    #[test]
    fn titles_begin_with_a_small_letter_unless_they_begin_with_a_name() {
        for (title, expected) in [
            ("CUDA kernels", "CUDA kernels"),
            ("Memory copies", "memory copies"),
            ("Vulkan calls", "Vulkan calls"),
            ("Étapes du programme", "étapes du programme"),
            ("时间", "时间"),
            (" ", " "),
            ("", ""),
        ] {
            assert_eq!(in_sentence(title), expected);
        }
    }
}
