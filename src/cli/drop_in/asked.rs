//! The answer of one report, with the texts around its table.

use super::filter::{FILTER_NVTX, Filter};
use super::request::{Command, Request};
use super::rules;
use crate::cli::options::unlimited;
use nsq_ask::input::Input;
use nsq_ask::open_report::OpenReport;
use nsq_ask::queries::Outcome;
use nsq_ask::request::Request as Asking;
use nsq_engine::compile::{Invocation, Layout, NsysUnits, Plan};
use nsq_engine::normalize::{Presence, Scope};
use nsq_library::catalog::{Catalog, Kind, NsysReport, Query};
use nsq_render::render::nsys::{self, NO_ROWS, NsysFormat, NsysStyle, Prose};
use nsq_render::render::{self, Style, visible};
use nsq_value::error::{Error, Result};
use std::path::Path;

/// The report that reports of nsys are asked of.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) open: &'a OpenReport,
}

/// A report that is ready to be written: its title, the texts around its table, and its rows.
pub(super) struct Answer<'a> {
    title: String,
    prose: Prose,
    rows: Outcome<'a>,
}

impl Answer<'_> {
    /// Computes the rows and writes them. Returns their number, and the number of texts that a spreadsheet would run as
    /// formulas.
    pub(super) fn write(
        mut self,
        out: &mut render::Output,
        layout: &NsysStyle,
        style: &Style,
    ) -> Result<(usize, usize)> {
        let Self { title, prose, rows } = &mut self;
        nsys::write(out, layout, title, prose, style, |sink| {
            let mut count = 0;
            rows.results(&mut |_, rows| {
                count = rows(sink)?;
                Ok(())
            })?;
            Ok(count)
        })
    }
}

impl Asked<'_> {
    /// Prepares a report, and passes it to `write`. Fails if its data is missing.
    pub(super) fn answer<T>(
        &self,
        request: &Request<'_>,
        invocation: &Invocation,
        units: &NsysUnits,
        write: impl FnOnce(Answer<'_>) -> Result<T>,
    ) -> Result<T> {
        let (invocation, filter) = Filter::take(invocation)?;
        let query = self.catalog.query(&invocation.query).map_err(|error| scripted(request, error))?;
        let layout = layout(request.command, query, units, self.catalog)?;
        let plan = Plan::new(self.catalog, &invocation, &layout)?;
        // Missing data comes before what the filter does not find.
        plan.check_presence(&Presence::new(&self.open.schema, self.catalog), &self.open.report.path)?;
        let scope = filter.scope(self.catalog, self.open)?;
        let name = &query.header.name;
        // Under an old name of a report, nsys says its new one.
        let is_old = query.header.nsys.iter().any(|nsys| nsys.aliases.contains(&invocation.query));
        let title = match is_old {
            true => format!("DEPRECATED - Use {name} instead ({})", invocation.query),
            false => format!("{} ({name})", plan.title),
        };
        let prose = match &query.header.nsys {
            Some(nsys) if query.header.kind == Kind::Rule => rules::prose(nsys, &plan),
            _ => Prose { instead: NO_ROWS.to_owned(), ..Prose::default() },
        };
        self.rows(&plan, scope, |rows| write(Answer { title, prose, rows }))
    }

    fn rows<T>(
        &self,
        plan: &Plan,
        scope: Scope,
        write: impl FnOnce(Outcome<'_>) -> Result<T>,
    ) -> Result<T> {
        let asking = Asking { limits: unlimited(), explains: false, ..Asking::new(self.catalog) };
        let input = Input { scope: Some(scope), ..Input::open(String::new(), self.open) };
        write(asking.queries(&[input], std::slice::from_ref(plan))?.all_answered()?)
    }

    /// Why a report is skipped, in the words of nsys.
    pub(super) fn why(
        &self,
        command: Command,
        invocation: &Invocation,
        shown: &Path,
        error: &Error,
    ) -> String {
        let shown = shown.display();
        if let Error::LacksData { query, needs, .. } = error
            && query == FILTER_NVTX
        {
            return format!("{needs} could not be found in {shown}.");
        }
        let query = self.catalog.query(&invocation.query).ok();
        match (command, query.and_then(|query| self.says(query.header.nsys.as_ref()?))) {
            (Command::Stats, Some(says)) => format!("{shown} does not contain {says}."),
            (Command::Analyze, Some(says)) => {
                format!("{shown} could not be analyzed because it does not contain the required {says}")
            }
            (_, None) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }

    /// The message for missing data, if any is missing.
    fn says(&self, nsys: &NsysReport) -> Option<String> {
        let presence = Presence::new(&self.open.schema, self.catalog);
        let is_lacking = |without: &str| presence.lack(without).is_ok_and(|lack| lack.is_some());
        let lacks = nsys.lacks.iter().find(|lack| lack.without.as_deref().is_none_or(is_lacking));
        lacks.map(|lack| lack.says.clone())
    }
}

/// The columns to print: NVIDIA's, or a user's own for a query that NVIDIA does not have.
fn layout(command: Command, query: &Query, units: &NsysUnits, catalog: &Catalog) -> Result<Layout> {
    let (header, verb) = (&query.header, command.verb());
    let name = &header.name;
    let is_rule = header.kind == Kind::Rule;
    match &header.nsys {
        Some(_) if command == Command::Analyze && !is_rule => Err(Error::usage(
            format!("`{name}` is a report, not a rule"),
            format!("use `nsq stats --report {name}`; `nsq analyze --help-rules` lists the rules"),
        )),
        Some(_) => Ok(Layout::Nsys(*units)),
        None if !catalog.built_in().has(name, &query.text) => Ok(Layout::Own),
        None => Err(Error::usage(
            format!("`{name}` is not a {} of nsys {verb}", command.noun()),
            format!(
                "use `nsq run REPORT --query {name}`; `nsq {verb} --help-{}s` lists the {0}s",
                command.noun()
            ),
        )),
    }
}

/// A report that a folder of the user has as a script for nsys has another error than an unknown one.
fn scripted(request: &Request<'_>, error: Error) -> Error {
    let Error::Unknown { name, .. } = &error else { return error };
    let scripts = request.folders.iter().map(|folder| folder.join(format!("{name}.py")));
    match scripts.into_iter().find(|script| script.is_file()) {
        Some(script) => Error::usage(
            format!("{} is a script for nsys: nsq runs SQL", script.display()),
            format!("write {name}.sql next to it; queries/README.md shows how"),
        ),
        None => request.command.explain(error),
    }
}

/// The text that `nsq stats --report NAME` prints. Fails if the data is missing.
pub(in crate::cli) fn text_of(catalog: &Catalog, open: &OpenReport, name: &str) -> Result<Vec<u8>> {
    let plan = Plan::new(catalog, &Invocation::parse(name), &Layout::Nsys(NsysUnits::default()))?;
    let title = format!("{} ({name})", plan.title);
    let prose = Prose { instead: NO_ROWS.to_owned(), ..Prose::default() };
    let mut text =
        format!("Processing [{}] with [{name}]... \n", visible(&open.report.name())).into_bytes();
    Asked { catalog, open }.rows(&plan, Scope::default(), |rows| {
        let answer = Answer { title, prose, rows };
        answer.write(&mut text, &NsysStyle::of(NsysFormat::Column), &Style::default())
    })?;
    text.push(b'\n');
    Ok(text)
}
