//! The histogram of gaps as text.

use super::Scale;
use super::answer::Bin;
use super::layout::{micros, rule};

/// Cells of the longest bar.
const CELLS: i64 = 40;

/// The bins as bars, for the console.
pub(super) fn bars(bins: &[Bin], scale: Scale) -> String {
    let most = inside(bins).map(|bin| bin.count).max().unwrap_or_default().max(1);
    let mut text = rule('=', 80);
    for bin in inside(bins) {
        let full = usize::try_from(CELLS.saturating_mul(bin.count) / most).unwrap_or_default();
        let bar: String = (0..CELLS as usize).map(|cell| if cell < full { '█' } else { '░' }).collect();
        text.push_str(&format!("{} μs │{bar}│ {:4}\n", bounds(bin, scale), bin.count));
    }
    text.push_str(&rule('=', 80));
    text
}

/// The bins as lines, for the file.
pub(super) fn lines(bins: &[Bin], scale: Scale) -> String {
    let line = |bin: &Bin| format!("{} μs: {:4}\n", bounds(bin, scale), bin.count);
    inside(bins).map(line).collect()
}

/// Percentiles of all gaps, and the number of gaps out of range.
pub(super) fn facts(bins: &[Bin]) -> String {
    let Some(any) = bins.first() else { return String::new() };
    let [median, p90, p99] = any.percentiles_ns.map(micros);
    let longest = micros(any.max_ns as f64);
    let mut text = format!(
        "Percentiles of all gaps: 50% {median} μs, 90% {p90} μs, 99% {p99} μs, longest {longest} μs\n"
    );
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        match (bin.part.as_str(), bin.from_ns, bin.to_ns) {
            ("below", _, Some(ns)) => {
                text.push_str(&format!(
                    "Not in the histogram: {} shorter than {} μs\n",
                    bin.count,
                    micros(ns)
                ));
            }
            ("above", Some(ns), _) => {
                text.push_str(&format!(
                    "Not in the histogram: {} longer than {} μs\n",
                    bin.count,
                    micros(ns)
                ));
            }
            _ => {}
        }
    }
    text
}

fn inside(bins: &[Bin]) -> impl Iterator<Item = &Bin> {
    bins.iter().filter(|bin| bin.part == "bin")
}

fn bounds(bin: &Bin, scale: Scale) -> String {
    let (from, to) = (bin.from_ns.unwrap_or_default(), bin.to_ns.unwrap_or_default());
    match scale {
        Scale::Linear => format!("{:8.1}-{:8.1}", from / 1e3, to / 1e3),
        Scale::Log => format!("{:>8}-{:>8}", round(from), round(to)),
    }
}

/// Nanoseconds as microseconds, without trailing zeros.
fn round(ns: f64) -> String {
    let text = format!("{:.3}", ns / 1e3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(part: &str, from_ns: f64, to_ns: f64, count: i64) -> Bin {
        Bin {
            part: part.to_owned(),
            from_ns: Some(from_ns),
            to_ns: Some(to_ns),
            count,
            percentiles_ns: [1200.0, 3400.0, 5600.0],
            max_ns: 7_800,
        }
    }

    /// The lines come from profiler.py's README.
    #[test]
    fn linear_lines_are_those_of_profiler_py() {
        let bins = [
            bin("below", 0.0, 0.0, 0),
            bin("bin", 500.0, 577_531_000.0, 768_613),
            bin("bin", 577_531_000.0, 1_155_061_500.0, 4),
        ];
        let text = bars(&bins, Scale::Linear);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "=".repeat(80));
        assert_eq!(lines[1], format!("     0.5-577531.0 μs │{}│ 768613", "█".repeat(40)));
        assert_eq!(lines[2], format!("577531.0-1155061.5 μs │{}│    4", "░".repeat(40)));
        assert_eq!(
            super::lines(&bins, Scale::Linear),
            "     0.5-577531.0 μs: 768613\n577531.0-1155061.5 μs:    4\n"
        );
    }

    #[test]
    fn bars_are_floored_and_log_bounds_are_round() {
        let bins = [
            bin("bin", 500.0, 1_000.0, 80),
            bin("bin", 1_000.0, 2_000.0, 79),
            bin("bin", 1e9, 2e9, 1),
            bin("above", 3_000.0, 0.0, 7),
        ];
        let text = bars(&bins, Scale::Log);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("     0.5-       1 μs │{}│   80", "█".repeat(40)));
        assert_eq!(lines[2], format!("       1-       2 μs │{}░│   79", "█".repeat(39)));
        assert_eq!(lines[3], format!(" 1000000- 2000000 μs │{}│    1", "░".repeat(40)));
        assert_eq!(
            facts(&bins),
            "Percentiles of all gaps: 50% 1.20 μs, 90% 3.40 μs, 99% 5.60 μs, longest 7.80 μs\n\
             Not in the histogram: 7 longer than 3.00 μs\n"
        );
    }
}
