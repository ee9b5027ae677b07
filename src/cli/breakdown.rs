//! `nsq breakdown`: elapsed time by class of GPU work, as an HTML page and a CSV table.

mod class_maps;
mod input;

use super::note;
use super::options::{KeepArgs, LibraryArgs, LimitArgs};
use super::output::{FORMULAS, fitted, must_differ, replace, write_to};
use super::reports::tell;
use input::Input;
use nsq_ask::input as asked;
use nsq_ask::open_report::OpenReport;
use nsq_ask::page::{NoRows, PageRequest, ReportInput};
use nsq_ask::request::Request;
use nsq_engine::normalize::Scope;
use nsq_files::interrupt;
use nsq_library::catalog::ClassMaps;
use nsq_render::render::{Format, Heading, Style, Writer, visible};
use nsq_render::seed;
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Row};
use std::path::PathBuf;

/// Break elapsed time down by class of work, as HTML and CSV
///
/// A profile is FILE,ENGINE,MODEL,SECONDS. ENGINE/MODEL is the name of a class map. SECONDS is how long
/// the run took without the profiler; 0 uses the span of the capture. FILE alone uses the default class
/// map and the span. The figures come from the queries of the page `breakdown`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq breakdown run.sqlite
  nsq breakdown --in_file run1.nsys-rep,vllm,gpt-oss,306 --title \"vLLM, gpt-oss\"
  nsq breakdown --in_file a.sqlite,vllm,llama,100 b.sqlite,vllm,gpt-oss,102 --out_dir results

Overlapped time is counted once, for the operation that started first. So the classes add up to the \
time in which the GPU worked.

