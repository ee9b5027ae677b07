//! `nsq page`: shows the tables of a page for one or more reports.

use super::failures::Failure;
use super::many::ManyArgs;
use super::options::{ClassArgs, Clock, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, fitted, must_differ, write_to};
use super::{many, note};
use crate::cli::opened;
use crate::cli::opened::shortest_names;
use nsq_ask::open_report::OpenReport;
use nsq_ask::page::{PageAnswer, PageReport, PageRequest, ReportInput};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::Scope;
use nsq_library::catalog::{Catalog, ClassMaps};
use nsq_render::render::{Format, Heading, Writer, visible};
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Show a page: the tables of several queries together, for one or more reports
///
/// A page is a folder with a manifest, queries and layouts: built-in, or your own in a --queries folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq page kernels report.sqlite -p gaps=true
  nsq page kernels rank0.sqlite rank1.sqlite -o kernels.html
  nsq page kernels report.sqlite --layout console
  nsq page job 'run/rank*.sqlite' -o ranks.html
  nsq page my_page report.sqlite --queries my_queries

`nsq list --pages` lists the pages; `nsq show PAGE` describes one.")]
pub(super) struct Args {
    /// Page to show.
    #[arg(value_name = "PAGE")]
    page: String,
    #[command(flatten)]
    asked: PageArgs,
}

/// The reports and options of a page.
#[derive(Debug, clap::Args)]
pub(super) struct PageArgs {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders of them, or quoted patterns.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Set a parameter of the page; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Print one of the page's layouts instead of its tables.
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    layout: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    args.asked.run(&args.page)
}

impl PageArgs {
    /// Asks the page `name`, which shows one report, and prints it.
    pub(super) fn run_for_one(&self, name: &str) -> Result<u8> {
        match many::named(&self.reports)?.len() {
            0 | 1 => self.run(name),
            count => Err(Error::usage(
                format!("a {name} shows one report, but {count} are given"),
                format!("run `nsq {name}` once for each report"),
            )),
        }
    }

    /// Asks the page `name` and prints it.
    pub(super) fn run(&self, name: &str) -> Result<u8> {
        let paths = many::named(&self.reports)?;
        must_differ(self.output.output.as_deref(), paths.iter().map(PathBuf::as_path))?;
        let format = if self.layout.is_none() { Some(self.output.format()?) } else { None };
        let mut catalog = self.library.load()?;
        // Duplicate rules are left to `nsq check`: a page may ask queries without classes.
        self.classes.choose(&mut catalog, [])?;
        let request = PageRequest::new(&catalog, name, &self.param, visible)?;
        let page = request.page();
        let of_format = match format {
            Some(Format::Text) => &page.text,
            Some(Format::Markdown) => &page.markdown,
            Some(Format::Html) => &page.html,
            _ => &None,
        };
        let layout = self.layout.as_ref().or(of_format.as_ref()).cloned();
        let request = request.only_for(layout.as_deref());
        if format == Some(Format::Html) && layout.is_some() && !request.is_across() && paths.len() > 1 {
            return Err(Error::usage(
                format!("the HTML of {name} shows one report, but {} are given", paths.len()),
                format!("write a file for each report: nsq page {name} REPORT -o FILE.html"),
            ));
        }
        let names = shortest_names(&paths);
        // A page that does not compare reports may be laid out for each of them.
        let gathering = if request.is_across() { Some(request.gather()?) } else { None };
        let ask = |place: usize, path: &Path, clock: &mut Clock| {
            let opened = clock.pause(|| opened::open(path, &self.open))?;
            let mut scope = self.scope.resolve(&opened.schema)?;
            scope.rank = self.many.rank_of(path)?;
            let facts = opened.heading(&scope).facts;
            let input = Input::new(names[place].clone(), opened, scope);
            let (report, notes) = asked(&request, &catalog, &input, &clock.limits())?;
            Ok((report, notes, facts, input.scope.is_whole()))
        };
        let (answers, clock) = many::each(&paths, &self.many, &self.limits, |place, path, clock| {
            let mut answer = ask(place, path, clock);
            match (&gathering, &mut answer) {
                (None, _) => {}
                (Some(all), Ok((report, ..))) => request.gather_from(report, place, all)?,
                (Some(all), Err(_)) => all.add(place, None)?,
            }
            answer
        });
        let (mut reports, mut facts, mut is_whole) = (Vec::new(), Vec::<serde_json::Value>::new(), true);
        let mut failures = Vec::new();
        for ((path, name), answer) in paths.iter().zip(&names).zip(answers) {
            match answer {
                Some(Ok((report, notes, of_report, is_all))) => {
                    tell(name, &notes, paths.len() > 1);
                    reports.push((name, report));
                    facts.push(of_report.into());
                    is_whole &= is_all;
                }
                Some(Err(error)) if paths.len() == 1 => return Err(error),
                Some(Err(Error::Interrupted)) => return Err(Error::Interrupted),
                None => {}
                Some(Err(error)) => failures.push(Failure { name, path, error }),
            }
        }
        let answered = (reports.len(), paths.len());
        let (code, is_shown) =
            many::complain(&failures, answered, &self.many, self.output.output.as_deref());
        if !is_shown {
            return Ok(code);
        }
        let (asker, limits) = (format!("page {name}"), clock.limits());
        let mut gathering = gathering;
        let mut answer = |reports: Vec<PageReport>| {
            let answer = match gathering.take() {
                Some(gathering) => request.answer_gathered(reports, gathering, &limits)?,
                None => request.answer(reports, &limits)?,
            };
            let answer = answer.map_err(|none| none.into_error(&asker, &paths[0], is_whole))?;
            answer.notes.iter().for_each(|text| note(text));
            Ok::<_, Error>(answer)
        };
        if let Some(layout) = &layout {
            let mut text = String::new();
            if request.is_across() || reports.len() == 1 {
                text =
                    answer(reports.into_iter().map(|(_, report)| report).collect())?.layout(layout)?;
            } else {
                // A page that does not compare reports is laid out once for each.
                for (name, report) in reports {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    text.push_str(&format!("{gap}{}\n\n", visible(name)));
                    text.push_str(&answer(vec![report])?.layout(layout)?);
                }
            }
            let text = if self.output.output.is_none() { fitted(text) } else { text };
            write_to(self.output.output.as_deref(), |out| {
                out.write_all(text.as_bytes()).map_err(Error::Output)
            })?;
            return Ok(code);
        }
        let answer = answer(reports.into_iter().map(|(_, report)| report).collect())?;
        let mut heading = Heading::of_nsq();
        heading.facts.insert("reports".to_owned(), serde_json::Value::Array(facts));
        heading.facts.insert("page".to_owned(), name.into());
        heading.facts.insert("page_version".to_owned(), request.version().into());
        heading.facts.insert("page_facts".to_owned(), answer.facts.clone().into());
        show(&answer, &self.output, &heading)?;
        Ok(code)
    }
}

