//! The figures as tables: one for machines, and one per section for people.

use super::Answer;
use crate::class_summary::{Row, Section};
use crate::cli::opened::nsq_heading;
use crate::cli::output::OutputArgs;
use crate::error::Result;
use crate::render::{Format, Heading};
use crate::table::{Column, ResultTable, Type, Unit, Value};
use serde_json::json;

/// Writes the answers in the chosen format.
pub(super) fn write(output: &OutputArgs, answers: &[Answer]) -> Result<()> {
    let heading = Heading { title: String::new(), facts: facts(answers) };
    if !matches!(output.format()?, Format::Text | Format::Markdown | Format::Html) {
        return output.table(&heading, &long(answers));
    }
    let mut tables: Vec<(String, ResultTable)> = answers.iter().flat_map(sections).collect();
    tables.extend(side_by_side(answers));
    output.write(tables.len(), |writer| {
        for (title, table) in &tables {
            let heading = Heading { title: title.clone(), facts: heading.facts.clone() };
            writer.result(&heading, |sink| table.replay(sink))?;
        }
        Ok(())
    })
}

/// The facts beside the rows in JSON.
fn facts(answers: &[Answer]) -> serde_json::Map<String, serde_json::Value> {
    let mut facts = nsq_heading().facts;
    let inputs: Vec<serde_json::Value> = answers
        .iter()
        .map(|answer| {
            let counted = &answer.iterations;
            let iterations = counted.iterations.map(|(count, of)| count as f64 / of as f64);
            json!({
                "input": answer.title,
                "classes": answer.classes,
                "iter_tag": answer.tag,
                "iterations": iterations,
                "windows": counted.windows,
                "processes": counted.processes,
                "gpus": counted.gpus,
                "notes": answer.notes,
            })
        })
        .collect();
    facts.insert("inputs".to_owned(), inputs.into());
    facts
}

fn column(name: &str, kind: Type, unit: Option<Unit>, doc: &str) -> Column {
    Column { kind, unit, doc: doc.to_owned(), ..Column::untyped(name) }
}

fn share_columns() -> [Column; 2] {
    let share = column(
        "share_pct",
        Type::Percent,
        Some(Unit::Percent),
        "Share of total_ns in the whole that share_of names; null for a whole itself.",
    );
    let whole = column("share_of", Type::Text, None, "The whole that share_pct is a share of.");
    [labelled(share, "share", 1), labelled(whole, "of", 2)]
}

/// A column with its header and priority in tables for people.
fn labelled(column: Column, label: &str, priority: u8) -> Column {
    Column { label: Some(label.to_owned()), priority, ..column }
}

fn total_column() -> Column {
    column(
        "total_ns",
        Type::Duration,
        Some(Unit::Ns),
        "Sum of durations; in the section measured, overlapped time counts once.",
    )
}

fn count_column() -> Column {
    column("count", Type::Int, Some(Unit::Count), "Number of kernels, operations or windows.")
}

fn per_iteration_columns() -> [Column; 2] {
    [
        column(
            "per_iteration_ns",
            Type::Duration,
            Some(Unit::Ns),
            "Time per iteration and GPU; null if the iteration count is not detected.",
        ),
        column(
            "count_per_iteration",
            Type::Real,
            Some(Unit::Count),
            "Kernels or operations per iteration and GPU; null if the iteration count is not detected.",
        ),
    ]
}

fn int(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Int)
}

fn real(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::Real)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// All figures of all inputs, for machines.
fn long(answers: &[Answer]) -> ResultTable {
    let [share, share_of] = share_columns();
    let [per_iteration, count_per_iteration] = per_iteration_columns();
    let columns = vec![
        column("input", Type::Text, None, "Heading of the input."),
        column(
            "section",
            Type::Text,
            None,
            "Section of the row: total, kernel, communication, memory, estimate or measured.",
        ),
        column("class", Type::Text, None, "Class of kernels, operation, or part of the iterations."),
        column(
            "gpu_id",
            Type::Id,
            None,
            "GPU number on its machine; null except in the section measured.",
        ),
        total_column(),
        share,
        share_of,
        count_column(),
        per_iteration,
        count_per_iteration,
    ];
    let rows = answers.iter().flat_map(|answer| {
        answer.summary.rows.iter().map(|row| {
            vec![
                text(&answer.title),
                text(row.section.as_str()),
                text(&row.class),
                int(row.gpu_id),
                Value::Int(row.total_ns),
                real(row.share_pct),
                row.share_of.map_or(Value::Null, text),
                int(row.count),
                real(row.per_iteration_ns),
                real(row.count_per_iteration),
            ]
        })
    });
    ResultTable { columns, rows: rows.collect() }
}

/// The figures of one input, with a table per section that has rows.
fn sections(answer: &Answer) -> Vec<(String, ResultTable)> {
    let mut tables = Vec::new();
    for section in Section::ALL {
        let rows: Vec<&Row> = answer.summary.rows.iter().filter(|row| row.section == section).collect();
        if !rows.is_empty() {
            tables.push((title_of(answer, section), section_table(section, &rows)));
        }
    }
    tables
}

