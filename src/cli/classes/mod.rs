//! `nsq classes`: GPU time by class of kernel, per iteration, and what it leaves of the iterations.

mod classifier;
mod inputs;
mod report;
mod sections;
mod seed_block;

use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{self, OutputArgs, must_differ};
use super::{complain, note};
use crate::class_summary::{
    IterationHints, Iterations, Measured, SeedSummary, Summary, Tables, Tag, summarize,
};
use crate::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use crate::render::Format;
use classifier::Classifier;
use inputs::Input;
use std::path::PathBuf;

/// Sum GPU time by class of kernel, per iteration, and see what it leaves of the iterations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq classes report.sqlite --iter-tag step
  nsq classes before.sqlite after.sqlite --iter-tag 'step *' --classes vllm/llama
  nsq classes --kernel-sum kern.csv --nvtx-proj nvtx.csv --mem-time mem.csv --iter-tag step
  nsq classes --config config.json
  nsq classes --config config.json --seed-compat

With --iter-tag only work that the tagged ranges launched is in the sums; iterations and GPUs are
counted in the data, and everything is also divided by them. Tables of sums (CSV) hold the whole
capture and cannot be cut; notes say what that does to the figures.

A config is JSON; comments and trailing commas are welcome. Paths are relative to the working
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
    /// What to analyse, and the classes, as JSON.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["reports", "kernel_sum", "iter_tag", "iters", "gpus", "title"]
    )]
    config: Option<PathBuf>,
    /// Kernels as `nsys stats -r cuda_gpu_kern_sum --format csv` wrote them, instead of a report.
    #[arg(long, value_name = "FILE", conflicts_with = "reports")]
    kernel_sum: Option<PathBuf>,
    /// NVTX ranges to go with --kernel-sum, from nvtx_gpu_proj_trace.
    #[arg(long, value_name = "FILE", requires = "kernel_sum")]
    nvtx_proj: Option<PathBuf>,
    /// Memory operations to go with --kernel-sum, from cuda_gpu_mem_time_sum.
    #[arg(long, value_name = "FILE", requires = "kernel_sum")]
    mem_time: Option<PathBuf>,
    /// NVTX range that is one iteration; default: what --iter names.
    ///
    /// With or without its domain; * and ? stand for anything; `step` also means `step 0`, `step 1`, …
    #[arg(long, value_name = "TAG")]
    iter_tag: Option<String>,
    /// Iterations in the capture; default: as often as the tag occurs, by process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    iters: Option<i64>,
    /// GPUs in the capture; default: those with work, in tables one for each process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    gpus: Option<i64>,
    /// Class map: NAME, FILE or FILE#NAME; default: the config's, else `default`.
    ///
    /// A file is JSON or YAML, also a config of this kind. `nsq list --classes` names those in reach.
    #[arg(long, value_name = "MAP")]
    classes: Option<String>,
    /// Refuse a map in which one key is part of another, instead of taking the first that fits.
    #[arg(long)]
    strict: bool,
    /// Print the block of the tool that the config was written for, figure for figure.
    ///
    /// analyzer is GPU Performance Analyser; kernel-stats is its forerunner, kernel_stats.py, with other
    /// labels and unshortened memory operations. Counts are floored for each kernel, shares are of all
    /// kernels but NCCL's, and the sums are of the whole capture.
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
    /// Heading; default: the name of the file.
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
            "the block of --seed-compat is text",
            "leave --format out and give -o a name that ends in .txt, or leave --seed-compat out",
        ));
    }
    let (inputs, map) = inputs::collect(args)?;
    must_differ(args.output.output.as_deref(), inputs.iter().flat_map(Input::files))?;
    let mut catalog = args.library.load()?;
    let classifier = Classifier::choose(&mut catalog, args, map)?;
    let mut answers = Vec::new();
    let mut code = 0;
    for input in &inputs {
        match answer(args, &catalog, &classifier, input) {
            Ok(answer) => answers.push(answer),
            Err(error) if inputs.len() == 1 || matches!(error, Error::Interrupted) => return Err(error),
            Err(error) => {
                note(&format!("{} could not be summed up:", input.title));
                let worse = complain(&error);
                code = if code == 0 || code == EXIT_LACKS_DATA { worse } else { code };
            }
        }
    }
    // A file appears whole or not at all; on a terminal the others still help.
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

/// What is said of one input.
struct Answer {
    title: String,
    tag: Option<String>,
    classes: String,
    iterations: Iterations,
    notes: Vec<String>,
    summary: Summary,
    /// With --seed-compat.
    seed: Option<SeedSummary>,
}

/// What one input holds, wherever it came from.
struct Loaded {
    tables: Tables,
    tag: Option<Tag>,
    /// GPUs with work.
    gpus: Option<i64>,
    /// The sums are of the tagged ranges alone.
    within: bool,
    measured: Vec<Measured>,
    notes: Vec<String>,
}

fn answer(
    args: &Args,
    catalog: &crate::catalog::Catalog,
    classifier: &Classifier,
    input: &Input,
) -> Result<Answer> {
    let Loaded { tables, tag, gpus, within, measured, mut notes } = input.load(args, catalog)?;
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
    let (iterations, odd) = Iterations::count(tables.ranges.as_deref(), &hints)?;
    let (summary, seed) = if compat {
        let map = classifier.seed_map()?;
        let count = match (input.iterations, iterations.windows) {
            (Some(count), _) => count,
            (None, 0) => {
                return Err(Error::usage(
                    format!("{}: the number of iterations is not known", input.title),
                    "give --iters, or an --iter-tag whose ranges can be counted",
                ));
            }
            (None, windows) => windows,
        };
        let seed = SeedSummary::new(&tables, map, &iterations, count, input.gpus.unwrap_or(1));
        notes.extend(seed.remarks.iter().cloned());
        // Of the notes on iterations the block has its own; why nothing was found, it does not say.
        notes.extend(odd.into_iter().filter(|_| iterations.windows == 0));
        (Summary { rows: Vec::new(), notes: Vec::new() }, Some(seed))
    } else {
        notes.extend(odd);
        if iterations.iterations.is_none() && tag.is_none() {
            notes.push(
                "how many iterations this is, is not known: give --iter-tag or --iters; \
                 `nsq run REPORT --query iterations` finds the likeliest ranges"
                    .to_owned(),
            );
        }
        (summarize(&tables, &|name| classifier.class_of(name), &iterations, &measured, within), None)
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
