//! The exact figures of a capture: sums by class, the rest of the iterations, and the measured time of
//! each GPU.

use super::iterations::Iterations;
use super::measured::{Measured, by_device};
use super::tables::Tables;
use std::collections::HashMap;

/// The classification of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The class.
    pub name: String,
    /// The collective, if it is a communication kernel; `None` for a compute kernel.
    pub collective: Option<String>,
    /// Other classes whose rules also match.
    pub also: Vec<String>,
}

/// The section that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Total time of compute, communication and memory.
    Total,
    /// Compute kernels by class.
    Kernel,
    /// Communication by operation.
    Communication,
    /// Copies and fills by kind.
    Memory,
    /// The iterations minus the summed time of the compute kernels.
    Estimate,
    /// The iterations on each GPU, or all of its time, divided by what ran on the timeline.
    Measured,
}

impl Section {
    /// All sections, in the order of the rows.
    pub const ALL: [Self; 6] =
        [Self::Total, Self::Kernel, Self::Communication, Self::Memory, Self::Estimate, Self::Measured];

    /// The name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Kernel => "kernel",
            Self::Communication => "communication",
            Self::Memory => "memory",
            Self::Estimate => "estimate",
            Self::Measured => "measured",
        }
    }
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The section.
    pub section: Section,
    /// Class, operation or part.
    pub class: String,
    /// The GPU, in the section `measured`.
    pub gpu_id: Option<i64>,
    /// Time, in ns.
    pub total_ns: i64,
    /// The time as a percentage of `share_of`; `None` if the whole is 0 or this row is the whole.
    pub share_pct: Option<f64>,
    /// The whole that `share_pct` refers to.
    pub share_of: Option<&'static str>,
    /// Number of kernels, operations or windows.
    pub count: Option<i64>,
    /// Time per iteration and GPU, in ns; `None` without iterations.
    pub per_iteration_ns: Option<f64>,
    /// Number of kernels or operations per iteration and GPU; `None` without iterations.
    pub count_per_iteration: Option<f64>,
}

/// All figures of a capture, and notes on their reliability.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Rows in the order of the sections, and by time within a section.
    pub rows: Vec<Row>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

/// The rest of the iterations, from the sum of kernel times.
const REST: &str = "not compute";
/// The rest of the iterations, measured on the GPUs' timelines.
const MEASURED_REST: &str = "not compute, measured";

/// Computes the summary of a capture.
///
/// `measured` holds the windows of the iterations or, without a tag, one window per GPU. `within` is
/// true if the tables hold only work that the tagged ranges launched.
pub fn summarize(
    tables: &Tables,
    class_of: &dyn Fn(&str) -> Class,
    iterations: &Iterations,
    measured: &[Measured],
    within: bool,
) -> Summary {
    let mut summary = Summarizer { iterations, rows: Vec::new(), notes: Vec::new() };
    let (mut classes, mut collectives) = (Sums::default(), Sums::default());
    let mut ambiguous: Vec<(i64, String)> = Vec::new();
    for kernel in &tables.kernels {
        let class = class_of(&kernel.name);
        match &class.collective {
            Some(operation) => collectives.add(operation, kernel.total_ns, kernel.calls),
            None => classes.add(&class.name, kernel.total_ns, kernel.calls),
        }
        if !class.also.is_empty() && class.collective.is_none() {
            let others = class.also.join(", ");
            ambiguous.push((
                kernel.total_ns,
                format!("`{}` is {} and also matches {others}", shortened(&kernel.name), class.name),
            ));
        }
    }
    let mut memory = Sums::default();
    for sum in tables.memory.iter().flatten() {
        memory.add(&sum.operation, sum.total_ns, sum.calls);
    }
    summary.totals(&classes, &collectives, tables.memory.is_some().then_some(&memory));
    summary.section(Section::Kernel, &classes, "compute kernels");
    summary.section(Section::Communication, &collectives, "communication");
    summary.section(Section::Memory, &memory, "memory operations");
    summary.note_ambiguous(ambiguous);
    summary.note_remainders([&classes, &collectives]);
    if iterations.windows > 0 {
        summary.estimate(classes.total_ns, measured);
    }
    summary.measured(measured);
    if iterations.windows > 0 {
        summary.explain_difference(classes.total_ns, measured, within);
        if !within {
            summary.note_outside(tables);
        }
    }
    Summary { rows: summary.rows, notes: summary.notes }
}

/// Times and counts by name, in order of first occurrence.
#[derive(Debug, Default)]
struct Sums {
    by_name: Vec<(String, i64, i64)>,
    places: HashMap<String, usize>,
    total_ns: i64,
    calls: i64,
}

