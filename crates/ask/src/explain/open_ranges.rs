//! What is said of ranges that a query leaves out, because they have no end.

use super::{Explainer, patterns_of};
use nsq_engine::compile::{Plan, words_in};
use nsq_value::error::Result;

/// Whether the plan looks at which ranges have no end, to leave them out.
fn leaves_open_ranges(plan: &Plan) -> bool {
    plan.reads.iter().any(|name| name == "nvtx_range") && words_in(&plan.sql).contains("is_open")
}

impl Explainer<'_> {
    /// How many ranges the plan, or one that it asks, leaves out.
    pub(super) fn open_ranges(&self, plan: &Plan) -> Result<Option<String>> {
        let asked = plan.asks.iter().map(|asked| &*asked.plan);
        let Some(leaves) = std::iter::once(plan).chain(asked).find(|plan| leaves_open_ranges(plan))
        else {
            return Ok(None);
        };
        let wanted = self.range_param(leaves).map_or_else(Vec::new, |(_, value, _)| patterns_of(value));
        let wanted = serde_json::to_string(&wanted).unwrap_or_default().replace('\'', "''");
        let table = self.table(&format!(
            "SELECT count(*) AS range_count, count(*) FILTER (WHERE is_open) AS open_count \
             FROM nvtx_range WHERE '{wanted}' = '[]' OR range_name IN (SELECT range_name FROM nvtx_name \
             JOIN json_each('{wanted}') ON range_name GLOB value OR range_text GLOB value OR layer_name GLOB value)"
        ))?;
        let row = table.iter().next();
        let count = |column| row.as_ref().and_then(|row| row.int(column)).unwrap_or_default();
        let (open, all) = (count("open_count"), count("range_count"));
        let query = plan.query.as_ref().map_or("the query", |(name, _)| name);
        let have = if open == 1 { "has" } else { "have" };
        Ok((open > 0).then(|| {
            format!("{open} of {all} NVTX ranges {have} no end, so their length is unknown: {query} leaves them out")
        }))
    }
}
