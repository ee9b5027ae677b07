//! Typed parameters: converts command line arguments to the values that SQL binds.

use super::Invocation;
use nsq_library::catalog::{Param, ParamType, Query};
use nsq_value::error::{Error, Result, nearest};
use nsq_value::table::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What people call a parameter that names ranges.
const RANGE_WORDS: [&str; 7] = ["tag", "range", "ranges", "iter-tag", "iter_tag", "iter", "nvtx"];

/// The value of each parameter of the query: from `-p`, from a colon argument, or the default. A
/// required parameter that was not given is left out.
pub(super) fn bind(query: &Query, invocation: &Invocation) -> Result<Vec<(String, Value)>> {
    let header = &query.header;
    let mut given: BTreeMap<&str, Value> = BTreeMap::new();
    // In reverse order, so that the first listed argument wins if two set the same parameter.
    let args = header.nsys.iter().flat_map(|nsys| &nsys.args).collect::<Vec<_>>();
    for arg in args.iter().rev() {
        for typed in &invocation.args {
            match (typed.split_once('='), &arg.param) {
                (Some((name, value)), Some(param)) if name == arg.name => {
                    given.insert(param, Value::Text(value.to_owned()));
                }
                (None, None) if *typed == arg.name => {
                    for (param, value) in &arg.set {
                        given.insert(param, Value::Text(scalar(value)));
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
            format!("unknown argument '{typed}' for query '{}'", header.name),
            match listed.as_slice() {
                [] => "this query has no arguments after a colon; set parameters with -p key=value"
                    .to_owned(),
                listed => format!("available arguments: {}", listed.join(", ")),
            },
        ));
    }
    let mut listed = BTreeSet::new();
    let typed = invocation.params.iter().map(|(key, text)| (key, Value::Text(text.clone())));
    for (key, value) in typed.chain(invocation.values.iter().map(|(key, value)| (key, value.clone()))) {
        let Some(param) = header.params.iter().find(|param| param.name == *key) else {
            let names: Vec<&str> = header.params.iter().map(|param| param.name.as_str()).collect();
            // A range is `tag` in one query and `range` in another.
            let of_ranges = header.params.iter().filter(|param| names_ranges(param));
            let near = match RANGE_WORDS.contains(&key.as_str()) {
                true => of_ranges.map(|param| param.name.clone()).collect(),
                false => nearest(key, names.iter().copied()),
            };
            return Err(Error::Unknown {
                what: "parameter",
                name: key.clone(),
                near,
                help: match names.as_slice() {
                    [] => format!("{} has no parameters.", header.name),
                    names => format!("Parameters of {}: {}.", header.name, names.join(", ")),
                },
            });
        };
        // A list that is given again goes on.
        let is_again = param.kind == ParamType::List && !listed.insert(&param.name);
        let value = match given.get(param.name.as_str()) {
            Some(before) if is_again => joined(&header.name, param, [before, &value])?,
            _ => value,
        };
        given.insert(&param.name, value);
    }
    header
        .params
        .iter()
        .filter(|param| !param.required || given.contains_key(param.name.as_str()))
        .map(|param| {
            let value = match given.get(param.name.as_str()) {
                Some(value) => accept(&header.name, param, value)?,
                None if param.default.is_null() => Value::Null,
                None => parse_param(&header.name, param, &scalar(&param.default))?,
            };
            Ok((param.name.clone(), value))
        })
        .collect()
}

/// Fails if a required parameter has no value.
pub(super) fn require(query: &Query, bindings: &[(String, Value)]) -> Result<()> {
    let header = &query.header;
    let is_missing =
        |param: &&Param| param.required && !bindings.iter().any(|(name, _)| *name == param.name);
    let missing: Vec<&Param> = header.params.iter().filter(is_missing).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let options: Vec<String> = missing
        .iter()
        .map(|param| match param.kind {
            ParamType::Int | ParamType::Real => format!("-p {}=N", param.name),
            ParamType::Bool => format!("-p {}=true", param.name),
            ParamType::Duration => format!("-p {}=1ms", param.name),
            ParamType::Bytes => format!("-p {}=1MiB", param.name),
            ParamType::Enum => format!("-p {}={}", param.name, param.values.join("|")),
            ParamType::List => format!("-p {}=A,B", param.name),
            ParamType::Text => format!("-p {}=TEXT", param.name),
        })
        .collect();
    Err(Error::usage(
        format!(
            "missing parameter '{}' of query '{}': {}",
            first.name,
            header.name,
            first.doc.trim_end_matches('.')
        ),
        format!("give {}", options.join(" ")),
    ))
}

/// Whether the values of a parameter are names of NVTX ranges, as GLOB patterns.
pub fn names_ranges(param: &Param) -> bool {
    matches!(param.kind, ParamType::Text | ParamType::List)
        && ["tag", "range", "ranges"].contains(&param.name.as_str())
}

/// A default value from front matter, as the user would type it.
pub fn scalar(value: &serde_yaml::Value) -> String {
    match value {
        serde_yaml::Value::String(text) => text.clone(),
        serde_yaml::Value::Bool(flag) => flag.to_string(),
        serde_yaml::Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A value for a parameter: of its type and within its limits. A text is parsed, unless texts are its type.
fn accept(owner: &str, param: &Param, value: &Value) -> Result<Value> {
    match (param.kind, value) {
        (_, Value::Null) => Ok(Value::Null),
        (_, Value::Text(text)) => parse_param(owner, param, text),
        (ParamType::Int | ParamType::Duration | ParamType::Bytes, Value::Int(int)) => {
            in_range(owner, param, &int.to_string(), *int as f64, value)
        }
        (ParamType::Real, Value::Real(real)) if real.is_finite() => {
            in_range(owner, param, &real.to_string(), *real, value)
        }
        (_, Value::Int(int)) => parse_param(owner, param, &int.to_string()),
        (_, Value::Real(real)) => parse_param(owner, param, &real.to_string()),
    }
}

/// One list of the items of two.
fn joined(owner: &str, param: &Param, lists: [&Value; 2]) -> Result<Value> {
    let mut items: Vec<String> = Vec::new();
    for list in lists {
        if let Value::Text(text) = accept(owner, param, list)? {
            items.extend(serde_json::from_str::<Vec<String>>(&text).unwrap_or_default());
        }
    }
    Ok(Value::Text(serde_json::Value::from(items).to_string()))
}

/// The error for a value that does not fit a parameter.
fn invalid(owner: &str, param: &Param, text: &str, expected: &str) -> Error {
    Error::usage(
        format!("invalid value '{text}' for parameter '{}': expected {expected}", param.name),
        format!("`{}` of {owner}: {}", param.name, param.doc),
    )
}

/// The value, if the number is within the limits of the parameter.
fn in_range(owner: &str, param: &Param, text: &str, number: f64, value: &Value) -> Result<Value> {
    let refuse = |expected: &str| Err(invalid(owner, param, text, expected));
    match (param.min, param.max) {
        (Some(min), _) if number < min => refuse(&format!("a number of at least {min}")),
        (_, Some(max)) if number > max => refuse(&format!("a number of at most {max}")),
        _ => Ok(value.clone()),
    }
}

/// Parses the value of a parameter. `owner` is the query or playbook that has it, for messages.
pub fn parse_param(owner: &str, param: &Param, text: &str) -> Result<Value> {
    let invalid = |expected: &str| invalid(owner, param, text, expected);
    let in_range = |number: f64, value: Value| in_range(owner, param, text, number, &value);
    let trimmed = text.trim();
    match param.kind {
        ParamType::Int => {
            let int: i64 = trimmed.parse().map_err(|_| invalid("an integer"))?;
            in_range(int as f64, Value::Int(int))
        }
        ParamType::Real => {
            let real: f64 = trimmed.parse().map_err(|_| invalid("a number"))?;
            if !real.is_finite() {
                return Err(invalid("a finite number"));
            }
            in_range(real, Value::Real(real))
        }
        ParamType::Text => Ok(Value::Text(text.to_owned())),
        ParamType::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Ok(Value::Int(1)),
            "false" | "no" | "0" | "off" => Ok(Value::Int(0)),
            _ => Err(invalid("true or false")),
        },
        ParamType::Duration => {
            let ns = parse_duration(trimmed)
                .ok_or_else(|| invalid("a time with a unit, such as 300ns, 1.5ms or 2s"))?;
            in_range(ns as f64, Value::Int(ns))
        }
        ParamType::Bytes => {
            let bytes = parse_bytes(trimmed)
                .ok_or_else(|| invalid("a whole number of bytes, such as 4096, 4KiB or 1.5MB"))?;
            in_range(bytes as f64, Value::Int(bytes))
        }
        ParamType::Enum => match param.values.iter().find(|value| *value == trimmed) {
            Some(value) => Ok(Value::Text(value.clone())),
            None => Err(invalid(&format!("one of {}", param.values.join(", ")))),
        },
        ParamType::List => {
            // Items that contain commas, such as range names, are given as JSON.
            if let Ok(items) = serde_json::from_str::<Vec<String>>(trimmed) {
                return Ok(Value::Text(serde_json::Value::from(items).to_string()));
            }
            let items: Vec<&str> =
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
            Ok(Value::Text(serde_json::Value::from(items).to_string()))
        }
    }
}

/// Parses `300ns`, `1.5us`, `12ms`, `2s` or `3min` as nanoseconds. A number without a unit is
/// nanoseconds.
///
/// The result is exact: a fraction of a nanosecond is an error and is not rounded.
pub fn parse_duration(text: &str) -> Option<i64> {
    parse_with_unit(text, |unit| {
        Some(match unit {
            "" | "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "min" => 60_000_000_000,
            _ => return None,
        })
    })
}

/// Parses `4096`, `4KiB`, `4 kB` or `1.5MiB` as bytes: KiB is 1024, kB is 1000. Upper and lower case are
/// the same.
///
/// The result is exact: a fraction of a byte is an error and is not rounded.
pub(super) fn parse_bytes(text: &str) -> Option<i64> {
    parse_with_unit(text, |unit| {
        Some(match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            _ => return None,
        })
    })
}

/// Parses a decimal number and its unit, and multiplies it by what the unit stands for. The product must
/// be an integer.
fn parse_with_unit(text: &str, scale_of: impl Fn(&str) -> Option<i64>) -> Option<i64> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let unit_at = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, unit) = unsigned.split_at(unit_at);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    // `1.0` has no fraction, and `.` is no number.
    let digits: i128 = match format!("{whole}{fraction}") {
        digits if digits.is_empty() && number.len() < 2 => return None,
        digits if digits.is_empty() => 0,
        digits => digits.parse().ok()?,
    };
    let scaled = digits.checked_mul(i128::from(scale_of(unit.trim())?))?;
    let parts = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    (scaled % parts == 0).then(|| i64::try_from(sign * (scaled / parts)).ok())?
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

    #[test]
    fn sizes_are_exact() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4096 B", 4096),
            ("4KiB", 4096),
            ("4 kB", 4000),
            ("4KB", 4000),
            ("1.5MiB", 1_572_864),
            ("0.5kib", 512),
            ("1.0", 1),
            (".0", 0),
            ("2GB", 2_000_000_000),
            ("-1TiB", -(1 << 40)),
        ] {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
        for text in ["", ".", "KiB", "1.5", "0.1KiB", "4K", "4 Kbit", "1..5MB", "9999999999GB", "1e3"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
    }
}
