//! Why a query returned no rows, and what its figures leave out.

use crate::catalog::{Catalog, Relation};
use crate::cli::options::ScopeArgs;
use crate::cli::record::{Record, rows_of};
use crate::compile::{Plan, words_in};
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::normalize::{Attribute, Scope, UNSCOPED};
use crate::table::Value;
use std::collections::BTreeSet;

/// The relation that says of each GPU operation whether it is in a range.
const OPS: &str = "nvtx_op";
/// The parameter that ends the rows of a query.
const LIMIT: &str = "limit";
/// The relation with the names that class maps look up.
const NAMED: &str = "gpu_op";
/// Relations whose figures depend on how launches are attributed to ranges.
const ATTRIBUTED: [&str; 6] =
    [OPS, "nvtx_path", "nvtx_path_kernel", "nvtx_projection", "nvtx_range_kernel", "nvtx_range_sum"];
/// The query that lists what is outside ranges, so that it needs no note.
const COVERAGE: &str = "nvtx_coverage";
/// Shares of GPU time from here on, in percent, are worth a note.
const NOTABLE_PCT: f64 = 1.0;

/// A session that can be asked about what it answered.
pub(super) struct Explainer<'a> {
    pub(super) catalog: &'a Catalog,
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
    if plans.iter().any(|plan| uses_classes(plan)) {
        relations.push(NAMED.to_owned());
    }
    if plans.iter().any(|plan| loses_launches(plan, scope)) {
        relations.push(OPS.to_owned());
    }
    Ok(relations)
}

/// Whether a plan calls the function that looks names up in the class map.
fn uses_classes(plan: &Plan) -> bool {
    words_in(&plan.sql).iter().any(|word| word.starts_with("op_class"))
}

