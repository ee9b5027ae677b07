//! Answers as JSON: with every row, and as the layout of answers sees them.

use super::blocks::{Block, blocks};
use super::part::{Outcome, PartAnswer, Piece};
use super::reasons::{ended, not_answered};
use super::reply::{PatternMatch, Reply};
use nsq_library::catalog::Attribution;
use nsq_render::render::{Format, Heading, Style, Writer, visible};
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value as Cell};
use serde_json::{Map, Value as Json, json};

impl PartAnswer<'_> {
    /// The sentences, and every row with its raw values.
    pub fn to_json(&self, style: &Style) -> Result<Json> {
        let pieces = self.pieces.iter().map(|piece| piece_json(piece, style));
        Ok(json!({
            "part": self.part.part,
            "question": self.part.question.trim(),
            "status": self.status().word(),
            "answers": pieces.collect::<Result<Vec<_>>>()?,
        }))
    }

    /// The answers of a profile as the layout sees them. `reports`: the facts of each report. `rows`: as for the views.
    pub fn profile(
        name: &str,
        reports: &[Json],
        answers: &[Self],
        format: Format,
        style: &Style,
        rows: bool,
    ) -> Result<Map<String, Json>> {
        // A report of a trace has no version of nsys.
        let report = |facts: &Json| json!({ "report": facts["report"], "nsys": facts.get("nsys") });
        let mut view = Map::new();
        view.insert("name".to_owned(), name.into());
        view.insert("reports".to_owned(), reports.iter().map(report).collect());
        view.insert("parts".to_owned(), Self::views(answers, format, style, rows)?);
        Ok(view)
    }

    /// All parts as the layout sees them: blocks of text, tables for people, and how each was asked.
    /// `rows`: the user says how many rows of a table are shown.
    fn views(answers: &[Self], format: Format, style: &Style, rows: bool) -> Result<Json> {
        let view = |(nth, answer): (usize, &Self)| -> Result<Json> {
            let asked = replies(&answer.pieces).map(|reply| asked(reply, format, style, rows));
            Ok(json!({
                "part": answer.part.part,
                "question": answer.part.question.trim(),
                "blocks": text_of(answers, nth),
                "asked": asked.collect::<Result<Vec<_>>>()?,
            }))
        };
        answers.iter().enumerate().map(view).collect::<Result<Vec<_>>>().map(Json::from)
    }
}

fn piece_json(piece: &Piece<'_>, style: &Style) -> Result<Json> {
    let unanswered =
        |status, reason| Ok(json!({ "about": piece.about, "status": status, "reason": reason }));
    let (text, facts, replies) = match &piece.outcome {
        Outcome::Lacking(reason) => return unanswered("not answered", reason),
        Outcome::Skipped(reason) => return unanswered("not asked for", reason),
        Outcome::Answered { text, facts, replies } => (text, facts, replies),
    };
    let lines: Vec<String> = blocks(text).iter().map(Block::line).collect();
    let (mut results, mut ranges) = (Vec::new(), Map::new());
    for reply in replies {
        for matched in &reply.ranges {
            let value = match &matched.found {
                Ok(found) => json!({
                    "names": found.layers.iter().map(|(layer, _)| layer).collect::<Vec<_>>(),
                    "globs": found.globs,
                    "range_count": found.count(),
                    "left_out": matched.excludes,
                }),
                Err(missing) => json!({ "names": [], "looked_for": missing.tried, "range_count": 0 }),
            };
            ranges.insert(format!("{} in {}", matched.pattern, reply.report), value);
        }
        results.push(reply_json(reply, style)?);
    }
    Ok(json!({
        "about": piece.about,
        "status": "answered",
        "text": lines.join("\n"),
        "facts": facts,
        "ranges": ranges,
        "results": results,
    }))
}

fn reply_json(reply: &Reply<'_>, style: &Style) -> Result<Json> {
    let mut facts = Map::new();
    let mut fact = |key: &str, value: Json| facts.insert(key.to_owned(), value);
    fact("as", reply.ask.name.as_str().into());
    fact("report", reply.report.as_str().into());
    fact("query", reply.query.0.as_str().into());
    fact("version", reply.query.1.into());
    if let Some(scope) = &reply.scope {
        fact("scope", scope.clone());
    }
    if !reply.notes.is_empty() {
        fact("notes", reply.notes.clone().into());
    }
    if let Some(command) = &reply.command {
        fact("command", command.join(" ").into());
    }
    let heading = Heading { title: reply.title.clone(), facts, ..Heading::default() };
    let text = table_text(&reply.table, &heading, Format::Json, style.clone())?;
    serde_json::from_str(&text).map_err(|e| Error::Output(e.into()))
}