nsq replaces result.csv and result.html in the folder of --out-dir, by default the working directory.")]
pub(super) struct Args {
    /// Profiles: FILE,ENGINE,MODEL,SECONDS or FILE; only the last three commas split.
    #[arg(value_name = "PROFILE", required_unless_present = "in_file")]
    profiles: Vec<String>,
    /// Profiles, one or more. Also spelled --in_file and --infile.
    #[arg(long = "in-file", aliases = ["in_file", "infile"], value_name = "PROFILE", num_args = 1..)]
    in_file: Vec<String>,
    /// Folder for result.csv and result.html; created if missing. Also spelled --out_dir.
    #[arg(long = "out-dir", alias = "out_dir", value_name = "DIR", default_value = ".")]
    out_dir: PathBuf,
    /// Heading of the page; default: the names of the profiles.
    #[arg(long)]
    title: Option<String>,
    /// File with more class maps, such as {engine: {model: {regex: class}}}, or the name of the map for FILE alone.
    ///
    /// May be repeated. `nsq list --classes` lists the available maps.
    #[arg(long, value_name = "FILE|MAP")]
    classes: Vec<String>,
    /// Merge all GPUs: count time that overlaps across GPUs once, and show no rows per GPU.
    #[arg(long, alias = "merge_devices")]
    merge_devices: bool,
    /// Write result.csv like gputrc2graph: same columns, labels, order and rounding.
    ///
    /// Merges all GPUs, leaves out CUDA graphs that were traced as a whole, and treats SECONDS 0 as no time outside
    /// the GPU.
    #[arg(long, alias = "seed_compat")]
    seed_compat: bool,
    /// In result.csv, put an apostrophe before names that a spreadsheet would run as formulas.
    #[arg(long)]
    spreadsheet: bool,
    /// The nsys that exports a .nsys-rep; default: NSQ_NSYS, else one on PATH or installed. Also spelled --nsys_cmd.
    #[arg(long = "nsys-cmd", aliases = ["nsys_cmd", "nsys"], value_name = "PATH")]
    nsys_cmd: Option<PathBuf>,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The columns of result.csv: those of gputrc2graph, then nsq's own. They are the first columns of
/// `elapsed_operations`.
const COLUMNS: [&str; 13] = [
    "Model_Engine",
    "Category",
    "Instances",
    "Name",
    "Elapsed Time (sec)",
    "elapsed_ns",
    "total_ns",
    "gpu_id",
    "device_id",
    "op_kind",
    "size_bytes",
    "class_rule",
    "class_also",
];

pub(super) fn run(args: &Args) -> Result<u8> {
    let words = args.in_file.iter().chain(&args.profiles);
    let profiles: Vec<Input> = words.map(|text| Input::parse(text)).collect::<Result<_>>()?;
    let (csv, html) = (args.out_dir.join("result.csv"), args.out_dir.join("result.html"));
    for output in [&csv, &html] {
        must_differ(Some(output.as_path()), profiles.iter().map(|input| input.path.as_path()))?;
    }
    let mut catalog = args.library.load()?;
    // Report command line errors before opening any report.
    let maps = class_maps::of(&mut catalog, &args.classes, &profiles)?;
    let request = PageRequest::new(&catalog, "breakdown", &args.params(), visible)?;
    let options = args.keep.export_options(args.nsys_cmd.as_deref());
    let open = |profile: &Input| interrupt::pause(|| OpenReport::new(&profile.path, &options));
    let opened = profiles.iter().map(open).collect::<Result<Vec<_>>>()?;
    let labels = input::labels(&profiles, args.seed_compat);
    let about = profiles.iter().zip(labels).zip(maps).zip(&opened);
    let inputs: Vec<asked::Input<'_>> = about
        .map(|(((profile, label), classes), opened)| input_of(profile, label, classes, opened))
        .collect();
    let limits = args.limits.limits(Threads::default());
    let asking = Request { limits, is_strict: true, ..Request::new(&catalog) };
    let mut begun = asking.page(&request, &inputs)?.all_answered()?;
    tell(&begun.reports, 0, inputs.len() > 1);
    "breakdown".clone_into(&mut begun.asker);
    let answer = begun.answer()?;
    for input in &inputs {
        let is_its = |row: Row<'_>| row.text("report") == Some(&input.name);
        if !answer.tables.iter().any(|table| table.name == "bars" && table.table.iter().any(is_its)) {
            let none = NoRows { what: "GPU operations", lack: None };
            return Err(none.into_error("breakdown", input.path, true));
        }
    }
    let rows = answer.tables.iter().find(|table| table.name == "operations");
    let rows = rows.map(|table| table.table.clone()).unwrap_or_default();
    let seconds: Vec<f64> = profiles.iter().map(|profile| profile.seconds).collect();
    let rows = if args.seed_compat { seed::result_csv(&rows, &seconds) } else { named(rows) };
    let table = args.csv(&rows)?;
    let page = answer.layout("result.html")?.into_bytes();
    std::fs::create_dir_all(&args.out_dir).map_err(|e| Error::io(&args.out_dir, e))?;
    for replaced in [&csv, &html].into_iter().filter(|path| path.exists()) {
        note(&format!("replaced {}", replaced.display()));
    }
    // Put both files in place only after both are written.
    replace(&csv, |fresh| {
        std::fs::write(fresh, &table).map_err(|e| Error::io(&csv, e))?;
        replace(&html, |fresh| std::fs::write(fresh, &page).map_err(|e| Error::io(&html, e)))
    })?;
    let mut text = answer.layout("console")?;
    for (path, len) in [(csv, table.len()), (html, page.len())] {
        text.push_str(&format!("wrote {} ({len} bytes)\n", visible(&path.display().to_string())));
    }
    let text = fitted(text);
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

impl Args {
    /// The parameters of the page, for all profiles.
    fn params(&self) -> Vec<String> {
        let mut params = vec![
            format!("merge_devices={}", self.merge_devices || self.seed_compat),
            format!("graphs={}", !self.seed_compat),
            format!("idle_counts={}", !self.seed_compat),
        ];
        params.extend(self.title.as_ref().map(|title| format!("title={title}")));
        params
    }

    /// The rows as the text of a CSV file.
    fn csv(&self, rows: &ResultTable) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let style = Style { for_spreadsheets: self.spreadsheet, ..Style::default() };
        let mut writer = Writer::new(&mut text, Format::Csv, style, 1);
        writer.result(&Heading::default(), |sink| rows.replay(sink))?;
        if writer.formulas() > 0 && !self.spreadsheet {
            note(FORMULAS);
        }
        writer.finish()?;
        Ok(text)
    }
}

/// A profile as the page asks it.
fn input_of<'a>(
    profile: &Input,
    label: String,
    classes: ClassMaps,
    opened: &'a OpenReport,
) -> asked::Input<'a> {
    let mut facts = vec![
        ("file".to_owned(), opened.report.name()),
        ("class_map".to_owned(), classes.chosen().to_owned()),
    ];
    let (engine, model) = profile.engine_model.clone().unwrap_or_default();
    facts.extend([("engine".to_owned(), engine), ("model".to_owned(), model)]);
    let elapsed = Some(profile.elapsed_ns()).filter(|ns| *ns > 0);
    let params = elapsed.map(|ns| format!("elapsed={ns}ns")).into_iter().collect();
    let about = ReportInput { name: label.clone(), params, facts: facts.into_iter().collect() };
    let (about, classes, scope) = (Some(about), Some(classes), Some(Scope::default()));
    asked::Input { about, classes, scope, ..asked::Input::open(label, opened) }
}

/// The rows with the columns of result.csv.
fn named(mut rows: ResultTable) -> ResultTable {
    rows.columns.truncate(COLUMNS.len());
    for (column, name) in rows.columns.iter_mut().zip(COLUMNS) {
        name.clone_into(&mut column.name);
    }
    rows.rows.iter_mut().for_each(|row| row.truncate(COLUMNS.len()));
    rows
}
