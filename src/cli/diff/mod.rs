//! `nsq diff`: compares two reports, and tells changes from noise.

mod asking;
mod gate;
mod iterations;
mod page;
mod side;
mod tables;
mod words;

use super::note;
use super::opened::{Opened, nsq_heading};
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ, write_to};
use crate::comparison::{self, Comparison, Per, Section};
use crate::error::{EXIT_FAILED, Error, Result};
use crate::normalize::{Attribute, Scope};
use crate::render::{Format, Heading};
use crate::schema::Schema;
use asking::InputReport;
use gate::Gate;
use serde_json::json;
use side::Answer;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Compare two reports: what got faster or slower, where, by how much, and whether it is more than noise
///
/// A is before, B is after. Like is compared with like: kernels of one name by launch shape, copies by
/// size. Each change is split into three parts that add up: more or fewer calls, a different cost per
/// call, and work in one report only. "Faster" and "slower" compare the cost per call, or the time per
/// iteration. A change in call count is listed separately.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq diff before.sqlite after.sqlite
  nsq diff before.sqlite after.sqlite --iter step --skip 1 --attribute process
  nsq diff before.sqlite after.sqlite --section kernels --top 0 -o kernels.csv
  nsq diff main.sqlite branch.sqlite --gate 5 -o diff.html       exit 1 if something is over 5 % slower

Costs are compared per iteration if both reports have iterations, else per call: the lengths of two
captures are not comparable.

A change is `within noise` if it is no larger than the noise bound. The bound comes from the spread over
calls, ranges or iterations within each run (Welch's test). It does not cover differences between runs,
such as clocks or temperature; compare two runs of one program to see those.

--gate fails if one of these is slower by more than noise and more than PCT: an iteration; all kernels,
all collectives or all copies together; a row with at least 1 % of its section. Copies with less than 1 %
of the GPU's time never fail it. API calls can fail it only with --section api, because a call that waits
takes longer when the CPU gets faster. An inconclusive gate passes, with a note.")]
pub(super) struct Args {
    /// The report before: a SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The report after.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Show only this section; may be repeated.
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    section: Vec<SectionArg>,
    /// Rows per section, 0 for all; default: 10 in text and markdown, 50 in html, all in other formats.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Exit 1 if something is slower by more than PCT percent and by more than noise.
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    gate: Option<f64>,
    /// Skip the first N iterations of each thread, as warm-up.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Confidence level of the noise bound, in percent.
    #[arg(long, value_name = "PCT", default_value_t = 99.0, value_parser = confidence)]
    confidence: f64,
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
    #[command(flatten)]
    classes: ClassArgs,
}

/// A value of `--section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum SectionArg {
    GpuTime,
    Kernels,
    Classes,
    Layers,
    Nccl,
    Memory,
    Api,
}

