//! `nsq classes`: the page `classes`, for reports and for the CSV tables and configs of the tools before nsq.

mod class_map;
mod inputs;
mod loaded;
mod report;
mod sections;
mod tagged;

use super::failures::{Failure, complain_of_all};
use super::note;
use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{self, OutputArgs, must_differ};
use crate::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use crate::page::{PageRequest, ReportInput};
use crate::render::{Format, visible};
use crate::table::ResultTable;
use inputs::Input;
use std::path::PathBuf;

/// Sum GPU time by class of kernel, per iteration, and measure exposed and idle time
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq classes report.sqlite --iter-tag step
  nsq classes before.sqlite after.sqlite --iter-tag 'step *' --classes vllm/llama
  nsq classes --kernel-sum kern.csv --nvtx-proj nvtx.csv --mem-time mem.csv --iter-tag step
  nsq classes --config config.json
  nsq classes --config config.json --seed-compat

With --iter-tag the sums cover only work launched in the tagged ranges. nsq counts iterations and GPUs
in the data, and also shows every sum per iteration and GPU. CSV tables always cover the whole capture;
notes tell how that affects the figures.

A config is JSON, with comments and trailing commas allowed. Paths are relative to the working
directory:
  {\"inputs\": [
     {\"format\": \"csv\", \"title\": \"before\",
      \"nsys_csv_file_path\": {\"kernel_sum\": \"k.csv\", \"nvtx_proj_trace\": \"n.csv\",
                             \"mem_time_sum\": null},
      \"analysis_args\": {\"num_of_iters\": 5, \"num_of_gpus\": 1, \"nvtx_tag_of_iter\": \"step\"}},
     {\"format\": \"nsys-rep\", \"title\": \"after\",  // or sqlite
      \"nsys_report\": {\"path\": \"r.nsys-rep\", \"with_nvtx\": true, \"with_mem\": true},
      \"analysis_args\": {\"num_of_iters\": 5, \"nvtx_tag_of_iter\": \"step\"}}],
   \"kernel_to_class_map\": {\"gemm\": \"gemm\", \"fmha_\": \"attention\"}}")]
pub(super) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces.
    #[arg(value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// JSON file that lists the inputs and the classes.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["reports", "kernel_sum", "iter_tag", "iters", "gpus", "title"]
    )]
    config: Option<PathBuf>,
    /// CSV of kernels from `nsys stats -r cuda_gpu_kern_sum --format csv`, instead of a report.
    #[arg(long, value_name = "FILE", conflicts_with = "reports")]
    kernel_sum: Option<PathBuf>,
    /// CSV of NVTX ranges from nvtx_gpu_proj_trace, for --kernel-sum.
    #[arg(long, value_name = "FILE", requires = "kernel_sum")]
    nvtx_proj: Option<PathBuf>,
    /// CSV of memory operations from cuda_gpu_mem_time_sum, for --kernel-sum.
    #[arg(long, value_name = "FILE", requires = "kernel_sum")]
    mem_time: Option<PathBuf>,
    /// Name of the NVTX ranges that are iterations; default: the name given with --iter.
    ///
    /// The domain is optional, and * and ? are wildcards. `step` also matches `step 0`, `step 1`, … if no
    /// range is named exactly `step`.
    #[arg(long, value_name = "TAG")]
    iter_tag: Option<String>,
    /// Iterations in the capture; default: the number of tagged ranges per process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    iters: Option<i64>,
    /// GPUs in the capture; default: the GPUs with work, or one per process for CSV tables.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    gpus: Option<i64>,
    /// Class map: NAME, FILE or FILE#NAME; default: the config's map, else `default`.
    ///
    /// A file is JSON or YAML; a config works too. `nsq list --classes` lists the available maps.
    #[arg(long, value_name = "MAP")]
    classes: Option<String>,
    /// Refuse a map in which one key is part of another, instead of using the first match.
    #[arg(long)]
    strict: bool,
    /// Print the text block of the original tool, number for number.
    ///
    /// Counts per iteration are rounded down for each kernel, shares are of all kernels except NCCL's, and
    /// sums cover the whole capture.
    #[arg(
        long,
        alias = "seed_compat",
        value_name = "LABELS",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "analyzer"
    )]
    seed_compat: Option<Labels>,
    /// Heading; default: the file name.
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    if args.seed_compat.is_some() && args.output.format()? != Format::Text {
        return Err(Error::usage(
            "--seed-compat prints text only",
            "leave out --format and end the name of -o in .txt, or leave out --seed-compat",
        ));
    }
    let (inputs, map) = inputs::collect(args)?;
    must_differ(args.output.output.as_deref(), inputs.iter().flat_map(Input::files))?;
    let mut catalog = args.library.load()?;
    let map = class_map::choose(&mut catalog, args, map)?;
    let mut params = vec![format!("overlaps={}", map.is_given)];
    if let Some(labels) = args.seed_compat {
        params.extend(["seed=true".to_owned(), format!("labels={}", labels.name())]);
        params.push(format!("classes={}", serde_json::json!(map.classes)));
    }
    let request = PageRequest::new(&catalog, "classes", &params, visible)?;
    let (mut reports, mut answered, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for input in &inputs {
        match input.load(args, &catalog) {
            Ok(loaded) => {
                let about = ReportInput { name: input.title.clone(), ..ReportInput::default() };
                reports.push(request.given(about, &loaded.tables));
                answered.push(Answered { input, tag: loaded.tag, notes: loaded.notes });
            }
            Err(error) if inputs.len() == 1 || matches!(error, Error::Interrupted) => return Err(error),
            Err(error) => {
                failures.push(Failure { name: &input.title, path: input.main_file(), error });
            }
        }
    }
    let answer = match reports.is_empty() {
        true => None,
        false => {
            let asked = request.answer(reports, &args.limits.limits())?;
            Some(asked.map_err(|none| none.into_error("classes", inputs[0].main_file(), true))?)
        }
    };
    let table = |name: &str| {
        let mut tables = answer.iter().flat_map(|answer| &answer.tables);
        tables.find(|table| table.name == name).map(|table| &table.table)
    };
    for row in table("notes").into_iter().flat_map(ResultTable::iter) {
        let side = row.int("side").and_then(|side| usize::try_from(side).ok());
        if let (Some(of), Some(text)) = (side.and_then(|side| answered.get_mut(side)), row.text("note"))
        {
            of.notes.push(text.to_owned());
        }
    }
    for Answered { input, notes, .. } in &answered {
        for text in notes {
            note(&format!("{}: {text}", input.title));
        }
    }
    let code = complain_of_all(&failures);
    // Never write a file that lacks an input. On a terminal the other inputs are still useful.
    let Some(answer) =
        answer.as_ref().filter(|_| matches!(code, 0 | EXIT_LACKS_DATA) || args.output.output.is_none())
    else {
        note("nothing was written");
        return Ok(if code == 0 { EXIT_FAILED } else { code });
    };
    match args.seed_compat {
        Some(_) => {
            let text = answer.layout("seed")?;
            output::write_to(args.output.output.as_deref(), |out| {
                out.write_all(text.as_bytes()).map_err(Error::Output)
            })?;
        }
        None => sections::write(&args.output, &map.name, &answered, &table)?,
    }
    Ok(code)
}

/// An input that was read.
struct Answered<'i> {
    input: &'i Input,
    tag: Option<String>,
    notes: Vec<String>,
}

/// The tool whose labels the block of --seed-compat has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Labels {
    /// Labels of GPU Performance Analyser, with short names of memory operations.
    Analyzer,
    /// Labels of kernel_stats.py, its predecessor, with full names of memory operations.
    KernelStats,
}

impl Labels {
    /// Its name as a parameter of the page.
    fn name(self) -> &'static str {
        match self {
            Self::Analyzer => "analyzer",
            Self::KernelStats => "kernel_stats",
        }
    }
}
