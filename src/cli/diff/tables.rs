//! The comparison as tables: one for machines, and one per section for people.

use super::{Facts, words};
use crate::comparison::{Comparison, Per, Row, Section, Verdict};
use crate::table::{Column, ResultTable, Type, Unit, Value};

/// All rows with raw figures, for machines.
pub(super) fn long(comparison: &Comparison, top: Option<usize>) -> ResultTable {
    let ns = Some(Unit::Ns);
    let (count, percent) = (Some(Unit::Count), Some(Unit::Percent));
    let columns = vec![
        column("section", Type::Text, None, "gpu_time, kernels, classes, layers, nccl, memory or api."),
        column(
            "verdict",
            Type::Text,
            None,
            "Cost of a call in B against A: slower, faster, within noise, cannot tell, only in A or only in B.",
        ),
        column(
            "reason",
            Type::Text,
            None,
            "Reason for cannot tell: one call, other shapes, several names or one window; else null.",
        ),
        column("part", Type::Text, None, "Part of a GPU's window, in the section gpu_time; else null."),
        column(
            "name_a",
            Type::Text,
            None,
            "Name in A; several names that fold alike are on separate lines; null if only B has it.",
        ),
        column("name_b", Type::Text, None, "Name in B; null if only A has it."),
        column(
            "match",
            Type::Text,
            None,
            "How the names were matched: exact; numbers (they differ in numbers only); function (in template arguments or parameters only); none.",
        ),
        column("calls_a", Type::Int, count, "Calls, ranges or windows in A, over all its iterations."),
        column("calls_b", Type::Int, count, "The same in B."),
        column("total_a_ns", Type::Duration, ns, "Sum of their durations in A; overlaps count in full."),
        column("total_b_ns", Type::Duration, ns, "The same in B."),
        column("mean_a_ns", Type::Duration, ns, "total_a_ns / calls_a; null without calls."),
        column("mean_b_ns", Type::Duration, ns, "total_b_ns / calls_b; null without calls."),
        column(
            "share_a_pct",
            Type::Percent,
            percent,
            "Share of total_a_ns of the section, or of the window in gpu_time; null if rows overlap.",
        ),
        column("share_b_pct", Type::Percent, percent, "The same in B."),
        column("per", Type::Text, None, "What the next four columns refer to: report or iteration."),
        column(
            "change_ns",
            Type::Duration,
            ns,
            "Change of the total, B - A: exactly the sum of the next three columns.",
        ),
        column(
            "calls_effect_ns",
            Type::Duration,
            ns,
            "Change from more or fewer calls: (calls in B - calls in A) x mean in A, per launch shape or size; null if windows differ.",
        ),
        column(
            "cost_effect_ns",
            Type::Duration,
            ns,
            "Change from the cost of B's calls: the rest for shapes and sizes in both reports; null if windows differ.",
        ),
        column(
            "other_effect_ns",
            Type::Duration,
            ns,
            "Change from names, launch shapes and sizes in one report only; null if windows differ.",
        ),
        column(
            "cost_change_ns",
            Type::Duration,
            ns,
            "Change of the mean time per call, like with like, weighted by B's calls of each shape; null if nothing is comparable.",
        ),
        column(
            "cost_change_pct",
            Type::Percent,
            percent,
            "cost_change_ns as a share of the cost of the same calls in A.",
        ),
        column(
            "noise_ns",
            Type::Duration,
            ns,
            "Noise bound: a cost_change_ns within plus or minus this is within noise.",
        ),
        column(
            "noise_pct",
            Type::Percent,
            percent,
            "noise_ns as a share of the cost of the same calls in A.",
        ),
        column(
            "compared_pct",
            Type::Percent,
            percent,
            "Comparable share of the row's time, behind cost_change_ns: the smaller of the shares in A and B. Below 50 the verdict is cannot tell.",
        ),
    ];
    let rows = shown(comparison, top).map(|row| {
        let mean = |total: i64, calls: i64| match calls {
            0 => Value::Null,
            calls => Value::Real(total as f64 / calls as f64),
        };
        let cost =
            |of: fn(&crate::comparison::Cost) -> Option<f64>| real(row.cost.as_ref().and_then(of));
        vec![
            text(row.section.as_str()),
            text(row.verdict.as_str()),
            match row.verdict {
                Verdict::CannotTell(reason) => text(reason.as_str()),
                _ => Value::Null,
            },
            row.part.map_or(Value::Null, |part| text(part.as_str())),
            row.name_a.as_deref().map_or(Value::Null, text),
            row.name_b.as_deref().map_or(Value::Null, text),
            text(row.matched.as_str()),
            Value::Int(row.calls_a),
            Value::Int(row.calls_b),
            Value::Int(row.total_a_ns),
            Value::Int(row.total_b_ns),
            mean(row.total_a_ns, row.calls_a),
            mean(row.total_b_ns, row.calls_b),
            real(row.share_a_pct),
            real(row.share_b_pct),
            text(row.per.as_str()),
            Value::Int(row.change_ns),
            int(row.calls_effect_ns),
            int(row.cost_effect_ns),
            int(row.other_effect_ns),
            cost(|cost| Some(cost.change_ns)),
            cost(|cost| cost.change_pct),
            cost(|cost| Some(cost.noise_ns)),
            cost(|cost| cost.noise_pct),
            cost(|cost| Some(cost.compared_pct)),
        ]
    });
    ResultTable { columns, rows: rows.collect() }
}

