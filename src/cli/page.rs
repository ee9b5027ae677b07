//! `nsq page`: shows the tables of a page for one or more reports.

use super::note;
use super::opened::{Opened, nsq_heading, shortest_names};
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs, ThreadArgs};
use super::output::{OutputArgs, fitted, must_differ, write_to};
use crate::catalog::{Catalog, ClassMaps};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::Scope;
use crate::page::{PageAnswer, PageReport, PageRequest, ReportInput};
use crate::render::{Format, Heading, Writer, visible};
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
    /// SQLite exports, .nsys-rep files or PyTorch traces.
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
    threads: ThreadArgs,
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
    /// Asks the page `name` and prints it.
    pub(super) fn run(&self, name: &str) -> Result<u8> {
        must_differ(self.output.output.as_deref(), self.reports.iter().map(PathBuf::as_path))?;
        let format = if self.layout.is_none() { Some(self.output.format()?) } else { None };
        let mut catalog = self.library.load()?;
        // Duplicate rules are left to `nsq check`: a page may ask queries without classes.
        self.classes.choose(&mut catalog, [])?;
        let request = PageRequest::new(&catalog, name, &self.param, visible)?;
        self.threads.allow();
        let mut inputs = Vec::new();
        for (path, name) in self.reports.iter().zip(shortest_names(&self.reports)) {
            let opened = Opened::open(path, &self.open)?;
            let scope = self.scope.resolve(&opened.schema)?;
            inputs.push(Input::new(name, opened, scope));
        }
        let (asker, limits) = (format!("page {name}"), self.limits.limits());
        let page = request.page();
        let of_format = match format {
            Some(Format::Text) => &page.text,
            Some(Format::Markdown) => &page.markdown,
            Some(Format::Html) => &page.html,
            _ => &None,
        };
        let layout = self.layout.as_ref().or(of_format.as_ref()).cloned();
        let request = request.only_for(layout.as_deref());
        if let Some(layout) = &layout {
            let text = laid_out(&request, &catalog, &inputs, layout, &limits, &asker)?;
            let text = if self.output.output.is_none() { fitted(text) } else { text };
            write_to(self.output.output.as_deref(), |out| {
                out.write_all(text.as_bytes()).map_err(Error::Output)
            })?;
            return Ok(0);
        }
        let answer = ask(&request, &catalog, &inputs, &limits, &asker)?;
        answer.notes.iter().for_each(|text| note(text));
        let mut heading = nsq_heading();
        let reports: Vec<_> = inputs.iter().map(|i| i.opened.heading(&i.scope).facts.into()).collect();
        heading.facts.insert("reports".to_owned(), serde_json::Value::Array(reports));
        heading.facts.insert("page".to_owned(), name.into());
        heading.facts.insert("page_version".to_owned(), request.version().into());
        heading.facts.insert("page_facts".to_owned(), answer.facts.clone().into());
        show(&answer, &self.output, &heading)?;
        Ok(0)
    }
}

/// The text of a layout. A page that does not compare reports is laid out once for each.
fn laid_out(
    request: &PageRequest<'_>,
    catalog: &Catalog,
    inputs: &[Input],
    layout: &str,
    limits: &Limits,
    asker: &str,
) -> Result<String> {
    let mut text = String::new();
    let parts = if request.is_across() { inputs.len().max(1) } else { 1 };
    for part in inputs.chunks(parts) {
        if parts < inputs.len() {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n\n", visible(&part[0].about.name)));
        }
        let answer = ask(request, catalog, part, limits, asker)?;
        answer.notes.iter().for_each(|text| note(text));
        text.push_str(&answer.layout(layout)?);
    }
    Ok(text)
}

/// An open report, and how a page asks it.
pub(super) struct Input {
    pub(super) about: ReportInput,
    pub(super) opened: Opened,
    pub(super) scope: Scope,
    /// Its class maps, if they are not the catalog's.
    pub(super) classes: Option<ClassMaps>,
}

impl Input {
    /// A report with the parameters and class maps of all.
    pub(super) fn new(name: String, opened: Opened, scope: Scope) -> Self {
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
    Input { about, opened, scope, classes }: &Input,
    is_one_of_several: bool,
    limits: &Limits,
) -> Result<PageReport> {
    let lacks = request.lacks(opened, catalog)?;
    let roots = request.roots(&lacks);
    let classes = classes.as_ref().unwrap_or(catalog.classes());
    let (session, notes) = opened.begin_with(catalog, classes, scope, roots, limits)?;
    for text in notes {
        note(&if is_one_of_several { format!("{}: {text}", about.name) } else { text });
    }
    request.ask(about.clone(), &session, lacks, limits)
}

/// Prints the tables of a page.
pub(super) fn show(answer: &PageAnswer<'_>, output: &OutputArgs, shared: &Heading) -> Result<()> {
    let shown = || answer.tables.iter().filter(|table| !table.hidden && !table.table.columns.is_empty());
    // Not the number of those with data: machine output of a page is a list for every report.
    let tables = answer.tables.iter().filter(|table| !table.hidden).count();
    output.write(tables, |writer: &mut Writer<'_>| {
        for table in shown() {
            let mut heading = Heading { title: table.title.clone(), facts: shared.facts.clone() };
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
