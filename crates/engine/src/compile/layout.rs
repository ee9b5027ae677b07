//! The columns to print: the query's own, or those of NVIDIA's report.

use nsq_library::catalog::{NsysColumn, NsysUnit, Query};
use nsq_report::schema::quote;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, Type};

/// The columns to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Layout {
    /// The query's own columns, such as `total_ns`: documented, with exact values.
    #[default]
    Own,
    /// NVIDIA's headers, arithmetic and rounding.
    Nsys(NsysUnits),
}

/// The units of NVIDIA's layout. nsys chooses them by what a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NsysUnits {
    /// Unit of points in time.
    pub timestamp: TimeUnit,
    /// Unit of lengths of time.
    pub duration: TimeUnit,
    /// Unit of sizes.
    pub memory: ByteUnit,
    /// Unit of sizes per second.
    pub throughput: ByteUnit,
    /// Whether headers tell the unit.
    pub in_headers: bool,
}

impl Default for NsysUnits {
    fn default() -> Self {
        Self {
            timestamp: TimeUnit::Ns,
            duration: TimeUnit::Ns,
            memory: ByteUnit::Mb,
            throughput: ByteUnit::Mb,
            in_headers: true,
        }
    }
}

/// A unit of time.
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

/// A unit of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteUnit {
    /// Bytes, as exact as the report has them.
    B,
    /// 1000 bytes.
    Kb,
    /// 1024 bytes.
    Kib,
    /// 1000² bytes.
    Mb,
    /// 1024² bytes.
    Mib,
    /// 1000³ bytes.
    Gb,
    /// 1024³ bytes.
    Gib,
}

impl ByteUnit {
    /// Name, divisor and decimal places.
    fn spec(self) -> (&'static str, &'static str, Option<usize>) {
        match self {
            Self::B => ("B", "1", None),
            Self::Kb => ("KB", "1e3", Some(2)),
            Self::Kib => ("KiB", "1024.0", Some(2)),
            Self::Mb => ("MB", "1e6", Some(3)),
            Self::Mib => ("MiB", "1048576.0", Some(3)),
            Self::Gb => ("GB", "1e9", Some(3)),
            Self::Gib => ("GiB", "1073741824.0", Some(3)),
        }
    }
}

/// Wraps the query's statement in a SELECT of NVIDIA's columns.
pub(super) fn nsys(query: &Query, units: &NsysUnits) -> Result<(String, Vec<Column>)> {
    let Some(report) = &query.header.nsys else {
        return Err(Error::usage(
            format!("{} has no NVIDIA layout: nsys has no equivalent report", query.header.name),
            "omit `--columns nsys` for this query",
        ));
    };
    let mut fields = Vec::with_capacity(report.columns.len());
    let mut columns = Vec::with_capacity(report.columns.len());
    for spec in &report.columns {
        let (sql, column) = field(query, spec, units);
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

fn field(query: &Query, spec: &NsysColumn, units: &NsysUnits) -> (String, Column) {
    let mut column = Column::untyped(&spec.name);
    let own = query.header.columns.iter().find(|own| own.name == spec.sql);
    column.kind = own.map_or(Type::Any, |own| own.kind);
    let headed = |unit: &str| match units.in_headers {
        true => format!("{} ({unit})", spec.name),
        false => spec.name.clone(),
    };
    let sql = &spec.sql;
    let sized = |column: &mut Column, unit: ByteUnit, per: &str| {
        let (name, divisor, decimals) = unit.spec();
        column.name = headed(&format!("{name}{per}"));
        column.decimals = decimals;
        match unit {
            ByteUnit::B => sql.clone(),
            _ => format!("({sql}) / {divisor}"),
        }
    };
    let sql = match spec.unit {
        None => sql.clone(),
        Some(NsysUnit::Ns | NsysUnit::Ts) => {
            let is_point = column.kind == Type::Timestamp || spec.unit == Some(NsysUnit::Ts);
            let unit = if is_point { units.timestamp } else { units.duration };
            column.name = headed(unit.suffix());
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
            column.name = headed("%");
            column.kind = Type::Percent;
            column.decimals = Some(1);
            rounded(sql)
        }
        Some(NsysUnit::Mb) => {
            column.kind = Type::Bytes;
            sized(&mut column, units.memory, "")
        }
        Some(NsysUnit::MbPerS) => {
            column.kind = Type::Real;
            sized(&mut column, units.throughput, "/s")
        }
        Some(NsysUnit::Address) => {
            column.kind = Type::Id;
            format!("CASE WHEN ({sql}) IS NOT NULL THEN printf('0x%X', {sql}) END")
        }
    };
    (sql, column)
}
