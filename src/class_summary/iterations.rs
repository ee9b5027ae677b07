//! Counts the iterations and GPUs of a capture, by which sums are divided.

use super::tables::RangeSpan;
use super::tag::{Tag, TagMatch};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// What the user and the report say about iterations and GPUs.
#[derive(Debug, Clone, Copy, Default)]
pub struct IterationHints<'a> {
    /// The NVTX range of one iteration.
    pub tag: Option<&'a Tag>,
    /// Number of iterations that the user gave.
    pub iterations: Option<i64>,
    /// Number of GPUs that the user gave.
    pub gpus: Option<i64>,
    /// Number of GPUs that have work in the report.
    pub gpus_found: Option<i64>,
}

/// The iterations of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iterations {
    /// Instances of the tagged range, over all processes; 0 without a tag.
    pub windows: i64,
    /// Sum of their projected durations, in ns.
    pub window_ns: i64,
    /// Number of processes with tagged ranges; at least 1.
    pub processes: i64,
    /// Number of GPUs of the capture; at least 1.
    pub gpus: i64,
    /// Number of GPUs with work in the report if known, even if the user gave another number; else `gpus`.
    gpus_of_windows: i64,
    /// Iterations of one process, as a fraction: the user's number, or instances divided by processes.
    /// `None` if neither is known.
    pub iterations: Option<(i64, i64)>,
    /// How the tag was matched.
    pub matched: TagMatch,
}

impl Iterations {
    /// Counts the iterations. The strings are notes about inconsistencies.
    pub fn count(
        ranges: Option<&[RangeSpan]>,
        hints: &IterationHints<'_>,
    ) -> Result<(Self, Vec<String>)> {
        let mut notes = Vec::new();
        let (matched, found) = match (hints.tag, ranges) {
            (Some(tag), Some(ranges)) => tag.find(ranges),
            _ => (TagMatch::None, Vec::new()),
        };
        let windows = found.len() as i64;
        let processes: BTreeSet<i64> = found.iter().filter_map(|range| range.pid).collect();
        let processes = (processes.len() as i64).max(1);
        let gpus = hints.gpus.or(hints.gpus_found).unwrap_or(processes).max(1);
        if let (Some(given), Some(found)) = (hints.gpus, hints.gpus_found.filter(|found| *found != gpus))
        {
            notes.push(format!(
                "{found} GPUs have work in the report, but {given} were given: figures per iteration use {given}"
            ));
        }
        let seen = (windows > 0).then_some((windows, processes));
        if let (Some(tag), None) = (hints.tag, seen)
            && let Some(ranges) = ranges
        {
            notes.push(no_such_tag(tag, ranges));
        }
        if let Some((windows, processes)) = seen.filter(|_| hints.iterations.is_none())
            && windows % processes != 0
        {
            notes.push(format!(
                "the tag occurs {windows} times in {processes} processes: their iteration counts differ"
            ));
        }
        if let (Some(given), Some((windows, processes))) = (hints.iterations, seen)
            && i128::from(given) * i128::from(processes) != i128::from(windows)
        {
            let times = format!(
                "{windows} times in {processes} process{}",
                if processes == 1 { "" } else { "es" }
            );
            notes.push(format!(
                "the tag occurs {times}, but {given} iterations were given: figures per iteration are divided by {given}, \
                 the mean window by {windows}"
            ));
        }
        if processes > gpus {
            notes.push(format!(
                "{processes} processes share {gpus} GPU{}: their windows overlap, so the rest of a window in the \
                 estimate is not idle time",
                if gpus == 1 { "" } else { "s" }
            ));
        }
        if let Some(ns) = overlap(&found).filter(|ns| *ns > 0) {
            notes.push(format!(
                "the windows overlap by {:.3} ms, which is counted twice: an iteration starts before the previous \
                 one ends on the GPU, or tagged ranges are nested",
                ns as f64 / 1e6
            ));
        }
        let iterations = hints.iterations.map(|count| (count, 1)).or(seen);
        let window_ns = found.iter().fold(0i64, |sum, range| sum.saturating_add(range.dur_ns));
        let gpus_of_windows = hints.gpus_found.unwrap_or(gpus).max(1);
        let counted = Self { windows, window_ns, processes, gpus, gpus_of_windows, iterations, matched };
        if counted.divisor().is_none() && iterations.is_some() {
            return Err(Error::usage(
                "iterations times GPUs is more than 64 bits hold",
                "check the numbers of iterations and GPUs",
            ));
        }
        Ok((counted, notes))
    }

    /// The divisor that turns a sum over all GPUs into the value per iteration and GPU, as a fraction.
    pub fn divisor(&self) -> Option<(i64, i64)> {
        let (count, of) = self.iterations?;
        let divisor = count.checked_mul(self.gpus)?;
        let shared = greatest_common_divisor(divisor, of);
        Some((divisor / shared, of / shared))
    }

