//! Where a result is written, and in which format and style.

use super::note;
use super::progress::Unobstructed;
use nsq_files::whole_file::{self, standard_output};
pub(super) use nsq_files::whole_file::{must_differ, replace};
use nsq_render::render::{self, Format, Heading, Style, Writer, printed_width, wrapped};
use nsq_value::error::{Error, Result};
use nsq_value::shell;
use nsq_value::table::ResultTable;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Rows that text shows by default.
const DEFAULT_ROWS: usize = 100;

/// What to write instead of a file of another program.
fn instead_of(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let other = |ending: &str| path.with_extension(ending).display().to_string();
    match ending.as_str() {
        "xlsx" | "xls" | "ods" => format!("a spreadsheet opens CSV: -o {}", other("csv")),
        "docx" | "doc" | "odt" | "rtf" => format!("a word processor opens HTML: -o {}", other("html")),
        "png" | "jpg" | "jpeg" | "gif" | "svg" | "pdf" => {
            format!(
                "a browser opens HTML, and can print it or copy a part as a picture: -o {}",
                other("html")
            )
        }
        "pftrace" | "perfetto-trace" => {
            "a trace for Perfetto: nsq export REPORT --perfetto -o FILE".to_owned()
        }
        "duckdb" | "db" | "sqlite" => {
            "tables for SQLite and DuckDB: nsq materialize REPORT -o FILE.sqlite".to_owned()
        }
        "junit" | "xml" => "for a CI system: nsq diff A B --gate 5 --junit FILE.xml".to_owned(),
        _ => "add --format text, csv, tsv, json, ndjson, markdown, html, parquet, arrow or arrows"
            .to_owned(),
    }
}

/// A warning: a spreadsheet could run names from an untrusted report.
pub(super) const FORMULAS: &str = "some names begin with =, +, - or @, which a spreadsheet would run as formulas: \
                        use --spreadsheet to escape them";

/// When output is painted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always, as for a pager.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn is_on(self, on_terminal: bool) -> bool {
        match self {
            Self::Auto => {
                on_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Options of every verb that prints rows.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Output format [default: by the extension of the output file, else text]
    #[arg(short, long, value_enum)]
    pub(super) format: Option<Format>,
    /// Write to this file instead of standard output; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Show at most N rows in text, markdown and html; 0 shows all [default: 100 in text, else all]
    #[arg(long, value_name = "N")]
    pub(super) rows: Option<usize>,
    /// Print plain numbers without units in every format.
    #[arg(hide_short_help = true, long)]
    pub(super) raw: bool,
    /// Show all columns and whole names, however wide the table gets; in a pipe, names have at most 60 characters.
    #[arg(hide_short_help = true, long)]
    pub(super) wide: bool,
    /// When to use colours and bold [default: auto, on a terminal unless NO_COLOR is set]
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        default_value_t,
        hide_default_value = true,
        value_name = "WHEN"
    )]
    pub(super) color: Color,
    /// Omit the line of column names.
    #[arg(hide_short_help = true, long)]
    pub(super) no_header: bool,
    /// In csv and tsv, put an apostrophe before names that a spreadsheet would run as formulas.
    #[arg(hide_short_help = true, long)]
    pub(super) spreadsheet: bool,
}

impl OutputArgs {
    /// The format: `--format`, else by the extension of `--output`, else text.
    pub(super) fn format(&self) -> Result<Format> {
        let format = match (self.format, &self.output) {
            (Some(format), _) => format,
            (None, None) => Format::Text,
            (None, Some(path)) => Format::from_extension(path).ok_or_else(|| {
                Error::usage(
                    format!("{}: no output format has this extension", path.display()),
                    instead_of(path),
                )
            })?,
        };
        if self.spreadsheet && !matches!(format, Format::Csv | Format::Tsv) {
            return Err(no_formulas());
        }
        Ok(format)
    }

    /// Writes answers of queries, with a choice of columns. In a pipe, names are shortened: some have 2,000 characters.
    pub(super) fn write_columns(
        &self,
        columns: &[String],
        expected: usize,
        produce: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        let format = self.format()?;
        let name_width = (self.output.is_none() && !self.wide).then_some(NAME_WIDTH);
        let style = Style { columns: columns.to_vec(), name_width, ..self.style(format) };
        self.write_styled(format, style, expected, produce)
    }

    /// Opens the output, and calls `produce` to write `expected` results. A file appears when complete.
    pub(super) fn write(
        &self,
        expected: usize,
        produce: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        let format = self.format()?;
        self.write_styled(format, self.style(format), expected, produce)
    }

    fn write_styled(
        &self,
        format: Format,
        style: Style,
        expected: usize,
        produce: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        write_to(self.output.as_deref(), |out| {
            let mut writer = Writer::new(out, format, style, expected);
            produce(&mut writer)?;
            if writer.formulas() > 0 && !self.spreadsheet {
                note(FORMULAS);
            }
            writer.finish()
        })
    }

