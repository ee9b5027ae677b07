//! Says in plain words what is wrong with YAML, and what to do.
//!
//! The parser speaks of variants, sequences and `u8`. The writer of a query knows fields, lists and numbers.

use nsq_value::error::nearest;

/// Help for most errors.
const FIELDS: &str = "queries/README.md explains every field";
/// Help for text that YAML reads as something else.
const QUOTE: &str = "put text in double quotes if it has a comma, a colon or braces";

/// Rewrites a message of the parser, without its position. Returns what is wrong, and what to do.
pub(super) fn explain(message: &str) -> (String, String) {
    let is_path = |text: &str| !text.contains([' ', '`', '"', '\'']);
    let (path, message) = match message.split_once(": ").filter(|(path, _)| is_path(path)) {
        Some((path, message)) => (path.rsplit('.').collect(), message),
        None => (Vec::new(), message),
    };
    let field = path.first().map_or("the file".to_owned(), |part| spelled(part));
    let of_field = match path.get(1) {
        Some(outer) => format!("{field} in {}", spelled(outer)),
        None => field.clone(),
    };
    let in_it = if path.is_empty() { String::new() } else { format!(" in {field}") };
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (value, known) = value_and_names(rest);
        let reason =
            format!("invalid value '{value}' for {of_field}: expected {}", listed(&known, "or"));
        return (reason, did_you_mean(&value, &known, FIELDS.to_owned()));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (name, known) = value_and_names(rest);
        let fields = format!("the fields are {}; {QUOTE}", listed(&known, "and"));
        return (format!("unknown field '{name}'{in_it}"), did_you_mean(&name, &known, fields));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        let name = name.trim_matches('`');
        return (format!("missing field '{name}'{in_it}"), format!("add `{name}: …`; {FIELDS}"));
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        let name = name.trim_matches('`');
        return (format!("field '{name}'{in_it} is given twice"), "keep one of the two".to_owned());
    }
    let mistyped =
        message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, wanted)) = mistyped.and_then(|rest| rest.rsplit_once(", expected ")) {
        let (value, wanted) = (value_of(found), type_of(wanted));
        let reason = match found.contains(['`', '"']) {
            true => format!("invalid value '{value}' for {of_field}: expected {wanted}"),
            false => format!("{of_field} is {value}: expected {wanted}"),
        };
        return (reason, FIELDS.to_owned());
    }
    if message.starts_with("invalid length") || message.starts_with("data did not match") {
        return (format!("invalid value for {of_field}"), FIELDS.to_owned());
    }
    if message.contains('`') {
        // One of our own messages.
        return (message.to_owned(), FIELDS.to_owned());
    }
    let help = match message {
        "found character that cannot start any token" => "put the text in double quotes".to_owned(),
        "found a tab character that violates indentation" => "indent with spaces".to_owned(),
        "mapping values are not allowed in this context" => format!("{QUOTE}; check the indentation"),
        _ => QUOTE.to_owned(),
    };
    let reason = match message {
        "mapping values are not allowed in this context" => "unexpected colon",
        "found a tab character that violates indentation" => "a tab in the indentation",
        "found character that cannot start any token" => "text begins with a special character",
        other => other.trim_start_matches("did not find "),
    };
    (format!("invalid YAML: {reason}"), help)
}

/// A part of a path: `params` becomes 'params', `params[0]` becomes item 1 of 'params'.
fn spelled(part: &str) -> String {
    let item = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
    match item.and_then(|(list, index)| Some((list, index.parse::<usize>().ok()?))) {
        Some((list, index)) => format!("item {} of '{list}'", index + 1),
        None => format!("'{part}'"),
    }
}

/// The parts of "`a`, expected one of `b`, `c`": a, and the names after it.
fn value_and_names(text: &str) -> (String, Vec<&str>) {
    let (value, known) = text.rsplit_once(", expected ").unwrap_or((text, ""));
    (value.trim_matches('`').to_owned(), known.split('`').skip(1).step_by(2).collect())
}

/// What the parser found: the value if it names one, else its type.
fn value_of(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a map of fields".to_owned(),
        "unit value" | "null" | "Option value" => "empty".to_owned(),
        _ => {
            let value = found.split_once(['`', '"']).map_or(found, |(_, rest)| rest);
            value.trim_end_matches(['`', '"']).to_owned()
        }
    }
}

/// The type that the parser wanted.
fn type_of(wanted: &str) -> &str {
    match wanted {
        "a string" => "text",
        "a boolean" => "true or false",
        "a sequence" => "a list such as [a, b]",
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a map" => "a map such as {name: value}",
        _ if wanted.starts_with("struct ") => "a map such as {name: value}",
        _ if wanted.starts_with("a tuple of size 2") => "a list of two items",
        other => other,
    }
}

/// a, b or c.
fn listed(names: &[&str], joint: &str) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} {joint} {last}", first.join(", ")),
        names => names.concat(),
    }
}

fn did_you_mean(typed: &str, known: &[&str], otherwise: String) -> String {
    match nearest(typed, known.iter().copied()).first() {
        Some(near) => format!("did you mean '{near}'? {FIELDS}"),
        None => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn parser_messages_become_plain_words() {
        for (message, reason, help) in [
            (
                "params[0].type: unknown variant `byte`, expected one of `int`, `bytes`, `list`",
                "invalid value 'byte' for 'type' in item 1 of 'params': expected int, bytes or list",
                "did you mean 'bytes'?",
            ),
            (
                "kind: unknown variant `x`, expected `sum` or `trace`",
                "invalid value 'x' for 'kind': expected sum or trace",
                "queries/README.md",
            ),
            (
                "version: invalid type: string \"one\", expected u32",
                "invalid value 'one' for 'version': expected a whole number of at least 0",
                "queries/README.md",
            ),
            (
                "columns[1].priority: invalid value: integer `300`, expected u8",
                "invalid value '300' for 'priority' in item 2 of 'columns': expected a whole number from 0 to 255",
                "queries/README.md",
            ),
            (
                "tags: invalid type: string \"a, expected b\", expected a sequence",
                "invalid value 'a, expected b' for 'tags': expected a list such as [a, b]",
                "queries/README.md",
            ),
            ("title: invalid type: sequence, expected a string", "'title' is a list: expected text", ""),
            (
                "params[0]: invalid type: string \"least\", expected struct Param",
                "invalid value 'least' for item 1 of 'params': expected a map",
                "",
            ),
            ("missing field `why`", "missing field 'why'", "add `why: …`"),
            ("columns[1]: missing field `doc`", "missing field 'doc' in item 2 of 'columns'", ""),
            (
                "unknown field `nmae`, expected one of `name`, `why`",
                "unknown field 'nmae'",
                "mean 'name'?",
            ),
            (
                "columns[0]: unknown field `in`, expected one of `name`, `doc`",
                "unknown field 'in' in item 1 of 'columns'",
                "the fields are name and doc; put text in double quotes",
            ),
            ("duplicate field `name`", "field 'name' is given twice", "keep one"),
            (
                "mapping values are not allowed in this context",
                "invalid YAML: unexpected colon",
                "quotes",
            ),
            ("did not find expected ',' or '}'", "invalid YAML: expected ',' or '}'", "quotes"),
            ("found a tab character that violates indentation", "a tab in the indentation", "spaces"),
            ("an alternative needs either `glob` or `match`", "an alternative needs either", ""),
        ] {
            let (said, helped) = explain(message);
            assert!(said.contains(reason), "{message}\nwant {reason}\ngot  {said}");
            assert!(helped.contains(help), "{message}\nwant {help}\ngot  {helped}");
        }
    }
}