/// Whether the figures of a plan leave out what threads without ranges launch.
fn loses_launches(plan: &Plan, scope: &Scope) -> bool {
    let is_coverage = plan.query.as_ref().is_some_and(|(name, _)| name == COVERAGE);
    let is_attributed = plan.reads.iter().any(|name| ATTRIBUTED.contains(&name.as_str()));
    scope.attribute != Attribute::Process && is_attributed && !is_coverage
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
    /// Why the plan returned no rows.
    pub(super) fn why_empty(&self, plan: &Plan, args: &ScopeArgs, params: &[String]) -> Result<String> {
        let query = plan.query.as_ref().map_or("the query", |(name, _)| name);
        if !self.scope.is_whole() {
            for relation in filtered(self.catalog, plan)? {
                if let Some(reason) = self.why_filtered(relation, args)? {
                    return Ok(format!("{query} returned no rows: {reason}"));
                }
            }
        }
        if plan.bindings.contains(&(LIMIT.to_owned(), Value::Int(0))) {
            return Ok(format!("{query} returned no rows: the parameter limit is 0"));
        }
        // Parameters of other queries say nothing about this one.
        let is_own = |param: &&String| {
            let name = param.split('=').next().unwrap_or_default().trim();
            plan.bindings.iter().any(|(own, _)| own == name)
        };
        let given: Vec<&str> = params.iter().filter(is_own).map(String::as_str).collect();
        let header = plan.query.as_ref().and_then(|(name, _)| self.catalog.query(name).ok());
        let reason = header
            .and_then(|query| query.header.when_empty.as_ref())
            .map_or("the report has the tables, but nothing in them matches", |reason| {
                reason.trim_end_matches('.')
            });
        Ok(match given.as_slice() {
            [] => format!("{query} returned no rows: {reason}"),
            given => format!("{query} returned no rows with -p {}: {reason}", given.join(" -p ")),
        })
    }

    /// That the plan's own limit ended its rows, unless the user asked for that limit.
    pub(super) fn why_short(plan: &Plan, rows: usize, params: &[String]) -> Option<String> {
        let (name, _) = plan.query.as_ref()?;
        let is_given = params.iter().any(|param| param.trim_start().starts_with(LIMIT));
        let limit = plan.bindings.iter().find_map(|(bound, value)| match value {
            Value::Int(limit) if bound == LIMIT => usize::try_from(*limit).ok(),
            _ => None,
        })?;
        (rows == limit && rows > 0 && !is_given)
            .then(|| format!("{name} stopped at its limit of {limit} rows; -p {LIMIT}=-1 returns all"))
    }

    /// What the scope leaves out, if it leaves nothing of a relation.
    fn why_filtered(&self, relation: &Relation, args: &ScopeArgs) -> Result<Option<String>> {
        let name = &relation.header.name;
        let extent = match &relation.header.scope.time {
            Some((start, end)) => format!("min({start}) AS start_ns, max({end}) AS end_ns"),
            None => "NULL AS start_ns, NULL AS end_ns".to_owned(),
        };
        let row = self.row(&format!(
            "SELECT EXISTS (SELECT 1 FROM {name}) AS is_left, count(*) AS row_count, {extent} FROM {UNSCOPED}{name}"
        ))?;
        let Some(row) = row else { return Ok(None) };
        let (Some(0), Some(1..)) = (row.int("is_left"), row.int("row_count")) else { return Ok(None) };
        let options = args.words().join(" ");
        let when = match (row.int("start_ns"), row.int("end_ns")) {
            (Some(start), Some(end)) => {
                format!(", from {:.6} s to {:.6} s", start as f64 / 1e9, end as f64 / 1e9)
            }
            _ => String::new(),
        };
        let count = row.int("row_count").unwrap_or_default();
        Ok(Some(format!("{options} leaves none of the {count} rows of `{name}` in the report{when}")))
    }

    /// How much GPU time the figures of plans leave out, because a thread without ranges launched it.
    pub(super) fn lost_launches(&self, plans: &[&Plan]) -> Result<Option<String>> {
        let names: Vec<&str> = plans
            .iter()
            .filter(|plan| loses_launches(plan, self.scope))
            .filter_map(|plan| plan.query.as_ref().map(|(name, _)| name.as_str()))
            .collect();
        if names.is_empty() {
            return Ok(None);
        }
        let row = self.row(&format!(
            "SELECT 100.0 * sum(dur_ns) FILTER (WHERE unattributed = 'other thread') / sum(dur_ns) AS lost_pct FROM {OPS}"
        ))?;
        let lost = row.and_then(|row| row.real("lost_pct")).filter(|lost| *lost >= NOTABLE_PCT);
        Ok(lost.map(|lost| {
            format!(
                "{lost:.1} % of GPU time is in no range of {}: threads without ranges launched it, such as \
                 PyTorch's autograd thread; `--attribute process` includes it",
                names.join(", ")
            )
        }))
    }

    /// Whether the class map that the user named matches nothing.
    pub(super) fn unmatched_classes(&self, plans: &[&Plan], map: &str) -> Result<Option<String>> {
        if !plans.iter().any(|plan| uses_classes(plan)) {
            return Ok(None);
        }
        let row = self.row(&format!(
            "SELECT count(*) AS name_count, count(*) FILTER (WHERE op_class(op_name) <> 'others') AS known \
             FROM (SELECT DISTINCT op_name FROM {NAMED})"
        ))?;
        let counts = row.map(|row| (row.int("name_count").unwrap_or(0), row.int("known").unwrap_or(0)));
        Ok(counts.filter(|&(names, known)| names > 0 && known == 0).map(|(names, _)| {
            format!("class map {map} matches none of the {names} names of GPU operations")
        }))
    }

    fn row(&self, sql: &str) -> Result<Option<Record>> {
        let origin = ("explanation".to_owned(), 1);
        // A statement of nsq's own, over the library's relations.
        let plan = Plan { is_built_in: true, ..Plan::ad_hoc(sql, origin, self.catalog) };
        Ok(rows_of(self.session, &plan, self.limits)?.into_iter().next())
    }
}
