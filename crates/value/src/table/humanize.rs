//! Numbers with their units.

use super::{Column, Type, Unit, Value};

/// Formats a value for people, with the column's unit and a prefix (`1.23 µs`).
///
/// Timestamps, counts and integers without a unit keep all digits. NULL gives an empty text.
pub fn humanize(value: &Value, column: &Column) -> String {
    let number = match value {
        Value::Null => return String::new(),
        Value::Text(text) => return text.clone(),
        Value::Int(int) => *int as f64,
        Value::Real(real) => *real,
    };
    match (column.unit, value) {
        (Some(Unit::Ns), Value::Int(ns)) if column.kind == Type::Timestamp => timestamp(*ns),
        (Some(Unit::Ns), _) => scaled(number, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")]),
        (Some(Unit::Bytes), _) => scaled(number, &BYTES),
        (Some(Unit::BytesPerS), _) => scaled(number, &BYTES) + "/s",
        (Some(Unit::Percent), _) => format!("{number:.1} %"),
        (Some(Unit::Hz), _) => scaled(number, &[(1.0, "Hz"), (1e3, "kHz"), (1e6, "MHz"), (1e9, "GHz")]),
        (_, Value::Real(real)) => match column.decimals {
            Some(decimals) => format!("{real:.decimals$}"),
            None => format!("{real:.2}"),
        },
        (Some(Unit::Count), Value::Int(int)) => thousands(*int),
        (_, Value::Int(int)) => int.to_string(),
        (_, Value::Null | Value::Text(_)) => String::new(),
    }
}

/// Decimal prefixes, as in GPU data sheets and NVIDIA's reports.
const BYTES: [(f64, &str); 5] = [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")];

/// Formats the number in the largest unit in which it is at least 1.
fn scaled(number: f64, steps: &[(f64, &str)]) -> String {
    let (factor, unit) = steps
        .iter()
        .rev()
        // 999,999 ns would be "1000.00 µs": a number that rounds up to the next unit uses that unit.
        .find(|(factor, _)| number.abs() >= factor * 0.999_995)
        .or(steps.first())
        .copied()
        .unwrap_or((1.0, ""));
    let shown = number / factor;
    if factor == 1.0 && shown.fract() == 0.0 {
        format!("{shown:.0} {unit}")
    } else {
        format!("{shown:.2} {unit}")
    }
}

/// Formats a timestamp in seconds with nine decimals, so timestamps one nanosecond apart differ.
fn timestamp(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// `1234567` → `1,234,567`
fn thousands(int: i64) -> String {
    let digits = int.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if int < 0 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: Value, kind: Type, unit: Unit) -> String {
        humanize(&value, &Column { kind, unit: Some(unit), ..Column::untyped("x") })
    }

    #[test]
    fn durations_and_sizes_have_the_largest_fitting_prefix() {
        assert_eq!(show(Value::Int(999), Type::Duration, Unit::Ns), "999 ns");
        assert_eq!(show(Value::Real(1234.5), Type::Duration, Unit::Ns), "1.23 µs");
        assert_eq!(show(Value::Int(-2_500_000), Type::Duration, Unit::Ns), "-2.50 ms");
        assert_eq!(show(Value::Int(102_400_000), Type::Bytes, Unit::Bytes), "102.40 MB");
        assert_eq!(show(Value::Int(0), Type::Bytes, Unit::Bytes), "0 B");
        assert_eq!(show(Value::Real(2.5e10), Type::Real, Unit::BytesPerS), "25.00 GB/s");
    }

    #[test]
    fn timestamps_and_counts_keep_all_digits() {
        assert_eq!(show(Value::Int(1_000_000_001), Type::Timestamp, Unit::Ns), "1.000000001 s");
        assert_eq!(show(Value::Int(-5), Type::Timestamp, Unit::Ns), "-0.000000005 s");
        assert_eq!(show(Value::Int(-1_234_567), Type::Int, Unit::Count), "-1,234,567");
    }
}
