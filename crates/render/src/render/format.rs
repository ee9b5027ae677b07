//! The output formats, and their file extensions.

use std::path::Path;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// Aligned columns with units, for people.
    Text,
    /// Comma-separated values, raw (RFC 4180).
    Csv,
    /// Tab-separated values, raw.
    Tsv,
    /// One document: the query, its columns, and the rows as objects.
    Json,
    /// One JSON object per line, one line per row.
    #[cfg_attr(feature = "cli", value(alias = "jsonl"))]
    Ndjson,
    /// A Markdown table with units.
    #[cfg_attr(feature = "cli", value(alias = "md"))]
    Markdown,
    /// A self-contained page with units.
    Html,
    /// Parquet with zstd: typed columns for DuckDB, Polars, pandas and Spark; needs nsq-arrow.
    Parquet,
    /// An Arrow IPC file, also called Feather; needs nsq-arrow.
    Arrow,
    /// An Arrow IPC stream; needs nsq-arrow.
    Arrows,
}

impl Format {
    /// Whether values carry their unit, rather than being raw.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Text | Self::Markdown | Self::Html)
    }

    /// Whether it holds one table of typed columns, and is no text.
    pub fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow | Self::Arrows)
    }

    /// The format for a file extension.
    pub fn from_extension(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" => Self::Html,
            "parquet" => Self::Parquet,
            "arrow" | "feather" => Self::Arrow,
            "arrows" => Self::Arrows,
            _ => return None,
        })
    }
}
