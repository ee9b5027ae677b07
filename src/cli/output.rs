//! Where a result goes and how it looks there.

use super::note;
use crate::error::{Error, Result};
use crate::render::{self, Format, Heading, Style, Writer};
use crate::report::WorkFolder;
use crate::table::ResultTable;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Rows that text shows unless it is told otherwise.
const DEFAULT_ROWS: usize = 100;

/// Whoever opens a stranger's names in a spreadsheet should know.
pub(super) const FORMULAS: &str = "some names begin with =, +, - or @, which a spreadsheet takes for formulas: \
                        --spreadsheet makes them harmless";

/// Options of every verb that prints rows.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Format; default: what the file's extension says, else text.
    #[arg(short, long, value_enum)]
    pub(super) format: Option<Format>,
    /// Write here instead of to standard output; appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Rows that text, markdown and html show, 0 for all; default: 100 in text, all elsewhere.
    #[arg(long, value_name = "N")]
    pub(super) rows: Option<usize>,
    /// Raw integers in text, markdown and html too.
    #[arg(long)]
    pub(super) raw: bool,
    /// Leave out the line of column names.
    #[arg(long)]
    pub(super) no_header: bool,
    /// In csv and tsv, an apostrophe before names that a spreadsheet would run as formulas.
    #[arg(long)]
    pub(super) spreadsheet: bool,
}

impl OutputArgs {
    /// The format asked for.
    pub(super) fn format(&self) -> Result<Format> {
        let format = match (self.format, &self.output) {
            (Some(format), _) => format,
            (None, None) => Format::Text,
            (None, Some(path)) => Format::from_extension(path).ok_or_else(|| {
                Error::usage(
                    format!("{}: its extension is that of no format", path.display()),
                    "add --format text, csv, tsv, json, ndjson, markdown or html",
                )
            })?,
        };
        if self.spreadsheet && !matches!(format, Format::Csv | Format::Tsv) {
            return Err(no_formulas());
        }
        Ok(format)
    }

    /// Opens the output, lets `produce` write `expected` results to it, and puts it in place.
    pub(super) fn write(
        &self,
        expected: usize,
        produce: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        let format = self.format()?;
        let style = self.style(format);
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
            width: terminal_width().filter(|_| on_terminal),
            on_terminal,
            color: on_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            max_rows,
            no_header: self.no_header,
            raw: self.raw,
            for_spreadsheets: self.spreadsheet,
        }
    }
}

/// `--spreadsheet` where nothing is written that a spreadsheet would run.
pub(super) fn no_formulas() -> Error {
    Error::usage(
        "--spreadsheet is for csv and tsv, in which a spreadsheet looks for formulas",
        "add --format csv or tsv, or leave --spreadsheet out",
    )
}

/// Bytes that are written at once.
const BYTES: usize = 64 << 10;

/// Writes to a file, whole or not at all, or to standard output.
pub(super) fn write_to(
    path: Option<&Path>,
    produce: impl FnOnce(&mut render::Output) -> Result<()>,
) -> Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::with_capacity(BYTES, io::stdout());
        produce(&mut out)?;
        return out.flush().map_err(Error::Output);
    };
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        // A pipe or a device: there is nothing to put in place.
        let file = std::fs::OpenOptions::new().write(true).open(path).map_err(|e| Error::io(path, e))?;
        let mut out = BufWriter::with_capacity(BYTES, file);
        produce(&mut out).map_err(|e| match e {
            Error::Output(source) => Error::io(path, source),
            e => e,
        })?;
        return out.flush().map_err(|e| Error::io(path, e));
    }
    replace(path, |fresh| {
        let file =
            std::fs::OpenOptions::new().write(true).open(fresh).map_err(|e| Error::io(path, e))?;
        let mut out = BufWriter::with_capacity(BYTES, file);
        produce(&mut out)?;
        out.flush().map_err(|e| Error::io(path, e))
    })
}

/// Refuses to write over what is read: a report is never written.
pub(super) fn must_differ<'a>(
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let Some(target) = output.and_then(|path| path.canonicalize().ok()) else { return Ok(()) };
    for input in inputs {
        if input.canonicalize().is_ok_and(|input| input == target) {
            return Err(Error::usage(
                format!("the output is the report itself, {}", input.display()),
                "give another name: a report is never written",
            ));
        }
    }
    Ok(())
}

/// Refuses a place for a database that is no file, or that is taken and not to be replaced.
pub(super) fn must_be_free(path: &Path, is_forced: bool) -> Result<()> {
    if path.as_os_str() == "-" {
        return Err(Error::usage("a database cannot go to standard output", "give the name of a file"));
    }
    if path.exists() && !is_forced {
        return Err(Error::usage(
            format!("{} exists", path.display()),
            "give another name, or --force to replace it",
        ));
    }
    Ok(())
}

/// Puts a file at `path` once `produce` has written it elsewhere in the same folder; else nothing.
pub(super) fn replace(path: &Path, produce: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if path.is_dir() {
        return Err(Error::usage(
            format!("{} is a directory", path.display()),
            "give the name of a file to write",
        ));
    }
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::usage(
            format!("{} is no plain file", path.display()),
            "give the name of a file to write",
        ));
    }
    // Behind a link, the file that it points to is the one to replace.
    let target = match path.canonicalize() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
        target => target.map_err(|e| Error::io(path, e))?,
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = |e: io::Error| Error::io(path, e.kind().into());
    let own = WorkFolder::beside(folder).map_err(|e| match e {
        Error::Io { source, .. } => failed(source),
        e => e,
    })?;
    // As readable as any file the user makes, or as the one that it replaces.
    let fresh = own.path().join(FRESH);
    let file = File::create_new(&fresh).map_err(failed)?;
    if let Ok(replaced) = target.metadata() {
        file.set_permissions(replaced.permissions()).map_err(failed)?;
    }
    drop(file);
    produce(&fresh).map_err(|e| match e {
        Error::Output(source) => failed(source),
        e if e.is_full_disk() => failed(io::ErrorKind::StorageFull.into()),
        e => e,
    })?;
    std::fs::rename(&fresh, &target).map_err(failed)
}

/// What a file is called while it is being written.
const FRESH: &str = "whole";

/// Columns of the terminal: what it says itself, or `COLUMNS`.
fn terminal_width() -> Option<usize> {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_size::terminal_size()
        .map(|(width, _)| usize::from(width.0))
        .or_else(told)
        .filter(|w| *w > 0)
}
