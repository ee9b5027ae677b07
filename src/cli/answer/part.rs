//! One part of a playbook: its pieces, each with an answer or the reason why there is none.

use super::asking::{OpenReports, Reply};
use crate::answer::{Block, blocks};
use crate::catalog::{Answer, Part};
use crate::error::Result;
use crate::page::{Trouble, to_json};
use minijinja::Value;
use std::collections::BTreeMap;

/// A part and its answers.
#[derive(Debug, Clone)]
pub(super) struct PartAnswer {
    pub(super) part: String,
    pub(super) question: String,
    pub(super) pieces: Vec<Piece>,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) about: String,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// Sentences, values, and the rows behind them.
    Answered {
        text: Vec<Block>,
        facts: serde_json::Map<String, serde_json::Value>,
        /// Each with how to show its rows.
        replies: Vec<(Reply, Shown)>,
    },
    /// The report lacks the data, or the user did not give a required parameter or file.
    Lacking(String),
    /// The piece is optional, and the user did not give its parameters or files.
    Skipped(String),
}

/// Which rows and columns are shown to people.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Option<usize>,
    pub(super) key: Option<String>,
    pub(super) only: Vec<String>,
    pub(super) hidden: bool,
}

/// Whether a part is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Answered,
    Partly,
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

impl Piece {
    /// Why there is no answer.
    pub(super) fn lack(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Lacking(reason) => Some(reason),
            _ => None,
        }
    }
}

impl PartAnswer {
    pub(super) fn status(&self) -> Status {
        let lacking = self.pieces.iter().any(|piece| piece.lack().is_some());
        let answered = self.pieces.iter().any(|piece| matches!(piece.outcome, Outcome::Answered { .. }));
        match (lacking, answered) {
            (false, _) => Status::Answered,
            (true, true) => Status::Partly,
            (true, false) => Status::Lacking,
        }
    }
}

/// Answers a part piece by piece. A piece that uses values of an unanswered piece has no answer either.
pub(super) fn answer(reports: &mut OpenReports<'_>, part: &Part) -> Result<PartAnswer> {
    let mut context = reports.questions.settings.context();
    let mut unknown = BTreeMap::<String, String>::new();
    let mut pieces = Vec::new();
    for answer in &part.answers {
        let outcome = piece(reports, answer, &mut context, &unknown)?;
        if let Outcome::Lacking(reason) | Outcome::Skipped(reason) = &outcome {
            let names = answer.queries.iter().map(|ask| &ask.name);
            let names = names.chain(answer.facts.iter().map(|fact| &fact.name));
            for name in names {
                context.remove(name);
                unknown.insert(name.clone(), reason.clone());
            }
        }
        pieces.push(Piece { about: answer.about.clone(), outcome });
    }
    let question = part.question.trim().to_owned();
    Ok(PartAnswer { part: part.part.clone(), question, pieces })
}

fn piece(
    reports: &mut OpenReports<'_>,
    answer: &Answer,
    context: &mut BTreeMap<String, Value>,
    unknown: &BTreeMap<String, String>,
) -> Result<Outcome> {
    let settings = &reports.questions.settings;
    let missing: Vec<&String> = answer.given.iter().filter(|name| !settings.has(name)).collect();
    if !missing.is_empty() {
        let reason = how_to_give(reports, &missing);
        return Ok(if answer.optional { Outcome::Skipped(reason) } else { Outcome::Lacking(reason) });
    }
    for name in names_of(reports, answer)? {
        if let Some(reason) = unknown.get(&name) {
            return Ok(Outcome::Lacking(reason.clone()));
        }
    }
    let replies = match reports.ask(&answer.queries, context)? {
        Ok(replies) => replies,
        Err(reason) => return Ok(Outcome::Lacking(reason.0)),
    };
    let templates = &reports.questions.templates;
    let mut facts = serde_json::Map::new();
    for fact in &answer.facts {
        let value = match templates.value(&fact.expression, context) {
            Ok(value) => value,
            Err(Trouble::NoAnswer(reason)) => {
                return Ok(Outcome::Lacking(format!("{reason}: {} cannot be computed", fact.name)));
            }
            Err(Trouble::Fault(reason)) => {
                return Err(reports.fault(&fact.expression, &format!("fact {}: {reason}", fact.name)));
            }
        };
        facts.insert(fact.name.clone(), to_json(&value));
        context.insert(fact.name.clone(), value);
    }
    let text = match templates.sentences(&answer.text, context) {
        Ok(text) => text,
        Err(Trouble::NoAnswer(reason)) => return Ok(Outcome::Lacking(reason)),
        Err(Trouble::Fault(reason)) => {
            return Err(reports.fault(&answer.text, &format!("text: {reason}")));
        }
    };
    let shown = answer.queries.iter().zip(&replies).map(|(ask, reply)| Shown {
        name: ask.name.clone(),
        columns: ask.columns.clone(),
        rows: ask.rows,
        key: ask.key.clone(),
        only: ask.only.clone(),
        hidden: ask.hidden || reply.table.rows.is_empty(),
    });
    let shown: Vec<Shown> = shown.collect();
    let replies = replies.into_iter().zip(shown).collect();
    Ok(Outcome::Answered { text: blocks(&text), facts, replies })
}

/// All names that the templates of a piece use.
fn names_of(reports: &OpenReports<'_>, answer: &Answer) -> Result<Vec<String>> {
    let templates = &reports.questions.templates;
    let mut names = Vec::new();
    let asked = answer.queries.iter().flat_map(|ask| ask.params.values()).chain([&answer.text]);
    for source in asked {
        names.extend(templates.names_in(source).map_err(|reason| reports.fault(source, &reason))?);
    }
    for fact in &answer.facts {
        let source = &fact.expression;
        names.extend(
            templates.names_in_expression(source).map_err(|reason| reports.fault(source, &reason))?,
        );
    }
    Ok(names)
}

/// Which options the user has to give.
fn how_to_give(reports: &OpenReports<'_>, missing: &[&String]) -> String {
    let playbook = reports.questions.playbook;
    let mut ways = Vec::new();
    for preset in &playbook.presets {
        let sets = |name: &String| preset.values.iter().all(|value| value.sets.contains_key(name));
        if missing.iter().all(|name| sets(name)) {
            let values: Vec<&str> = preset.values.iter().map(|value| value.value.as_str()).collect();
            let option = if preset.param == "model" { "--model " } else { "-p " };
            let key = if preset.param == "model" { String::new() } else { format!("{}=", preset.param) };
            ways.push(format!("{option}{key}{}", values.join("|")));
        }
    }
    let each: Vec<String> = missing
        .iter()
        .map(|name| match playbook.files.iter().any(|file| file.name == **name) {
            true if *name == "timings" => "--timings FILE".to_owned(),
            true => format!("--file {name}=FILE"),
            false => format!("-p {name}=…"),
        })
        .collect();
    ways.push(each.join(" "));
    format!("it needs {}: give {}", described(reports, missing), ways.join(", or "))
}

/// The missing parameters and files, each with its description.
fn described(reports: &OpenReports<'_>, missing: &[&String]) -> String {
    let playbook = reports.questions.playbook;
    let doc = |name: &&String| {
        let params = playbook.params.iter().map(|param| (&param.name, &param.doc));
        let files = playbook.files.iter().map(|file| (&file.name, &file.doc));
        let found = params.chain(files).find(|(known, _)| known == name);
        match found {
            Some((name, doc)) => format!("{name} ({})", doc.trim_end_matches('.')),
            None => (*name).clone(),
        }
    };
    missing.iter().map(doc).collect::<Vec<_>>().join(" and ")
}
