//! The texts around the table of an expert rule.

use nsq_engine::compile::Plan;
use nsq_library::catalog::NsysReport;
use nsq_render::render::nsys::Prose;
use nsq_render::render::wrapped;
use nsq_value::table::Value;

/// Columns of running text, as in nsys.
const WIDTH: usize = 79;

/// What stands before the rows, after the rows, and instead of rows.
pub(super) fn prose(nsys: &NsysReport, plan: &Plan) -> Prose {
    let before = nsys
        .advice
        .as_ref()
        .map_or(String::new(), |advice| format!("{}\n", paragraph(&filled_in(advice, plan))));
    let limit = match bound(plan, "limit") {
        Some(Value::Int(limit)) => *limit,
        _ => -1,
    };
    let after = move |rows: usize| match limit {
        1 if rows == 1 => {
            "\nOnly the top result is displayed. More data may be available.\n\n".to_owned()
        }
        limit if limit > 1 && rows as i64 >= limit => {
            format!("\nOnly the top {limit} results are displayed. More data may be available.\n\n")
        }
        _ => String::new(),
    };
    let instead = match (limit, &nsys.all_clear) {
        (0, _) => "No row was asked for.\n".to_owned(),
        (_, Some(text)) => paragraph(&filled_in(text, plan)),
        (_, None) => "There were no problems detected.\n".to_owned(),
    };
    Prose { before, after: Some(Box::new(after)), instead }
}

/// A text in lines, with the final newline.
fn paragraph(text: &str) -> String {
    let mut lines = wrapped(text.trim_end(), WIDTH).join("\n");
    lines.push('\n');
    lines
}

fn bound<'a>(plan: &'a Plan, name: &str) -> Option<&'a Value> {
    plan.bindings.iter().find(|(bound, _)| bound == name).map(|(_, value)| value)
}

/// The text with the value of a parameter for each `{name}`.
fn filled_in(text: &str, plan: &Plan) -> String {
    let mut filled = text.to_owned();
    for (name, value) in &plan.bindings {
        let value = match value {
            Value::Int(int) => int.to_string(),
            Value::Real(real) => real.to_string(),
            Value::Text(text) => text.clone(),
            Value::Null => continue,
        };
        filled = filled.replace(&format!("{{{name}}}"), &value);
    }
    filled
}
