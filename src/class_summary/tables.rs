//! The input tables of a class summary.

use crate::error::{Error, Result};

/// All executions of kernels with one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSum {
    /// Full name.
    pub name: String,
    /// Sum of the execution times, in ns.
    pub total_ns: i64,
    /// Number of executions.
    pub calls: i64,
}

/// All copies or fills of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySum {
    /// Kind, as `nsys` prints it: `[CUDA memcpy Device-to-Device]`.
    pub operation: String,
    /// Sum of their times, in ns.
    pub total_ns: i64,
    /// Number of operations.
    pub calls: i64,
}

/// An NVTX range projected onto the GPU work that it launched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeSpan {
    /// Name, as `domain:name` outside the default domain; `None` for work outside all ranges.
    pub name: Option<String>,
    /// Name without the domain, if the source has it.
    pub text: Option<String>,
    /// Domain name, if the source has it; `None` in the default domain.
    pub domain: Option<String>,
    /// Start of its first operation, in ns, if known.
    pub start_ns: Option<i64>,
    /// Time from the start of its first operation to the end of the last, in ns.
    pub dur_ns: i64,
    /// Process of the range, if known.
    pub pid: Option<i64>,
    /// Number of calls in it that launched GPU work, if known.
    pub launches: Option<i64>,
    /// Row of the raw table, if known.
    pub range_id: Option<i64>,
}

/// The tables of one capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Kernels, in the order of the table. A name can occur more than once.
    pub kernels: Vec<KernelSum>,
    /// Projected ranges; `None` if they were not requested.
    pub ranges: Option<Vec<RangeSpan>>,
    /// Memory operations; `None` if they were not requested.
    pub memory: Option<Vec<MemorySum>>,
}

impl Tables {
    /// Fails if the columns add up to more than a 64-bit integer holds (292 years), so that no later sum
    /// overflows.
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
            help:
                "times are in nanoseconds; check the unit of each table, and whether a table is damaged"
                    .to_owned(),
        })
    }
}

/// The sums of the absolute values fit in 64 bits, so every partial sum fits too.
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
