//! What is said of ranges without an end: that a query leaves them out, or ends them with the last range.

use super::{Explainer, patterns_of};
use nsq_engine::compile::{Plan, words_in};
use nsq_value::error::Result;

/// Whether the plan looks at which ranges have no end, to leave them out.
fn leaves_open_ranges(plan: &Plan) -> bool {
    plan.reads.iter().any(|name| name == "nvtx_range") && words_in(&plan.sql).contains("is_open")
}

/// Whether the plan has the ranges of NVIDIA's report, which ends those without an end with the last range, or asks a query
/// that does.
pub(super) fn ends_open_ranges(plan: &Plan) -> bool {
    const RANGES: [&str; 4] = ["nvtx_range", "nvtx_projection", "nvtx_pushpop", "nvtx_range_kernel"];
    plan.as_recorded
        && (plan.reads.iter().any(|name| RANGES.contains(&name.as_str()))
            || plan.asks.iter().any(|asked| ends_open_ranges(&asked.plan)))
}

impl Explainer<'_> {
    /// How many ranges without an end the plan, or one that it asks, leaves out, or the plan ends itself.
    pub(super) fn open_ranges(&self, plan: &Plan) -> Result<Option<String>> {
        let asked = plan.asks.iter().map(|asked| &*asked.plan);
        let leaving = std::iter::once(plan).chain(asked).find(|plan| leaves_open_ranges(plan));
        if leaving.is_none() && !ends_open_ranges(plan) {
            return Ok(None);
        }
        let wanted = leaving
            .and_then(|plan| self.range_param(plan))
            .map_or_else(Vec::new, |(_, value, _)| patterns_of(value));
        let named = match serde_json::to_string(&wanted).unwrap_or_default().replace('\'', "''") {
            _ if wanted.is_empty() => String::new(),
            wanted => format!(
                "WHERE range_name IN (SELECT range_name FROM nvtx_name JOIN json_each('{wanted}') \
                 ON range_name GLOB value OR range_text GLOB value OR layer_name GLOB value)"
            ),
        };
        let table = self.table(&format!(
            "SELECT count(*) AS range_count, count(*) FILTER (WHERE is_open) AS open_count FROM nvtx_range {named}"
        ))?;
        let row = table.iter().next();
        let count = |column| row.as_ref().and_then(|row| row.int(column)).unwrap_or_default();
        let (open, all) = (count("open_count"), count("range_count"));
        let does = match leaving {
            Some(_) => "leaves them out",
            None => "ends them with the last range, as nsys does",
        };
        let query = plan.query.as_ref().map_or("the query", |(name, _)| name);
        let have = if open == 1 { "has" } else { "have" };
        Ok((open > 0).then(|| {
            format!(
                "{open} of {all} NVTX ranges {have} no end, so their length is unknown: {query} {does}"
            )
        }))
    }
}
