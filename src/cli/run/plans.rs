//! What plans need of a report, and what output says about them.

use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::Plan;
use nsq_engine::normalize::Presence;
use nsq_library::catalog::Catalog;
use nsq_render::render::Heading;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;

/// The plans that can run on the report, and for each of the others the reason why not.
pub(super) fn answerable<'p>(
    opened: &OpenReport,
    catalog: &Catalog,
    plans: &'p [Plan],
) -> Result<(Vec<&'p Plan>, Vec<Error>)> {
    let presence = Presence::new(&opened.schema, catalog);
    let (mut answerable, mut lacks) = (Vec::new(), Vec::new());
    for plan in plans {
        match plan.check_presence(&presence, &opened.report.path) {
            Ok(()) => answerable.push(plan),
            Err(error) => lacks.push(error),
        }
    }
    Ok((answerable, lacks))
}

/// The relations that the plans read.
pub(super) fn roots<'p>(plans: &[&'p Plan]) -> impl Iterator<Item = &'p str> {
    plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str)).collect::<Vec<_>>().into_iter()
}

pub(super) fn heading_of(plan: &Plan, shared: &Heading) -> Heading {
    let (title, sql) = (plan.title.clone(), plan.sql.clone());
    let mut heading = Heading { title, sql, facts: shared.facts.clone() };
    if let Some((name, version)) = &plan.query {
        heading.facts.insert("query".to_owned(), name.as_str().into());
        heading.facts.insert("version".to_owned(), (*version).into());
    }
    let given: serde_json::Map<String, serde_json::Value> = plan
        .bindings
        .iter()
        .map(|(name, value)| {
            let json = match value {
                Value::Null => serde_json::Value::Null,
                Value::Int(int) => (*int).into(),
                Value::Real(real) => (*real).into(),
                Value::Text(text) => text.as_str().into(),
            };
            (name.clone(), json)
        })
        .collect();
    if !given.is_empty() {
        heading.facts.insert("parameters".to_owned(), given.into());
    }
    heading
}
