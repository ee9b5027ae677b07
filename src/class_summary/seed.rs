//! The figures of `--seed-compat`: doubles, counts floored per row, and sums of the whole capture
//! compared with the tagged ranges.

use super::iterations::Iterations;
use super::seed_map::{NCCL, SeedMap};
use super::tables::Tables;
use std::collections::HashMap;

/// Everything that the seed prints for one input.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedSummary {
    /// The warning before the block.
    pub warning: Option<String>,
    /// Kernels other than NCCL.
    pub kernels: SeedBlock,
    /// NCCL kernels by operation.
    pub nccl: SeedBlock,
    /// Memory operations by kind.
    pub memory: Option<SeedBlock>,
    /// The tagged ranges.
    pub windows: Option<SeedWindows>,
    /// Problems that end the seed with a traceback.
    pub remarks: Vec<String>,
}

/// A sum, and the rows that it consists of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeedBlock {
    /// The sum of all rows.
    pub all: SeedRow,
    /// One row per class or operation.
    pub rows: Vec<SeedRow>,
    /// Index in `rows` by class or operation.
    places: HashMap<String, usize>,
}

/// The sums of one class or operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeedRow {
    /// Class or operation.
    pub class: String,
    /// Time per iteration and GPU, in ms.
    pub iteration_ms: f64,
    /// Instances per iteration and GPU, floored for each kernel name.
    pub iteration_calls: i64,
    /// Share of the block's time per iteration, in percent; NaN if that time is 0.
    pub iteration_pct: f64,
    /// Time, in ms.
    pub total_ms: f64,
    /// Instances.
    pub total_calls: i64,
    /// Share of the block's time, in percent; NaN if that time is 0.
    pub total_pct: f64,
}

impl SeedRow {
    fn named(class: &str) -> Self {
        Self { class: class.to_owned(), ..Self::default() }
    }

    fn add(&mut self, total_ns: i64, calls: i64, divisor: i64) {
        self.iteration_ms += total_ns as f64 / divisor as f64;
        self.iteration_calls += calls.div_euclid(divisor);
        self.total_ms += total_ns as f64;
        self.total_calls += calls;
    }
}

impl SeedBlock {
    /// A block with an empty row for each class.
    fn with_classes(classes: &[&str]) -> Self {
        let mut block = Self::default();
        for class in classes {
            block.place(class);
        }
        block
    }

    /// The index of the class's row, which is added if it is missing.
    fn place(&mut self, class: &str) -> usize {
        if let Some(&place) = self.places.get(class) {
            return place;
        }
        self.places.insert(class.to_owned(), self.rows.len());
        self.rows.push(SeedRow::named(class));
        self.rows.len() - 1
    }

    fn add(&mut self, class: &str, total_ns: i64, calls: i64, divisor: i64) {
        self.all.add(total_ns, calls, divisor);
        let place = self.place(class);
        self.rows[place].add(total_ns, calls, divisor);
    }

    /// Computes the shares and converts nanoseconds to milliseconds.
    fn finish(&mut self) {
        let (iteration, total) = (self.all.iteration_ms, self.all.total_ms);
        for row in self.rows.iter_mut().chain([&mut self.all]) {
            row.iteration_pct = row.iteration_ms / iteration * 100.0;
            row.total_pct = row.total_ms / total * 100.0;
            row.iteration_ms *= 1e-6;
            row.total_ms *= 1e-6;
        }
    }
}

/// The tagged ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedWindows {
    /// Number of ranges.
    pub count: i64,
    /// Mean duration, in ms.
    pub average_ms: f64,
    /// Sum of the durations, in ms.
    pub total_ms: f64,
    /// The time of the ranges without the kernels; `None` if there are no ranges.
    pub estimate: Option<Estimate>,
}

/// The time of the tagged ranges minus the summed time of the kernels other than NCCL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Per range, in ms.
    pub range_ms: f64,
    /// Per range, in percent of the mean range.
    pub range_pct: f64,
    /// For all ranges, in ms.
    pub total_ms: f64,
    /// For all ranges, in percent of their total time.
    pub total_pct: f64,
}

