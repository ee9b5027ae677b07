//! `nsq stats`: accepts the command line of `nsys stats` and prints the same reports.

use super::options::{LibraryArgs, OpenArgs, unlimited};
use super::output::{self, FORMULAS, no_formulas};
use super::{complain, note};
use crate::catalog::Catalog;
use crate::compile::{Invocation, Layout, Plan, TimeUnit};
use crate::error::{EXIT_LACKS_DATA, Error, Result};
use crate::execute::Session;
use crate::normalize::{self, Presence, Scope};
use crate::render::nsys::{self, NsysFormat};
use crate::render::{self, Style, visible};
use crate::report::{Listener, Report};
use crate::schema::Schema;
use crate::table::ResultTable;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Print reports as `nsys stats` does, with the same command line
///
/// Column names, arithmetic, rounding, formats and file names are NVIDIA's. Exit codes are nsq's: 3 if
/// the data of a requested report is missing, 2 if a report name is unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq stats report.sqlite
  nsq stats -r cuda_gpu_kern_sum:base,cuda_api_sum -f csv -q report.sqlite
  nsq stats -r cuda_gpu_trace -f csv,json -o .,- report.nsys-rep
  nsq stats -r cuda_api_sum -o '@grep cudaFree' report.sqlite

The first report is written in the first format to the first output, and so on. If there are more
reports than formats or outputs, the last one is used again.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace.
    #[arg(value_name = "INPUT", required_unless_present = "help_reports")]
    input: Option<PathBuf>,
    /// Reports to print, with arguments after colons [default: the default reports of nsys stats]
    #[arg(short, long, value_name = "NAME[:ARG…]", value_delimiter = ',')]
    report: Vec<String>,
    /// Format: column, table, csv, tsv, json, hdoc or htable; `.` for the default of the output.
    #[arg(short, long, value_name = "FORMAT", value_delimiter = ',')]
    format: Vec<String>,
    /// Output: `-` console, `.` files beside the input, `@CMD` a process, else the base name of files.
    #[arg(short, long, value_name = "OUTPUT", value_delimiter = ',', allow_hyphen_values = true)]
    output: Vec<String>,
    /// Unit of times: nsec, usec, msec or sec.
    #[arg(long, value_name = "UNIT", default_value = "nsec", value_parser = time_unit)]
    timeunit: TimeUnit,
    /// Only events that overlap this time range, such as 1s/2s or 500ms/.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    filter_time: Option<String>,
    /// Overwrite output files.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    force_overwrite: bool,
    /// Export a .nsys-rep again even if the cache has an export.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    force_export: bool,
    /// Read this export instead of making one from the input.
    #[arg(long, value_name = "FILE")]
    sqlite: Option<PathBuf>,
    /// In csv and tsv, put an apostrophe before names that a spreadsheet would run as formulas.
    #[arg(long)]
    spreadsheet: bool,
    /// Print only reports and errors.
    #[arg(short, long)]
    quiet: bool,
    /// List the reports, or describe one, and exit.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    help_reports: Option<String>,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The default reports of `nsys stats` that nsq supports.
const DEFAULT_SET: [&str; 19] = [
    "nvtx_sum",
    "osrt_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum",
    "openmp_sum",
    "opengl_khr_range_sum",
    "opengl_khr_gpu_range_sum",
    "vulkan_marker_sum",
    "vulkan_gpu_marker_sum",
    "dx11_pix_sum",
    "dx12_gpu_marker_sum",
    "dx12_pix_sum",
    "wddm_queue_sum",
    "um_sum",
    "um_total_sum",
    "um_cpu_page_faults_sum",
    "openacc_sum",
];