impl Sums {
    fn add(&mut self, name: &str, total_ns: i64, calls: i64) {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.by_name.len());
            self.by_name.push((name.to_owned(), 0, 0));
            self.by_name.len() - 1
        });
        // `Tables::check_sums` has excluded overflow.
        let sum = &mut self.by_name[place];
        (sum.1, sum.2) = (sum.1.saturating_add(total_ns), sum.2.saturating_add(calls));
        self.total_ns = self.total_ns.saturating_add(total_ns);
        self.calls = self.calls.saturating_add(calls);
    }
}

struct Summarizer<'a> {
    iterations: &'a Iterations,
    rows: Vec<Row>,
    notes: Vec<String>,
}

fn share(part: i64, whole: i64) -> Option<f64> {
    (whole != 0).then(|| 100.0 * part as f64 / whole as f64)
}

impl Summarizer<'_> {
    fn row(
        &self,
        section: Section,
        class: &str,
        total_ns: i64,
        count: i64,
        whole: (i64, &'static str),
    ) -> Row {
        Row {
            section,
            class: class.to_owned(),
            gpu_id: None,
            total_ns,
            share_pct: share(total_ns, whole.0),
            share_of: Some(whole.1),
            count: Some(count),
            per_iteration_ns: self.iterations.per_iteration(total_ns),
            count_per_iteration: self.iterations.per_iteration(count),
        }
    }

    fn totals(&mut self, classes: &Sums, collectives: &Sums, memory: Option<&Sums>) {
        let whole = classes
            .total_ns
            .saturating_add(collectives.total_ns)
            .saturating_add(memory.map_or(0, |memory| memory.total_ns));
        let parts =
            [("compute", Some(classes)), ("communication", Some(collectives)), ("memory", memory)];
        for (name, sums) in parts {
            if let Some(sums) = sums {
                let row = self.row(
                    Section::Total,
                    name,
                    sums.total_ns,
                    sums.calls,
                    (whole, "kernels and copies, summed"),
                );
                self.rows.push(row);
            }
        }
    }

    fn section(&mut self, section: Section, sums: &Sums, whole: &'static str) {
        let mut by_name: Vec<&(String, i64, i64)> = sums.by_name.iter().collect();
        by_name.sort_by(|a, b| (b.1, b.2).cmp(&(a.1, a.2)).then_with(|| a.0.cmp(&b.0)));
        for (name, total_ns, calls) in by_name {
            let row = self.row(section, name, *total_ns, *calls, (sums.total_ns, whole));
            self.rows.push(row);
        }
    }

    /// Adds the windows, the summed time of the compute kernels, and the rest.
    fn estimate(&mut self, compute_ns: i64, measured: &[Measured]) {
        let counted = self.iterations;
        let whole = counted.windows_on_gpus();
        let mean = counted.window_ns as f64 / counted.windows as f64;
        // Divide by the windows found, not by the user's iteration count: each row is a part of the
        // first one.
        let per_window = |total_ns: i64| (whole > 0).then(|| total_ns as f64 * mean / whole as f64);
        let rest = whole.saturating_sub(compute_ns);
        let part = |class: &str, total_ns: i64, per_iteration_ns: Option<f64>| Row {
            section: Section::Estimate,
            class: class.to_owned(),
            gpu_id: None,
            total_ns,
            share_pct: share(total_ns, whole),
            share_of: Some("windows"),
            count: None,
            per_iteration_ns,
            count_per_iteration: None,
        };
        let window = Row {
            count: Some(counted.windows),
            share_pct: None,
            share_of: None,
            ..part("window", whole, Some(mean))
        };
        let compute = part("compute, summed", compute_ns, per_window(compute_ns));
        let rest_row = part(REST, rest, per_window(rest));
        self.rows.extend([window, compute, rest_row]);
        if !measured.is_empty() {
            let add =
                |of: &dyn Fn(&Measured) -> i64| measured.iter().map(of).fold(0, i64::saturating_add);
            let whole = add(&|window| window.window_ns);
            let rest = whole.saturating_sub(add(&|window| window.compute_ns));
            self.rows.push(Row {
                share_pct: share(rest, whole),
                share_of: Some("windows, measured"),
                ..part(MEASURED_REST, rest, Some(rest as f64 / measured.len() as f64))
            });
        }
        if rest < 0 {
            self.notes.push(
                "compute kernels add up to more than the windows: some run outside the windows or at the same time"
                    .to_owned(),
            );
        }
    }

    fn measured(&mut self, measured: &[Measured]) {
        let whole =
            if self.iterations.windows > 0 { "windows on this GPU" } else { "first to last operation" };
        for device in by_device(measured) {
            let sum = device.sum;
            let parts = [
                ("window", sum.window_ns),
                ("compute", sum.compute_ns),
                ("exposed communication", sum.exposed_communication_ns),
                ("exposed memory", sum.exposed_memory_ns),
                ("idle", sum.idle_ns),
            ];
            for (place, (class, total_ns)) in parts.into_iter().enumerate() {
                let is_whole = place == 0;
                self.rows.push(Row {
                    section: Section::Measured,
                    class: class.to_owned(),
                    gpu_id: Some(sum.gpu_id),
                    total_ns,
                    share_pct: if is_whole { None } else { share(total_ns, sum.window_ns) },
                    share_of: if is_whole { None } else { Some(whole) },
                    count: is_whole.then_some(device.windows),
                    per_iteration_ns: match self.iterations.windows {
                        0 => self
                            .iterations
                            .iterations
                            .map(|(count, of)| total_ns as f64 * of as f64 / count as f64),
                        _ => Some(total_ns as f64 / device.windows as f64),
                    },
                    count_per_iteration: None,
                });
            }
        }
    }

    /// Explains why the estimate differs from the measurement.
    fn explain_difference(&mut self, compute_ns: i64, measured: &[Measured], within: bool) {
        if measured.is_empty() && within {
            return;
        }
        if measured.is_empty() {
            self.notes.push(
                "the estimate takes the sum of kernel times as busy time. Sums do not show whether kernels overlap, or how \
                 much of the rest is communication, copies or idle: pass the report itself to measure this"
                    .to_owned(),
            );
            return;
        }
        let add = |of: &dyn Fn(&Measured) -> i64| {
            measured.iter().fold(0i64, |sum, window| sum.saturating_add(of(window)))
        };
        let (window, busy) = (add(&|window| window.window_ns), add(&|window| window.compute_ns));
        let whole = self.iterations.windows_on_gpus();
        let (estimated, found) = (whole.saturating_sub(compute_ns), window.saturating_sub(busy));
        if estimated == found {
            return;
        }
        let mut reasons = Vec::new();
        if compute_ns > busy {
            reasons.push(format!(
                "the sum includes {} in which compute kernels overlap or run outside the windows",
                ms(compute_ns.saturating_sub(busy))
            ));
        }
        if compute_ns < busy {
            reasons.push(format!(
                "compute kernels that the tagged ranges did not launch ran in the windows for {}",
                ms(busy.saturating_sub(compute_ns))
            ));
        }
        if window != whole {
            reasons.push(format!(
                "the windows on the GPUs add up to {}, those of the ranges to {}",
                ms(window),
                ms(whole)
            ));
        }
        self.notes.push(format!(
            "time without compute: estimated {}, measured {}: {}",
            ms(estimated),
            ms(found),
            reasons.join("; ")
        ));
    }

    /// Notes that a table of sums covers the whole capture.
    fn note_outside(&mut self, tables: &Tables) {
        let outside: i64 = tables
            .ranges
            .iter()
            .flatten()
            .filter(|range| range.name.is_none())
            .filter_map(|range| range.launches)
            .fold(0, i64::saturating_add);
        let how_many = match outside {
            0 => String::new(),
            1 => ", including 1 launch outside all ranges".to_owned(),
            count => format!(", including {count} launches outside all ranges"),
        };
        self.notes.push(format!(
            "the sums cover the whole capture{how_many}: work outside the tagged ranges makes the estimate too small"
        ));
    }

    fn note_ambiguous(&mut self, mut ambiguous: Vec<(i64, String)>) {
        ambiguous.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let Some((_, largest)) = ambiguous.first() else { return };
        let time = ambiguous.iter().fold(0i64, |sum, (ns, _)| sum.saturating_add(*ns));
        self.notes.push(format!(
            "{} kernel {} ({}) rules of several classes, and the first rule decides; the largest: {largest}",
            ambiguous.len(),
            if ambiguous.len() == 1 { "name matches" } else { "names match" },
            ms(time)
        ));
    }

    fn note_remainders(&mut self, sums: [&Sums; 2]) {
        let odd: Vec<&str> = sums
            .iter()
            .flat_map(|sums| &sums.by_name)
            .filter(|(.., calls)| !self.iterations.divides(*calls))
            .map(|(name, ..)| name.as_str())
            .collect();
        if let (false, Some((divisor, of))) = (odd.is_empty(), self.iterations.divisor()) {
            self.notes.push(format!(
                "iterations differ, or the sums include other work: the count is not a multiple of {} for {}",
                if of == 1 { divisor.to_string() } else { format!("{divisor}/{of}") },
                odd.join(", ")
            ));
        }
    }
}

