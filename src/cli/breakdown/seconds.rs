//! Formats nanoseconds as seconds for scripts.

/// Exact seconds, with as many decimals as needed.
pub(super) fn exact(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let text = format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let trimmed = text.trim_end_matches('0');
    // Keep one decimal, so every reader parses the column as floating point.
    if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() }
}

/// A number as Python writes it: the shortest digits that parse to the same number.
pub(super) fn as_python(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..16).contains(&exponent) || number == 0.0 => format!("{number:?}"),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
        Err(_) => scientific,
    }
}

/// Rounded to tenths, as gputrc2graph rounds before it subtracts.
pub(super) fn to_tenths(seconds: f64) -> f64 {
    format!("{seconds:.1}").parse().unwrap_or(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        for (ns, text) in [
            (0, "0.0"),
            (21_376, "0.000021376"),
            (1_200_000_000, "1.2"),
            (20_000_000_000, "20.0"),
            (-5, "-0.000000005"),
        ] {
            assert_eq!(exact(ns), text);
        }
    }

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (number, text) in [
            (0.0, "0.0"),
            (2.1376e-5, "2.1376e-05"),
            (1e-9, "1e-09"),
            (0.0001, "0.0001"),
            (0.00052, "0.00052"),
            (20.0, "20.0"),
            (10.0 - 8.8, "1.1999999999999993"),
            (1e16, "1e+16"),
            (123456789.125, "123456789.125"),
        ] {
            assert_eq!(as_python(number), text);
        }
        assert_eq!(as_python(to_tenths(7.8499)), "7.8");
    }
}