/// A section for people.
pub(super) struct Table {
    pub(super) section: Section,
    pub(super) title: String,
    /// Names of the columns. The last column holds names; `numbers` says which of the others hold figures.
    pub(super) columns: Vec<&'static str>,
    pub(super) numbers: Vec<bool>,
    pub(super) rows: Vec<Line>,
}

/// A row for people.
pub(super) struct Line {
    pub(super) cells: Vec<String>,
    pub(super) verdict: Verdict,
    pub(super) change_ns: i64,
}

/// A table for each section that has rows.
pub(super) fn sections(comparison: &Comparison, facts: &Facts, top: Option<usize>) -> Vec<Table> {
    let mut tables = Vec::new();
    for section in Section::ALL {
        let all = comparison.rows.iter().filter(|row| row.section == section).count();
        let rows: Vec<&Row> = shown(comparison, top).filter(|row| row.section == section).collect();
        if rows.is_empty() {
            continue;
        }
        let mut title = match section {
            Section::GpuTime => title_of(section, comparison.per, facts),
            _ => format!(
                "{}: {}",
                title_of(section, comparison.per, facts),
                words::tally(comparison, section)
            ),
        };
        if rows.len() < all {
            title.push_str(&format!(" - {} of {all} shown (--top 0 shows all)", rows.len()));
        }
        tables.push(match section {
            Section::GpuTime => gpu_time(title, comparison.per, &rows),
            _ => table(section, title, &rows),
        });
    }
    tables
}

/// The rows to show: the first `top` of each section, and all rows of GPU time.
fn shown(comparison: &Comparison, top: Option<usize>) -> impl Iterator<Item = &Row> {
    let mut section = None;
    let mut place = 0;
    comparison.rows.iter().filter(move |row| {
        if section != Some(row.section) {
            (section, place) = (Some(row.section), 0);
        }
        place += 1;
        row.section == Section::GpuTime || top.is_none_or(|top| place <= top)
    })
}

fn title_of(section: Section, per: Per, facts: &Facts) -> String {
    let title = match section {
        Section::GpuTime if per == Per::Report => {
            let differ = facts.windows.is_some_and(|([a, b], _)| a != b);
            return format!(
                "GPU time{}{}",
                if facts.is_timed { " in the scope" } else { ", from first to last operation" },
                if differ { " (windows differ)" } else { "" }
            );
        }
        Section::GpuTime => "GPU time",
        Section::Kernels => "Kernels",
        Section::Classes => "Kernel classes",
        Section::Layers if facts.layers_on_cpu => "NVTX layers, CPU time",
        Section::Layers => "NVTX layers, GPU time",
        Section::Nccl => "NCCL",
        Section::Memory => "Copies and fills",
        Section::Api => "CUDA API calls",
    };
    match per {
        Per::Report => title.to_owned(),
        Per::Iteration(..) => format!("{title} per iteration"),
    }
}

