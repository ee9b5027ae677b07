//! Asks queries of one or several reports.

use crate::evidence::{self, Evidence};
use crate::explain::{self, Explainer};
use crate::input::Input;
use crate::open_report::OpenReport;
use crate::partials::{Partials, ReportAnswers};
use crate::request::{Failed, Opened, Request, none_failed};
use nsq_engine::compile::{Plan, with_similar_relations};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{Presence, Scope};
use nsq_render::render::Heading;
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, RowSink};

/// The answers to queries, begun: what reports lack is known, and how many rows there are is not.
pub struct Outcome<'a> {
    asking: &'a Request<'a>,
    plans: &'a [Plan],
    /// The reports that answer.
    pub reports: Vec<About>,
    /// The reports that failed, and each lack of data of those that answer.
    pub failures: Vec<Failed>,
    answers: Answers<'a>,
}

/// What is told of a report that answers.
#[derive(Debug, Default)]
pub struct About {
    /// Its name in answers.
    pub name: String,
    /// Versions of nsq, export schema and nsys; report and scope.
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// What a user must know about the rows. Those of a single report are complete after its rows.
    pub notes: Vec<String>,
}

enum Answers<'a> {
    None,
    /// One report, whose rows go from SQLite to the output.
    Stream(Box<Stream<'a>>),
    /// A table for each plan; without columns if every report lacks the data.
    Tables(Vec<ResultTable>),
}

struct Stream<'a> {
    session: Session,
    plans: Vec<&'a Plan>,
    scope: Scope,
    limits: Limits,
    // After the session, which reads it.
    _open: Opened<'a>,
}

/// The place of a plan that cannot run on a report, and why.
type Lack = (usize, Error);

/// Writes the rows of a plan to a sink, and returns their number.
pub type Rows<'r> = &'r mut dyn FnMut(&mut dyn RowSink) -> Result<usize>;

impl<'a> Request<'a> {
    /// Asks reports. Those that fail are listed, and the others answer, unless nsq was interrupted. An error: a report
    /// that is the only one failed.
    pub fn queries(&'a self, inputs: &[Input<'a>], plans: &'a [Plan]) -> Result<Outcome<'a>> {
        match inputs {
            [input] => self.stream(input, plans),
            inputs => self.gather(inputs, plans),
        }
    }