/// A kernel's name, shortened for a note.
fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut short: String = name.chars().take(MAX_CHARS).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

/// Nanoseconds as milliseconds, for a note.
fn ms(ns: i64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::tables::{KernelSum, MemorySum, RangeSpan};
    use super::super::{IterationHints, Tag};
    use super::*;

    fn class_of(name: &str) -> Class {
        let collective = name.strip_prefix("nccl").map(str::to_owned);
        let also = if name == "both" { vec!["softmax".to_owned()] } else { Vec::new() };
        let class = if name == "gemm" || name == "both" { "gemm" } else { "others" };
        Class { name: class.to_owned(), collective, also }
    }

    fn tables() -> Tables {
        let kernel = |total_ns, calls, name: &str| KernelSum { name: name.to_owned(), total_ns, calls };
        let range = |name: Option<&str>, dur_ns| RangeSpan {
            name: name.map(str::to_owned),
            dur_ns,
            pid: Some(1),
            launches: Some(3),
            ..RangeSpan::default()
        };
        Tables {
            kernels: vec![
                kernel(10_000, 7, "both"),
                kernel(1_000, 3, "other"),
                kernel(5_000, 8, "ncclAllReduce"),
            ],
            ranges: Some(vec![range(None, 99), range(Some("it"), 8_000), range(Some(":it"), 8_001)]),
            memory: Some(vec![MemorySum {
                operation: "[CUDA memset]".to_owned(),
                total_ns: 500,
                calls: 4,
            }]),
        }
    }

    fn summary(measured: &[Measured], within: bool) -> Summary {
        let tag = Tag::new("?it").unwrap();
        let tag = if within { Tag::new("*it").unwrap() } else { tag };
        let tables = tables();
        let hints = IterationHints { tag: Some(&tag), ..IterationHints::default() };
        let (counted, _) = Iterations::count(tables.ranges.as_deref(), &hints).unwrap();
        summarize(&tables, &class_of, &counted, measured, within)
    }

    fn find<'s>(summary: &'s Summary, section: Section, class: &str) -> &'s Row {
        summary.rows.iter().find(|row| row.section == section && row.class == class).unwrap()
    }

    #[test]
    fn counts_are_not_floored_and_shares_refer_to_their_section() {
        let summary = summary(&[], true);
        let gemm = find(&summary, Section::Kernel, "gemm");
        assert_eq!((gemm.per_iteration_ns, gemm.count_per_iteration), (Some(5_000.0), Some(3.5)));
        assert_eq!(gemm.share_pct, Some(100.0 * 10_000.0 / 11_000.0));
        let reduce = find(&summary, Section::Communication, "AllReduce");
        assert_eq!((reduce.share_pct, reduce.count_per_iteration), (Some(100.0), Some(4.0)));
        let total: f64 = summary
            .rows
            .iter()
            .filter(|row| row.section == Section::Total)
            .filter_map(|row| row.share_pct)
            .sum();
        assert!((total - 100.0).abs() < 1e-9);
        let rest = find(&summary, Section::Estimate, REST);
        assert_eq!((rest.total_ns, rest.per_iteration_ns), (5_001, Some(2_500.5)));
        let notes = summary.notes.join("\n");
        assert!(notes.contains("`both` is gemm and also matches softmax"), "{notes}");
        assert!(notes.contains("not a multiple of 2 for gemm, others"), "{notes}");
    }

    #[test]
    fn sums_of_a_whole_capture_are_noted() {
        let summary = summary(&[], false);
        let window = find(&summary, Section::Estimate, "window");
        assert_eq!((window.total_ns, window.count), (8_001, Some(1)));
        assert!(
            summary.notes.iter().any(|note| note.contains("3 launches outside all ranges")),
            "{:?}",
            summary.notes
        );
        assert!(summary.notes.iter().any(|note| note.contains("add up to more than the windows")));
        assert!(summary.notes.iter().any(|note| note.contains("pass the report itself")));
    }

    #[test]
    fn the_measured_parts_add_up_to_the_window() {
        let window = |gpu_id, window_ns, compute_ns| Measured {
            gpu_id,
            window_ns,
            compute_ns,
            exposed_communication_ns: 100,
            exposed_memory_ns: 10,
            idle_ns: window_ns - compute_ns - 110,
        };
        let summary = summary(&[window(1, 8_000, 5_000), window(1, 8_001, 5_000)], true);
        let part = |class| find(&summary, Section::Measured, class);
        let parts = ["compute", "exposed communication", "exposed memory", "idle"];
        let sum: i64 = parts.iter().map(|class| part(class).total_ns).sum();
        assert_eq!(sum, part("window").total_ns);
        assert_eq!(find(&summary, Section::Estimate, MEASURED_REST).total_ns, 6_001);
        assert_eq!((part("window").count, part("compute").gpu_id), (Some(2), Some(1)));
        let notes = summary.notes.join("\n");
        assert!(
            notes.contains(
                "time without compute: estimated 0.005 ms, measured 0.006 ms: the sum includes"
            ),
            "{notes}"
        );
    }
}
