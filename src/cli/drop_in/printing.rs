//! Prints the reports of a request, one by one.

use super::args::DropInArgs;
use super::asked::Asked;
use super::destination::Destination;
use super::format::FormatSpec;
use super::request::Request;
use super::{filter, help};
use crate::cli::options::LibraryArgs;
use crate::cli::output::{FORMULAS, must_differ, no_formulas, replace, say};
use crate::cli::{complain, note};
use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::Invocation;
use nsq_library::catalog::Catalog;
use nsq_render::render::nsys::NsysFormat;
use nsq_render::render::{Style, visible};
use nsq_report::report::{Listener, Report, export_to, is_database};
use nsq_value::error::{EXIT_LACKS_DATA, Error, Result};
use std::io::IsTerminal;
use std::path::Path;

/// Prints the reports of a request, and returns the exit code.
pub(in crate::cli) fn run(request: &Request<'_>) -> Result<u8> {
    let args = request.args;
    let mut folders = request.folders.to_vec();
    // nsys takes the first folder that has a report; a library, the last.
    folders.reverse();
    folders.extend(args.library.queries.iter().cloned());
    let mut catalog = LibraryArgs { queries: folders }.load()?;
    if let Some(name) = request.help {
        return help::reports(&catalog, request.command, name);
    }
    if let Some(name) = &args.help_formats {
        return help::formats(&catalog, name);
    }
    let jobs = jobs(request, &mut catalog)?;
    let is_delimited = |job: &Job| matches!(job.format.style.format, NsysFormat::Csv | NsysFormat::Tsv);
    if args.spreadsheet && !jobs.iter().all(is_delimited) {
        return Err(no_formulas());
    }
    for (count, what) in [(args.format.len(), "formats"), (args.output.len(), "outputs")] {
        if count > jobs.len() && !args.quiet {
            note(&format!(
                "there are more {what} than {}s: the last ones are not used",
                request.command.noun()
            ));
        }
    }
    let open = OpenReport::of(open(args)?)?;
    let mut printing = Printing {
        request,
        asked: Asked { catalog: &catalog, open: &open },
        code: 0,
        answered: 0,
        formulas: 0,
    };
    for job in &jobs {
        if printing.print(job)? {
            say("\n")?;
        }
    }
    if printing.formulas > 0 && !args.spreadsheet && !args.quiet {
        note(FORMULAS);
    }
    let nothing = printing.answered == 0 && printing.code == 0;
    Ok(if nothing { EXIT_LACKS_DATA } else { printing.code })
}

/// Opens the report: the input, or the export that `--sqlite` names, which is made first if it is missing.
fn open(args: &DropInArgs) -> Result<Report> {
    let input = args.input()?;
    let mut options = args.open.export_options();
    options.cache.again = args.force_export;
    if args.quiet {
        options.cache.listener = Listener::default();
    }
    let Some(export) = &args.sqlite else { return Report::open(input, &options) };
    if is_database(input)? {
        return Err(Error::usage(
            format!(
                "--sqlite names the export of a capture, but {} is an export itself",
                input.display()
            ),
            "remove --sqlite",
        ));
    }
    must_differ(Some(export.as_path()), [input])?;
    if args.force_export || !export.exists() {
        replace(export, |fresh| export_to(input, fresh, &options))?;
    }
    Report::open(export, &options)
}

/// A report to print, its layout, and where it goes.
struct Job {
    invocation: Invocation,
    format: FormatSpec,
    destination: Destination,
}

/// The reports, each with its format and output. The last format and the last output stand for those that
/// are missing.
fn jobs(request: &Request<'_>, catalog: &mut Catalog) -> Result<Vec<Job>> {
    let args = request.args;
    let nth = |list: &[String], index: usize, default: &str| -> String {
        list.get(index).or(list.last()).cloned().unwrap_or_else(|| default.to_owned())
    };
    let defaults: Vec<String> = request.defaults.iter().map(|name| (*name).to_owned()).collect();
    let reports = if request.reports.is_empty() { &defaults } else { request.reports };
    let mut jobs = Vec::with_capacity(reports.len());
    for (index, spelling) in reports.iter().enumerate() {
        let mut invocation = Invocation::parse(spelling);
        if let Some(path) = invocation.path().map(Path::to_owned) {
            invocation.query = catalog.add_file(&path)?;
        }
        invocation.args.splice(0..0, filter::words(args)?);
        let output = nth(&args.output, index, "-");
        let format = FormatSpec::parse(&nth(&args.format, index, "."), output == "-", args.timeunit)?;
        let base = args.sqlite.as_deref().unwrap_or(args.input()?);
        let destination = Destination::new(&output, base, &invocation, format.style.format);
        jobs.push(Job { invocation, format, destination });
    }
    Ok(jobs)
}

