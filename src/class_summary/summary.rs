//! The figures of a capture, exact: sums by class, what they leave of the iterations, and what was
//! measured.

use super::iterations::Iterations;
use super::measured::{Measured, by_device};
use super::tables::Tables;
use std::collections::HashMap;

/// What a kernel is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Its class.
    pub name: String,
    /// What it carries out, if it is communication: then it is no compute kernel.
    pub collective: Option<String>,
    /// Further classes whose rules it fits.
    pub also: Vec<String>,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Compute, communication and memory, added up.
    Total,
    /// Compute kernels by class.
    Kernel,
    /// Communication by operation.
    Communication,
    /// Copies and fills by kind.
    Memory,
    /// The iterations, and what summed compute kernels leave of them.
    Estimate,
    /// The iterations on a GPU, else all of its time, taken apart by what really ran.
    Measured,
}

impl Section {
    /// All of them, in the order of the rows.
    pub const ALL: [Self; 6] =
        [Self::Total, Self::Kernel, Self::Communication, Self::Memory, Self::Estimate, Self::Measured];

    /// The word for it in results.
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

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is about.
    pub section: Section,
    /// Class, operation or part.
    pub class: String,
    /// The GPU, in the section `measured`.
    pub gpu_id: Option<i64>,
    /// Time in ns.
    pub total_ns: i64,
    /// The time as a share of a hundred; none where the whole is 0, or where it is the whole.
    pub share_pct: Option<f64>,
    /// What it is a share of.
    pub share_of: Option<&'static str>,
    /// Kernels, operations or windows.
    pub count: Option<i64>,
    /// Time per iteration and GPU in ns; none without iterations.
    pub per_iteration_ns: Option<f64>,
    /// Kernels or operations per iteration and GPU; none without iterations.
    pub count_per_iteration: Option<f64>,
}

/// All figures of a capture, and what to know before believing them.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// In the order of the sections, within one by time.
    pub rows: Vec<Row>,
    /// What is odd, in sentences.
    pub notes: Vec<String>,
}

/// The part of the iterations that is no compute.
const REST: &str = "not compute";
/// The same, by what ran on the GPUs.
const MEASURED_REST: &str = "not compute, measured";