impl SectionArg {
    fn section(self) -> Section {
        match self {
            Self::GpuTime => Section::GpuTime,
            Self::Kernels => Section::Kernels,
            Self::Classes => Section::Classes,
            Self::Layers => Section::Layers,
            Self::Nccl => Section::Nccl,
            Self::Memory => Section::Memory,
            Self::Api => Section::Api,
        }
    }
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    number
        .ok()
        .filter(|pct| pct.is_finite() && *pct >= 0.0)
        .ok_or_else(|| "expected a percentage of 0 or more, such as 5".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    percentage(text)
        .ok()
        .filter(|pct| (50.0..100.0).contains(pct))
        .ok_or_else(|| "expected a percentage of at least 50 and below 100, such as 99".to_owned())
}

/// Facts for the sentences that are not in the comparison.
struct Facts {
    /// The name of the iterations and their count in A and in B, or the reason why there are none.
    iterations: std::result::Result<(String, i64, i64), String>,
    /// For each side: calls and time of all kernels, then of those in the iterations.
    kernels: [Option<[(i64, i64); 2]>; 2],
    /// Window lengths of both sides, and what a window is.
    windows: Option<([i64; 2], &'static str)>,
    layers_on_cpu: bool,
    /// The windows come from --time, --window or a cut report, not from the first to the last operation.
    is_timed: bool,
    /// No GPU worked in any window.
    is_idle: bool,
    by_thread: bool,
    confidence_pct: f64,
}

/// Everything to print.
struct Diff {
    title: String,
    heading: Heading,
    comparison: Comparison,
    facts: Facts,
    answers: Vec<(&'static str, String)>,
    gate: Option<Gate>,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    must_differ(args.output.output.as_deref(), [args.a.as_path(), args.b.as_path()])?;
    let format = args.output.format()?;
    let wanted: Vec<Section> = match args.section.as_slice() {
        [] => Section::ALL.to_vec(),
        named => named.iter().map(|section| section.section()).collect(),
    };
    let mut catalog = args.library.load()?;
    let statements: Vec<String> = [true, false]
        .into_iter()
        .flat_map(|per_iteration| {
            wanted
                .iter()
                .flat_map(move |section| side::queries_of(*section, per_iteration, per_iteration))
        })
        .map(|name| catalog.query(name).map(|query| query.sql.clone()))
        .collect::<Result<_>>()?;
    args.classes.choose(&mut catalog, statements.iter().map(String::as_str))?;
    let [a, b] = [Opened::open(&args.a, &args.open)?, Opened::open(&args.b, &args.open)?];
    let limits = args.limits.limits();
    let input = |opened, label| InputReport {
        catalog: &catalog,
        opened,
        limits: &limits,
        label,
        notes: RefCell::new(BTreeSet::new()),
    };
    let reports = [input(&a, "A"), input(&b, "B")];
    let scopes = [args.scope.resolve(&a.schema)?, args.scope.resolve(&b.schema)?];
    let headings = [a.heading(&scopes[0]), b.heading(&scopes[1])];
    let found = iterations::choose([&reports[0], &reports[1]], [&scopes[0], &scopes[1]], args.skip)?;
    let known = found.as_ref().ok();
    let answers =
        [reports[0].answer(&scopes[0], known, &wanted)?, reports[1].answer(&scopes[1], known, &wanted)?];
    for report in &reports {
        for text in report.notes.borrow().iter() {
            note(&format!("{}: {text}", report.label));
        }
    }
    let iterations = match (found, answers[0].iterations, answers[1].iterations) {
        (Ok(found), Some(a), Some(b)) => Ok((found.label, a, b)),
        (Ok(found), a, b) => {
            let which = match (a, b) {
                (None, None) => "neither report has an",
                (None, _) => "A has no",
                _ => "B has no",
            };
            let skipped = if args.skip > 0 { " after --skip" } else { "" };
            Err(format!("{which} instance of `{}` in the scope{skipped}", found.label))
        }
        (Err(why), ..) => Err(why),
    };
    let per = match &iterations {
        Ok((_, a, b)) => Per::Iteration(*a, *b),
        Err(_) => Per::Report,
    };
    let comparison =
        comparison::compare(&answers[0].side, &answers[1].side, per, &wanted, args.confidence / 100.0);
    if comparison.rows.is_empty() && comparison.totals.is_empty() && !answers.iter().all(has_windows) {
        return Err(nothing(args));
    }
    let facts = Facts {
        iterations,
        kernels: [answers[0].kernels, answers[1].kernels],
        windows: windows(&answers, [&a.schema, &b.schema], is_timed(&scopes)),
        is_timed: is_timed(&scopes),
        is_idle: answers
            .iter()
            .flat_map(|answer| answer.side.windows.iter().flatten())
            .all(|window| window.parts[..3] == [0; 3]),
        layers_on_cpu: answers.iter().all(|answer| answer.layers_on_cpu),
        by_thread: scopes.iter().any(|scope| scope.attribute == Attribute::Thread),
        confidence_pct: args.confidence,
    };
    let api_was_named = args.section.contains(&SectionArg::Api);
    let gate = args.gate.map(|limit| gate::judge(&comparison, limit, api_was_named));
    let names = headings.each_ref().map(|heading| {
        heading.facts.get("report").and_then(|name| name.as_str()).unwrap_or_default().to_owned()
    });
    let mut diff = Diff {
        title: format!("{} → {}", names[0], names[1]),
        heading: Heading::default(),
        answers: words::answers(&comparison, &facts),
        comparison,
        facts,
        gate,
    };
    diff.heading = heading(&diff, headings);
    write(args, format, &diff)?;
    Ok(conclude(&diff))
}

fn has_windows(answer: &Answer) -> bool {
    answer.side.windows.is_some()
}

fn nothing(args: &Args) -> Error {
    Error::LacksData {
        query: "diff".to_owned(),
        needs: "data that both reports have".to_owned(),
        report: args.b.clone(),
        detail: format!("  no section has data in both this report and {}", args.a.display()),
        help: "see what each report holds with `nsq schema`, or widen --section and the scope options"
            .to_owned(),
    }
}

/// Whether the command line or a cut report sets the time window.
fn is_timed(scopes: &[Scope; 2]) -> bool {
    scopes
        .iter()
        .any(|scope| scope.start_ns.is_some() || scope.end_ns.is_some() || !scope.windows.is_empty())
}

/// Window lengths of both sides: the longest GPU window of each, or the length of the captures.
fn windows(
    answers: &[Answer; 2],
    schemas: [&Schema; 2],
    is_timed: bool,
) -> Option<([i64; 2], &'static str)> {
    let on_gpu = |answer: &Answer| {
        let windows = answer.side.windows.as_ref()?.iter();
        windows.map(|window| window.parts.iter().fold(0i64, |sum, part| sum.saturating_add(*part))).max()
    };
    match (on_gpu(&answers[0]), on_gpu(&answers[1])) {
        (Some(a), Some(b)) if is_timed => Some(([a, b], "GPU window in the scope")),
        (Some(a), Some(b)) => Some(([a, b], "from first to last GPU operation")),
        _ => Some(([schemas[0].capture_ns?, schemas[1].capture_ns?], "length of the capture")),
    }
}

/// The facts beside the rows in JSON.
fn heading(diff: &Diff, [a, b]: [Heading; 2]) -> Heading {
    let mut heading = nsq_heading();
    heading.title = diff.title.clone();
    let mut fact = |key: &str, value: serde_json::Value| heading.facts.insert(key.to_owned(), value);
    fact("a", a.facts.into());
    fact("b", b.facts.into());
    fact(
        "answers",
        diff.answers
            .iter()
            .map(|(question, answer)| json!({"question": question, "answer": answer}))
            .collect(),
    );
    fact("compared", if diff.facts.iterations.is_ok() { "per iteration" } else { "per call" }.into());
    if let Ok((label, a, b)) = &diff.facts.iterations {
        fact("iterations", json!({"range": label, "a": a, "b": b}));
    }
    fact("confidence_pct", diff.facts.confidence_pct.into());
    let totals: Vec<serde_json::Value> = diff
        .comparison
        .totals
        .iter()
        .map(|total| {
            let cost = total.cost.as_ref();
            json!({
                "section": total.section.as_str(),
                "calls_a": total.a.0,
                "calls_b": total.b.0,
                "total_a_ns": total.a.1,
                "total_b_ns": total.b.1,
                "change_ns": total.change_ns[0],
                "calls_effect_ns": total.change_ns[1],
                "cost_effect_ns": total.change_ns[2],
                "other_effect_ns": total.change_ns[3],
                "verdict": cost.map(|(_, verdict)| verdict.as_str()),
                "cost_change_pct": cost.and_then(|(cost, _)| cost.change_pct),
                "noise_pct": cost.and_then(|(cost, _)| cost.noise_pct),
                "compared_pct": cost.map(|(cost, _)| cost.compared_pct),
                "same_rows": total.same,
            })
        })
        .collect();
    fact("totals", totals.into());
    let lacking = diff.comparison.lacking.iter();
    let lacking: serde_json::Value = lacking
        .map(|(section, a_lacks)| json!({"section": section.as_str(), "report": if *a_lacks { "a" } else { "b" }}))
        .collect();
    fact("lacking", lacking);
    if let Some(gate) = &diff.gate {
        let failures = &gate.failures;
        fact(
            "gate",
            json!({
                "limit_pct": gate.limit_pct,
                "passed": failures.is_empty(),
                "failures": failures,
                "judged_pct": gate.judged_pct,
            }),
        );
    }
    heading
}

/// Rows per section: as requested, else a default for the format.
fn top(args: &Args, format: Format) -> Option<usize> {
    match (args.top, format) {
        (Some(0), _) => None,
        (Some(top), _) => Some(top),
        (None, Format::Text | Format::Markdown) => Some(10),
        (None, Format::Html) => Some(50),
        (None, _) => None,
    }
}

fn write(args: &Args, format: Format, diff: &Diff) -> Result<()> {
    let top = top(args, format);
    let is_for_people = matches!(format, Format::Text | Format::Markdown | Format::Html);
    if !is_for_people || args.output.raw {
        return args.output.table(&diff.heading, &tables::long(&diff.comparison, top));
    }
    let tables = tables::sections(&diff.comparison, &diff.facts, top);
    if format == Format::Html {
        let page = page::render(diff, &tables)?;
        return write_to(args.output.output.as_deref(), |out| {
            out.write_all(page.as_bytes()).map_err(Error::Output)
        });
    }
    args.output.write(tables.len(), |writer| {
        let mut lines: Vec<(&str, String)> = diff.answers.clone();
        lines.extend(diff.gate.iter().map(|gate| ("gate", gate.to_string())));
        writer.lead(&diff.title, &lines)?;
        for table in &tables {
            let heading = Heading { title: table.title.clone(), ..Heading::default() };
            let rows = table.as_result();
            writer.result(&heading, |sink| rows.replay(sink))?;
        }
        Ok(())
    })
}

/// Prints why the gate failed, and returns the exit code.
fn conclude(diff: &Diff) -> u8 {
    match &diff.gate {
        Some(gate) if !gate.failures.is_empty() => {
            eprintln!("gate: failed");
            for failure in &gate.failures {
                eprintln!("  {}", crate::render::visible(failure));
            }
            EXIT_FAILED
        }
        Some(gate) if !gate.is_conclusive && !words::is_empty(&diff.comparison) => {
            note(&format!("the gate is {gate}"));
            0
        }
        _ => 0,
    }
}