struct Printing<'a> {
    request: &'a Request<'a>,
    asked: Asked<'a>,
    code: u8,
    answered: usize,
    /// Number of texts that a spreadsheet would run as formulas.
    formulas: usize,
}

impl Printing<'_> {
    /// Prints a report, and returns whether an empty line follows, as in nsys. Only an output that cannot be
    /// written, or an interrupt, ends the others as well.
    fn print(&mut self, job: &Job) -> Result<bool> {
        let args = self.request.args;
        let shown = args.sqlite.as_deref().unwrap_or(args.input()?);
        let arguments = match job.invocation.args.as_slice() {
            [] => String::new(),
            args => format!("({})", args.join(":")),
        };
        let is_console = job.destination == Destination::Console;
        if !args.quiet {
            let (shown, query) = (shown.display().to_string(), &job.invocation.query);
            let destination = job.destination.to_string();
            let head = format!("Processing [{shown}] with [{query}]{arguments}{destination}... ");
            say(&format!("{}{}", visible(&head), if is_console { "\n" } else { "" }))?;
        }
        match self.answer(job) {
            Ok(rows) => {
                self.answered += 1;
                if is_console {
                    return Ok(rows > 0 || job.format.style.is_drawn());
                }
                if matches!(job.destination, Destination::File(_)) && !args.quiet {
                    say("PROCESSED\n")?;
                }
            }
            Err(Failed::Skipped { why, error }) => self.skip(&why, &error)?,
            Err(Failed::By(error @ (Error::Output(_) | Error::Interrupted))) => return Err(error),
            Err(Failed::By(error)) => {
                if !is_console && !args.quiet {
                    say("\n")?;
                }
                self.code = complain(&error);
            }
        }
        Ok(!args.quiet)
    }

    /// Writes a report and returns its number of rows.
    fn answer(&mut self, job: &Job) -> Result<usize, Failed> {
        let args = self.request.args;
        if let Destination::File(path) = &job.destination
            && path.exists()
            && !args.force_overwrite
        {
            let error = Error::usage(
                format!("{} already exists", path.display()),
                "add --force-overwrite=true to replace output files",
            );
            let why = format!("output file {} exists.", path.display());
            return Err(Failed::Skipped { why, error: Box::new(error) });
        }
        let shown = args.sqlite.as_deref().unwrap_or(args.input()?);
        let style = Style {
            on_terminal: job.destination == Destination::Console && std::io::stdout().is_terminal(),
            for_spreadsheets: args.spreadsheet,
            ..Style::default()
        };
        let (asked, request) = (self.asked, self.request);
        let answered = asked.answer(request, &job.invocation, &job.format.units, |answer| {
            let mut count = 0;
            job.destination.write(|out| {
                let (rows, formulas) = answer.write(out, &job.format.style, &style)?;
                self.formulas += formulas;
                count = rows;
                Ok(())
            })?;
            Ok(count)
        });
        answered.map_err(|error| match error {
            error @ Error::LacksData { .. } => {
                let why = asked.why(request.command, &job.invocation, shown, &error);
                Failed::Skipped { why, error: Box::new(error) }
            }
            error => Failed::By(error),
        })
    }

    /// Skips a report. Missing data is an error only if the user named the report.
    fn skip(&mut self, why: &str, error: &Error) -> Result<()> {
        let (is_named, args) = (!self.request.reports.is_empty(), self.request.args);
        if !args.quiet {
            say(&format!("SKIPPED: {}\n", visible(why)))?;
        }
        match error {
            Error::LacksData { .. } if !is_named => {}
            Error::LacksData { .. } => {
                if self.code == 0 {
                    self.code = EXIT_LACKS_DATA;
                }
                if let Some(help) = error.help().filter(|_| !args.quiet) {
                    note(&help);
                }
            }
            error => self.code = complain(error),
        }
        Ok(())
    }
}

/// Why a report was not printed.
enum Failed {
    /// As nsys skips a report, with its words for the reason.
    Skipped {
        why: String,
        error: Box<Error>,
    },
    By(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::By(error)
    }
}
