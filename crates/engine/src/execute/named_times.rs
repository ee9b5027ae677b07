//! Names of times that edits are about.

use nsq_sweep::replay::IntervalsByGpu;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// The first character of a name. No written interval begins with it.
const MARK: char = '#';
/// The most intervals that are written. A name stands for more: those of a finding take megabytes as a text, which statements
/// copy again and again.
const MOST_WRITTEN: usize = 100;

/// What the names that `gpu_times` returns stand for, for all connections to a report.
#[derive(Debug, Default)]
pub(super) struct NamedTimes(Mutex<BTreeMap<String, Arc<IntervalsByGpu>>>);

impl NamedTimes {
    /// Intervals as edits have them: written, or if they are many, a name that only depends on them.
    pub(super) fn text_of(&self, intervals: IntervalsByGpu) -> String {
        let intervals = intervals.united();
        if intervals.count() <= MOST_WRITTEN {
            return intervals.to_string();
        }
        let mut hasher = DefaultHasher::new();
        intervals.hash(&mut hasher);
        let (count, length) = (intervals.count(), intervals.length());
        let name = format!("{MARK}{count}+{length}+{:016x}", hasher.finish());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(name.clone()).or_insert_with(|| Arc::new(intervals));
        name
    }

    /// Reads intervals and names, with semicolons between them.
    pub(super) fn read(&self, text: &str) -> Result<Arc<IntervalsByGpu>, String> {
        if !text.contains(MARK) {
            return text.parse().map(Arc::new);
        }
        let parts = text.split(';').filter(|part| !part.is_empty());
        let mut parts = parts.map(|part| match part.starts_with(MARK) {
            true => self.named(part),
            false => part.parse().map(Arc::new),
        });
        let mut all = parts.next().unwrap_or_else(|| Ok(Arc::default()))?;
        for part in parts {
            Arc::make_mut(&mut all).add_all(&*part?);
        }
        Ok(all)
    }

    fn named(&self, name: &str) -> Result<Arc<IntervalsByGpu>, String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).map(Arc::clone).ok_or_else(|| {
            format!(
                "unknown times '{name}': a name of gpu_times() is known as long as its report is open; call it \
                 again, or write GPU:START+LENGTH in ns"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_ten_ns(gpu: i64, count: i64) -> IntervalsByGpu {
        let mut intervals = IntervalsByGpu::default();
        (0..count).rev().for_each(|n| intervals.add(gpu, n * 10, n * 10 + 3));
        intervals
    }

    #[test]
    fn many_intervals_have_a_name() {
        let times = NamedTimes::default();
        assert_eq!(times.text_of(every_ten_ns(1, 2)), "1:0+3,7+3");
        let (many, others) = (every_ten_ns(0, 101), every_ten_ns(1, 200));
        let (name, other) = (times.text_of(many.clone()), times.text_of(others.clone()));
        assert!(name.starts_with("#101+303+"), "{name}");
        assert!(!name.contains(['@', ':', ';', '\n']), "{name}");
        assert_eq!(times.text_of(many.clone().united()), name);
        assert_eq!(times.read(&name), Ok(Arc::new(many.united())));
        // With written ones, and with those of another GPU.
        let all = times.read(&format!("{name};1:5+7;{other};")).expect("they are known");
        assert_eq!((all.count(), all.length()), (302, 303 + 7 + 600));
        assert_eq!(times.read("1:0+3,7+3"), "1:0+3,7+3".parse().map(Arc::new));
        // Another report does not know the name.
        let error = NamedTimes::default().read(&name).expect_err("it is unknown");
        assert!(error.starts_with(&format!("unknown times '{name}'")), "{error}");
        assert!(times.read(&format!("{name};x")).is_err());
    }
}
