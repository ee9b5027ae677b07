//! Decimal microseconds → integer nanoseconds, without floating point.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;

/// A time or duration in ns; `None` if the text is not a number or needs more than 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Nanoseconds(pub(super) Option<i64>);

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer).map_err(D::Error::custom)?.get();
        Ok(Self(from_microseconds(text.trim_matches('"'))))
    }
}

/// Decimals of a microsecond that are kept: it has 1,000 ns.
const DECIMALS: usize = 3;

/// Parses a JSON number of microseconds. Rounds to whole nanoseconds, half away from zero.
fn from_microseconds(text: &str) -> Option<i64> {
    parse_plain(text).or_else(|| parse_any(text))
}

/// The fast path for nearly all times: digits, with at most three decimals.
fn parse_plain(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !(1..=15).contains(&whole.len()) || !(1..=DECIMALS).contains(&fraction.len()) {
        return None;
    }
    let mut ns = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        ns = 10 * ns + i64::from(digit);
    }
    Some(ns * [1, 100, 10, 1][fraction.len()])
}

/// The slow path, with sign, exponent and any number of decimals.
fn parse_any(text: &str) -> Option<i64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (digits, is_negative) = match mantissa.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (mantissa, false),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !(whole.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Position of the decimal point in nanoseconds.
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + DECIMALS as i64;
    let mut ns: i64 = 0;
    let mut rounds_up = false;
    for place in 0..point.max(0) {
        let at = usize::try_from(place).ok()?;
        let digit = match whole.as_bytes().get(at) {
            Some(digit) => *digit,
            None => fraction.as_bytes().get(at - whole.len()).copied().unwrap_or(b'0'),
        };
        ns = ns.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
        if ns == 0 && at >= whole.len() + fraction.len() {
            // The number is zero for every exponent.
            return Some(0);
        }
    }
    if let Ok(at) = usize::try_from(point) {
        let next = whole.as_bytes().get(at);
        let next = next.or_else(|| fraction.as_bytes().get(at.checked_sub(whole.len())?));
        rounds_up = next.is_some_and(|digit| *digit >= b'5');
    }
    let ns = ns.checked_add(i64::from(rounds_up))?;
    Some(if is_negative { -ns } else { ns })
}

#[cfg(test)]
mod tests {
    use super::{from_microseconds, parse_any};

    #[test]
    fn decimals_are_exact() {
        for (text, ns) in [
            ("0", 0),
            ("1", 1_000),
            ("1419247332972.313", 1_419_247_332_972_313),
            // As a double, these microseconds are off by 112 ns.
            ("1695835542514261.137", 1_695_835_542_514_261_137),
            ("68.0", 68_000),
            ("0.769", 769),
            ("-3.5", -3_500),
            ("2.0004", 2_000),
            ("2.0005", 2_001),
            ("-2.0005", -2_001),
            ("1.5e3", 1_500_000),
            ("1E-3", 1),
            ("4e-4", 0),
            ("5e-4", 1),
            ("12345e-2", 123_450),
            ("0e999999999", 0),
        ] {
            assert_eq!(from_microseconds(text), Some(ns), "{text}");
            assert_eq!(parse_any(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_none() {
        for text in
            ["", "-", ".", ".5", "inf", "nan", "null", "1e", "1e99", "9300000000000000", "0x10", "1 "]
        {
            assert_eq!(from_microseconds(text), None, "{text}");
        }
    }
}
