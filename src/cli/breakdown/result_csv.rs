//! `result.csv`: one row per operation, class and bar.

use super::profile::{Bar, NON_GPU, Row};
use super::seconds::{as_python, exact, to_tenths};
use super::{Breakdown, Total};
use crate::error::{Error, Result};
use crate::render::reads_as_formula;
use std::io;

/// The columns of gputrc2graph.
const SEED: [&str; 5] = ["Model_Engine", "Category", "Instances", "Name", "Elapsed Time (sec)"];
/// nsq's columns after them: exact integers, the device, and the class rule.
const MORE: [&str; 8] = [
    "elapsed_ns",
    "total_ns",
    "gpu_id",
    "device_id",
    "op_kind",
    "size_bytes",
    "class_rule",
    "class_also",
];

/// The lines of the file, and the number of names that a spreadsheet would run as formulas.
pub(super) struct Cells {
    lines: csv::Writer<Vec<u8>>,
    /// Put an apostrophe before these names.
    defuse: bool,
    formulas: usize,
}

impl Cells {
    pub(super) fn new(defuse: bool) -> Self {
        Self { lines: csv::Writer::from_writer(Vec::new()), defuse, formulas: 0 }
    }

    fn line<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> Result<()> {
        for cell in cells {
            let is_formula = reads_as_formula(cell);
            self.formulas += usize::from(is_formula);
            match is_formula && self.defuse {
                true => self.lines.write_field(format!("'{cell}")),
                false => self.lines.write_field(cell),
            }
            .map_err(failed)?;
        }
        self.lines.write_record(None::<&[u8]>).map_err(failed)
    }

    /// Returns the file, and the number of these names.
    pub(super) fn finish(self) -> Result<(Vec<u8>, usize)> {
        let bytes =
            self.lines.into_inner().map_err(|e| Error::Output(io::Error::other(e.to_string())))?;
        Ok((bytes, self.formulas))
    }
}

/// Writes nsq's own layout: gputrc2graph's columns first, with exact seconds, so its readers can read the file.
///
/// Each bar has its own Model_Engine. Within one Model_Engine, overlapped time counts once.
pub(super) fn write_own(breakdown: &Breakdown, writer: &mut Cells) -> Result<()> {
    writer.line(SEED.into_iter().chain(MORE))?;
    for profile in &breakdown.profiles {
        for bar in &profile.answer.bars {
            let label = profile.bar_label(bar);
            let number = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
            let (gpu, ordinal) = (number(bar.device), number(bar.ordinal));
            for row in in_order(breakdown, bar) {
                let size = row.size_bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
                let (calls, elapsed) = (row.calls.to_string(), exact(row.elapsed_ns));
                let (elapsed_ns, total_ns) = (row.elapsed_ns.to_string(), row.total_ns.to_string());
                let record = [&label, &row.class, &calls, &row.name, &elapsed, &elapsed_ns, &total_ns];
                let more = [&gpu, &ordinal, &row.kind, &size, &row.rule, &row.also];
                writer.line(record.into_iter().chain(more).map(String::as_str))?;
            }
            let rest = profile.rest_ns(bar);
            let (elapsed, ns) = (exact(rest), rest.to_string());
            let record = [label.as_str(), NON_GPU, "1", NON_GPU, &elapsed, &ns, &ns, &gpu, &ordinal];
            writer.line(record.into_iter().chain([""; 4]))?;
        }
    }
    Ok(())
}

/// Writes gputrc2graph's columns, with its arithmetic, rounding and order: by category, over all profiles.
pub(super) fn write_like_gputrc2graph(breakdown: &Breakdown, writer: &mut Cells) -> Result<()> {
    let mut rows: Vec<(String, usize, [String; 5])> = Vec::new();
    for (index, profile) in breakdown.profiles.iter().enumerate() {
        let Some(bar) = profile.answer.bars.first() else { continue };
        for row in &bar.rows {
            let elapsed = as_python(row.elapsed_ns as f64 / 1e9);
            let cells =
                [profile.label.clone(), category(row), row.calls.to_string(), row.name.clone(), elapsed];
            rows.push((category(row), index, cells));
        }
        let gpu = to_tenths(bar.busy_ns() as f64 / 1e9);
        let given = match profile.total {
            Total::Given(_) => to_tenths(profile.input.seconds),
            Total::Span | Total::None => 0.0,
        };
        let rest = as_python(given.max(gpu) - gpu);
        let non_gpu = || NON_GPU.to_owned();
        rows.push((
            non_gpu(),
            index,
            [profile.label.clone(), non_gpu(), "1".to_owned(), non_gpu(), rest],
        ));
    }
    // The sort is stable: within a category, rows keep the order of profiles and of elapsed time.
    rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    writer.line(SEED)?;
    for (_, _, cells) in &rows {
        writer.line(cells.iter().map(String::as_str))?;
    }
    Ok(())
}

/// The category in gputrc2graph: empty if no rule matches.
fn category(row: &Row) -> String {
    if row.rule.is_empty() { String::new() } else { row.class.clone() }
}

/// Sorts rows by class, in the order of all profiles, and within a class by elapsed time.
fn in_order<'b>(breakdown: &Breakdown, bar: &'b Bar) -> Vec<&'b Row> {
    let place = |row: &Row| breakdown.classes.iter().position(|class| *class == row.class);
    let mut rows: Vec<&Row> = bar.rows.iter().collect();
    rows.sort_by_key(|row| place(row));
    rows
}

fn failed(error: csv::Error) -> Error {
    Error::Output(io::Error::other(error))
}