/// Adds up a capture.
///
/// `measured` holds the windows of the iterations, and without a tag one window for each GPU. `within`
/// says that the kernels and memory operations are those that the tagged ranges launched.
pub fn summarize(
    tables: &Tables,
    class_of: &dyn Fn(&str) -> Class,
    iterations: &Iterations,
    measured: &[Measured],
    within: bool,
) -> Summary {
    let mut summary = Summarizer { iterations, rows: Vec::new(), notes: Vec::new() };
    let (mut classes, mut collectives) = (Sums::default(), Sums::default());
    let mut doubtful: Vec<(i64, String)> = Vec::new();
    for kernel in &tables.kernels {
        let class = class_of(&kernel.name);
        match &class.collective {
            Some(operation) => collectives.add(operation, kernel.total_ns, kernel.calls),
            None => classes.add(&class.name, kernel.total_ns, kernel.calls),
        }
        if !class.also.is_empty() && class.collective.is_none() {
            let others = class.also.join(", ");
            doubtful.push((
                kernel.total_ns,
                format!("`{}` is {}, and could be {others}", shortened(&kernel.name), class.name),
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
    summary.say_doubts(doubtful);
    summary.say_remainders([&classes, &collectives]);
    if iterations.windows > 0 {
        summary.estimate(classes.total_ns, measured);
    }
    summary.measured(measured);
    if iterations.windows > 0 {
        summary.compare(classes.total_ns, measured, within);
        if !within {
            summary.say_outside(tables);
        }
    }
    Summary { rows: summary.rows, notes: summary.notes }
}

/// Times and counts by name, in order of first sight.
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
        // The tables are known to add up to what an integer holds.
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

    /// The windows, what of them summed compute kernels could fill, and the rest.
    fn estimate(&mut self, compute_ns: i64, measured: &[Measured]) {
        let counted = self.iterations;
        let whole = counted.windows_on_gpus();
        let mean = counted.window_ns as f64 / counted.windows as f64;
        // By the windows that there are, whatever count was told: each line is a part of the first.
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
                "the compute kernels add up to more than the windows: some lie outside of them, or run at the same time"
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

    /// Says why the estimate is not what was measured.
    fn compare(&mut self, compute_ns: i64, measured: &[Measured], within: bool) {
        if measured.is_empty() && within {
            return;
        }
        if measured.is_empty() {
            self.notes.push(
                "the estimate takes the sum of kernel times for busy time; sums cannot tell whether kernels overlap, nor \
                 what of the rest is communication, copies or idle: give the report itself to have it measured"
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
                "compute kernels overlap one another or reach out of the windows by {}, which the sum counts and the \
                 timeline does not",
                ms(compute_ns.saturating_sub(busy))
            ));
        }
        if compute_ns < busy {
            reasons.push(format!(
                "for {} compute kernels ran in the windows that the tagged ranges did not launch",
                ms(busy.saturating_sub(compute_ns))
            ));
        }
        if window != whole {
            reasons.push(format!(
                "the windows measured on the GPUs are {} in all, those of the ranges {}",
                ms(window),
                ms(whole)
            ));
        }
        self.notes.push(format!(
            "estimated is {} without compute, measured {}: {}",
            ms(estimated),
            ms(found),
            reasons.join("; ")
        ));
    }

    /// A table of sums holds the whole capture.
    fn say_outside(&mut self, tables: &Tables) {
        let outside: i64 = tables
            .ranges
            .iter()
            .flatten()
            .filter(|range| range.name.is_none())
            .filter_map(|range| range.launches)
            .fold(0, i64::saturating_add);
        let how_many = match outside {
            0 => String::new(),
            1 => ", also of the one launch that is in no range".to_owned(),
            count => format!(", also of the {count} launches that are in no range"),
        };
        self.notes.push(format!(
            "the sums are of the whole capture{how_many}: what ran outside the tagged ranges makes the estimate too small"
        ));
    }

    fn say_doubts(&mut self, mut doubtful: Vec<(i64, String)>) {
        doubtful.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let Some((_, largest)) = doubtful.first() else { return };
        let time = doubtful.iter().fold(0i64, |sum, (ns, _)| sum.saturating_add(*ns));
        self.notes.push(format!(
            "{} kernel name{} ({}) fit rules of several classes, and the first rule decides; the largest: {largest}",
            doubtful.len(),
            if doubtful.len() == 1 { "" } else { "s" },
            ms(time)
        ));
    }

    fn say_remainders(&mut self, sums: [&Sums; 2]) {
        let odd: Vec<&str> = sums
            .iter()
            .flat_map(|sums| &sums.by_name)
            .filter(|(.., calls)| !self.iterations.divides(*calls))
            .map(|(name, ..)| name.as_str())
            .collect();
        if let (false, Some((divisor, of))) = (odd.is_empty(), self.iterations.divisor()) {
            self.notes.push(format!(
                "the iterations are not all alike, or other work is in the sums: the count is no multiple of {} for {}",
                if of == 1 { divisor.to_string() } else { format!("{divisor}/{of}") },
                odd.join(", ")
            ));
        }
    }
}

/// A kernel's name for a sentence.
fn shortened(name: &str) -> String {
    const ENOUGH: usize = 80;
    let mut short: String = name.chars().take(ENOUGH).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

/// Nanoseconds as milliseconds for a sentence.
fn ms(ns: i64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::tables::{KernelSum, MemorySum, RangeSpan};
    use super::super::{Tag, Told};
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
        let told = Told { tag: Some(&tag), ..Told::default() };
        let (counted, _) = Iterations::count(tables.ranges.as_deref(), &told).unwrap();
        summarize(&tables, &class_of, &counted, measured, within)
    }

    fn find<'s>(summary: &'s Summary, section: Section, class: &str) -> &'s Row {
        summary.rows.iter().find(|row| row.section == section && row.class == class).unwrap()
    }

    #[test]
    fn nothing_is_floored_and_shares_are_of_their_own_section() {
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
        let said = summary.notes.join("\n");
        assert!(said.contains("`both` is gemm, and could be softmax"), "{said}");
        assert!(said.contains("no multiple of 2 for gemm, others"), "{said}");
    }

    #[test]
    fn sums_of_a_whole_capture_say_so() {
        let summary = summary(&[], false);
        let window = find(&summary, Section::Estimate, "window");
        assert_eq!((window.total_ns, window.count), (8_001, Some(1)));
        assert!(
            summary.notes.iter().any(|note| note.contains("3 launches that are in no range")),
            "{:?}",
            summary.notes
        );
        assert!(summary.notes.iter().any(|note| note.contains("add up to more than the windows")));
        assert!(summary.notes.iter().any(|note| note.contains("give the report itself")));
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
        let said = summary.notes.join("\n");
        assert!(
            said.contains(
                "estimated is 0.005 ms without compute, measured 0.006 ms: compute kernels overlap"
            ),
            "{said}"
        );
    }
}