impl SeedSummary {
    /// Computes the seed's figures from the user's numbers of `iterations` and `gpus`.
    pub fn new(
        tables: &Tables,
        map: &SeedMap,
        counted: &Iterations,
        iterations: i64,
        gpus: i64,
    ) -> Self {
        let divisor = iterations.saturating_mul(gpus).max(1);
        let mut remarks = Vec::new();
        let mut kernels = SeedBlock::with_classes(&map.classes());
        let mut nccl = SeedBlock::default();
        for kernel in &tables.kernels {
            let class = map.class_of(&kernel.name);
            if class == NCCL {
                let operation = kernel.name.split('_').nth(1).unwrap_or_else(|| {
                    remarks.push(format!(
                        "`{}` counts as NCCL, but its name has no second part after an underscore: its operation is unknown",
                        kernel.name
                    ));
                    "unknown"
                });
                nccl.add(operation, kernel.total_ns, kernel.calls, divisor);
            } else {
                kernels.add(class, kernel.total_ns, kernel.calls, divisor);
            }
        }
        kernels.finish();
        nccl.finish();
        if kernels.all.total_ms == 0.0 {
            remarks.push(
                "kernels other than NCCL take 0 ms in total: their shares are not a number".to_owned(),
            );
        }
        let memory = tables.memory.as_ref().map(|memory| {
            let mut block = SeedBlock::default();
            memory.iter().for_each(|sum| block.add(&sum.operation, sum.total_ns, sum.calls, divisor));
            block.finish();
            block
        });
        let windows = tables.ranges.as_ref().map(|_| windows_of(counted, &kernels.all, &mut remarks));
        let warning = windows.as_ref().filter(|windows| windows.count != iterations).map(|windows| {
            format!(
                "the NVTX range of an iteration occurs {} times, but the number of iterations is {iterations}.",
                windows.count
            )
        });
        Self { warning, kernels, nccl, memory, windows, remarks }
    }
}

fn windows_of(counted: &Iterations, kernels: &SeedRow, remarks: &mut Vec<String>) -> SeedWindows {
    let (count, total_ms) = (counted.windows, counted.window_ns as f64 * 1e-6);
    if count == 0 {
        remarks.push("no tagged range found: the time without kernels cannot be estimated".to_owned());
        return SeedWindows { count, average_ms: 0.0, total_ms, estimate: None };
    }
    let average_ms = total_ms / count as f64;
    let (range_ms, rest_ms) = (average_ms - kernels.iteration_ms, total_ms - kernels.total_ms);
    if total_ms == 0.0 {
        remarks.push(
            "the tagged ranges take 0 ms in total: shares of that time are not a number".to_owned(),
        );
    }
    let share = |part: f64, whole: f64| if whole == 0.0 { f64::NAN } else { part / whole * 100.0 };
    let estimate = Estimate {
        range_ms,
        range_pct: share(range_ms, average_ms),
        total_ms: rest_ms,
        total_pct: share(rest_ms, total_ms),
    };
    SeedWindows { count, average_ms, total_ms, estimate: Some(estimate) }
}

#[cfg(test)]
mod tests {
    use super::super::tables::{KernelSum, MemorySum, RangeSpan};
    use super::super::{IterationHints, Tag};
    use super::*;

    fn kernel(total_ns: i64, calls: i64, name: &str) -> KernelSum {
        KernelSum { name: name.to_owned(), total_ns, calls }
    }

    fn summary(tables: &Tables, iterations: i64, gpus: i64) -> SeedSummary {
        let map = [("gemm".to_owned(), "GEMM".to_owned()), ("softmax".to_owned(), "Softmax".to_owned())];
        let tag = Tag::new("it").unwrap();
        let hints = IterationHints {
            tag: Some(&tag),
            iterations: Some(iterations),
            gpus: Some(gpus),
            gpus_found: None,
        };
        let (counted, _) = Iterations::count(tables.ranges.as_deref(), &hints).unwrap();
        SeedSummary::new(tables, &SeedMap::strict(&map).unwrap(), &counted, iterations, gpus)
    }

