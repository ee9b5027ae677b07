//! Parameters of a user's statement, which declares none: a value has the type that it looks like.

use super::Plan;
use super::params::{parse_bytes, parse_duration};
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;

impl Plan {
    /// Gives the statement those of the parameters that it names.
    #[must_use]
    pub fn with_values(mut self, values: &[(String, Value)]) -> Self {
        let named = named_params(&self.sql);
        let taken = values.iter().filter(|(name, _)| named.contains(name));
        self.bindings.extend(taken.cloned());
        self
    }
}

/// Splits each `key=value`, and gives the value a type.
pub fn typed_params(params: &[String]) -> Result<Vec<(String, Value)>> {
    let typed = |param: &String| match param.split_once('=') {
        Some((key, value)) => Ok((key.trim().trim_start_matches(':').to_owned(), typed_value(value))),
        None => Err(Error::usage(
            format!("invalid parameter '{param}': expected key=value"),
            "a statement has the parameter `least` where it says `:least`",
        )),
    };
    params.iter().map(typed).collect()
}

/// The error for a parameter that no statement names.
pub fn unknown_param<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let help = match known.as_slice() {
        [] => format!("The statement has no parameters: write :{key} where the value belongs."),
        known => format!("Parameters of the statement: {}.", known.join(", ")),
    };
    Error::unknown("parameter", key, known, help)
}

/// The `:name`s in a statement, each once, in order. Those in quotes and comments are text.
pub fn named_params(sql: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let skipped = |from: usize, close: &str| {
            let inner = rest.get(from..).unwrap_or_default();
            inner.find(close).map_or(rest.len(), |end| from + end + close.len())
        };
        let len = match c {
            '\'' | '"' | '`' => skipped(1, &c.to_string()),
            '[' => skipped(1, "]"),
            '-' if rest.starts_with("--") => skipped(2, "\n"),
            '/' if rest.starts_with("/*") => skipped(2, "*/"),
            ':' => {
                let name = &rest[1..];
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                let name = &name[..end];
                if !name.is_empty() && !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
                1 + end
            }
            c => c.len_utf8(),
        };
        rest = rest.get(len..).unwrap_or_default();
    }
    names
}

/// A number, a time such as `1ms` in nanoseconds, a size such as `4KiB` in bytes, `true`, `false`, else a text. A text in
/// single quotes is always a text.
fn typed_value(text: &str) -> Value {
    let trimmed = text.trim();
    let quoted = trimmed.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if let Some(quoted) = quoted {
        return Value::Text(quoted.replace("''", "'"));
    }
    let is_number = trimmed.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if is_number {
        if let Ok(int) = trimmed.parse() {
            return Value::Int(int);
        }
        if let Some(real) = trimmed.parse().ok().filter(|real: &f64| real.is_finite()) {
            return Value::Real(real);
        }
        if let Some(int) = parse_duration(trimmed).or_else(|| parse_bytes(trimmed)) {
            return Value::Int(int);
        }
    }
    match trimmed {
        "true" => Value::Int(1),
        "false" => Value::Int(0),
        _ => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_outside_of_quotes_and_comments() {
        let sql = "SELECT ':a', \":b\", [:c] /* :d */ -- :e\n FROM kernel WHERE x > :least AND y < :most \
                   AND z > :least AND n GLOB :name_2";
        assert_eq!(named_params(sql), ["least", "most", "name_2"]);
        assert!(named_params("SELECT '").is_empty());
        assert!(named_params("SELECT 1 -- é:").is_empty());
    }

    #[test]
    fn values_have_the_type_that_they_look_like() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (typed, value) in [
            ("5", Value::Int(5)),
            ("-1", Value::Int(-1)),
            ("0.5", Value::Real(0.5)),
            ("1e3", Value::Real(1000.0)),
            ("1.5ms", Value::Int(1_500_000)),
            ("2 s", Value::Int(2_000_000_000)),
            ("4KiB", Value::Int(4096)),
            ("true", Value::Int(1)),
            ("'1ms'", text("1ms")),
            ("'it''s'", text("it's")),
            ("gemm*", text("gemm*")),
            ("inf", text("inf")),
            ("", text("")),
        ] {
            assert_eq!(typed_value(typed), value, "{typed}");
        }
    }
}
