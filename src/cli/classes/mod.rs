//! `nsq classes`: GPU time by class of kernel, per iteration, with exposed and idle time.

mod classifier;
mod inputs;
mod report;
mod sections;
mod seed_block;

use super::failures::{Failure, complain_of_all};
use super::note;
use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{self, OutputArgs, must_differ};
use crate::class_summary::{
    IterationHints, Iterations, Measured, SeedSummary, Summary, Tables, Tag, summarize,
};
use crate::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use crate::render::Format;
use classifier::Classifier;
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
    seed_compat: Option<seed_block::Labels>,
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
    let classifier = Classifier::choose(&mut catalog, args, map)?;
    let (mut answers, mut failures) = (Vec::new(), Vec::new());
    for input in &inputs {
        match answer(args, &catalog, &classifier, input) {
            Ok(answer) => answers.push(answer),
            Err(error) if inputs.len() == 1 || matches!(error, Error::Interrupted) => return Err(error),
            Err(error) => {
                failures.push(Failure { name: &input.title, path: input.main_file(), error });
            }
        }
    }
    let code = complain_of_all(&failures);
    // Never write a file that lacks an input. On a terminal the other inputs are still useful.
    if answers.is_empty() || !matches!(code, 0 | EXIT_LACKS_DATA) && args.output.output.is_some() {
        note("nothing was written");
        return Ok(if code == 0 { EXIT_FAILED } else { code });
    }
    match args.seed_compat {
        Some(labels) => output::write_to(args.output.output.as_deref(), |out| {
            let blocks =
                answers.iter().filter_map(|answer| Some((answer.title.as_str(), answer.seed.as_ref()?)));
            let text = seed_block::print(blocks, labels);
            out.write_all(text.as_bytes()).map_err(Error::Output)
        })?,
        None => sections::write(&args.output, &answers)?,
    }
    Ok(code)
}

/// The result for one input.
struct Answer {
    title: String,
    tag: Option<String>,
    classes: String,
    iterations: Iterations,
    notes: Vec<String>,
    summary: Summary,
    /// Set with --seed-compat.
    seed: Option<SeedSummary>,
}

/// The data of one input, from a report or from CSV tables.
struct Loaded {
    tables: Tables,
    tag: Option<Tag>,
    /// Number of GPUs with work, if the report has it.
    gpus: Option<i64>,
    /// The sums cover only work launched in the tagged ranges.
    only_tagged: bool,
    measured: Vec<Measured>,
    /// The report, if it has NVTX ranges that can be iterations.
    with_ranges: Option<PathBuf>,
    notes: Vec<String>,
}

fn answer(
    args: &Args,
    catalog: &crate::catalog::Catalog,
    classifier: &Classifier,
    input: &Input,
) -> Result<Answer> {
    let Loaded { tables, tag, gpus, only_tagged, measured, with_ranges, mut notes } =
        input.load(args, catalog)?;
    tables.check_sums(&input.title)?;
    let hints = IterationHints {
        tag: tag.as_ref(),
        iterations: input.iterations,
        gpus: input.gpus,
        gpus_found: gpus,
    };
    let compat = args.seed_compat.is_some();
    let hints = if compat {
        IterationHints { gpus: Some(input.gpus.unwrap_or(1)), gpus_found: None, ..hints }
    } else {
        hints
    };
    let (iterations, iteration_notes) = Iterations::count(tables.ranges.as_deref(), &hints)?;
    let (summary, seed) = if compat {
        let map = classifier.seed_map()?;
        let count = match (input.iterations, iterations.windows) {
            (Some(count), _) => count,
            (None, 0) => {
                return Err(Error::usage(
                    format!("{}: iteration count not detected", input.title),
                    "give --iters N, or an --iter-tag that matches ranges",
                ));
            }
            (None, windows) => windows,
        };
        let seed = SeedSummary::new(&tables, map, &iterations, count, input.gpus.unwrap_or(1));
        notes.extend(seed.remarks.iter().cloned());
        // The block has its own notes on iterations, but none that says why no range was found.
        notes.extend(iteration_notes.into_iter().filter(|_| iterations.windows == 0));
        (Summary { rows: Vec::new(), notes: Vec::new() }, Some(seed))
    } else {
        notes.extend(iteration_notes);
        if iterations.iterations.is_none() && tag.is_none() {
            let help = match with_ranges {
                Some(report) => format!(
                    "give --iters N, or --iter-tag with a name from `nsq run {} --query range_names`",
                    report.display()
                ),
                None => "give --iters N".to_owned(),
            };
            notes.push(format!("iteration count not detected: {help}"));
        }
        (
            summarize(&tables, &|name| classifier.class_of(name), &iterations, &measured, only_tagged),
            None,
        )
    };
    notes.extend(summary.notes.iter().cloned());
    for text in &notes {
        note(&format!("{}: {text}", input.title));
    }
    Ok(Answer {
        title: input.title.clone(),
        tag: tag.map(|tag| tag.spelled().to_owned()),
        classes: classifier.name(),
        iterations,
        notes,
        summary,
        seed,
    })
}