    /// The expected figures are the output of the seed for these rows.
    #[test]
    fn the_micro_case_matches_the_seed_figure_for_figure() {
        let range = |name: &str, dur_ns: i64| RangeSpan {
            name: Some(name.to_owned()),
            dur_ns,
            ..RangeSpan::default()
        };
        let tables = Tables {
            kernels: vec![
                kernel(10_000_000, 7, "My_GEMM_softmax"),
                kernel(1_000_000, 3, "other"),
                kernel(5_000_000, 9, "ncclDevKernel_AllReduce_Sum"),
                kernel(1_000, 1, "ncclDevKernel_AllGather_RING_LL(x)"),
            ],
            ranges: Some(vec![range("it", 8_000_000), range("it", 8_000_000), range("it ", 1)]),
            memory: None,
        };
        let seed = summary(&tables, 2, 2);
        let shown = |row: &SeedRow| {
            format!(
                "{} {:.2} {} {:.2} {:.2} {} {:.2}",
                row.class,
                row.iteration_ms,
                row.iteration_calls,
                row.iteration_pct,
                row.total_ms,
                row.total_calls,
                row.total_pct
            )
        };
        assert_eq!(seed.warning, None);
        let all = &seed.kernels.all;
        assert_eq!(
            format!(
                "{:.3} {} {:.3} {}",
                all.iteration_ms, all.iteration_calls, all.total_ms, all.total_calls
            ),
            "2.750 1 11.000 10"
        );
        let rows: Vec<String> = seed.kernels.rows.iter().map(shown).collect();
        assert_eq!(
            rows,
            [
                "others 0.25 0 9.09 1.00 3 9.09",
                "gemm 2.50 1 90.91 10.00 7 90.91",
                "softmax 0.00 0 0.00 0.00 0 0.00"
            ]
        );
        let all = &seed.nccl.all;
        assert_eq!(
            format!(
                "{:.3} {} {:.3} {}",
                all.iteration_ms, all.iteration_calls, all.total_ms, all.total_calls
            ),
            "1.250 2 5.001 10"
        );
        let calls: Vec<(&str, i64)> =
            seed.nccl.rows.iter().map(|row| (row.class.as_str(), row.iteration_calls)).collect();
        assert_eq!(calls, [("AllReduce", 2), ("AllGather", 0)]);
        let windows = seed.windows.unwrap();
        assert_eq!(
            format!("{} {:.3} {:.3}", windows.count, windows.average_ms, windows.total_ms),
            "2 8.000 16.000"
        );
        let estimate = windows.estimate.unwrap();
        assert_eq!(format!("{:.3} {:.2}", estimate.range_ms, estimate.range_pct), "5.250 65.62");
        assert_eq!(format!("{:.3} {:.2}", estimate.total_ms, estimate.total_pct), "5.000 31.25");
        assert!(seed.remarks.is_empty() && seed.memory.is_none());
    }

    #[test]
    fn inputs_that_crash_the_seed_give_a_block_and_remarks() {
        let tables = Tables {
            kernels: vec![kernel(5, 1, "void ncclFoo<int>(x)"), kernel(7, 1, "my_ns::ncclThing_a")],
            ranges: Some(Vec::new()),
            memory: Some(vec![MemorySum {
                operation: "[CUDA memset]".to_owned(),
                total_ns: 0,
                calls: 1,
            }]),
        };
        let seed = summary(&tables, 1, 1);
        assert_eq!(seed.remarks.len(), 3, "{:?}", seed.remarks);
        let operations: Vec<&str> = seed.nccl.rows.iter().map(|row| row.class.as_str()).collect();
        assert_eq!(operations, ["unknown", "ns::ncclThing"]);
        assert_eq!(seed.windows.unwrap().estimate, None);
        assert!(seed.kernels.rows.iter().all(|row| row.total_pct.is_nan()));
        assert!(seed.warning.unwrap().contains("occurs 0 times"));
    }
}