fn gpu_time(title: String, per: Per, rows: &[&Row]) -> Table {
    let each = |total: i64, calls: i64| match calls {
        0 => "-".to_owned(),
        calls => words::time(total as f64 / calls as f64),
    };
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.1} %"));
    let is_judged = per != Per::Report;
    let mut columns = vec!["gpu", "part"];
    let mut numbers = vec![false, false];
    if is_judged {
        columns.push("verdict");
        numbers.push(false);
    }
    columns.extend(["a", "b", "change"]);
    numbers.extend([true; 3]);
    if is_judged {
        columns.extend(["change_pct", "noise"]);
        numbers.extend([true; 2]);
    }
    columns.extend(["share_a", "share_b"]);
    numbers.extend([true; 2]);
    let lines = rows.iter().map(|row| {
        let mut cells = vec![words::names(row), row.part.map_or("", |part| part.as_str()).to_owned()];
        if is_judged {
            cells.push(words::verdict(row));
        }
        let whole = |total: i64, calls: i64| {
            if is_judged { each(total, calls) } else { each(total, calls.min(1)) }
        };
        cells.extend([
            whole(row.total_a_ns, row.calls_a),
            whole(row.total_b_ns, row.calls_b),
            words::signed(row.change_ns as f64),
        ]);
        if is_judged {
            let [change, noise, _] = words::cost(row.cost);
            cells.extend([change, noise]);
        }
        cells.extend([share(row.share_a_pct), share(row.share_b_pct)]);
        Line { cells, verdict: row.verdict, change_ns: row.change_ns }
    });
    Table { section: Section::GpuTime, title, columns, numbers, rows: lines.collect() }
}

fn table(section: Section, title: String, rows: &[&Row]) -> Table {
    let has_other = rows.iter().any(|row| row.other_effect_ns.is_some_and(|ns| ns != 0));
    let mut columns = vec!["verdict", "change", "by_calls", "by_cost"];
    columns.extend(has_other.then_some("by_other"));
    columns.extend(["cost_of_a_call", "noise"]);
    let is_partial = rows.iter().any(|row| row.cost.is_some_and(|cost| cost.compared_pct < 99.5));
    columns.extend(is_partial.then_some("judged"));
    columns.extend(["calls", "mean", words::noun(section)]);
    let numbers = (0..columns.len()).map(|place| place != 0 && place + 1 != columns.len()).collect();
    let lines = rows.iter().map(|row| {
        let effect = |ns: Option<i64>| match ns {
            None | Some(0) => String::new(),
            Some(ns) => words::signed(ns as f64),
        };
        let calls = |calls: i64, of: i64| match calls % of {
            0 => (calls / of).to_string(),
            _ => format!("{:.2}", calls as f64 / of as f64),
        };
        let (of_a, of_b) = match row.per {
            Per::Report => (1, 1),
            Per::Iteration(a, b) => (a.max(1), b.max(1)),
        };
        let mut cells = vec![
            words::verdict(row),
            words::signed(row.change_ns as f64),
            effect(row.calls_effect_ns),
            effect(row.cost_effect_ns),
        ];
        if has_other {
            cells.push(effect(row.other_effect_ns));
        }
        let [change, noise, judged] = words::cost(row.cost);
        cells.extend([change, noise]);
        cells.extend(is_partial.then_some(judged));
        cells.extend([
            format!("{} → {}", calls(row.calls_a, of_a), calls(row.calls_b, of_b)),
            words::times(row),
            words::names(row),
        ]);
        Line { cells, verdict: row.verdict, change_ns: row.change_ns }
    });
    Table { section, title, columns, numbers, rows: lines.collect() }
}

impl Table {
    /// As a table of text, whose figures are aligned like numbers.
    pub(super) fn as_result(&self) -> ResultTable {
        let columns = self.columns.iter().enumerate().map(|(place, name)| {
            let is_name = place + 1 == self.columns.len() && self.section != Section::GpuTime;
            let (label, priority) = if is_name { (*name, 0) } else { header_of(name) };
            Column {
                kind: if self.numbers[place] { Type::Real } else { Type::Text },
                label: Some(label.to_owned()),
                priority,
                ..Column::untyped(name)
            }
        });
        let rows = self.rows.iter().map(|row| row.cells.iter().cloned().map(Value::Text).collect());
        ResultTable { columns: columns.collect(), rows: rows.collect() }
    }
}

/// Header and priority of a column for people.
fn header_of(name: &str) -> (&str, u8) {
    match name {
        "gpu" => ("GPU", 0),
        "part" => ("part", 0),
        "a" => ("A", 1),
        "b" => ("B", 1),
        "by_calls" => ("by calls", 2),
        "by_cost" => ("by cost", 2),
        "by_other" => ("by other", 2),
        "cost_of_a_call" => ("cost per call", 1),
        "change_pct" => ("relative change", 1),
        "noise" => ("noise bound", 2),
        "judged" => ("comparable share of time", 2),
        "share_a" => ("share of window in A", 2),
        "share_b" => ("share of window in B", 2),
        "mean" => ("mean per call", 3),
        "calls" => ("calls", 3),
        other => (other, 1),
    }
}

fn column(name: &str, kind: Type, unit: Option<Unit>, doc: &str) -> Column {
    Column { kind, unit, doc: doc.to_owned(), ..Column::untyped(name) }
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn int(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Int)
}

fn real(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::Real)
}
