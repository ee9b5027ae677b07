//! The columns to print: the query's own, or those of NVIDIA's report.

use crate::catalog::{NsysColumn, NsysUnit, Query};
use crate::error::{Error, Result};
use crate::schema::quote;
use crate::table::{Column, Type};

/// The columns to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Layout {
    /// The query's own columns, such as `total_ns`: documented, with exact values.
    #[default]
    Own,
    /// NVIDIA's headers, arithmetic and rounding.
    Nsys(TimeUnit),
}

/// Unit of time in NVIDIA's layout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[default]
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    fn suffix(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "sec",
        }
    }

    fn decimals(self) -> usize {
        match self {
            Self::Ns => 1,
            Self::Us => 3,
            Self::Ms | Self::S => 4,
        }
    }

    /// nsys multiplies by this factor. A division would sometimes round the last digit differently.
    fn factor(self) -> &'static str {
        match self {
            Self::Ns => "1",
            Self::Us => "1e-3",
            Self::Ms => "1e-6",
            Self::S => "1e-9",
        }
    }
}

/// Wraps the query's statement in a SELECT of NVIDIA's columns.
pub(super) fn nsys(query: &Query, unit: TimeUnit) -> Result<(String, Vec<Column>)> {
    let Some(report) = &query.header.nsys else {
        return Err(Error::usage(
            format!("{} has no NVIDIA layout: nsys has no equivalent report", query.header.name),
            "omit `--columns nsys` for this query",
        ));
    };
    let mut fields = Vec::with_capacity(report.columns.len());
    let mut columns = Vec::with_capacity(report.columns.len());
    for spec in &report.columns {
        let (sql, column) = field(query, spec, unit);
        fields.push(format!("  {sql} AS {}", quote(&column.name)));
        columns.push(column);
    }
    let sql = format!("SELECT\n{}\nFROM (\n{}\n)", fields.join(",\n"), query.sql);
    Ok((sql, columns))
}

/// Rounds to one decimal, as NVIDIA's reports do. Their SQLite (3.42) rounds a tie such as 3261.85 up,
/// even though the nearest double is below it. The factor reproduces this tolerance.
fn rounded(sql: &str) -> String {
    format!("round(({sql}) * (1 + 3e-16), 1)")
}

fn field(query: &Query, spec: &NsysColumn, unit: TimeUnit) -> (String, Column) {
    let mut column = Column::untyped(&spec.name);
    let own = query.header.columns.iter().find(|own| own.name == spec.sql);
    column.kind = own.map_or(Type::Any, |own| own.kind);
    let sql = &spec.sql;
    let sql = match spec.unit {
        None => sql.clone(),
        Some(NsysUnit::Ns) => {
            column.name = format!("{} ({})", spec.name, unit.suffix());
            column.kind = Type::Duration;
            column.decimals = Some(unit.decimals());
            // nsys rounds before it converts. The other order would change the last digit.
            let ns = format!("CASE typeof({sql}) WHEN 'real' THEN {} ELSE {sql} END", rounded(sql));
            match unit {
                TimeUnit::Ns => ns,
                unit => format!("({ns}) * {}", unit.factor()),
            }
        }
        Some(NsysUnit::Percent) => {
            column.name = format!("{} (%)", spec.name);
            column.kind = Type::Percent;
            column.decimals = Some(1);
            rounded(sql)
        }
        Some(NsysUnit::Mb) => {
            column.name = format!("{} (MB)", spec.name);
            column.kind = Type::Bytes;
            column.decimals = Some(3);
            format!("({sql}) / 1e6")
        }
        Some(NsysUnit::MbPerS) => {
            column.name = format!("{} (MB/s)", spec.name);
            column.kind = Type::Real;
            column.decimals = Some(3);
            format!("({sql}) / 1e6")
        }
        Some(NsysUnit::Address) => {
            column.kind = Type::Id;
            format!("CASE WHEN ({sql}) IS NOT NULL THEN printf('0x%X', {sql}) END")
        }
    };
    (sql, column)
}