    fn stream(&'a self, input: &Input<'a>, plans: &'a [Plan]) -> Result<Outcome<'a>> {
        let mut limits = self.limits.clone();
        let open = input.opened(&mut limits)?;
        let (answerable, lacks) = self.answerable(&open, plans)?;
        let failures = lacks.into_iter().map(|(_, error)| input.failed(error)).collect();
        let mut begun =
            Outcome { asking: self, plans, reports: Vec::new(), failures, answers: Answers::None };
        if answerable.is_empty() {
            return Ok(begun);
        }
        let scope = self.scope_of(input, &open)?;
        let (session, notes) = self.begin(&open, &scope, &answerable, &limits)?;
        let facts = open.heading(&scope).facts;
        begun.reports.push(About { name: input.name.clone(), facts, notes });
        let stream = Stream { session, plans: answerable, scope, limits, _open: open };
        begun.answers = Answers::Stream(Box::new(stream));
        Ok(begun)
    }

    fn gather(&'a self, inputs: &[Input<'a>], plans: &'a [Plan]) -> Result<Outcome<'a>> {
        let partials = Partials::of(plans);
        let all: Vec<&Plan> = plans.iter().collect();
        let gathering = partials.gather(&all)?;
        let answers = self.each(inputs, usize::MAX, |place, opened, limits| {
            let answer = opened.and_then(|open| self.answer(&inputs[place], &open, &partials, limits));
            let (tables, answer) = match answer {
                Ok((tables, about, lacks)) => (Some(tables), Ok((about, lacks))),
                Err(error) => (None, Err(error)),
            };
            let name = inputs[place].name.clone();
            gathering.add(place, tables.map(|tables| ReportAnswers { name, tables }))?;
            answer
        });
        let (mut reports, mut failures, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
        for (input, answer) in inputs.iter().zip(answers) {
            match answer {
                Some(Ok((about, lacks))) => {
                    lacking.extend(lacks.into_iter().map(|lack| (reports.len(), input, lack)));
                    reports.push(about);
                }
                Some(Err(Error::Interrupted)) => return Err(Error::Interrupted),
                Some(Err(error)) => failures.push(input.failed(error)),
                None => {}
            }
        }
        // What some reports lack, as a process without a GPU does, does not keep the others from answering.
        let mut counts = vec![0; partials.plans().len()];
        lacking.iter().for_each(|(_, _, (plan, _))| counts[*plan] += 1);
        for (report, input, (plan, error)) in lacking {
            if self.is_strict || counts[plan] == reports.len() {
                failures.push(input.failed(error));
            } else if let count @ 1.. = std::mem::take(&mut counts[plan]) {
                // One note for all reports.
                let text = error.to_string();
                let more = if count > 1 { format!(" with {} more", count - 1) } else { String::new() };
                let why = text.lines().next().unwrap_or_default();
                reports[report].notes.push(format!("left out{more}: {why}"));
            }
        }
        let mut begun = Outcome { asking: self, plans, reports, failures, answers: Answers::None };
        if !begun.reports.is_empty() {
            let tables = partials.answer(&all, gathering, true, &self.classes, &self.limits)?;
            begun.answers = Answers::Tables(tables);
        }
        Ok(begun)
    }

    /// The answers of one of several reports, what is told of it, and what it lacks.
    #[allow(clippy::type_complexity)]
    fn answer(
        &self,
        input: &Input<'_>,
        open: &OpenReport,
        partials: &Partials,
        limits: &Limits,
    ) -> Result<(Vec<Option<ResultTable>>, About, Vec<Lack>)> {
        let (answerable, lacks) = self.answerable(open, partials.plans())?;
        let scope = self.scope_of(input, open)?;
        let (session, mut notes) = self.begin(open, &scope, &answerable, limits)?;
        let (mut tables, mut answered) = (Vec::new(), Vec::new());
        for plan in partials.plans() {
            if !answerable.iter().any(|able| std::ptr::eq(*able, plan)) {
                tables.push(None);
                continue;
            }
            let mut table = ResultTable::default();
            answered.push(self.run(&session, plan, limits, &mut table)?);
            tables.push(Some(table));
        }
        let explainer = Explainer { asking: self, session: &session, scope: &scope, limits };
        notes.extend(explainer.notes(&answered)?);
        let about = About { name: input.name.clone(), facts: open.heading(&scope).facts, notes };
        Ok((tables, about, lacks))
    }

    /// The plans that can run on the report, and for each of the others its place and the reason why not.
    fn answerable<'p>(
        &self,
        open: &OpenReport,
        plans: &'p [Plan],
    ) -> Result<(Vec<&'p Plan>, Vec<Lack>)> {
        let presence = Presence::new(&open.schema, self.catalog);
        let (mut answerable, mut lacks) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter().enumerate() {
            match plan.check_presence(&presence, &open.report.path) {
                Ok(()) => answerable.push(plan),
                Err(error) => lacks.push((place, error)),
            }
        }
        Ok((answerable, lacks))
    }

    /// A session for the plans, and what explains their rows. Also returns notes.
    fn begin(
        &self,
        open: &OpenReport,
        scope: &Scope,
        plans: &[&Plan],
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        let more = match self.explains {
            true => explain::relations(self.catalog, plans, scope)?,
            false => Vec::new(),
        };
        let reads = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let roots = reads.chain(more.iter().map(String::as_str));
        match &self.script {
            Some(script) => script.begin(open, self.catalog, &self.classes, scope, roots, limits),
            None => open.begin_with(self.catalog, &self.classes, scope, roots, limits),
        }
    }

    fn run<'p>(
        &self,
        session: &Session,
        plan: &'p Plan,
        limits: &Limits,
        sink: &mut dyn RowSink,
    ) -> Result<Evidence<'p>> {
        evidence::run(session, plan, limits, sink).map_err(|error| match plan.query {
            Some(_) => error,
            None => with_similar_relations(error, self.catalog),
        })
    }
}

impl Outcome<'_> {
    /// Fails with the first error, if a report failed or lacks data.
    pub fn all_answered(mut self) -> Result<Self> {
        none_failed(&mut self.failures)?;
        Ok(self)
    }

    /// Whether there is a table for at least one plan.
    pub fn has_answers(&self) -> bool {
        match &self.answers {
            Answers::None => false,
            Answers::Stream(_) => true,
            Answers::Tables(tables) => tables.iter().any(|table| !table.columns.is_empty()),
        }
    }

    /// The facts that accompany each result.
    pub fn heading(&self) -> Heading {
        let mut heading = Heading::of_nsq();
        match (&self.answers, self.reports.as_slice()) {
            (Answers::Stream(_), [only]) => heading.facts.clone_from(&only.facts),
            (_, reports) => {
                let facts = reports.iter().map(|report| report.facts.clone().into()).collect();
                heading.facts.insert("reports".to_owned(), serde_json::Value::Array(facts));
            }
        }
        heading
    }

    /// Passes on the rows of each plan that a report answers: `write` gets the plan, and a function that writes its
    /// rows to a sink.
    pub fn results(&mut self, write: &mut dyn FnMut(&Plan, Rows<'_>) -> Result<()>) -> Result<()> {
        match &mut self.answers {
            Answers::None => Ok(()),
            Answers::Stream(stream) => {
                let Stream { session, plans, scope, limits, .. } = &**stream;
                let mut answered = Vec::new();
                for plan in plans {
                    write(plan, &mut |sink| {
                        let answer = self.asking.run(session, plan, limits, sink)?;
                        let rows = answer.rows;
                        answered.push(answer);
                        Ok(rows)
                    })?;
                }
                let explainer = Explainer { asking: self.asking, session, scope, limits };
                let notes = explainer.notes(&answered)?;
                self.reports.iter_mut().for_each(|report| report.notes.extend_from_slice(&notes));
                Ok(())
            }
            Answers::Tables(tables) => {
                for (plan, table) in self.plans.iter().zip(tables) {
                    if !table.columns.is_empty() {
                        write(plan, &mut |sink| table.replay(sink).map(|()| table.rows.len()))?;
                    }
                }
                Ok(())
            }
        }
    }
}