/// An open report, and how a page asks it.
pub(super) struct Input {
    pub(super) about: ReportInput,
    pub(super) opened: OpenReport,
    pub(super) scope: Scope,
    /// Its class maps, if they are not the catalog's.
    pub(super) classes: Option<ClassMaps>,
}

impl Input {
    /// A report with the parameters and class maps of all.
    pub(super) fn new(name: String, opened: OpenReport, scope: Scope) -> Self {
        let about = ReportInput { name, ..ReportInput::of(&opened) };
        Self { about, opened, scope, classes: None }
    }
}

/// Answers a page. `asker` is who needs the data, for the error if there is none.
pub(super) fn ask<'r>(
    request: &'r PageRequest<'r>,
    catalog: &Catalog,
    inputs: &[Input],
    limits: &Limits,
    asker: &str,
) -> Result<PageAnswer<'r>> {
    let several = inputs.len() > 1;
    let reports = inputs.iter().map(|input| ask_one(request, catalog, input, several, limits));
    let reports = reports.collect::<Result<Vec<_>>>()?;
    let is_whole = inputs.iter().all(|input| input.scope.is_whole());
    let first = inputs.first().map_or(Path::new(""), |input| &input.opened.report.path);
    request.answer(reports, limits)?.map_err(|none| none.into_error(asker, first, is_whole))
}

/// Stage one of a page: the answers of a report. Its notes are printed, with its name if it is one of several.
pub(super) fn ask_one(
    request: &PageRequest<'_>,
    catalog: &Catalog,
    input: &Input,
    is_one_of_several: bool,
    limits: &Limits,
) -> Result<PageReport> {
    let (report, notes) = asked(request, catalog, input, limits)?;
    tell(&input.about.name, &notes, is_one_of_several);
    Ok(report)
}

/// The answers of a report, and notes about it.
fn asked(
    request: &PageRequest<'_>,
    catalog: &Catalog,
    Input { about, opened, scope, classes }: &Input,
    limits: &Limits,
) -> Result<(PageReport, Vec<String>)> {
    let lacks = request.lacks(opened, catalog)?;
    let roots = request.roots(&lacks);
    let classes = classes.as_ref().unwrap_or(catalog.classes());
    let (session, notes) = opened.begin_with(catalog, classes, scope, roots, limits)?;
    Ok((request.ask(about.clone(), &session, lacks, limits)?, notes))
}

fn tell(name: &str, notes: &[String], is_one_of_several: bool) {
    for text in notes {
        note(&if is_one_of_several { format!("{name}: {text}") } else { text.clone() });
    }
}

/// Prints the tables of a page.
pub(super) fn show(answer: &PageAnswer<'_>, output: &OutputArgs, shared: &Heading) -> Result<()> {
    let shown = || answer.tables.iter().filter(|table| !table.hidden && !table.table.columns.is_empty());
    // Not the number of those with data: machine output of a page is a list for every report.
    let tables = answer.tables.iter().filter(|table| !table.hidden).count();
    output.write(tables, |writer: &mut Writer<'_>| {
        for table in shown() {
            let mut heading = Heading { title: table.title.clone(), ..shared.clone() };
            heading.facts.insert("table".to_owned(), table.name.into());
            heading.facts.insert("title".to_owned(), table.title.as_str().into());
            if let Some((name, version)) = &table.plan.query {
                heading.facts.insert("query".to_owned(), name.as_str().into());
                heading.facts.insert("version".to_owned(), (*version).into());
            }
            let rows = table.shown();
            writer.result(&heading, |sink| rows.replay(sink))?;
        }
        Ok(())
    })
}

/// Writes texts to files, each completely or not at all, and returns a line about each.
pub(super) fn write_files(files: &[(&Path, String)]) -> Result<String> {
    let mut lines = String::new();
    for (path, text) in files {
        write_to(Some(path), |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        if *path != Path::new("-") {
            let name = visible(&path.display().to_string());
            lines.push_str(&format!("\nwrote {name} ({} bytes)\n", text.len()));
        }
    }
    Ok(lines)
}