    /// The total per iteration and GPU.
    pub fn per_iteration(&self, total: i64) -> Option<f64> {
        let (divisor, of) = self.divisor()?;
        Some((i128::from(total) * i128::from(of)) as f64 / divisor as f64)
    }

    /// Whether the count is a multiple of the divisor, so every iteration on every GPU can have the same
    /// count.
    pub fn divides(&self, count: i64) -> bool {
        self.divisor()
            .is_none_or(|(divisor, of)| i128::from(count) * i128::from(of) % i128::from(divisor) == 0)
    }

    /// Sum of the windows on all GPUs, in ns. A window of a process counts once for each of its GPUs.
    pub fn windows_on_gpus(&self) -> i64 {
        let all = i128::from(self.window_ns) * i128::from(self.gpus_of_windows);
        let processes = i128::from(self.processes);
        i64::try_from((all + processes / 2) / processes).unwrap_or(i64::MAX)
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// Time that the windows of each process overlap, in ns: their sum minus the time that they cover.
fn overlap(found: &[&RangeSpan]) -> Option<i64> {
    let mut spans: Vec<(Option<i64>, i64, i64)> = found
        .iter()
        .map(|range| {
            let start = range.start_ns?;
            Some((range.pid, start, start.checked_add(range.dur_ns)?))
        })
        .collect::<Option<_>>()?;
    spans.sort_unstable();
    let (mut twice, mut last): (i64, Option<(Option<i64>, i64)>) = (0, None);
    for (pid, start, end) in spans {
        last = Some(match last {
            Some((before, reached)) if before == pid => {
                twice = twice.saturating_add(reached.min(end).saturating_sub(start).max(0));
                (pid, reached.max(end))
            }
            _ => (pid, end),
        });
    }
    Some(twice)
}

fn no_such_tag(tag: &Tag, ranges: &[RangeSpan]) -> String {
    let near: Vec<String> = tag.near(ranges).iter().map(|name| format!("'{name}'")).collect();
    match near.as_slice() {
        [] => format!("no projected range is named '{}': the table has no ranges", tag.spelled()),
        near => {
            format!(
                "no projected range is named '{}'; ranges include {}",
                tag.spelled(),
                near.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pids: &[i64]) -> Vec<RangeSpan> {
        let range = |pid: &i64| RangeSpan {
            name: Some("it".to_owned()),
            dur_ns: 10,
            pid: Some(*pid),
            ..RangeSpan::default()
        };
        pids.iter().map(range).collect()
    }

    fn count(pids: &[i64], iterations: Option<i64>, gpus: Option<i64>) -> (Iterations, Vec<String>) {
        let tag = Tag::new("it").unwrap();
        let hints = IterationHints { tag: Some(&tag), iterations, gpus, gpus_found: None };
        Iterations::count(Some(&ranges(pids)), &hints).unwrap()
    }

    #[test]
    fn one_process_per_gpu_and_one_for_all_give_the_same_figures() {
        let (each, notes) = count(&[1, 1, 2, 2], Some(2), None);
        assert_eq!((each.processes, each.gpus, each.divisor()), (2, 2, Some((4, 1))));
        assert!(notes.is_empty(), "{notes:?}");
        let (inferred, _) = count(&[1, 1, 2, 2], None, None);
        assert_eq!(inferred.per_iteration(400), Some(100.0));
        let (one, notes) = count(&[1, 1], None, Some(2));
        assert_eq!((one.per_iteration(400), one.windows_on_gpus()), (Some(100.0), 40));
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!((each.windows_on_gpus(), inferred.windows_on_gpus()), (40, 40));
    }

    #[test]
    fn overlapping_windows_are_measured() {
        let range = |start, dur_ns, pid| RangeSpan {
            start_ns: Some(start),
            dur_ns,
            pid: Some(pid),
            ..RangeSpan::default()
        };
        let ranges = [range(0, 10, 1), range(2, 3, 1), range(8, 5, 1), range(4, 10, 2)];
        assert_eq!(overlap(&ranges.iter().collect::<Vec<_>>()), Some(3 + 2));
        assert_eq!(overlap(&[&RangeSpan::default()]), None);
    }

    #[test]
    fn inconsistencies_are_noted() {
        assert!(
            count(&[1, 1, 1], Some(2), None).1[0].contains("3 times in 1 process"),
            "{:?}",
            count(&[1, 1, 1], Some(2), None).1
        );
        assert!(count(&[1, 1, 2], None, None).1[0].contains("iteration counts differ"));
        assert!(count(&[1, 2], None, Some(1)).1[0].contains("share 1 GPU"));
        let (none, notes) = count(&[], None, None);
        assert_eq!((none.divisor(), none.per_iteration(5)), (None, None));
        assert_eq!(notes.len(), 1);
        let tag = Tag::new("it").unwrap();
        let hints = IterationHints {
            tag: Some(&tag),
            iterations: Some(i64::MAX),
            gpus: Some(2),
            gpus_found: None,
        };
        assert!(Iterations::count(Some(&[]), &hints).is_err());
    }
}
