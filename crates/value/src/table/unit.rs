//! Units, and human-readable numbers with units.

use serde::{Deserialize, Serialize};

/// The unit of a column's raw values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// Percent.
    Percent,
    /// A count without a unit.
    Count,
    /// Cycles per second.
    Hz,
}

impl Unit {
    /// The name in front matter and machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Bytes => "bytes",
            Self::BytesPerS => "bytes_per_s",
            Self::Percent => "percent",
            Self::Count => "count",
            Self::Hz => "hz",
        }
    }

    /// The suffix of column names with this unit.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Ns => "_ns",
            Self::Bytes => "_bytes",
            Self::BytesPerS => "_bytes_per_s",
            Self::Percent => "_pct",
            Self::Hz => "_hz",
            Self::Count => "",
        }
    }
}
