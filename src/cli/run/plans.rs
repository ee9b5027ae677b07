//! What output says about a plan.

use nsq_engine::compile::Plan;
use nsq_render::render::Heading;
use nsq_value::table::Value;

/// The heading of a plan's rows.
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
