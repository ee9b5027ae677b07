//! One part of a playbook: its pieces, each answered or with the reason why not.

use super::asking::{QueryRunner, Reply};
use crate::answer::{Block, Trouble, blocks, to_json};
use crate::catalog::{Answer, Part};
use crate::error::Result;
use minijinja::Value;
use std::collections::BTreeMap;

/// A part and what is said to it.
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
    /// Sentences, values, and the rows they rest on.
    Answered {
        text: Vec<Block>,
        facts: serde_json::Map<String, serde_json::Value>,
        /// Each with the place of its query in the playbook's piece.
        replies: Vec<(Reply, Shown)>,
    },
    /// The report lacks what it takes, or the user did not give it.
    Lacking(String),
    /// Nobody asked for it.
    Skipped(String),
}

/// What of the rows people are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Option<usize>,
    pub(super) key: Option<String>,
    pub(super) only: Vec<String>,
    pub(super) hidden: bool,
}

/// How far a part is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Answered,
    Partly,
    Lacking,
}

impl Status {
    /// The word for it in results.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partly => "partly answered",
            Self::Lacking => "not answered",
        }
    }
}

impl Piece {
    pub(super) fn counts_as_lacking(&self) -> bool {
        matches!(self.outcome, Outcome::Lacking(_))
    }
}

impl PartAnswer {
    pub(super) fn status(&self) -> Status {
        let lacking = self.pieces.iter().any(Piece::counts_as_lacking);
        let answered = self.pieces.iter().any(|piece| matches!(piece.outcome, Outcome::Answered { .. }));
        match (lacking, answered) {
            (false, _) => Status::Answered,
            (true, true) => Status::Partly,
            (true, false) => Status::Lacking,
        }
    }
}

/// Answers a part, piece by piece; a piece that rests on rows of one without an answer has none either.
pub(super) fn answer(runner: &mut QueryRunner<'_>, part: &Part) -> Result<PartAnswer> {
    let mut context = runner.questions.settings.context();
    let mut unknown = BTreeMap::<String, String>::new();
    let mut pieces = Vec::new();
    for answer in &part.answers {
        let outcome = piece(runner, answer, &mut context, &unknown)?;
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
    runner: &mut QueryRunner<'_>,
    answer: &Answer,
    context: &mut BTreeMap<String, Value>,
    unknown: &BTreeMap<String, String>,
) -> Result<Outcome> {
    let settings = &runner.questions.settings;
    let missing: Vec<&String> = answer.given.iter().filter(|name| !settings.has(name)).collect();
    if !missing.is_empty() {
        let reason = to_give(runner, &missing);
        return Ok(if answer.optional { Outcome::Skipped(reason) } else { Outcome::Lacking(reason) });
    }
    for name in names_of(runner, answer)? {
        if let Some(reason) = unknown.get(&name) {
            return Ok(Outcome::Lacking(reason.clone()));
        }
    }
    let replies = match runner.ask(&answer.queries, context)? {
        Ok(replies) => replies,
        Err(reason) => return Ok(Outcome::Lacking(reason.0)),
    };
    let templates = &runner.questions.templates;
    let mut facts = serde_json::Map::new();
    for fact in &answer.facts {
        let value = match templates.value(&fact.expression, context) {
            Ok(value) => value,
            Err(Trouble::NoAnswer(reason)) => {
                return Ok(Outcome::Lacking(format!("{reason}: {} cannot be told", fact.name)));
            }
            Err(Trouble::Fault(reason)) => {
                return Err(runner.fault(&fact.expression, &format!("fact {}: {reason}", fact.name)));
            }
        };
        facts.insert(fact.name.clone(), to_json(&value));
        context.insert(fact.name.clone(), value);
    }
    let text = match templates.sentences(&answer.text, context) {
        Ok(text) => text,
        Err(Trouble::NoAnswer(reason)) => return Ok(Outcome::Lacking(reason)),
        Err(Trouble::Fault(reason)) => {
            return Err(runner.fault(&answer.text, &format!("text: {reason}")));
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

/// Everything that the templates of a piece ask for.
fn names_of(runner: &QueryRunner<'_>, answer: &Answer) -> Result<Vec<String>> {
    let templates = &runner.questions.templates;
    let mut names = Vec::new();
    let asked = answer.queries.iter().flat_map(|ask| ask.params.values()).chain([&answer.text]);
    for source in asked {
        names.extend(templates.names_in(source).map_err(|reason| runner.fault(source, &reason))?);
    }
    for fact in &answer.facts {
        let source = &fact.expression;
        names.extend(
            templates.names_in_expression(source).map_err(|reason| runner.fault(source, &reason))?,
        );
    }
    Ok(names)
}

/// What the user has to give.
fn to_give(runner: &QueryRunner<'_>, missing: &[&String]) -> String {
    let playbook = runner.questions.playbook;
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
    format!("it takes {}: give {}", docs(runner, missing), ways.join(", or "))
}

/// What the missing things are.
fn docs(runner: &QueryRunner<'_>, missing: &[&String]) -> String {
    let playbook = runner.questions.playbook;
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
