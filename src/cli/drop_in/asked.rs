//! The answer of one report, with the texts around its table.

use super::filter::{FILTER_NVTX, Filter};
use super::request::{Command, Request};
use super::rules;
use crate::cli::options::unlimited;
use nsq_engine::compile::{Invocation, Layout, NsysUnits, Plan};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{self, Presence, Scope};
use nsq_library::catalog::{Catalog, Kind, NsysReport, Query};
use nsq_render::render::nsys::{self, NO_ROWS, NsysFormat, NsysStyle, Prose};
use nsq_render::render::{self, Style, visible};
use nsq_report::report::Report;
use nsq_report::schema::Schema;
use nsq_value::error::{Error, Result};
use std::path::Path;

/// What reports are asked of.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) report: &'a Report,
    pub(super) schema: &'a Schema,
}

/// A report that is ready to be written: its title, the texts around its table, and what computes its rows.
pub(super) struct Answer {
    title: String,
    prose: Prose,
    plan: Plan,
    session: Session,
    limits: Limits,
}

impl Answer {
    /// Computes the rows and writes them. Returns their number, and the number of texts that a spreadsheet would run as
    /// formulas.
    pub(super) fn write(
        &self,
        out: &mut render::Output,
        layout: &NsysStyle,
        style: &Style,
    ) -> Result<(usize, usize)> {
        nsys::write(out, layout, &self.title, &self.prose, style, |sink| {
            self.session.run(&self.plan, &self.limits, sink)
        })
    }
}

impl Asked<'_> {
    /// Prepares a report. Fails if its data is missing.
    pub(super) fn answer(
        &self,
        request: &Request<'_>,
        invocation: &Invocation,
        units: &NsysUnits,
    ) -> Result<Answer> {
        let (invocation, filter) = Filter::take(invocation)?;
        let query = self.catalog.query(&invocation.query).map_err(|error| scripted(request, error))?;
        let layout = layout(request.command, query, units, self.catalog)?;
        let plan = self.plan(&invocation, &layout)?;
        let scope = filter.scope(self.catalog, self.report, self.schema)?;
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
        self.prepared(title, prose, plan, &scope)
    }

    /// The plan of a report whose data is present.
    fn plan(&self, invocation: &Invocation, layout: &Layout) -> Result<Plan> {
        let plan = Plan::new(self.catalog, invocation, layout)?;
        plan.check_presence(&Presence::new(self.schema, self.catalog), &self.report.path)?;
        Ok(plan)
    }

    fn prepared(&self, title: String, prose: Prose, plan: Plan, scope: &Scope) -> Result<Answer> {
        let roots = plan.reads.iter().map(String::as_str);
        let installation = normalize::plan(self.schema, self.catalog, scope, roots)?;
        let limits = unlimited();
        let session = Session::begin(self.report.connect()?, &installation, &limits)?;
        Ok(Answer { title, prose, plan, session, limits })
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

    /// What a report says of missing data, if the report lacks any.
    fn says(&self, nsys: &NsysReport) -> Option<String> {
        let presence = Presence::new(self.schema, self.catalog);
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

/// A report that a folder of the user has as a script for nsys is told apart from an unknown one.
fn scripted(request: &Request<'_>, error: Error) -> Error {
    let Error::Unknown { name, .. } = &error else { return error };
    let scripts = request.folders.iter().map(|folder| folder.join(format!("{name}.py")));
    match scripts.into_iter().find(|script| script.is_file()) {
        Some(script) => Error::usage(
            format!("{} is a script for nsys: nsq runs SQL", script.display()),
            format!("write {name}.sql beside it; queries/README.md shows how"),
        ),
        None => request.command.explain(error),
    }
}

/// The text that `nsq stats --report NAME` prints. Fails if the data is missing.
pub(in crate::cli) fn text_of(
    catalog: &Catalog,
    report: &Report,
    schema: &Schema,
    name: &str,
) -> Result<Vec<u8>> {
    let asked = Asked { catalog, report, schema };
    let plan = asked.plan(&Invocation::parse(name), &Layout::Nsys(NsysUnits::default()))?;
    let mut text = format!("Processing [{}] with [{name}]... \n", visible(&report.name())).into_bytes();
    let title = format!("{} ({name})", plan.title);
    let prose = Prose { instead: NO_ROWS.to_owned(), ..Prose::default() };
    let answer = asked.prepared(title, prose, plan, &Scope::default())?;
    answer.write(&mut text, &NsysStyle::of(NsysFormat::Column), &Style::default())?;
    text.push(b'\n');
    Ok(text)
}