fn title_of(answer: &Answer, section: Section) -> String {
    match section {
        Section::Total => format!("{}: {}", answer.title, iterations_of(answer)),
        Section::Kernel => format!("Compute kernels by class (map: {})", answer.classes),
        Section::Communication => "Communication by operation".to_owned(),
        Section::Memory => "Memory operations".to_owned(),
        Section::Estimate => {
            "Iterations: compute kernels, summed, and the rest (an estimate)".to_owned()
        }
        Section::Measured if answer.iterations.windows > 0 => {
            "Iterations: measured on each GPU".to_owned()
        }
        Section::Measured => "Measured on each GPU, from its first to its last operation".to_owned(),
    }
}

/// The iterations in words: ``5 iterations of `step` on 2 GPUs in 2 processes``.
fn iterations_of(answer: &Answer) -> String {
    let counted = &answer.iterations;
    let many = |count: i64, what: &str, more: &str| {
        format!("{count} {what}{}", if count == 1 { "" } else { more })
    };
    let mut text = match counted.iterations {
        None => "GPU time, iteration count not detected".to_owned(),
        Some((count, of)) if count % of == 0 => many(count / of, "iteration", "s"),
        Some((count, of)) => format!("{:.2} iterations", count as f64 / of as f64),
    };
    if let Some(tag) = answer.tag.as_ref().filter(|_| counted.windows > 0) {
        text.push_str(&format!(" of `{tag}`"));
    }
    text.push_str(&format!(" on {}", many(counted.gpus, "GPU", "s")));
    if counted.processes > 1 {
        text.push_str(&format!(" in {}", many(counted.processes, "process", "es")));
    }
    text
}

fn section_table(section: Section, rows: &[&Row]) -> ResultTable {
    let name = match section {
        Section::Total => "activity",
        Section::Kernel => "class",
        Section::Communication | Section::Memory => "operation",
        Section::Estimate | Section::Measured => "part",
    };
    let has_device = rows.iter().any(|row| row.gpu_id.is_some());
    let has_iterations = rows.iter().any(|row| row.per_iteration_ns.is_some());
    let has_counts = rows.iter().any(|row| row.count_per_iteration.is_some());
    let mut columns = Vec::new();
    if has_device {
        let gpu = column("gpu_id", Type::Id, None, "GPU number on its machine.");
        columns.push(labelled(gpu, "GPU", 0));
    }
    columns.push(labelled(column(name, Type::Text, None, ""), name, 0));
    let [per_iteration, count_per_iteration] = per_iteration_columns();
    columns.extend(has_iterations.then_some(per_iteration));
    columns.extend(share_columns());
    columns.push(total_column());
    let counted = if has_counts || !has_iterations { "count" } else { "windows" };
    columns.push(labelled(Column { name: counted.to_owned(), ..count_column() }, counted, 2));
    columns.extend(has_counts.then(|| labelled(count_per_iteration, "count per iteration", 3)));
    let cells = |row: &&Row| {
        let mut cells = Vec::new();
        if has_device {
            cells.push(int(row.gpu_id));
        }
        cells.push(text(&row.class));
        if has_iterations {
            cells.push(real(row.per_iteration_ns));
        }
        cells.push(real(row.share_pct));
        cells.push(row.share_of.map_or(Value::Null, text));
        cells.push(Value::Int(row.total_ns));
        cells.push(int(row.count));
        if has_counts {
            cells.push(real(row.count_per_iteration));
        }
        cells
    };
    ResultTable { columns, rows: rows.iter().map(cells).collect() }
}

/// Several inputs side by side: time per iteration if all inputs have iterations, else total time.
fn side_by_side(answers: &[Answer]) -> Option<(String, ResultTable)> {
    if answers.len() < 2 {
        return None;
    }
    let per_iteration = answers.iter().all(|answer| answer.iterations.divisor().is_some());
    let mut names: Vec<(Section, &str)> = Vec::new();
    for row in answers.iter().flat_map(|answer| &answer.summary.rows) {
        let is_compared = row.section != Section::Measured;
        if is_compared && !names.contains(&(row.section, &row.class)) {
            names.push((row.section, &row.class));
        }
    }
    names.sort_by_key(|&(section, _)| section);
    let mut columns =
        ["section", "class"].map(|name| labelled(column(name, Type::Text, None, ""), name, 0)).to_vec();
    columns.extend(answers.iter().map(|answer| {
        labelled(column(&answer.title, Type::Duration, Some(Unit::Ns), ""), &answer.title, 1)
    }));
    let rows = names.into_iter().map(|(section, class)| {
        let mut cells = vec![text(section.as_str()), text(class)];
        cells.extend(answers.iter().map(|answer| {
            let row =
                answer.summary.rows.iter().find(|row| row.section == section && row.class == class);
            match row {
                Some(row) if per_iteration => real(row.per_iteration_ns),
                Some(row) => Value::Int(row.total_ns),
                None => Value::Null,
            }
        }));
        cells
    });
    let title = if per_iteration {
        "Side by side: time per iteration and GPU"
    } else {
        "Side by side: total time"
    };
    Some((title.to_owned(), ResultTable { columns, rows: rows.collect() }))
}
