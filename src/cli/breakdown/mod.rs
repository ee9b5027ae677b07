//! `nsq breakdown`: elapsed time by class of GPU work, as an HTML page and a CSV table.

mod class_maps;
mod decomposition;
mod input;
mod limits;
mod page;
mod profile;
mod result_csv;
mod seconds;

use super::note;
use super::opened::Opened;
use super::options::{Clock, KeepArgs, LibraryArgs, LimitArgs};
use super::output::{FORMULAS, fitted, must_differ, replace, write_to};
use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::render::breakdown::{percent, time};
use crate::render::visible;
use crate::report::Report;
use crate::schema::Schema;
use class_maps::ClassMap;
use input::Input;
use profile::{Answer, Bar, Question};
use result_csv::Cells;
use std::path::PathBuf;

/// Break elapsed time down by class of GPU work: result.html and result.csv
///
/// A profile is FILE,ENGINE,MODEL,SECONDS. ENGINE/MODEL is the name of a class map. SECONDS is how long
/// the run took without the profiler; 0 uses the span of the capture. FILE alone uses the default class
/// map and the span.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq breakdown run.sqlite
  nsq breakdown --in_file run1.nsys-rep,vllm,gpt-oss,306 --title \"vLLM, gpt-oss\"
  nsq breakdown --in_file a.sqlite,vllm,llama,100 b.sqlite,vllm,gpt-oss,102 --out_dir results

Overlapped time is counted once, for the operation that started first. So the classes add up to the
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

/// The elapsed time of a profile, as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Total {
    /// Given by the user, in nanoseconds.
    Given(i64),
    /// From the first to the last CUDA activity.
    Span,
    /// The time in which the GPU worked, and no other time.
    None,
}

/// All profiles of one command line.
#[derive(Debug)]
struct Breakdown {
    title: String,
    profiles: Vec<Profile>,
    /// All classes, the one with the most time first.
    classes: Vec<String>,
    /// Write result.csv like gputrc2graph.
    is_seed: bool,
}

/// A profile, and the answer of its report.
#[derive(Debug)]
struct Profile {
    input: Input,
    label: String,
    report: String,
    map: ClassMap,
    total: Total,
    answer: Answer,
    notes: Vec<String>,
}

impl Profile {
    /// The elapsed time behind a bar: at least the time in which the GPU worked.
    fn total_ns(&self, bar: &Bar) -> i64 {
        let whole = match self.total {
            Total::Given(ns) => ns,
            Total::Span => self.answer.span.span_ns,
            Total::None => 0,
        };
        whole.max(bar.busy_ns())
    }

    /// The time in which no GPU of the bar worked.
    fn rest_ns(&self, bar: &Bar) -> i64 {
        self.total_ns(bar).saturating_sub(bar.busy_ns())
    }

    fn bar_label(&self, bar: &Bar) -> String {
        match bar.device {
            Some(device) => format!("{}:gpu{device}", self.label),
            None => self.label.clone(),
        }
    }

