//! `nsq diff`: the page `diff`, for two reports or for several runs of two programs.

mod gate;
mod runs;

use super::messages::complain;
use super::note;
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs, ThreadArgs};
use super::output::{OutputArgs, fitted, must_differ, write_to};
use super::page::show;
use super::reports::{open, tell as tell_notes};
use super::{baseline, baselines, reports};
use gate::{GateArgs, confidence, tell_github};
use nsq_ask::input::shortest_names;
use nsq_ask::open_report::OpenReport;
use nsq_ask::page::{PageAnswer, PageRequest, not_comparable};
use nsq_ask::request::Request;
use nsq_engine::normalize::Scope;
use nsq_files::whole_file::tell;
use nsq_render::render::Heading;
use nsq_render::render::{Format, quotable, visible};
use nsq_value::error::{EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_NOT_COMPARED, EXIT_USAGE, Error, Result};
use nsq_value::table::ResultTable;
use runs::Side;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compare two reports: what got faster or slower, beyond noise
///
/// A is before, B is after. First comes the whole, per step if both have steps, then kernels,
/// classes, NVTX ranges, collectives, copies and API calls. Like is compared with like: kernels of one name
/// by launch shape, copies by size. Steps are aligned by the sequence of their launches: kernels in each
/// other's place are compared by their sums, also fused, split or under another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq diff before.sqlite after.sqlite
  nsq diff before.sqlite after.sqlite --iter step --skip 1
  nsq diff before.sqlite after.sqlite --section kernels --top 0
  nsq diff --a main-1.sqlite main-2.sqlite main-3.sqlite --b new-1.sqlite new-2.sqlite new-3.sqlite
  nsq diff main.sqlite branch.sqlite --gate 5 --junit gate.xml      for CI
  nsq diff --init-ci github -o .github/workflows/gpu-gate.yml
  nsq diff baseline save main main.sqlite, then nsq diff @main branch.sqlite --gate 5

A change is `within noise` if it is no larger than the noise bound (Welch's test). With one run on each \
side, the bound comes from the spread over steps or calls within the run. That does not cover \
differences between runs, such as clocks or temperature. With several runs a side, it comes from the \
spread between runs. The confidence holds for all rows of a section together.

--gate exits with 0 if B passes: a slowdown of PCT can be detected, and with its noise the change is \
below PCT. It exits with 1 if B is slower by more than noise and more than PCT, and with 4 if the runs are too \
few: then it says how many are enough. The whole decides: the time of a step. Slower kernels and copies \
are listed, and fail the gate with --gate-parts only. If the whole cannot be judged, its parts are. The exit \
code is 5 if a report cannot be read.")]
#[command(
    override_usage = "nsq diff [OPTIONS] <A> <B>\n       nsq diff [OPTIONS] --a <REPORT>... --b <REPORT>...\n       nsq diff baseline <COMMAND>"
)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The report before: a SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "A", required_unless_present_any = ["runs_a", "runs_b", "init_ci"], conflicts_with = "runs_a")]
    a: Option<PathBuf>,
    /// The report after.
    #[arg(value_name = "B", required_unless_present_any = ["runs_a", "runs_b", "init_ci"], conflicts_with = "runs_b")]
    b: Option<PathBuf>,
    /// Several runs of A, instead of one: reports, quoted patterns, or folders that hold these runs.
    #[arg(long = "a", value_name = "REPORT", num_args = 1.., requires = "runs_b")]
    runs_a: Vec<PathBuf>,
    /// Several runs of B.
    #[arg(long = "b", value_name = "REPORT", num_args = 1.., requires = "runs_a")]
    runs_b: Vec<PathBuf>,
    /// Show only this section; may be repeated.
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    section: Vec<Section>,
    /// Rows per section in text, 0 for all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Skip the first N steps of each thread, as warm-up; default: the first of four or more, and those that take much longer.
    #[arg(hide_short_help = true, long, value_name = "N")]
    skip: Option<u32>,
    /// Confidence level of the noise bounds, in percent.
    #[arg(hide_short_help = true, long, value_name = "PCT", default_value_t = 99.0, value_parser = confidence)]
    confidence: f64,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

/// What `nsq diff` does instead of comparing.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Baseline(baseline::Args),
}

/// A value of `--section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Section {
    GpuTime,
    Kernels,
    Classes,
    Layers,
    Nccl,
    Memory,
    Api,
}

