//! The answers of one input, from a report or from CSV tables.

use super::tagged::{Tagged, no_such_tag};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) const KERNELS: &str = "cuda_gpu_kern_sum";
pub(super) const MEMORY: &str = "cuda_gpu_mem_time_sum";
pub(super) const RANGES: &str = "iteration_ranges";
pub(super) const CAPTURE: &str = "class_capture";

/// What the page is given of one input.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The answers, by query.
    pub(super) tables: BTreeMap<&'static str, ResultTable>,
    /// The name of the iterations, if there are ranges to look for it.
    pub(super) tag: Option<String>,
    /// The report, if it has NVTX ranges that can be iterations.
    pub(super) with_ranges: Option<PathBuf>,
    /// Launches outside all ranges, in CSV tables.
    outside: i64,
    pub(super) notes: Vec<String>,
}

impl Loaded {
    /// Keeps the tagged ones of all ranges.
    pub(super) fn keep_tagged(&mut self, found: Tagged, all: &ResultTable) {
        if found.ranges.rows.is_empty() {
            self.notes.push(no_such_tag(&found.tag, all));
        }
        let outside = all.iter().filter(|range| range.text("range_name").is_none());
        let launches = outside.filter_map(|range| range.int("launch_count"));
        self.outside = launches.fold(0, i64::saturating_add);
        self.tag = Some(found.tag);
        self.tables.insert(RANGES, found.ranges);
    }

    /// Adds the answer of `class_capture` for sums of a whole capture, unless the report answered it.
    pub(super) fn capture_given(&mut self, iterations: Option<i64>, gpus: Option<i64>) {
        let int = |int: Option<i64>| int.map_or(Value::Null, Value::Int);
        let has_memory = self.tables.contains_key(MEMORY);
        let cells = [
            ("tag", self.tag.clone().map_or(Value::Null, Value::Text)),
            ("given_iterations", int(iterations)),
            ("given_gpus", int(gpus)),
            ("tagged_only", Value::Int(0)),
            ("has_memory", Value::Int(i64::from(has_memory))),
            ("step_count", Value::Null),
            ("step_found", Value::Null),
            ("has_only_steps", Value::Null),
            ("outside_count", Value::Int(self.outside)),
        ];
        self.tables.entry(CAPTURE).or_insert_with(|| {
            let (names, row): (Vec<&str>, Vec<Value>) = cells.into_iter().unzip();
            let columns = names.into_iter().map(Column::untyped).collect();
            ResultTable { columns, rows: vec![row] }
        });
    }

    /// The steps of the report, and whether little else was captured; `None` if it has none.
    pub(super) fn steps(&self) -> Option<(i64, bool)> {
        let row = self.tables.get(CAPTURE)?.iter().next()?;
        Some((row.int("step_count")?, row.int("has_only_steps") == Some(1)))
    }

    /// Fails if the columns add up to more than a 64-bit integer holds (292 years), so that no later sum
    /// overflows.
    pub(super) fn check_sums(&self, title: &str) -> Result<()> {
        let fits = |tables: &[&str], column: &str| {
            let rows =
                tables.iter().filter_map(|name| self.tables.get(name)).flat_map(ResultTable::iter);
            let sum: i128 =
                rows.filter_map(|row| row.int(column)).map(|int| i128::from(int).abs()).sum();
            i64::try_from(sum).is_ok()
        };
        let sums = [KERNELS, MEMORY];
        if fits(&sums, "total_ns") && fits(&sums, "calls") && fits(&[RANGES], "dur_ns") {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_an_integer_are_refused() {
        let check = |rows: &[[i64; 2]]| {
            let columns = ["total_ns", "calls"].map(Column::untyped).to_vec();
            let rows = rows.iter().map(|row| row.map(Value::Int).to_vec()).collect();
            let tables = BTreeMap::from([(KERNELS, ResultTable { columns, rows })]);
            Loaded { tables, ..Loaded::default() }.check_sums("x")
        };
        assert!(check(&[[i64::MAX, 1]]).is_ok());
        assert!(check(&[[i64::MAX, 1], [1, 1]]).is_err());
        assert!(check(&[[1, i64::MAX], [1, 1]]).is_err());
        assert!(check(&[[i64::MIN, 1]]).is_err());
    }
}