    /// Prints one table.
    pub(super) fn table(&self, heading: &Heading, table: &ResultTable) -> Result<()> {
        self.write(1, |writer| writer.result(heading, |sink| table.replay(sink)))
    }

    pub(super) fn style(&self, format: Format) -> Style {
        let on_terminal = self.output.is_none() && io::stdout().is_terminal();
        let max_rows = match (self.rows, format) {
            (Some(0), _) => None,
            (Some(rows), _) => Some(rows),
            (None, Format::Text) => Some(DEFAULT_ROWS),
            (None, _) => None,
        };
        Style {
            is_for_library: false,
            width: terminal_width().filter(|_| on_terminal && !self.wide),
            name_width: None,
            on_terminal,
            color: self.color.is_on(on_terminal),
            max_rows,
            no_header: self.no_header,
            raw: self.raw,
            columns: Vec::new(),
            for_spreadsheets: self.spreadsheet,
        }
    }
}

/// The error of `--spreadsheet` with a format other than csv and tsv.
pub(super) fn no_formulas() -> Error {
    Error::usage(
        "--spreadsheet applies only to csv and tsv",
        "add --format csv or tsv, or remove --spreadsheet",
    )
}

/// The most columns of a name where there is no terminal whose width counts.
const NAME_WIDTH: usize = 60;

/// Size of the output buffer, in bytes.
const BYTES: usize = 64 << 10;

/// Writes to standard output, or to a file that appears only when it is complete.
pub(super) fn write_to(
    path: Option<&Path>,
    produce: impl FnOnce(&mut render::Output) -> Result<()>,
) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => whole_file::write(path, produce),
        None => {
            let mut out = BufWriter::with_capacity(BYTES, Unobstructed(standard_output()?));
            produce(&mut out)?;
            out.flush().map_err(Error::Output)
        }
    }
}

/// Prints a text on standard output.
pub(super) fn say(text: &str) -> Result<()> {
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))
}

/// Refuses the name of a file of another kind for a SQLite file: its reader would call the file damaged.
fn must_be_sqlite(output: &Path) -> Result<()> {
    let extension = output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let help = match extension.as_str() {
        "duckdb" | "parquet" | "arrow" | "arrows" | "feather" => {
            "-o tables.sqlite, which DuckDB attaches with (TYPE sqlite); for Parquet: nsq materialize REPORT \
             --parquet DIR"
                .to_owned()
        }
        "csv" | "tsv" | "json" | "ndjson" | "html" | "md" => {
            format!("for one table: nsq sql REPORT \"SELECT * FROM kernel\" -o {}", shell::path(output))
        }
        _ => return Ok(()),
    };
    Err(Error::usage(format!("{}: what is written is a SQLite file", output.display()), help))
}

/// Refuses a database path that is standard output, names a file of another kind, or exists without `--force`.
pub(super) fn must_be_free(path: &Path, is_forced: bool) -> Result<()> {
    if path.as_os_str() == "-" {
        return Err(Error::usage("cannot write a database to standard output", "give a file name"));
    }
    must_be_sqlite(path)?;
    if path.exists() && !is_forced {
        return Err(Error::usage(
            format!("{} already exists", path.display()),
            "give another file name, or --force to replace the file",
        ));
    }
    Ok(())
}

/// Wraps the lines of a text that are wider than the terminal. Further lines are indented by two more. A command stays on
/// its line, so that it can be copied: its comment is cut instead.
pub(super) fn fitted(text: String) -> String {
    let Some(width) = terminal_width().filter(|_| io::stdout().is_terminal()) else { return text };
    let mut fitted = String::new();
    for line in text.lines() {
        let sentence = line.trim_start();
        let indent = line.len() - sentence.len();
        let is_wide = printed_width(line) > width;
        if indent > 0 && sentence.starts_with("nsq ") && is_wide {
            let command = sentence.split("   ").next().unwrap_or(sentence);
            fitted.push_str(&format!("{:indent$}{command}\n", ""));
            continue;
        }
        let further = if is_wide { indent + 2 } else { 0 };
        let pieces = if is_wide {
            wrapped(sentence, width - further.min(width))
        } else {
            vec![sentence.to_owned()]
        };
        for (place, piece) in pieces.into_iter().enumerate() {
            let indent = if place == 0 { indent } else { further };
            fitted.push_str(&format!("{:indent$}{piece}\n", ""));
        }
    }
    fitted
}

/// Width of the terminal in columns, from the terminal itself or from `COLUMNS`.
fn terminal_width() -> Option<usize> {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_size::terminal_size()
        .map(|(width, _)| usize::from(width.0))
        .or_else(variable)
        .filter(|w| *w > 0)
}
