//! `nsq page`: shows the tables of a page for one or more reports.

use super::note;
use super::output::{OutputArgs, fitted, must_differ, write_to};
use super::reports::{self, AskArgs, complain, inputs, open, tell};
use nsq_ask::input::shortest_names;
use nsq_ask::page::{PageAnswer, PageRequest, Terminal};
use nsq_library::catalog::{Page, ParamType};
use nsq_render::render::{Format, Heading, Writer, visible};
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Show a page: the tables of several queries together, for one or more reports
///
/// A page is a folder with a manifest, queries and layouts: built-in, or your own in a --queries folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq page kernels report.sqlite -p gaps=true          also: nsq run report.sqlite -q kernels -p gaps=true
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
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PageArgs {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders, or quoted patterns.
    #[arg(required = true, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    /// Set a parameter of the page; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    pub(super) param: Vec<String>,
    /// Print one of the page's layouts instead of its tables.
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    pub(super) layout: Option<String>,
    #[command(flatten)]
    pub(super) how: AskArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    args.asked.run(&args.page)
}

impl PageArgs {
    /// The same with a parameter.
    pub(super) fn with(&self, param: String) -> Self {
        let mut with = self.clone();
        with.param.push(param);
        with
    }

    /// The parameters that are given, after the number of reports for a page that divides between them what it may hold.
    fn given(&self, page: &Page, count: usize) -> Vec<String> {
        let is_divided =
            page.params.iter().any(|param| param.name == "reports" && param.kind == ParamType::Int);
        let divided = (is_divided && count > 1).then(|| format!("reports={count}"));
        divided.into_iter().chain(self.param.iter().cloned()).collect()
    }

    /// Asks the page `name` and prints it.
    pub(super) fn run(&self, name: &str) -> Result<u8> {
        let paths = reports::named(&self.reports)?;
        let read = paths.iter().map(PathBuf::as_path).chain(self.how.open.trace());
        must_differ(self.how.output.output.as_deref(), read)?;
        let format = if self.layout.is_none() { Some(self.how.output.format()?) } else { None };
        let mut catalog = self.how.library.load()?;
        // Duplicate rules are left to `nsq check`: a page may ask queries without classes.
        self.how.classes.choose(&mut catalog, [])?;
        let given = self.given(catalog.page(name)?, paths.len());
        let request = PageRequest::new(&catalog, name, &given, visible)?;
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
                format!("write a file for each report: nsq run REPORT -q {name} -o FILE.html"),
            ));
        }
        let asking = self.how.request(&catalog);
        let options = self.how.open.for_reports(&paths)?;
        let opener = |path: &Path| open(path, &options);
        let begun = asking.page(&request, &inputs(&paths, shortest_names(&paths), &opener))?;
        tell(&begun.reports, 0, paths.len() > 1);
        let answered = (begun.reports.len(), paths.len());
        let output = self.how.output.output.as_deref();
        let (code, is_shown) = complain(&begun.failures, answered, &self.how.many, output);
        if !is_shown {
            return Ok(code);
        }
        if let Some(layout) = &layout {
            let style = self.how.output.style(Format::Text);
            let terminal = Terminal { width: style.width, color: style.color };
            let mut text = String::new();
            if request.is_across() || begun.reports.len() == 1 {
                text = with_notes(begun.answer()?).layout_on(layout, terminal)?;
            } else {
                // A page that does not compare reports is laid out once for each.
                for answer in begun.answers() {
                    let (name, answer) = answer?;
                    let name = visible(&name);
                    let own = with_notes(answer).layout_on(layout, terminal)?;
                    // The first screen begins with the name.
                    let is_named = own.lines().next().is_some_and(|line| line.contains(&*name));
                    // A few lines for each need no space between.
                    let gap = if text.is_empty() || !own.contains("\n\n") { "" } else { "\n" };
                    let heading = if is_named { String::new() } else { format!("{name}\n\n") };
                    text.push_str(&format!("{gap}{heading}{own}"));
                }
            }
            let text = if output.is_none() { fitted(text) } else { text };
            write_to(output, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
            return Ok(code);
        }
        let mut heading = Heading::of_nsq();
        let facts = begun.reports.iter().map(|about| about.facts.clone().into()).collect();
        heading.facts.insert("reports".to_owned(), serde_json::Value::Array(facts));
        heading.facts.insert("page".to_owned(), name.into());
        heading.facts.insert("page_version".to_owned(), request.version().into());
        let answer = with_notes(begun.answer()?);
        heading.facts.insert("page_facts".to_owned(), answer.facts.clone().into());
        show(&answer, &self.how.output, &heading)?;
        Ok(code)
    }
}

/// The answer, whose notes are printed.
fn with_notes(answer: PageAnswer<'_>) -> PageAnswer<'_> {
    answer.notes.iter().for_each(|text| note(text));
    answer
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