/// Parses a unit. As in nsys, any unambiguous prefix is accepted: `us`, `milli`, `seconds`.
fn time_unit(text: &str) -> Result<TimeUnit, String> {
    const NAMES: [(&str, TimeUnit); 7] = [
        ("nsec", TimeUnit::Ns),
        ("nanoseconds", TimeUnit::Ns),
        ("usec", TimeUnit::Us),
        ("microseconds", TimeUnit::Us),
        ("msec", TimeUnit::Ms),
        ("milliseconds", TimeUnit::Ms),
        ("seconds", TimeUnit::S),
    ];
    let text = text.to_ascii_lowercase();
    let mut units =
        NAMES.iter().filter(|(name, _)| !text.is_empty() && name.starts_with(&text)).map(|(_, u)| *u);
    match (units.next(), units.next()) {
        (Some(unit), None) => Ok(unit),
        (Some(_), Some(_)) => Err("ambiguous unit: expected nsec, usec, msec or sec".to_owned()),
        _ => Err("expected nsec, usec, msec or sec".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let catalog = args.library.load()?;
    if let Some(name) = &args.help_reports {
        return help_reports(&catalog, name);
    }
    let input = args.input.as_deref().unwrap_or(Path::new(""));
    let outputs = outputs(args)?;
    let is_delimited = |format: &NsysFormat| matches!(format, NsysFormat::Csv | NsysFormat::Tsv);
    if args.spreadsheet && !outputs.iter().all(|(_, format, _)| is_delimited(format)) {
        return Err(no_formulas());
    }
    let path = args.sqlite.as_deref().unwrap_or(input);
    let mut options = args.open.export_options();
    options.cache.again = args.force_export;
    if args.quiet {
        options.cache.listener = Listener::default();
    }
    let mut stats = Stats {
        args,
        catalog: &catalog,
        report: Report::open(path, &options)?,
        code: 0,
        answered: 0,
        formulas: 0,
    };
    let schema = Schema::detect(&stats.report)?;
    let scope = scope(args)?;
    for (spelling, format, output) in &outputs {
        let answered = stats.answered;
        if let Err(error) = stats.one(spelling, *format, output, &schema, &scope) {
            match error {
                Error::LacksData { .. } => stats.skip(&error)?,
                Error::Output(_) | Error::Interrupted => return Err(error),
                error => stats.code = complain(&error),
            }
        }
        // nsys prints an empty line between reports.
        if (*output == "-" && stats.answered > answered) || !args.quiet {
            say("\n")?;
        }
    }
    if stats.formulas > 0 && !args.spreadsheet && !args.quiet {
        note(FORMULAS);
    }
    let nothing = stats.answered == 0 && stats.code == 0;
    Ok(if nothing { EXIT_LACKS_DATA } else { stats.code })
}

/// The reports to print, each with its format and output.
fn outputs(args: &Args) -> Result<Vec<(String, NsysFormat, String)>> {
    let reports: Vec<String> = match args.report.as_slice() {
        [] => DEFAULT_SET.map(str::to_owned).to_vec(),
        reports => reports.to_vec(),
    };
    let nth = |list: &[String], index: usize, default: &str| -> String {
        list.get(index).or(list.last()).cloned().unwrap_or_else(|| default.to_owned())
    };
    reports
        .into_iter()
        .enumerate()
        .map(|(index, report)| {
            let output = nth(&args.output, index, "-");
            let default = if output == "-" { "column" } else { "csv" };
            let format = match nth(&args.format, index, ".") {
                dot if dot == "." => default.to_owned(),
                named => named,
            };
            let known = NsysFormat::NAMES.iter().find(|(name, _)| *name == format);
            let (_, format) = known.ok_or_else(|| {
                let names = NsysFormat::NAMES.iter().map(|(name, _)| *name);
                Error::unknown(
                    "format",
                    &format,
                    names,
                    "The formats are column, table, csv, tsv, json, hdoc and htable.",
                )
            })?;
            Ok((report, *format, output))
        })
        .collect()
}

fn scope(args: &Args) -> Result<Scope> {
    let Some(text) = &args.filter_time else { return Ok(Scope::default()) };
    let malformed = || {
        Error::usage(
            format!("invalid time range `{text}`"),
            "write --filter-time A/B, such as 1s/2s, 1s500ms/ or /1e9",
        )
    };
    let (from, to) = text.split_once('/').ok_or_else(malformed)?;
    let instant = |text: &str| match text {
        "" => Ok(None),
        text => nsys_time(text).map(Some).ok_or_else(malformed),
    };
    match (instant(from)?, instant(to)?) {
        (Some(from), Some(to)) if from > to => Err(malformed()),
        (start_ns, end_ns) => Ok(Scope { start_ns, end_ns, ..Scope::default() }),
    }
}

/// Parses NVIDIA's times: `1s2ms3us4ns`, `1.5e3us`, `-2m`. A number without a unit is nanoseconds.
fn nsys_time(text: &str) -> Option<i64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let number_end = rest
            .char_indices()
            .find(|(at, c)| {
                let exponent = |at: usize| rest[..at].ends_with(['e', 'E']);
                let is_exponent = matches!(c, 'e' | 'E')
                    && rest[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
                let is_number = c.is_ascii_digit()
                    || *c == '.'
                    || is_exponent
                    || matches!(c, '-' | '+') && (*at == 0 || exponent(*at));
                !is_number
            })
            .map_or(rest.len(), |(at, _)| at);
        let number: f64 = rest[..number_end].parse().ok()?;
        rest = &rest[number_end..];
        let unit_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        total += number
            * match &rest[..unit_end] {
                "" | "ns" | "nsec" => 1.0,
                "us" | "usec" => 1e3,
                "ms" | "msec" => 1e6,
                "s" | "sec" => 1e9,
                "m" | "min" => 60e9,
                "h" | "hour" => 3600e9,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (total.is_finite() && total.abs() < i64::MAX as f64).then_some(total as i64)
}

struct Stats<'a> {
    args: &'a Args,
    catalog: &'a Catalog,
    report: Report,
    code: u8,
    answered: usize,
    /// Number of texts that a spreadsheet would run as formulas.
    formulas: usize,
}

impl Stats<'_> {
    fn one(
        &mut self,
        spelling: &str,
        format: NsysFormat,
        output: &str,
        schema: &Schema,
        scope: &Scope,
    ) -> Result<()> {
        let invocation = Invocation::parse(spelling);
        let arguments = match invocation.args.as_slice() {
            [] => String::new(),
            args => format!("({})", args.join(":")),
        };
        let path = file_for(output, self.args, &invocation, format);
        let destination = match (&path, output.strip_prefix('@')) {
            (Some(path), _) => format!(" to [{}]", path.display()),
            (None, Some(_)) => format!(" to process [{output}]"),
            (None, None) => String::new(),
        };
        if !self.args.quiet {
            let (name, query) = (visible(&self.report.name()), &invocation.query);
            say(&format!("Processing [{name}] with [{query}]{arguments}{destination}... \n"))?;
        }
        let query = self.catalog.query(&invocation.query)?;
        if query.header.nsys.is_none() {
            let name = &query.header.name;
            return Err(Error::usage(
                format!("`{name}` is not a report of nsys stats"),
                format!(
                    "use `nsq run REPORT --query {name}`; `nsq stats --help-reports` lists the reports"
                ),
            ));
        }
        let plan = Plan::new(self.catalog, &invocation, &Layout::Nsys(self.args.timeunit))?;
        if let Some(path) = path.as_ref().filter(|path| path.exists() && !self.args.force_overwrite) {
            return Err(Error::usage(
                format!("{} already exists", path.display()),
                "add --force-overwrite=true to replace output files",
            ));
        }
        plan.check_presence(&Presence::new(schema, self.catalog), &self.report.path)?;
        let table = rows_of(&plan, self.catalog, &self.report, schema, scope)?;
        let title = format!("{} ({})", plan.title, query.header.name);
        let command = output.strip_prefix('@');
        let style = Style {
            on_terminal: path.is_none() && command.is_none() && std::io::stdout().is_terminal(),
            for_spreadsheets: self.args.spreadsheet,
            ..Style::default()
        };
        let write = |out: &mut render::Output| {
            self.formulas += nsys::write(out, format, &title, &table, &style)?;
            Ok(())
        };
        match command {
            Some(command) => pipe(command, write)?,
            None => output::write_to(path.as_deref(), write)?,
        }
        self.answered += 1;
        Ok(())
    }

    /// Skips a report whose data is missing. This is an error only if the user named the report.
    fn skip(&mut self, error: &Error) -> Result<()> {
        if !self.args.report.is_empty() && self.code == 0 {
            self.code = EXIT_LACKS_DATA;
        }
        if self.args.quiet {
            return Ok(());
        }
        let text = error.to_string();
        say(&format!("SKIPPED: {}\n", visible(text.lines().next().unwrap_or_default())))
    }
}

/// The rows of a report whose data is present.
fn rows_of(
    plan: &Plan,
    catalog: &Catalog,
    report: &Report,
    schema: &Schema,
    scope: &Scope,
) -> Result<ResultTable> {
    let roots = plan.reads.iter().map(String::as_str);
    let installation = normalize::plan(schema, catalog, scope, roots)?;
    let limits = unlimited();
    Session::begin(report.connect()?, &installation, &limits)?.table(plan, &limits)
}

/// The text that `nsq stats --report NAME` prints. Fails if the data is missing.
pub(super) fn text_of(
    catalog: &Catalog,
    report: &Report,
    schema: &Schema,
    name: &str,
) -> Result<Vec<u8>> {
    let plan = Plan::new(catalog, &Invocation::parse(name), &Layout::Nsys(TimeUnit::Ns))?;
    plan.check_presence(&Presence::new(schema, catalog), &report.path)?;
    let table = rows_of(&plan, catalog, report, schema, &Scope::default())?;
    let mut text = format!("Processing [{}] with [{name}]... \n", visible(&report.name())).into_bytes();
    let title = format!("{} ({name})", plan.title);
    nsys::write(&mut text, NsysFormat::Column, &title, &table, &Style::default())?;
    text.push(b'\n');
    Ok(text)
}

/// Prints on standard output.
fn say(text: &str) -> Result<()> {
    output::write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))
}

