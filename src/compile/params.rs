//! Typed parameters: from the words of a command line to the values that SQL binds.

use super::Invocation;
use crate::catalog::{Param, ParamType, Query};
use crate::error::{Error, Result, nearest};
use crate::table::Value;
use std::collections::BTreeMap;

/// The value of every parameter of the query: given, set by a colon argument, or the default.
pub(super) fn bind(query: &Query, invocation: &Invocation) -> Result<Vec<(String, Value)>> {
    let header = &query.header;
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    // Reversed, so that of two arguments that set one parameter the first listed wins.
    let args = header.nsys.iter().flat_map(|nsys| &nsys.args).collect::<Vec<_>>();
    for arg in args.iter().rev() {
        for typed in &invocation.args {
            match (typed.split_once('='), &arg.param) {
                (Some((name, value)), Some(param)) if name == arg.name => {
                    given.insert(param, value.to_owned());
                }
                (None, None) if *typed == arg.name => {
                    for (param, value) in &arg.set {
                        given.insert(param, scalar(value));
                    }
                }
                _ => {}
            }
        }
    }
    let known =
        |typed: &str| args.iter().any(|arg| arg.name == typed.split('=').next().unwrap_or(typed));
    if let Some(typed) = invocation.args.iter().find(|typed| !known(typed)) {
        let listed: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
        return Err(Error::usage(
            format!("{} takes no argument `{typed}`", header.name),
            match listed.as_slice() {
                [] => "it takes none behind a colon; parameters are given by -p key=value".to_owned(),
                listed => format!("it takes {}", listed.join(", ")),
            },
        ));
    }
    for (key, value) in &invocation.params {
        let Some(param) = header.params.iter().find(|param| param.name == *key) else {
            let names: Vec<&str> = header.params.iter().map(|param| param.name.as_str()).collect();
            return Err(Error::Unknown {
                what: "parameter",
                name: key.clone(),
                near: nearest(key, names.iter().copied()),
                help: match names.as_slice() {
                    [] => format!("{} takes no parameters.", header.name),
                    names => format!("{} takes {}.", header.name, names.join(", ")),
                },
            });
        };
        given.insert(&param.name, value.clone());
    }
    header
        .params
        .iter()
        .map(|param| {
            let text = match given.remove(param.name.as_str()) {
                Some(text) => Some(text),
                None if param.default.is_null() => None,
                None => Some(scalar(&param.default)),
            };
            let value = match text {
                Some(text) => parse_param(&header.name, param, &text)?,
                None => Value::Null,
            };
            Ok((param.name.clone(), value))
        })
        .collect()
}

/// A default of front matter as it would be typed.
pub fn scalar(value: &serde_yaml::Value) -> String {
    match value {
        serde_yaml::Value::String(text) => text.clone(),
        serde_yaml::Value::Bool(flag) => flag.to_string(),
        serde_yaml::Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The value that `text` means for the parameter; `query` is whose it is.
pub fn parse_param(query: &str, param: &Param, text: &str) -> Result<Value> {
    let refuse = |wanted: &str| {
        Error::usage(
            format!("{query}: `{text}` is no value for {}", param.name),
            format!("give {wanted}: {}", param.doc),
        )
    };
    let in_range = |number: f64, value: Value| match (param.min, param.max) {
        (Some(min), _) if number < min => Err(refuse(&format!("a number of at least {min}"))),
        (_, Some(max)) if number > max => Err(refuse(&format!("a number of at most {max}"))),
        _ => Ok(value),
    };
    let trimmed = text.trim();
    match param.kind {
        ParamType::Int => {
            let int: i64 = trimmed.parse().map_err(|_| refuse("an integer"))?;
            in_range(int as f64, Value::Int(int))
        }
        ParamType::Real => {
            let real: f64 = trimmed.parse().map_err(|_| refuse("a number"))?;
            if !real.is_finite() {
                return Err(refuse("a finite number"));
            }
            in_range(real, Value::Real(real))
        }
        ParamType::Text => Ok(Value::Text(text.to_owned())),
        ParamType::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Ok(Value::Int(1)),
            "false" | "no" | "0" | "off" => Ok(Value::Int(0)),
            _ => Err(refuse("true or false")),
        },
        ParamType::Duration => {
            let ns = parse_duration(trimmed)
                .ok_or_else(|| refuse("a time with its unit, such as 300ns, 1.5ms or 2s"))?;
            in_range(ns as f64, Value::Int(ns))
        }
        ParamType::Enum => match param.values.iter().find(|value| *value == trimmed) {
            Some(value) => Ok(Value::Text(value.clone())),
            None => Err(refuse(&format!("one of {}", param.values.join(", ")))),
        },
        ParamType::List => {
            // Items with commas in them, such as names of ranges, come as JSON.
            if let Ok(items) = serde_json::from_str::<Vec<String>>(trimmed) {
                return Ok(Value::Text(serde_json::Value::from(items).to_string()));
            }
            let items: Vec<&str> =
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
            Ok(Value::Text(serde_json::Value::from(items).to_string()))
        }
    }
}

/// `300ns`, `1.5us`, `12ms`, `2s`, `3min` as nanoseconds; a bare number is nanoseconds.
///
/// Exact: digits beyond a nanosecond are refused, not rounded.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let unit_at = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, unit) = unsigned.split_at(unit_at);
    let digits: usize = match unit.trim() {
        "" | "ns" => 0,
        "us" | "µs" | "μs" => 3,
        "ms" => 6,
        "s" | "min" => 9,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > digits {
        return None;
    }
    let padded = format!("{whole}{fraction}{}", "0".repeat(digits - fraction.len()));
    let mut ns: i64 = padded.parse().ok()?;
    if unit.trim() == "min" {
        ns = ns.checked_mul(60)?;
    }
    Some(if negative { -ns } else { ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, ns) in [
            ("300ns", 300),
            ("300", 300),
            ("1.5ms", 1_500_000),
            (".5s", 500_000_000),
            ("0.1s", 100_000_000),
            ("2min", 120_000_000_000),
            ("-3us", -3_000),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse_duration(text), Some(ns), "{text}");
        }
        for text in ["", ".", "ms", "1.5ns", "1h", "1e3", "1.2.3s", "99999999999999s", "١s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
