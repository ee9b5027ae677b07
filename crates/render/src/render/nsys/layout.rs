//! The formats, their arguments, and the texts around a table.

use std::fmt;

/// An output format of `nsys stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NsysFormat {
    /// Aligned columns with a dashed header line.
    Column,
    /// A table with a frame.
    Table,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// An array of objects.
    Json,
    /// An HTML page.
    Hdoc,
    /// An HTML table without a page.
    Htable,
}

impl NsysFormat {
    /// The formats with their names in `nsys stats --format`.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("column", Self::Column),
        ("table", Self::Table),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("json", Self::Json),
        ("hdoc", Self::Hdoc),
        ("htable", Self::Htable),
    ];

    /// Extension of output files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Column | Self::Table => "txt",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Hdoc | Self::Htable => "html",
        }
    }
}

/// How a report is laid out: a format, and the arguments after its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NsysStyle {
    /// The format.
    pub format: NsysFormat,
    /// Omit the names of the columns.
    pub no_header: bool,
    /// Number of rows that decide how wide columns are; 0: all.
    pub scanned_rows: usize,
    /// Widest column whose width the rows decide; 0: unlimited.
    pub widest: usize,
    /// Widths of the first columns.
    pub widths: Vec<Width>,
    /// In TSV, write a tab as `\t` instead of a space.
    pub escape_tabs: bool,
    /// Title of an HTML page.
    pub page_title: String,
    /// Address of a style sheet for an HTML page.
    pub style_sheet: Option<String>,
}

impl NsysStyle {
    /// The style of a format without arguments.
    pub fn of(format: NsysFormat) -> Self {
        Self {
            format,
            no_header: false,
            scanned_rows: 100,
            widest: 100,
            widths: Vec::new(),
            escape_tabs: false,
            page_title: "Nsight Systems Stats Output".to_owned(),
            style_sheet: None,
        }
    }

    /// Whether it is text for people, with a title.
    pub fn is_drawn(&self) -> bool {
        matches!(self.format, NsysFormat::Column | NsysFormat::Table)
    }
}

/// Width of a column in `column` and `table`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As wide as its header and the scanned rows need.
    Auto,
    /// This many characters; 0 hides the column.
    Fixed(usize),
}

/// The texts around a table in `column` and `table`, each with its final newline.
#[derive(Default)]
pub struct Prose {
    /// Stands over the rows.
    pub before: String,
    /// Stands under this number of rows.
    pub after: Option<Box<dyn Fn(usize) -> String + Sync>>,
    /// Stands in place of rows if there are none.
    pub instead: String,
}

impl fmt::Debug for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prose")
            .field("before", &self.before)
            .field("instead", &self.instead)
            .finish_non_exhaustive()
    }
}