/// The text of a part: its sentences, and the reasons of pieces without an answer.
fn text_of(answers: &[PartAnswer<'_>], nth: usize) -> Vec<Json> {
    let mut text = Vec::new();
    for (place, piece) in answers[nth].pieces.iter().enumerate() {
        match &piece.outcome {
            Outcome::Answered { text: answer, .. } => text.extend(blocks(answer)),
            Outcome::Lacking(reason) => {
                text.extend(not_answered(answers, nth, place, reason).map(Block::Paragraph));
            }
            Outcome::Skipped(reason) => text.push(Block::Paragraph(format!(
                "Skipped (optional): {}; {}",
                piece.about,
                ended(reason)
            ))),
        }
    }
    let view = |block: &Block| match block {
        Block::Paragraph(text) => json!({ "is_item": false, "text": text }),
        Block::Item(text) => json!({ "is_item": true, "text": text }),
    };
    text.iter().map(view).collect()
}

/// The answered queries, each once.
fn replies<'p, 'a>(pieces: &'p [Piece<'a>]) -> impl Iterator<Item = &'p Reply<'a>> {
    let mut seen: Vec<(&str, usize, String)> = Vec::new();
    let all = pieces.iter().flat_map(|piece| match &piece.outcome {
        Outcome::Answered { replies, .. } => replies.as_slice(),
        _ => &[],
    });
    all.filter(move |reply| {
        let key = (
            reply.query.0.as_str(),
            reply.report_index,
            format!("{:?} {:?}", reply.bindings, reply.scope),
        );
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    })
}

/// A query as the layout sees it: its table, and how it was asked.
fn asked(reply: &Reply<'_>, format: Format, style: &Style, rows: bool) -> Result<Json> {
    let is_shown = !reply.ask.hidden && !reply.table.rows.is_empty();
    let title = match reply.reads_report {
        true => format!("{}: {}, {}", reply.ask.name, reply.title, visible(&reply.report)),
        false => format!("{}: {}", reply.ask.name, reply.title),
    };
    let heading = Heading { title, ..Heading::default() };
    let own = reply.ask.rows.filter(|_| !rows);
    let style = Style { max_rows: own.or(style.max_rows), ..style.clone() };
    let table = || table_text(&narrowed(reply), &heading, format, style);
    let range = |PatternMatch { pattern, excludes, found }: &PatternMatch| match found {
        Ok(found) => json!({
            "pattern": pattern,
            "excludes": excludes,
            "count": found.count(),
            "names": found.layers.iter().map(|(name, count)| json!([name, count])).collect::<Vec<_>>(),
        }),
        Err(missing) => json!({ "pattern": pattern, "count": 0, "tried": missing.tried }),
    };
    Ok(json!({
        "table": is_shown.then(table).transpose()?,
        "report": reply.report,
        "ranges": reply.ranges.iter().map(range).collect::<Vec<_>>(),
        "attribute": match reply.ask.attribute {
            Attribution::Thread => "thread",
            Attribution::Process => "process",
            Attribution::Capture => "capture",
        },
        "notes": reply.notes,
        "command": reply.command,
    }))
}

/// The rows and columns that people see, with the columns in the order of the manifest.
fn narrowed(reply: &Reply<'_>) -> ResultTable {
    let (table, ask) = (&reply.table, reply.ask);
    let place = |name: &String| table.columns.iter().position(|column| column.name == *name);
    let places: Vec<usize> = match ask.columns.as_slice() {
        [] => (0..table.columns.len()).collect(),
        names => names.iter().filter_map(place).collect(),
    };
    let key = ask.key.as_ref().and_then(place).filter(|_| !ask.only.is_empty());
    let is_shown = |row: &&Vec<Cell>| match key.and_then(|key| row.get(key)) {
        Some(Cell::Text(text)) => ask.only.contains(text),
        _ => key.is_none(),
    };
    let cells =
        |row: &Vec<Cell>| places.iter().map(|&at| row.get(at).cloned().unwrap_or(Cell::Null)).collect();
    ResultTable {
        columns: places.iter().map(|&at| table.columns[at].clone()).collect(),
        rows: table.rows.iter().filter(is_shown).map(cells).collect(),
    }
}

/// A table in a format, without the newline at its end.
pub fn table_text(
    table: &ResultTable,
    heading: &Heading,
    format: Format,
    style: Style,
) -> Result<String> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, format, style, 1);
    writer.result(heading, |sink| table.replay(sink))?;
    writer.finish()?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
