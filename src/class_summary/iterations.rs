//! How many iterations on how many GPUs a capture holds: what sums are divided by.

use super::tables::RangeSpan;
use super::tag::{Tag, TagMatch};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// What the user, and what the report, says of iterations and GPUs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told<'a> {
    /// NVTX range that is one iteration.
    pub tag: Option<&'a Tag>,
    /// Iterations, by the user.
    pub iterations: Option<i64>,
    /// GPUs, by the user.
    pub gpus: Option<i64>,
    /// GPUs that have work, by the report.
    pub gpus_found: Option<i64>,
}

/// The iterations of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iterations {
    /// Instances of the tagged range, over all processes; 0 without a tag.
    pub windows: i64,
    /// Their projected durations added up, in ns.
    pub window_ns: i64,
    /// Processes that they are in; at least 1.
    pub processes: i64,
    /// GPUs of the capture; at least 1.
    pub gpus: i64,
    /// GPUs on which the windows are: those that the report has work on, whatever was told.
    gpus_of_windows: i64,
    /// Iterations of one process, as a fraction: instances by processes, or what the user says. None
    /// without either.
    pub iterations: Option<(i64, i64)>,
    /// How the tag was matched.
    pub matched: TagMatch,
}

impl Iterations {
    /// Counts the iterations; also what is odd about them.
    pub fn count(ranges: Option<&[RangeSpan]>, told: &Told<'_>) -> Result<(Self, Vec<String>)> {
        let mut notes = Vec::new();
        let (matched, found) = match (told.tag, ranges) {
            (Some(tag), Some(ranges)) => tag.find(ranges),
            _ => (TagMatch::None, Vec::new()),
        };
        let windows = found.len() as i64;
        let processes: BTreeSet<i64> = found.iter().filter_map(|range| range.pid).collect();
        let processes = (processes.len() as i64).max(1);
        let gpus = told.gpus.or(told.gpus_found).unwrap_or(processes).max(1);
        if let (Some(told), Some(found)) = (told.gpus, told.gpus_found.filter(|found| *found != gpus)) {
            notes.push(format!(
                "the report has work on {found} GPUs: figures per iteration go by the {told} that were told"
            ));
        }
        let seen = (windows > 0).then_some((windows, processes));
        if let (Some(tag), None) = (told.tag, seen)
            && let Some(ranges) = ranges
        {
            notes.push(no_such_tag(tag, ranges));
        }
        if let Some((windows, processes)) = seen.filter(|_| told.iterations.is_none())
            && windows % processes != 0
        {
            notes.push(format!(
                "the tag occurs {windows} times in {processes} processes: not all have as many iterations"
            ));
        }
        if let (Some(told_count), Some((windows, processes))) = (told.iterations, seen)
            && i128::from(told_count) * i128::from(processes) != i128::from(windows)
        {
            let times = format!(
                "{windows} times in {processes} process{}",
                if processes == 1 { "" } else { "es" }
            );
            notes.push(format!(
                "the tag occurs {times}, and {told_count} iterations were told: what is per iteration is divided by \
                 {told_count}, and the mean window by {windows}"
            ));
        }
        if processes > gpus {
            notes.push(format!(
                "{processes} processes share {gpus} GPU{}: their windows overlap, and what the estimate leaves of one \
                 window is not idle",
                if gpus == 1 { "" } else { "s" }
            ));
        }
        if let Some(ns) = overlap(&found).filter(|ns| *ns > 0) {
            notes.push(format!(
                "the windows overlap by {:.3} ms, which counts twice: iterations that begin before the one before has \
                 ended on the GPU, or ranges within ranges",
                ns as f64 / 1e6
            ));
        }
        let iterations = told.iterations.map(|count| (count, 1)).or(seen);
        let window_ns = found.iter().fold(0i64, |sum, range| sum.saturating_add(range.dur_ns));
        let gpus_of_windows = told.gpus_found.unwrap_or(gpus).max(1);
        let counted = Self { windows, window_ns, processes, gpus, gpus_of_windows, iterations, matched };
        if counted.divisor().is_none() && iterations.is_some() {
            return Err(Error::usage(
                "iterations times GPUs is more than 64 bits hold",
                "are these the right counts?",
            ));
        }
        Ok((counted, notes))
    }

    /// What a sum over all GPUs is divided by to be that of one iteration on one GPU, as a fraction.
    pub fn divisor(&self) -> Option<(i64, i64)> {
        let (count, of) = self.iterations?;
        let divisor = count.checked_mul(self.gpus)?;
        let shared = greatest_common_divisor(divisor, of);
        Some((divisor / shared, of / shared))
    }

    /// The sum per iteration and GPU.
    pub fn per_iteration(&self, total: i64) -> Option<f64> {
        let (divisor, of) = self.divisor()?;
        Some((i128::from(total) * i128::from(of)) as f64 / divisor as f64)
    }

    /// The count is the same in every iteration on every GPU, as far as it can be.
    pub fn divides(&self, count: i64) -> bool {
        self.divisor()
            .is_none_or(|(divisor, of)| i128::from(count) * i128::from(of) % i128::from(divisor) == 0)
    }

    /// The windows on all GPUs, in ns: those of a process count once for each of its GPUs.
    pub fn windows_on_gpus(&self) -> i64 {
        let all = i128::from(self.window_ns) * i128::from(self.gpus_of_windows);
        let processes = i128::from(self.processes);
        i64::try_from((all + processes / 2) / processes).unwrap_or(i64::MAX)
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// How much longer the windows of each process are together than the time that they cover.
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
    let near: Vec<String> = tag.near(ranges).iter().map(|name| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => format!("no projected range is called `{}`: the table has no ranges", tag.spelled()),
        near => {
            format!("no projected range is called `{}`; there is {}", tag.spelled(), near.join(", "))
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
        let told = Told { tag: Some(&tag), iterations, gpus, gpus_found: None };
        Iterations::count(Some(&ranges(pids)), &told).unwrap()
    }

    #[test]
    fn a_process_for_each_gpu_and_one_for_all_give_the_same() {
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
    fn windows_that_overlap_are_told_of() {
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
    fn what_does_not_fit_is_said() {
        assert!(
            count(&[1, 1, 1], Some(2), None).1[0].contains("3 times in 1 process"),
            "{:?}",
            count(&[1, 1, 1], Some(2), None).1
        );
        assert!(count(&[1, 1, 2], None, None).1[0].contains("not all have as many"));
        assert!(count(&[1, 2], None, Some(1)).1[0].contains("share 1 GPU"));
        let (none, notes) = count(&[], None, None);
        assert_eq!((none.divisor(), none.per_iteration(5)), (None, None));
        assert_eq!(notes.len(), 1);
        let tag = Tag::new("it").unwrap();
        let told = Told { tag: Some(&tag), iterations: Some(i64::MAX), gpus: Some(2), gpus_found: None };
        assert!(Iterations::count(Some(&[]), &told).is_err());
    }
}