    /// The elapsed time in words.
    fn elapsed_text(&self) -> String {
        match self.total {
            Total::Given(ns) => format!("{} as given", time(ns)),
            Total::Span => format!(
                "{}, the span of the capture from first to last CUDA activity",
                time(self.answer.span.span_ns)
            ),
            Total::None => {
                "only the time in which the GPU worked, as in gputrc2graph for 0 seconds".to_owned()
            }
        }
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let words = args.in_file.iter().chain(&args.profiles);
    let inputs: Vec<Input> = words.map(|text| Input::parse(text)).collect::<Result<_>>()?;
    let (csv, html) = (args.out_dir.join("result.csv"), args.out_dir.join("result.html"));
    for output in [&csv, &html] {
        must_differ(Some(output.as_path()), inputs.iter().map(|input| input.path.as_path()))?;
    }
    let mut catalog = args.library.load()?;
    // Report command line errors before opening any report.
    let maps = class_maps::of(&mut catalog, &args.classes, &inputs)?;
    let labels = input::labels(&inputs, args.seed_compat);
    let mut clock = args.limits.start();
    let mut profiles = Vec::with_capacity(inputs.len());
    for ((input, label), map) in inputs.into_iter().zip(labels).zip(maps) {
        // Profiles can have different class maps, so each one gets its own session.
        catalog.choose_classes(&map.name)?;
        profiles.push(ask(args, &catalog, input, label, map, &mut clock)?);
    }
    let breakdown = Breakdown {
        title: args.title.clone().unwrap_or_else(|| title(&profiles)),
        classes: classes(&profiles),
        profiles,
        is_seed: args.seed_compat,
    };
    let mut cells = Cells::new(args.spreadsheet);
    match breakdown.is_seed {
        true => result_csv::write_like_gputrc2graph(&breakdown, &mut cells)?,
        false => result_csv::write_own(&breakdown, &mut cells)?,
    }
    let (table, formulas) = cells.finish()?;
    let page = page::render(&breakdown)?;
    std::fs::create_dir_all(&args.out_dir).map_err(|e| Error::io(&args.out_dir, e))?;
    for replaced in [&csv, &html].into_iter().filter(|path| path.exists()) {
        note(&format!("replaced {}", replaced.display()));
    }
    // Put both files in place only after both are written.
    replace(&csv, |fresh| {
        std::fs::write(fresh, &table).map_err(|e| Error::io(&csv, e))?;
        replace(&html, |fresh| std::fs::write(fresh, &page).map_err(|e| Error::io(&html, e)))
    })?;
    let written = [(csv, table.len()), (html, page.len())];
    if formulas > 0 && !args.spreadsheet {
        note(FORMULAS);
    }
    let text = fitted(summary(&breakdown, &written));
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

fn ask(
    args: &Args,
    catalog: &Catalog,
    input: Input,
    label: String,
    map: ClassMap,
    clock: &mut Clock,
) -> Result<Profile> {
    let options = args.keep.export_options(args.nsys_cmd.as_deref());
    let report = clock.pause(|| Report::open(&input.path, &options))?;
    let schema = Schema::detect(&report)?;
    let mut opened = Opened { report, schema };
    let question =
        Question { merge_devices: args.merge_devices || args.seed_compat, graphs: !args.seed_compat };
    let answer = Answer::ask(&mut opened, catalog, question, &clock.limits())?;
    let total = match (input.elapsed_ns(), args.seed_compat) {
        (0, true) => Total::None,
        (0, false) => Total::Span,
        (ns, _) => Total::Given(ns),
    };
    let mut profile =
        Profile { report: opened.report.name(), notes: Vec::new(), input, label, map, total, answer };
    profile.notes = notes(&profile, args.seed_compat);
    Ok(profile)
}

/// Notes that a reader needs to judge the figures.
fn notes(profile: &Profile, is_seed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let busy = profile.answer.bars.iter().map(Bar::busy_ns).max().unwrap_or_default();
    if let Total::Given(ns) = profile.total
        && ns < busy
    {
        notes.push(format!(
            "the GPU worked for {}, longer than the {} given: the elapsed time is set to the GPU's time, \
             and CPU(non-GPU) is 0",
            time(busy),
            time(ns)
        ));
    }
    let graphs = profile.answer.span.graph_count;
    if graphs > 0 {
        let treatment = match is_seed {
            true => "they are left out, as in gputrc2graph",
            false => "each counts as one operation of the class cuda_graph",
        };
        let executions = if graphs == 1 { "execution" } else { "executions" };
        notes.push(format!(
            "{graphs} {executions} of CUDA graphs were traced as a whole, without their kernels: \
             {treatment}; capture with --cuda-graph-trace=node to see the kernels"
        ));
    }
    notes
}

fn title(profiles: &[Profile]) -> String {
    let labels: Vec<&str> = profiles.iter().map(|profile| profile.label.as_str()).collect();
    format!("Elapsed time of {}", labels.join(", "))
}

/// All classes, by their time in all profiles together, then by name.
fn classes(profiles: &[Profile]) -> Vec<String> {
    let mut sums = std::collections::BTreeMap::<String, i64>::new();
    for bar in profiles.iter().filter_map(|profile| profile.answer.bars.first()) {
        for (class, ns) in bar.classes() {
            let sum = sums.entry(class.to_owned()).or_default();
            *sum = sum.saturating_add(ns);
        }
    }
    let mut sums: Vec<(String, i64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums.into_iter().map(|(class, _)| class).collect()
}

/// The main figures, and the files written.
fn summary(breakdown: &Breakdown, written: &[(PathBuf, usize)]) -> String {
    let mut text = String::new();
    for profile in &breakdown.profiles {
        let line = format!(
            "{}: elapsed time {}; class map {}\n",
            visible(&profile.label),
            profile.elapsed_text(),
            visible(&profile.map.name)
        );
        text.push_str(&line);
        for bar in &profile.answer.bars {
            let name = match bar.device {
                Some(device) => format!("GPU {device}"),
                None if profile.answer.bars.len() > 1 => "all GPUs".to_owned(),
                None => "GPU".to_owned(),
            };
            let (total, busy) = (profile.total_ns(bar), bar.busy_ns());
            let mut classes: Vec<(&str, i64)> = bar.classes().into_iter().collect();
            classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            let largest: Vec<String> = classes
                .iter()
                .take(3)
                .map(|(class, ns)| format!("{} {}", visible(class_name(class)), percent(*ns, busy)))
                .collect();
            text.push_str(&format!(
                "  {name}: busy for {} of the {} elapsed ({}); of that busy time: {}\n",
                time(busy),
                time(total),
                percent(busy, total),
                largest.join(", ")
            ));
        }
        for device in &profile.answer.devices {
            text.push_str(&format!(
                "  what fills {}: {}\n",
                visible(&device.title()),
                visible(&device.limit())
            ));
        }
        for note in &profile.notes {
            text.push_str(&format!("  note: {}\n", visible(note)));
        }
    }
    for (path, len) in written {
        text.push_str(&format!("wrote {} ({len} bytes)\n", visible(&path.display().to_string())));
    }
    text
}

/// The name of a class for people. Classes of gputrc2graph can have an empty name.
fn class_name(class: &str) -> &str {
    if class.is_empty() { "(no class)" } else { class }
}
