//! Asks a page of one or several reports.

use crate::input::Input;
use crate::open_report::OpenReport;
use crate::page::{PageAnswer, PageReport, PageRequest, ReportInput};
use crate::partials::Gathering;
use crate::queries::About;
use crate::request::{Failed, Request, none_failed};
use crate::steps::{judged_steps, named_steps};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::Scope;
use nsq_value::error::{Error, Result};
use nsq_value::shell::line_of;
use std::fs;
use std::path::PathBuf;

/// A page whose reports have answered their parts of it.
pub struct PageOutcome<'a> {
    asking: &'a Request<'a>,
    request: &'a PageRequest<'a>,
    /// The reports that answer.
    pub reports: Vec<About>,
    /// The reports that failed.
    pub failures: Vec<Failed>,
    answers: Vec<PageReport>,
    /// The rows of reports that the page compares.
    gathering: Option<Gathering>,
    /// Whether no scope limits a report.
    is_whole: bool,
    /// The first report, for errors.
    first: PathBuf,
    /// Who asks, for errors.
    pub asker: String,
}

/// Most bytes of reports that are asked at once: to compare them takes about three times as much memory.
const AT_ONCE: u64 = 1 << 30;

impl<'a> Request<'a> {
    /// Asks reports for a page. Those that fail are listed, and the others answer, unless nsq was interrupted. An
    /// error: a report that is the only one failed.
    pub fn page(
        &'a self,
        request: &'a PageRequest<'a>,
        inputs: &[Input<'_>],
    ) -> Result<PageOutcome<'a>> {
        // A page that does not compare reports may be laid out for each of them.
        let gathering = if request.is_across() { Some(request.gather()?) } else { None };
        let answers = self.each(inputs, usize::MAX, |place, opened, limits| {
            let mut answer =
                opened.and_then(|open| self.page_report(request, &inputs[place], &open, limits));
            match (&gathering, &mut answer) {
                (None, _) => {}
                (Some(all), Ok((report, ..))) => request.gather_from(report, place, all)?,
                (Some(all), Err(_)) => all.add(place, None)?,
            }
            answer
        });
        let first = inputs.first().map_or_else(PathBuf::new, |input| input.path.to_owned());
        let mut begun = PageOutcome {
            asking: self,
            request,
            reports: Vec::new(),
            failures: Vec::new(),
            answers: Vec::new(),
            gathering,
            is_whole: true,
            first,
            asker: format!("page {}", request.page().name),
        };
        for (input, answer) in inputs.iter().zip(answers) {
            match answer {
                Some(Ok((report, about, is_whole))) => {
                    begun.reports.push(about);
                    begun.answers.push(report);
                    begun.is_whole &= is_whole;
                }
                Some(Err(error)) if inputs.len() == 1 => return Err(error),
                Some(Err(Error::Interrupted)) => return Err(Error::Interrupted),
                Some(Err(error)) => begun.failures.push(input.failed(error)),
                None => {}
            }
        }
        Ok(begun)
    }

    /// What reports answer to a page, and what is told of each. The first error of one that failed. Two are asked at once,
    /// unless their size says that this takes much memory.
    pub fn page_reports(
        &self,
        request: &PageRequest<'_>,
        inputs: &[Input<'_>],
    ) -> Result<Vec<(PageReport, About)>> {
        let size = |input: &Input<'_>| fs::metadata(input.database()).map_or(0, |file| file.len());
        let most = if inputs.iter().map(size).sum::<u64>() <= AT_ONCE { 2 } else { 1 };
        let answers = self.each(inputs, most, |place, opened, limits| {
            let open = opened?;
            let (report, about, _) = self.page_report(request, &inputs[place], &open, limits)?;
            Ok((report, about))
        });
        // Those that were not begun come after the one that failed.
        answers.into_iter().flatten().collect()
    }

    /// What one report answers to a page, what is told of it, and whether no scope limits it.
    pub fn page_report(
        &self,
        request: &PageRequest<'_>,
        input: &Input<'_>,
        open: &OpenReport,
        limits: &Limits,
    ) -> Result<(PageReport, About, bool)> {
        let scope = self.scope_of(input, open)?;
        let lacks = request.lacks(open, self.catalog)?;
        let roots = request.roots(&lacks);
        let classes = input.classes.as_ref().unwrap_or(&self.classes);
        let begin = |scope: &Scope, roots: &[&str]| {
            open.begin_with(self.catalog, classes, scope, roots.iter().copied(), limits)
        };
        let is_steady = request.is_steady()?;
        let named = named_steps(&scope).filter(|_| is_steady);
        let are_named = named.is_some();
        let (whole, chosen) = named.unwrap_or_else(|| (scope.clone(), Vec::new()));
        let steps = match is_steady && !whole.limits_time() {
            true => open.plan_of_steps(self.catalog, &chosen)?,
            false => None,
        };
        let reads = steps.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let (mut session, mut notes) =
            begin(&whole, &roots.iter().copied().chain(reads).collect::<Vec<_>>())?;
        let about = input.about.clone();
        let mut about =
            about.unwrap_or_else(|| ReportInput { name: input.name.clone(), ..ReportInput::of(open) });
        let judged = match &steps {
            Some(plan) => judged_steps(&session.table(plan, limits)?, &whole, are_named),
            None => None,
        };
        if are_named && judged.is_none() {
            // Ranges that are no steps.
            (session, notes) = begin(&scope, &roots)?;
        }
        let options = self.scope.words();
        if !options.is_empty() {
            about.facts.insert("options".to_owned(), line_of(&options));
        }
        let (report, heading) = match judged {
            Some((within, text)) => {
                about.facts.insert("steady".to_owned(), text);
                if !chosen.is_empty() {
                    about.facts.insert("chosen".to_owned(), "steps".to_owned());
                }
                let roots = request.roots_of_steps(&lacks);
                let (judged, _) =
                    open.begin_part(&session, self.catalog, classes, &within, roots, limits)?;
                let report = request.ask(about, &judged, Some(&session), lacks, limits)?;
                (report, open.heading(&Scope { steady: true, ..within }))
            }
            None => (request.ask(about, &session, None, lacks, limits)?, open.heading(&scope)),
        };
        let facts = heading.facts;
        Ok((report, About { name: input.name.clone(), facts, notes }, scope.is_whole()))
    }
}

impl<'a> PageOutcome<'a> {
    /// Fails with the first error, if a report failed.
    pub fn all_answered(mut self) -> Result<Self> {
        none_failed(&mut self.failures)?;
        Ok(self)
    }

    /// The page, from the answers of all reports.
    pub fn answer(self) -> Result<PageAnswer<'a>> {
        let Self { asking: Request { classes, limits, .. }, request, .. } = self;
        let answer = match self.gathering {
            Some(gathering) => request.answer_gathered(self.answers, gathering, classes, limits)?,
            None => request.answer(self.answers, classes, limits)?,
        };
        answer.map_err(|none| none.into_error(&self.asker, &self.first, self.is_whole))
    }

    /// A page for each report, with its name. Only of a page that does not compare reports.
    pub fn answers(self) -> impl Iterator<Item = Result<(String, PageAnswer<'a>)>> {
        let Self { asking, request, reports, answers, is_whole, first, asker, .. } = self;
        reports.into_iter().zip(answers).map(move |(about, report)| {
            let answer = request.answer(vec![report], &asking.classes, &asking.limits)?;
            let answer = answer.map_err(|none| none.into_error(&asker, &first, is_whole))?;
            Ok((about.name, answer))
        })
    }
}
