//! The command that runs a query of an answer again.

use super::request::Questions;
use nsq_engine::compile::Plan;
use nsq_engine::scope::ScopeText;
use nsq_report::report::Report;
use nsq_value::shell::quoted;
use nsq_value::table::Value as Cell;

/// The words of the command that runs the same query. `None` if a parameter is too long to print, such
/// as rows.
pub(super) fn command(
    questions: &Questions<'_>,
    report: &Report,
    plan: &Plan,
    (query, scope): (&str, &ScopeText),
) -> Option<Vec<String>> {
    let mut words = ["nsq", "run"].map(str::to_owned).to_vec();
    words.extend(report.words());
    words.extend(["--query", query].map(str::to_owned));
    let header = &questions.catalog.query(query).ok()?.header;
    for (name, value) in &plan.bindings {
        let text = match value {
            Cell::Null => continue,
            Cell::Int(int) => int.to_string(),
            Cell::Real(real) => real.to_string(),
            Cell::Text(text) => text.clone(),
        };
        let param = header.params.iter().find(|param| param.name == *name)?;
        if text == nsq_engine::compile::scalar(&param.default) {
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
    words.extend(scope.words());
    if let Some(attribute) = scope.attribute {
        words.extend(["--attribute", attribute.as_str()].map(str::to_owned));
    }
    if let Some(map) = &questions.classes {
        words.extend(["--classes".to_owned(), map.clone()]);
    }
    Some(words.iter().map(|word| quoted(word)).collect())
}

/// The longest parameter, in bytes, that a printed command contains.
const LONG: usize = 160;
