//! What everything is computed from.

use crate::error::{Error, Result};

/// All executions of the kernels of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSum {
    /// Full name.
    pub name: String,
    /// Sum of the execution times in ns.
    pub total_ns: i64,
    /// Executions.
    pub calls: i64,
}

/// All copies or fills of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySum {
    /// Kind, as `nsys` prints it: `[CUDA memcpy Device-to-Device]`.
    pub operation: String,
    /// Sum of their times in ns.
    pub total_ns: i64,
    /// Operations.
    pub calls: i64,
}

/// An NVTX range, as the GPU worked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeSpan {
    /// Name, behind its domain and a colon outside the default domain; none for work in no range.
    pub name: Option<String>,
    /// Name without its domain, where a report tells the two apart.
    pub text: Option<String>,
    /// Name of its domain, where a report tells it; none in the default domain.
    pub domain: Option<String>,
    /// The first of its operations began, in ns, where that is known.
    pub start_ns: Option<i64>,
    /// From the first of its operations to the end of the last, in ns.
    pub dur_ns: i64,
    /// Process whose range it is, where that is known.
    pub pid: Option<i64>,
    /// Calls that launched GPU work in it, where that is known.
    pub launches: Option<i64>,
    /// Row of the raw table, where that is known.
    pub range_id: Option<i64>,
}

/// The tables of one capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Kernels, in the order of the table; a name may stand twice.
    pub kernels: Vec<KernelSum>,
    /// Projected ranges; `None`: not asked for.
    pub ranges: Option<Vec<RangeSpan>>,
    /// Memory operations; `None`: not asked for.
    pub memory: Option<Vec<MemorySum>>,
}

impl Tables {
    /// Refuses tables whose columns add up to more than a 64-bit integer holds (292 years), so that
    /// no later sum can.
    pub fn check_sums(&self, title: &str) -> Result<()> {
        let kernels = self.kernels.iter().map(|sum| (sum.total_ns, sum.calls));
        let memory = self.memory.iter().flatten().map(|sum| (sum.total_ns, sum.calls));
        let ranges = self.ranges.iter().flatten().map(|span| (span.dur_ns, 1));
        if fits(kernels.chain(memory)) && fits(ranges) {
            return Ok(());
        }
        Err(Error::Report {
            path: title.into(),
            reason: "the times or counts add up to more than 64 bits hold".to_owned(),
            help: "times are in nanoseconds; is a table in another unit, or damaged?".to_owned(),
        })
    }
}

/// The magnitudes add up to what an integer holds, and so does every part of them.
fn fits(mut numbers: impl Iterator<Item = (i64, i64)>) -> bool {
    let sum = numbers.try_fold((0i64, 0i64), |(ns, calls), (more_ns, more_calls)| {
        Some((ns.checked_add(more_ns.checked_abs()?)?, calls.checked_add(more_calls.checked_abs()?)?))
    });
    sum.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_an_integer_are_refused() {
        let kernel = |total_ns, calls| KernelSum { name: String::new(), total_ns, calls };
        let check = |kernels: Vec<KernelSum>| Tables { kernels, ..Tables::default() }.check_sums("x");
        assert!(check(vec![kernel(i64::MAX, 1)]).is_ok());
        assert!(check(vec![kernel(i64::MAX, 1), kernel(1, 1)]).is_err());
        assert!(check(vec![kernel(1, i64::MAX), kernel(1, 1)]).is_err());
        assert!(check(vec![kernel(i64::MIN, 1)]).is_err());
    }
}
