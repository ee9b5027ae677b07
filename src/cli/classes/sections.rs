//! The figures as tables: one for machines, and one per section for people.

use super::inputs::Input;
use crate::cli::output::OutputArgs;
use nsq_render::render::{Format, Heading};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Row, Type, Unit, Value};
use serde_json::json;

/// An input that was read.
pub(super) struct Answered<'i> {
    pub(super) input: &'i Input,
    pub(super) tag: Option<String>,
    pub(super) notes: Vec<String>,
}

/// Name, heading of the classes, and title of each section of `class_figures`.
const SECTIONS: [(&str, &str, &str); 6] = [
    ("total", "activity", ""),
    ("kernel", "class", "Compute kernels by class"),
    ("communication", "operation", "Communication by operation"),
    ("memory", "operation", "Memory operations"),
    ("estimate", "part", "Iterations: compute kernels, summed, and the rest (an estimate)"),
    ("measured", "part", "Iterations: measured on each GPU"),
];

/// Writes the tables of the page in the chosen format.
pub(super) fn write<'t>(
    output: &OutputArgs,
    map: &str,
    inputs: &[Answered<'_>],
    table: &dyn Fn(&str) -> Option<&'t ResultTable>,
) -> Result<()> {
    let lacks = || Error::usage("the page classes lacks a table", "leave out --queries and NSQ_PATH");
    let figures = table("figures").ok_or_else(lacks)?;
    let iterations = table("iterations").ok_or_else(lacks)?;
    if iterations.iter().any(|row| row.int("divisor").is_none() && row.real("iterations").is_some()) {
        return Err(Error::usage(
            "iterations times GPUs is more than 64 bits hold",
            "check the numbers of iterations and GPUs",
        ));
    }
    let mut heading = Heading::of_nsq();
    let about = iterations.iter().zip(inputs).map(|(row, answered)| {
        json!({
            "input": answered.input.title,
            "classes": map,
            "iter_tag": answered.tag,
            "iterations": row.real("iterations"),
            "windows": row.int("window_count"),
            "processes": row.int("process_count"),
            "gpus": row.int("gpu_count"),
            "notes": answered.notes,
        })
    });
    heading.facts.insert("inputs".to_owned(), about.collect::<Vec<_>>().into());
    if !matches!(output.format()?, Format::Text | Format::Markdown | Format::Html) {
        return output.table(&heading, &without_side(figures));
    }
    let mut tables = Vec::new();
    for (side, about) in iterations.iter().enumerate() {
        for (section, name, title) in SECTIONS {
            let rows = in_section(figures, side, section);
            if !rows.rows.is_empty() {
                let title = match section {
                    "total" => format!(
                        "{}: {}",
                        about.text("report").unwrap_or_default(),
                        about.text("heading").unwrap_or_default()
                    ),
                    "kernel" => format!("{title} (map: {map})"),
                    "measured" if about.int("window_count") == Some(0) => {
                        "Measured on each GPU, from its first to its last operation".to_owned()
                    }
                    _ => title.to_owned(),
                };
                tables.push((title, section_table(&rows, name)));
            }
        }
    }
    tables.extend(table("compared").filter(|_| inputs.len() > 1).map(|cells| pivot(cells, inputs)));
    output.write(tables.len(), |writer| {
        for (title, table) in &tables {
            let heading = Heading { title: title.clone(), ..heading.clone() };
            writer.result(&heading, |sink| table.replay(sink))?;
        }
        Ok(())
    })
}

/// The rows without their last column, which counts the inputs.
fn without_side(figures: &ResultTable) -> ResultTable {
    let kept = figures.columns.len().saturating_sub(1);
    let rows = figures.rows.iter().map(|row| row.iter().take(kept).cloned().collect());
    ResultTable { columns: figures.columns[..kept].to_vec(), rows: rows.collect() }
}

fn in_section(figures: &ResultTable, side: usize, section: &str) -> ResultTable {
    let is_in = |row: &Row<'_>| {
        row.int("side") == i64::try_from(side).ok() && row.text("section") == Some(section)
    };
    let rows = figures.iter().zip(&figures.rows).filter(|(row, _)| is_in(row));
    ResultTable { columns: figures.columns.clone(), rows: rows.map(|(_, row)| row.clone()).collect() }
}

/// The rows of a section, without columns that say nothing there. `name`: what its classes are.
fn section_table(rows: &ResultTable, name: &str) -> ResultTable {
    let has = |column: &str| rows.iter().any(|row| !matches!(row.get(column), Some(Value::Null)));
    let has_counts = has("count_per_iteration") || !has("per_iteration_ns");
    let shown = [
        ("gpu_id", "gpu_id", 0),
        ("class", name, 0),
        ("per_iteration_ns", "per_iteration_ns", 2),
        ("share_pct", "share_pct", 1),
        ("share_of", "share_of", 2),
        ("total_ns", "total_ns", 2),
        ("count", if has_counts { "count" } else { "windows" }, 2),
        ("count_per_iteration", "count_per_iteration", 3),
    ];
    let mut table = ResultTable { columns: Vec::new(), rows: vec![Vec::new(); rows.rows.len()] };
    for (column, name, priority) in shown {
        let is_optional = matches!(column, "gpu_id" | "per_iteration_ns" | "count_per_iteration");
        let Some(place) = rows.columns.iter().position(|own| own.name == column) else { continue };
        if is_optional && !has(column) {
            continue;
        }
        let doc = match column {
            "class" => "",
            "gpu_id" => "GPU number on its machine.",
            _ => &rows.columns[place].doc,
        };
        let column = Column {
            name: name.to_owned(),
            priority,
            doc: doc.to_owned(),
            ..rows.columns[place].clone()
        };
        table.columns.push(column);
        for (shown, row) in table.rows.iter_mut().zip(&rows.rows) {
            shown.push(row[place].clone());
        }
    }
    table
}

/// Several inputs side by side: a column for each.
fn pivot(cells: &ResultTable, inputs: &[Answered<'_>]) -> (String, ResultTable) {
    let text = |name: &str| Column { kind: Type::Text, priority: 0, ..Column::untyped(name) };
    let time = |input: &Answered<'_>| Column {
        kind: Type::Duration,
        unit: Some(Unit::Ns),
        label: Some(input.input.title.clone()),
        priority: 1,
        ..Column::untyped(&input.input.title)
    };
    let columns = ["section", "class"].map(text).into_iter().chain(inputs.iter().map(time)).collect();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for cell in cells.iter() {
        let value = |column: &str| cell.get(column).cloned().unwrap_or(Value::Null);
        if cell.int("side") == Some(0) {
            rows.push(vec![value("section"), value("class")]);
        }
        rows.last_mut().into_iter().for_each(|row| row.push(value("value_ns")));
    }
    let is_per_iteration = cells.iter().any(|cell| cell.int("is_per_iteration") == Some(1));
    let title = match is_per_iteration {
        true => "Side by side: time per iteration and GPU",
        false => "Side by side: total time",
    };
    (title.to_owned(), ResultTable { columns, rows })
}