/// The page, also of baselines.
pub(super) const DIFF: &str = "diff";

/// The settings of the page that a baseline has answers for, and whether they compare steps.
pub(super) const SETTINGS: [(&str, bool); 2] = [("iterations", true), ("all", false)];

/// Compares. For a report that cannot be read or compared, the exit code is [`EXIT_NOT_COMPARED`]: 1 is a regression.
pub(super) fn run(args: &Args) -> Result<u8> {
    if let Some(Command::Baseline(args)) = &args.command {
        return baseline::run(args);
    }
    let done = compare(args);
    if let Err(error) = &done
        && [EXIT_FAILED, EXIT_USAGE].contains(&error.exit_code())
    {
        gate::tell_failure(&args.gate, error)?;
    }
    match done {
        Err(error) if error.exit_code() == EXIT_FAILED => {
            complain(&error);
            Ok(EXIT_NOT_COMPARED)
        }
        done => done,
    }
}

fn compare(args: &Args) -> Result<u8> {
    if let Some(system) = args.gate.init_ci {
        let text = system.file(args.gate.limit.unwrap_or(5.0));
        let output = args.output.output.as_deref();
        if let Some(path) = output.filter(|path| path.exists()) {
            return Err(Error::usage(
                format!("{} exists already", path.display()),
                "print the text without -o, and add what is missing, or remove the file first",
            ));
        }
        // A repository without workflows has no folder for them.
        if let Some(folder) = output.and_then(Path::parent) {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        }
        write_to(output, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        return Ok(0);
    }
    let (a, b) = (runs::named(&args.a, &args.runs_a)?, runs::named(&args.b, &args.runs_b)?);
    for side in [&a, &b] {
        runs::must_be_others(side)?;
    }
    let paths = [a.as_slice(), &b].concat();
    for output in [&args.output.output, &args.gate.junit] {
        must_differ(output.as_deref(), paths.iter().map(PathBuf::as_path))?;
    }
    let format = args.output.format()?;
    let mut catalog = args.library.load()?;
    args.classes.choose(&mut catalog, [])?;
    let limits = args.limits.limits(args.threads.most());
    let asking = Request { limits, is_strict: true, ..Request::new(&catalog) };
    let mut sides = Vec::new();
    for (path, name) in paths.iter().zip(shortest_names(&paths)) {
        sides.push(args.side(path, name, catalog.classes().chosen())?);
    }
    args.must_be_one_scope(&paths, &sides)?;
    let mut why_not = None;
    loop {
        let request =
            PageRequest::new(&catalog, DIFF, &args.params(a.len(), why_not.as_deref())?, visible)?;
        let reports = runs::answers(&sides, &request, &asking, why_not.is_none())?;
        let answer = request.answer(reports, catalog.classes(), &asking.limits)?;
        let answer = answer.map_err(|none| none.into_error("nsq diff", &paths[0], true))?;
        runs::must_be_other_runs(table(&answer, "runs"), &paths)?;
        args.note_of_skip(&answer);
        // Reports with different steps are asked again, for all of their work.
        match why_not.is_none().then(|| args.not_comparable(&answer)).transpose()?.flatten() {
            Some(reason) => why_not = Some(reason),
            None => {
                let code = args.print(&answer, &sides, format)?;
                if format == Format::Text && sides.iter().all(|side| side.has_samples(&catalog)) {
                    let [a, b] = paths.as_slice() else { return Ok(code) };
                    let (a, b) = (a.display(), b.display());
                    note(&format!(
                        "both have CPU samples: `nsq flame {a} {b} -o change.svg` shows which functions take more"
                    ));
                }
                return Ok(code);
            }
        }
    }
}

/// What the answers of a report depend on, in addition to the page's parameters.
pub(super) fn settings(scope: &Scope, skip: Option<u32>, classes: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([("classes".to_owned(), classes.to_owned())]);
    if let (false, Ok(scope)) = (scope.is_whole(), serde_json::to_string(scope)) {
        settings.insert("scope".to_owned(), scope);
    }
    settings.extend(skip.map(|skip| ("skip".to_owned(), skip.to_string())));
    settings
}

/// The scope of a report: `--iter` names the steps, and leaves out nothing else.
pub(super) fn scope_of(args: &ScopeArgs, opened: &OpenReport) -> Result<Scope> {
    let mut scope = args.resolve(&opened.schema)?;
    match std::mem::take(&mut scope.iterations).as_slice() {
        [] => {}
        [one] if one.instances.is_none() => scope.iteration_name = Some(one.name.clone()),
        [one] => {
            return Err(Error::usage(
                format!("--iter {} selects some steps, and diff compares all", one.spelled),
                "give the name only; --skip N leaves out the first N, and --time selects a part of the report",
            ));
        }
        _ => {
            return Err(Error::usage(
                "--iter is given several times, and it names the steps",
                "give one --iter, with * and ? as wildcards; --nvtx narrows further",
            ));
        }
    }
    Ok(scope)
}

impl Args {
    /// Opens a report, or reads a baseline.
    fn side(&self, path: &Path, name: String, classes: &str) -> Result<Side> {
        if let Some(saved) = baselines::named(path) {
            let (saved, file) = saved?;
            // The scope of a baseline has no report to resolve percentages and names against.
            let wanted = |settings: &BTreeMap<String, String>| {
                ["classes", "skip"].map(|key| settings.get(key).cloned())
            };
            let ours = settings(&Scope::default(), self.skip, classes);
            if wanted(&ours) != wanted(&saved.settings) {
                return Err(Error::usage(
                    format!("{} was saved with {}", path.display(), baselines::shown(&saved.settings)),
                    "give the same --skip and --classes, or save it again",
                ));
            }
            let scope = saved.settings.get("scope");
            if let Some(scope) = scope.filter(|scope| runs::is_part_of(Some(scope))) {
                note(&format!("{} was saved with the scope {scope}", path.display()));
            }
            return Ok(Side::Baseline(saved, file));
        }
        let opened =
            open(path, &self.open.export_options()).map_err(|error| runs::or_baseline(path, error))?;
        let scope = scope_of(&self.scope, &opened)?;
        Ok(Side::Report { name, opened: Box::new(opened), scope: Box::new(scope) })
    }

    /// Refuses to compare a part of a report with a baseline of the whole, and the whole with a baseline of a part.
    fn must_be_one_scope(&self, paths: &[PathBuf], sides: &[Side]) -> Result<()> {
        let of_reports = sides.iter().find_map(Side::is_part_of_report);
        let is_part = of_reports.unwrap_or_else(|| !self.scope.is_whole() && !self.scope.steady);
        let steady_of = |side: &Side| match side {
            Side::Report { .. } => self.scope.steady,
            Side::Baseline(saved, _) => {
                runs::has_part(saved.settings.get("scope").map(String::as_str), "steady")
            }
        };
        let report = sides.iter().find(|side| matches!(side, Side::Report { .. }));
        let is_steady = report.or(sides.first()).is_some_and(steady_of);
        for (path, side) in paths.iter().zip(sides) {
            let Side::Baseline(saved, _) = side else { continue };
            let scope = saved.settings.get("scope").map(String::as_str);
            if is_steady != steady_of(side) {
                let how = if is_steady { "without" } else { "with" };
                note(&format!(
                    "{} was saved {how} --steady: steps are compared, but what is counted differs; give both the same",
                    path.display()
                ));
            }
            if runs::is_part_of(scope) != is_part {
                let how = if is_part { "without" } else { "with" };
                return Err(Error::usage(
                    format!("{} was saved {how} options that narrow the report", path.display()),
                    "`nsq diff baseline save` takes the options of scope, too: give both the same",
                ));
            }
        }
        Ok(())
    }

    /// The parameters of the page. `runs_a` is the number of reports of A, `why_not` why steps are not compared.
    fn params(&self, runs_a: usize, why_not: Option<&str>) -> Result<Vec<String>> {
        let mut params = vec![
            format!("runs_a={runs_a}"),
            format!("confidence={}", self.confidence),
            format!("top={}", self.top),
            format!("gate_parts={}", self.gate.parts),
            format!("gate_api={}", self.section.contains(&Section::Api)),
            format!("per_iteration={}", why_not.is_none()),
        ];
        params.extend(self.skip.map(|skip| format!("skip={skip}")));
        params.extend(self.gate.limit.map(|limit| format!("gate={limit}")));
        params.extend(why_not.map(|reason| format!("why_not={reason}")));
        let sections: Vec<&str> = self.sections().collect();
        params.extend((!sections.is_empty()).then(|| format!("sections={}", sections.join(","))));
        Ok(params)
    }

    /// Notes that no step is left to compare.
    fn note_of_skip(&self, answer: &PageAnswer<'_>) {
        let has_steps = table(answer, "runs")
            .is_some_and(|runs| runs.iter().any(|run| run.int("iteration_count").unwrap_or(0) > 0));
        if let (Some(skip), false) = (self.skip, has_steps) {
            note(&format!("--skip {skip} leaves no step: all work is compared"));
        }
    }

    /// The sections to show; none: all.
    fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.section.iter().map(|section| match section {
            Section::GpuTime => "gpu_time",
            Section::Kernels => "kernels",
            Section::Classes => "classes",
            Section::Layers => "layers",
            Section::Nccl => "nccl",
            Section::Memory => "memory",
            Section::Api => "api",
        })
    }

    /// Why the steps of the reports are not compared with each other, although some have any.
    fn not_comparable(&self, answer: &PageAnswer<'_>) -> Result<Option<String>> {
        let none = ResultTable::default();
        let runs = table(answer, "runs").unwrap_or(&none);
        not_comparable(runs, self.scope.iter.first().map(String::as_str), quotable)
    }

    /// Prints the page, and returns the exit code of the gate.
    fn print(&self, answer: &PageAnswer<'_>, sides: &[Side], format: Format) -> Result<u8> {
        answer.notes.iter().for_each(|text| note(text));
        match format {
            Format::Text | Format::Markdown | Format::Html if !self.output.raw => {
                let layout = match format {
                    Format::Text => "console",
                    Format::Markdown => "markdown",
                    _ => "page.html",
                };
                let text = answer.layout(layout)?;
                let is_on_terminal = format == Format::Text && self.output.output.is_none();
                let text = if is_on_terminal { fitted(text) } else { text };
                write_to(self.output.output.as_deref(), |out| {
                    out.write_all(text.as_bytes()).map_err(Error::Output)
                })?;
            }
            Format::Csv | Format::Tsv | Format::Ndjson => {
                let rows = table(answer, "rows").cloned().unwrap_or_default();
                self.output.table(&Heading::of_nsq(), &self.of_sections(rows))?;
            }
            _ => {
                let mut heading = Heading::of_nsq();
                let facts = |side: &Side| match side {
                    Side::Report { opened, scope, .. } => opened.heading(scope).facts.into(),
                    Side::Baseline(saved, _) => {
                        serde_json::json!({"report": saved.report, "nsq": saved.nsq, "settings": saved.settings})
                    }
                };
                let reports = sides.iter().map(facts).collect();
                heading.facts.insert("reports".to_owned(), serde_json::Value::Array(reports));
                heading.facts.insert("page_facts".to_owned(), answer.facts.clone().into());
                show(answer, &self.output, &heading)?;
            }
        }
        self.conclude(answer)
    }

    /// The rows of the sections to show.
    fn of_sections(&self, mut rows: ResultTable) -> ResultTable {
        let wanted: Vec<&str> = self.sections().collect();
        let is_wanted: Vec<bool> = rows
            .iter()
            .map(|row| {
                wanted.is_empty() || row.text("section").is_some_and(|name| wanted.contains(&name))
            })
            .collect();
        let mut is_wanted = is_wanted.into_iter();
        rows.rows.retain(|_| is_wanted.next().unwrap_or(true));
        rows
    }

    /// Reports the gate, and returns its exit code.
    fn conclude(&self, answer: &PageAnswer<'_>) -> Result<u8> {
        if self.gate.limit.is_none() {
            return Ok(0);
        }
        if let Some(path) = &self.gate.junit {
            let text = answer.layout("junit")?;
            write_to(Some(path), |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        }
        if self.gate.github {
            tell_github(answer)?;
        }
        let outcome = answer.facts.get("outcome").and_then(serde_json::Value::as_str);
        if outcome != Some("passed") {
            tell(answer.layout("gate")?.trim_end());
        }
        Ok(match outcome {
            Some("passed") => 0,
            Some("failed") => EXIT_FAILED,
            _ if self.gate.allow_inconclusive => 0,
            _ => EXIT_INCONCLUSIVE,
        })
    }
}

/// The rows of a table of the page.
fn table<'a>(answer: &'a PageAnswer<'_>, name: &str) -> Option<&'a ResultTable> {
    answer.tables.iter().find(|table| table.name == name).map(|table| &table.table)
}
