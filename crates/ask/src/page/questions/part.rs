//! One part of the questions: its pieces, each with an answer or the reason why there is none.

use super::super::planned::fault;
use super::super::template::Trouble;
use super::super::values::to_json;
use super::asking::{Asking, Context};
use super::reply::Reply;
use super::stop::Stop;
use nsq_library::catalog::{Answer, Page, Part};
use nsq_value::error::Result;

use std::collections::BTreeMap;

/// A part and its answers.
#[derive(Debug, Clone)]
pub struct PartAnswer<'a> {
    pub(super) part: &'a Part,
    pub(super) pieces: Vec<Piece<'a>>,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub(super) about: &'a str,
    pub(super) outcome: Outcome<'a>,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome<'a> {
    /// Sentences, values, and the rows behind them.
    Answered { text: String, facts: serde_json::Map<String, serde_json::Value>, replies: Vec<Reply<'a>> },
    /// The report lacks the data, or the user did not give a required parameter or file.
    Lacking(String),
    /// The piece is optional, and the user did not give its parameters or files.
    Skipped(String),
}

/// Whether a part is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Every piece has an answer, or was left out.
    Answered,
    /// Some pieces have an answer, and some lack the data.
    Partly,
    /// No piece has an answer.
    Lacking,
}

impl Status {
    /// The status as it is printed.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partly => "partly answered",
            Self::Lacking => "not answered",
        }
    }
}

impl Piece<'_> {
    /// Why there is no answer.
    pub(super) fn lack(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Lacking(reason) => Some(reason),
            _ => None,
        }
    }
}

impl PartAnswer<'_> {
    /// Whether it is answered.
    pub fn status(&self) -> Status {
        let lacking = self.pieces.iter().any(|piece| piece.lack().is_some());
        let answered = self.pieces.iter().any(|piece| matches!(piece.outcome, Outcome::Answered { .. }));
        match (lacking, answered) {
            (false, _) => Status::Answered,
            (true, true) => Status::Partly,
            (true, false) => Status::Lacking,
        }
    }

    /// `(a)`
    pub fn label(&self) -> String {
        format!("({})", self.part.part)
    }

    /// What of a part that is partly answered has no answer.
    pub fn lacking(&self) -> String {
        let lacking = self.pieces.iter().filter(|piece| piece.lack().is_some());
        lacking.map(|piece| piece.about).collect::<Vec<_>>().join("; ")
    }
}

/// Answers a part piece by piece. A piece that uses values of an unanswered piece has no answer either.
pub(super) fn answer<'a>(asking: &mut Asking<'_, 'a>, part: &'a Part) -> Result<PartAnswer<'a>> {
    let mut context = asking.context();
    let mut unknown = BTreeMap::<&str, String>::new();
    let mut pieces = Vec::new();
    for answer in &part.answers {
        let outcome = match piece(asking, answer, &mut context, &unknown) {
            Ok(outcome) => outcome,
            Err(Stop::Lacking(reason)) => Outcome::Lacking(reason),
            Err(Stop::Failed(error)) => return Err(error),
        };
        if let Outcome::Lacking(reason) | Outcome::Skipped(reason) = &outcome {
            let names = answer.queries.iter().map(|ask| &ask.name);
            for name in names.chain(answer.facts.iter().map(|fact| &fact.name)) {
                context.remove(name);
                unknown.insert(name, reason.clone());
            }
        }
        pieces.push(Piece { about: &answer.about, outcome });
    }
    Ok(PartAnswer { part, pieces })
}

fn piece<'a>(
    asking: &mut Asking<'_, 'a>,
    answer: &'a Answer,
    context: &mut Context,
    unknown: &BTreeMap<&str, String>,
) -> Result<Outcome<'a>, Stop> {
    let ready = asking.next();
    let questions = asking.questions;
    let (settings, templates) = (&questions.settings, &questions.templates);
    let missing: Vec<&str> =
        answer.given.iter().map(String::as_str).filter(|name| !settings.has(name)).collect();
    if !missing.is_empty() {
        let reason = how_to_give(questions.page, &missing);
        return match answer.optional {
            true => Ok(Outcome::Skipped(reason)),
            false => Err(Stop::Lacking(reason)),
        };
    }
    if let Some(reason) = names_of(asking, answer)?.iter().find_map(|name| unknown.get(name.as_str())) {
        return Err(Stop::Lacking(reason.clone()));
    }
    let replies = asking.ask(&ready?, context)?;
    let mut facts = serde_json::Map::new();
    for fact in &answer.facts {
        let value = templates.value(&fact.expression, context).map_err(|trouble| match trouble {
            Trouble::NoAnswer(reason) => {
                Stop::Lacking(format!("{reason}: {} cannot be computed", fact.name))
            }
            fault => asking.stop(&fact.expression, &format!("fact {}", fact.name), fault),
        })?;
        facts.insert(fact.name.clone(), to_json(&value));
        context.insert(fact.name.clone(), value);
    }
    let text = templates.sentences(&answer.text, context);
    let text = text.map_err(|trouble| asking.stop(&answer.text, "text", trouble))?;
    Ok(Outcome::Answered { text, facts, replies })
}

/// All names that the templates of a piece use, in order.
fn names_of(asking: &Asking<'_, '_>, answer: &Answer) -> Result<Vec<String>, Stop> {
    let templates = &asking.questions.templates;
    let mut names = Vec::new();
    let asked = answer.queries.iter().flat_map(|ask| ask.params.values()).chain([&answer.text]);
    let facts = answer.facts.iter().map(|fact| &fact.expression);
    let asked = asked.map(|source| (source, templates.names_in(source)));
    for (source, found) in
        asked.chain(facts.map(|source| (source, templates.names_in_expression(source))))
    {
        let page = asking.questions.page;
        names.extend(found.map_err(|reason| fault(page, source, Trouble::Fault(reason)))?);
    }
    Ok(names)
}

/// Which options the user has to give.
fn how_to_give(page: &Page, missing: &[&str]) -> String {
    let mut ways = Vec::new();
    for preset in &page.presets {
        let sets = |name: &&str| preset.values.iter().all(|value| value.sets.contains_key(*name));
        if missing.iter().all(sets) {
            let values: Vec<&str> = preset.values.iter().map(|value| value.value.as_str()).collect();
            let option = match preset.param.as_str() {
                "model" => "--model ".to_owned(),
                other => format!("-p {other}="),
            };
            ways.push(format!("{option}{}", values.join("|")));
        }
    }
    let is_file = |name: &str| page.files.iter().any(|file| file.name == name);
    let each = missing.iter().map(|name| match is_file(name) {
        true if *name == "timings" => "--timings FILE".to_owned(),
        true => format!("--file {name}=FILE"),
        false => format!("-p {name}=…"),
    });
    ways.push(each.collect::<Vec<_>>().join(" "));
    let doc = |name: &&str| {
        let params = page.params.iter().map(|param| (&param.name, &param.doc));
        let files = page.files.iter().map(|file| (&file.name, &file.doc));
        match params.chain(files).find(|(known, _)| *known == name) {
            Some((name, doc)) => format!("{name} ({})", doc.trim_end_matches('.')),
            None => (*name).to_owned(),
        }
    };
    let described: Vec<String> = missing.iter().map(doc).collect();
    format!("it needs {}: give {}", described.join(" and "), ways.join(", or "))
}