/// The output file, named as nsys names it: `BASE_report_arg.ext`.
fn file_for(output: &str, args: &Args, invocation: &Invocation, format: NsysFormat) -> Option<PathBuf> {
    if output == "-" || output.starts_with('@') {
        return None;
    }
    let input = args.sqlite.as_deref().or(args.input.as_deref()).unwrap_or(Path::new(""));
    let base = if output == "." { input.with_extension("") } else { PathBuf::from(output) };
    let name: Vec<&str> = std::iter::once(invocation.query.as_str())
        .chain(invocation.args.iter().map(String::as_str))
        .collect();
    let mut file = base.into_os_string();
    file.push(format!("_{}.{}", name.join("_"), format.extension()));
    Some(PathBuf::from(file))
}

/// Runs a command with the report as its standard input. Like nsys, splits the command at spaces.
fn pipe(command: &str, produce: impl FnOnce(&mut render::Output) -> Result<()>) -> Result<()> {
    let mut words = command.split_whitespace();
    let program =
        words.next().ok_or_else(|| Error::usage("no command after `@`", "write -o '@grep cudaFree'"))?;
    let failed = |e| Error::io(Path::new(program), e);
    let mut child = Command::new(program).args(words).stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        match produce(&mut input) {
            // A command such as `head` may stop reading early.
            Err(Error::Output(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    Err(failed(std::io::Error::other(format!("the command ended with {status}"))))
}

fn help_reports(catalog: &Catalog, name: &str) -> Result<u8> {
    let mut text = String::new();
    if name.is_empty() || name == "ALL" {
        text.push_str("\nThe following reports are available:\n\n");
        for query in catalog.readable_queries() {
            let Some(nsys) = &query.header.nsys else { continue };
            let args: String = nsys.args.iter().map(|arg| format!("[:{}]", arg.name)).collect();
            text.push_str(&format!("  {}{args} -- {}\n", query.header.name, nsys.title));
        }
    } else {
        let header = &catalog.query(name)?.header;
        let title = header.nsys.as_ref().map_or(&header.title, |nsys| &nsys.title);
        text.push_str(&format!(
            "\n{} -- {title}\n\n    {}\n\n    {}\n",
            header.name, header.summary, header.limits
        ));
    }
    output::write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_as_nvidia_documents_them() {
        assert_eq!(nsys_time("1s2ms3us4ns"), Some(1_002_003_004));
        assert_eq!(nsys_time("2ns5us2"), Some(5_004));
        assert_eq!(nsys_time("1.5e3us"), Some(1_500_000));
        assert_eq!(nsys_time("-2m"), Some(-120_000_000_000));
        assert_eq!(nsys_time("1x"), None);
    }

    #[test]
    fn time_units_are_matched_by_prefix() {
        assert_eq!(time_unit("us").unwrap(), TimeUnit::Us);
        assert_eq!(time_unit("sec").unwrap(), TimeUnit::S);
        assert_eq!(time_unit("milli").unwrap(), TimeUnit::Ms);
        assert!(time_unit("m").is_err() && time_unit("").is_err());
    }
}
