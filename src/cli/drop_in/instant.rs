//! Times and units of time as nsys spells them.

use nsq_engine::compile::TimeUnit;

/// Parses a unit. As in nsys, any unambiguous prefix is accepted: `us`, `milli`, `seconds`.
pub(super) fn time_unit(text: &str) -> Result<TimeUnit, String> {
    const NAMES: [(&str, TimeUnit); 7] = [
        ("nsec", TimeUnit::Ns),
        ("nanoseconds", TimeUnit::Ns),
        ("usec", TimeUnit::Us),
        ("microseconds", TimeUnit::Us),
        ("msec", TimeUnit::Ms),
        ("milliseconds", TimeUnit::Ms),
        ("seconds", TimeUnit::S),
    ];
    let text = text.to_ascii_lowercase();
    let mut units =
        NAMES.iter().filter(|(name, _)| !text.is_empty() && name.starts_with(&text)).map(|(_, u)| *u);
    match (units.next(), units.next()) {
        (Some(unit), None) => Ok(unit),
        (Some(_), Some(_)) => Err("ambiguous unit: expected nsec, usec, msec or sec".to_owned()),
        _ => Err("expected nsec, usec, msec or sec".to_owned()),
    }
}

/// Parses NVIDIA's times: `1s2ms3us4ns`, `1.5e3us`, `-2m`. A number without a unit is nanoseconds.
pub(super) fn nsys_time(text: &str) -> Option<i64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let number_end = rest
            .char_indices()
            .find(|(at, c)| {
                let exponent = |at: usize| rest[..at].ends_with(['e', 'E']);
                let is_exponent = matches!(c, 'e' | 'E')
                    && rest[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
                let is_number = c.is_ascii_digit()
                    || *c == '.'
                    || is_exponent
                    || matches!(c, '-' | '+') && (*at == 0 || exponent(*at));
                !is_number
            })
            .map_or(rest.len(), |(at, _)| at);
        let number: f64 = rest[..number_end].parse().ok()?;
        rest = &rest[number_end..];
        let unit_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        total += number
            * match &rest[..unit_end] {
                "" | "ns" | "nsec" => 1.0,
                "us" | "usec" => 1e3,
                "ms" | "msec" => 1e6,
                "s" | "sec" => 1e9,
                "m" | "min" => 60e9,
                "h" | "hour" => 3600e9,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (total.is_finite() && total.abs() < i64::MAX as f64).then_some(total as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_as_nvidia_documents_them() {
        assert_eq!(nsys_time("1s2ms3us4ns"), Some(1_002_003_004));
        assert_eq!(nsys_time("2ns5us2"), Some(5_004));
        assert_eq!(nsys_time("1.5e3us"), Some(1_500_000));
        assert_eq!(nsys_time("-2m"), Some(-120_000_000_000));
        assert_eq!(nsys_time("1x"), None);
    }

    #[test]
    fn time_units_are_matched_by_prefix() {
        assert_eq!(time_unit("us").unwrap(), TimeUnit::Us);
        assert_eq!(time_unit("sec").unwrap(), TimeUnit::S);
        assert_eq!(time_unit("milli").unwrap(), TimeUnit::Ms);
        assert!(time_unit("m").is_err() && time_unit("").is_err());
    }
}
