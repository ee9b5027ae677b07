//! The filters of charts: widths of bars, logarithms and round times for axes, and names that may break.

use super::filters::{number, shortened, unit};
use minijinja::value::Value;
use minijinja::{Environment, Error as Fault, ErrorKind};
use nsq_value::table::Unit;

/// Adds the filters. `visible` makes text from a report safe to print.
pub(super) fn add(environment: &mut Environment<'static>, visible: fn(&str) -> String) {
    environment.add_filter("seconds", |value: Value| match value.as_i64() {
        Some(ns) => Ok(seconds(ns)),
        None => number(&value).map(|ns| format!("{:.6}", ns / 1e9)),
    });
    environment.add_filter("width", |part: Value, whole: Value| {
        Ok::<_, Fault>(width(number(&part)?, number(&whole)?))
    });
    environment.add_filter("log10", |value: Value| match number(&value)? {
        real if real > 0.0 => Ok(real.log10()),
        real => Err(Fault::new(ErrorKind::InvalidOperation, format!("{real} has no logarithm"))),
    });
    environment.add_filter("ticks", |longest: i64| ticks(longest));
    environment.add_filter("round_time", |value: Value| number(&value).map(round_time));
    environment.add_filter("pieces", move |text: String| {
        let text = visible(&text);
        text.split_inclusive(['_', '.', ':', '/']).map(str::to_owned).collect::<Vec<String>>()
    });
    environment
        .add_filter("shorten", move |text: String, width: usize| shortened(&visible(&text), width));
}

/// Seconds with six decimals, which a spreadsheet reads as a number.
fn seconds(ns: i64) -> String {
    let us = ns / 1000 + i64::from(ns % 1000 >= 500);
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// The width of a part, in percent of the whole.
fn width(part: f64, whole: f64) -> String {
    let share = 100.0 * part / whole.max(1.0);
    let text = format!("{share:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round times from 0 up to the longest: of the steps 1, 2, 5, 10, …, the first that gives at most five
/// after 0.
fn ticks(longest: i64) -> Vec<i64> {
    let mut step = 1i64;
    for factor in [2, 5, 10].iter().cycle() {
        if longest / step <= 5 {
            break;
        }
        let decade = 10i64.pow(step.ilog10());
        let Some(next) = decade.checked_mul(*factor) else { break };
        step = next;
    }
    (0..=longest / step).map(|n| n * step).collect()
}

/// Formats a round time without trailing zeros.
fn round_time(ns: f64) -> String {
    let text = unit(ns, Unit::Ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if ns == 0.0 => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (longest, wanted) in [
            (20_000_000_000, vec!["0", "5 s", "10 s", "15 s", "20 s"]),
            (969_447_605, vec!["0", "200 ms", "400 ms", "600 ms", "800 ms"]),
            (7, vec!["0", "2 ns", "4 ns", "6 ns"]),
            (0, vec!["0"]),
        ] {
            let texts: Vec<String> = ticks(longest).iter().map(|at| round_time(*at as f64)).collect();
            assert_eq!(texts, wanted, "{longest}");
        }
    }

    #[test]
    fn widths_and_seconds_are_exact() {
        assert_eq!([width(1.0, 4.0), width(1.0, 3.0), width(0.0, 0.0)], ["25", "33.3333", "0"]);
        assert_eq!([seconds(1_499), seconds(250_000_500)], ["0.000001", "0.250001"]);
    }
}
