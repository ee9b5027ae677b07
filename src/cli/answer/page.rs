//! Answers as text, Markdown and JSON: first the sentences, then the rows behind them, then the method.

use super::asking::{PatternMatch, Reply};
use super::part::{Outcome, PartAnswer, Piece, Shown};
use super::{Args, Questions};
use crate::answer::Block;
use crate::catalog::Attribution;
use crate::cli::output::write_to;
use crate::error::{Error, Result};
use crate::manual::wrapped;
use crate::render::{
    self, Format, Heading, Style, Writer, markdown_code, markdown_text, quotable, visible,
};
use crate::table::{ResultTable, Value as Cell};
use serde_json::{Map, Value as Json, json};
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// Width of the text, in characters.
const WIDTH: usize = 100;
/// Indentation of the text below a question.
const INDENT: usize = 4;

/// Writes the answers about one or two reports.
pub(super) fn write_one(
    questions: &Questions<'_>,
    format: Format,
    reports: &[Json],
    answers: &[PartAnswer],
) -> Result<()> {
    let args = questions.args;
    write_to(args.output.output.as_deref(), |out| {
        if format == Format::Json {
            let mut document = preamble(questions);
            document.insert("reports".to_owned(), reports.to_vec().into());
            document.insert("parts".to_owned(), parts_json(args, answers)?);
            return put_json(out, &document.into());
        }
        let mut page = Page::new(out, args, format);
        page.heading(1, &format!("{} ({})", questions.playbook.title, playbook(questions)))?;
        for (place, report) in reports.iter().enumerate() {
            let number = if reports.len() > 1 { format!("{}: ", place + 1) } else { String::new() };
            page.line(&format!("report {number}{}", report_line(report)))?;
        }
        page.gap()?;
        page.parts(answers)
    })
}

/// Name and version of the playbook.
pub(super) fn playbook(questions: &Questions<'_>) -> String {
    format!("playbook {}@{}", questions.playbook.name, questions.playbook.version)
}

/// The first fields of every JSON document.
pub(super) fn preamble(questions: &Questions<'_>) -> Map<String, Json> {
    let mut document = Map::new();
    let playbook = questions.playbook;
    document.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
    document
        .insert("playbook".to_owned(), json!({ "name": playbook.name, "version": playbook.version }));
    document
}

/// Describes a report in one line.
pub(super) fn report_line(facts: &Json) -> String {
    let text = |key: &str| facts.get(key).and_then(Json::as_str).unwrap_or_default();
    match text("nsys") {
        "" => format!("`{}`", quotable(text("report"))),
        nsys => format!("`{}`, captured by nsys {}", quotable(text("report")), quotable(nsys)),
    }
}

pub(super) fn put_json(out: &mut dyn Write, document: &Json) -> Result<()> {
    let text = serde_json::to_string_pretty(document).map_err(|e| Error::Output(e.into()))?;
    writeln!(out, "{text}").map_err(Error::Output)
}

/// A page of text or Markdown.
pub(super) struct Page<'o> {
    out: &'o mut dyn Write,
    format: Format,
    style: Style,
    has_rows_given: bool,
}

impl<'o> Page<'o> {
    pub(super) fn new(out: &'o mut dyn Write, args: &Args, format: Format) -> Self {
        let mut style = args.output.style(format);
        style.width = style.width.map(|width| width.saturating_sub(INDENT));
        Self { out, format, style, has_rows_given: args.output.rows.is_some() }
    }

    pub(super) fn style(&self) -> Style {
        self.style.clone()
    }

    /// Writes an empty line.
    pub(super) fn gap(&mut self) -> Result<()> {
        self.put("\n")
    }

    fn is_markdown(&self) -> bool {
        self.format == Format::Markdown
    }

    pub(super) fn put(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(Error::Output)
    }

    pub(super) fn heading(&mut self, level: usize, text: &str) -> Result<()> {
        let text = visible(text);
        match (self.is_markdown(), self.style.color) {
            (true, _) => self.put(&format!("{} {}\n\n", "#".repeat(level), markdown_text(&text))),
            (false, is_bold) => {
                let most = if level == 1 { usize::MAX } else { WIDTH - INDENT };
                let (begin, end) = if is_bold { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
                for line in self.hanging(&text, most) {
                    self.put(&format!("{begin}{line}{end}\n"))?;
                }
                Ok(())
            }
        }
    }

    /// Wraps a text to at most this width, and on a terminal to its width. INDENT more columns are free.
    fn fitted(&self, text: &str, most: usize) -> Vec<String> {
        match self.style.width {
            Some(width) => render::wrapped(text, width.min(most)),
            None if most == usize::MAX => vec![text.to_owned()],
            None => wrapped(text, most),
        }
    }

    /// The same, with all lines but the first indented.
    fn hanging(&self, text: &str, most: usize) -> Vec<String> {
        let lines = self.fitted(text, most).into_iter().enumerate();
        lines
            .map(|(place, line)| format!("{:1$}{line}", "", if place == 0 { 0 } else { INDENT }))
            .collect()
    }

    /// Writes a line; in Markdown, a list item.
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        match self.is_markdown() {
            true => self.put(&format!("- {}\n", markdown_text(text))),
            false => self.put(&format!("{}\n", self.hanging(text, usize::MAX).join("\n"))),
        }
    }

    /// Writes all parts.
    pub(super) fn parts(&mut self, answers: &[PartAnswer]) -> Result<()> {
        (0..answers.len()).try_for_each(|nth| self.part(answers, nth))
    }

    fn part(&mut self, answers: &[PartAnswer], nth: usize) -> Result<()> {
        let answer = &answers[nth];
        self.heading(2, &format!("{} {}", answer.label(), answer.question))?;
        if !self.is_markdown() {
            self.put("\n")?;
        }
        let mut is_list = false;
        for (place, piece) in answer.pieces.iter().enumerate() {
            match &piece.outcome {
                Outcome::Answered { text, .. } => {
                    for block in text {
                        self.block(block, &mut is_list)?;
                    }
                }
                Outcome::Lacking(reason) => {
                    // Pieces with the same reason are named together.
                    if !answer.pieces[..place].iter().any(|other| other.lack() == Some(reason)) {
                        let text = not_answered(answers, nth, place, reason);
                        self.block(&Block::Paragraph(text), &mut is_list)?;
                    }
                }
                Outcome::Skipped(reason) => {
                    let text = format!("Skipped (optional): {}; {}", piece.about, ended(reason));
                    self.block(&Block::Paragraph(text), &mut is_list)?;
                }
            }
        }
        self.close_list(&mut is_list)?;
        self.evidence(&answer.pieces)?;
        self.how(&answer.pieces)
    }

    fn close_list(&mut self, is_list: &mut bool) -> Result<()> {
        if std::mem::take(is_list) { self.put("\n") } else { Ok(()) }
    }

    fn block(&mut self, block: &Block, is_list: &mut bool) -> Result<()> {
        match block {
            Block::Paragraph(text) => {
                self.close_list(is_list)?;
                self.wrapped("", text)?;
                self.put("\n")
            }
            Block::Item(text) => {
                *is_list = true;
                self.wrapped("- ", text)
            }
        }
    }

    fn wrapped(&mut self, bullet: &str, text: &str) -> Result<()> {
        let words: Vec<String> = text.split_whitespace().map(visible).collect();
        let text = &words.join(" ");
        if self.is_markdown() {
            return self.put(&format!("{bullet}{}\n", markdown_text(text)));
        }
        let most = self.style.width.unwrap_or(WIDTH).min(WIDTH - INDENT).saturating_sub(bullet.len());
        for (place, line) in self.fitted(text, most).into_iter().enumerate() {
            let before = if place == 0 { bullet } else { &"  "[..bullet.len()] };
            self.put(&format!("{:INDENT$}{before}{line}\n", ""))?;
        }
        Ok(())
    }

    /// Writes the rows behind the sentences, each result once.
    fn evidence(&mut self, pieces: &[Piece]) -> Result<()> {
        for (reply, shown) in replies(pieces).filter(|(_, shown)| !shown.hidden) {
            let table = narrowed(&reply.table, shown);
            let mut style = self.style.clone();
            if !self.has_rows_given && shown.rows.is_some() {
                style.max_rows = shown.rows;
            }
            let heading = Heading {
                title: match reply.reads_report {
                    true => format!("{}: {}, {}", shown.name, reply.title, visible(&reply.report)),
                    false => format!("{}: {}", shown.name, reply.title),
                },
                ..Heading::default()
            };
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes, self.format, style, 1);
            writer.result(&heading, |sink| table.replay(sink))?;
            writer.finish()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            for line in text.lines() {
                match (self.is_markdown(), line.is_empty()) {
                    (true, _) => self.put(&format!("{line}\n"))?,
                    (false, true) => self.put("\n")?,
                    (false, false) => self.put(&format!("{:INDENT$}{line}\n", ""))?,
                }
            }
            self.put("\n")?;
        }
        Ok(())
    }

    fn how(&mut self, pieces: &[Piece]) -> Result<()> {
        let lines = how(pieces);
        if lines.is_empty() {
            return Ok(());
        }
        match self.is_markdown() {
            true => self.put("How it was found:\n\n")?,
            false => self.put(&format!("{:INDENT$}How it was found\n", ""))?,
        }
        for line in lines {
            match line {
                Line::Words(text) => self.wrapped("- ", &text)?,
                Line::Command(words) if self.is_markdown() => {
                    self.put(&format!("- {}\n", markdown_code(&words.join(" "))))?;
                }
                Line::Command(words) => {
                    let width = self.style.width.unwrap_or(usize::MAX).saturating_sub(2);
                    let command = command_lines(&words, width).join(&format!("\n{:1$}", "", INDENT + 4));
                    self.put(&format!("{:INDENT$}- {command}\n", ""))?;
                }
            }
        }
        self.gap()
    }
}

/// Says why a piece of a part has no answer. A reason is told once, with all parts that it applies to.
fn not_answered(answers: &[PartAnswer], nth: usize, place: usize, reason: &str) -> String {
    let answer = &answers[nth];
    let alike = answer.pieces.iter().filter(|piece| piece.lack() == Some(reason));
    let about = alike.map(|piece| piece.about.as_str()).collect::<Vec<_>>().join("; ");
    let before = answers[..nth].iter().map(|other| (format!("in {}", other.label()), &*other.pieces));
    let above = ("above".to_owned(), &answer.pieces[..place]);
    for (told, pieces) in before.chain([above]) {
        let lacks = pieces.iter().filter_map(Piece::lack);
        if let Some(more) = lacks.filter_map(|known| beyond(known, reason)).min_by_key(|more| more.len())
        {
            let more = if more.is_empty() { String::new() } else { format!(" {}", sentence(more)) };
            return format!("Not answered, as {told}: {about}.{more}");
        }
    }
    let shares = |piece: &Piece| piece.lack().is_some_and(|lack| beyond(reason, lack).is_some());
    let later = answers[nth + 1..].iter().filter(|other| other.pieces.iter().any(shares));
    let here = match later.map(PartAnswer::label).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        later => format!(", here and in {}", later.join(", ")),
    };
    format!("Not answered{here}: {about}. {}", sentence(reason))
}

/// What a reason says after one that is known, if it begins with that one.
fn beyond<'r>(known: &str, reason: &'r str) -> Option<&'r str> {
    match reason.strip_prefix(known)? {
        "" => Some(""),
        more => more.strip_prefix("; "),
    }
}

/// A command in lines of at most this width. All but the last end in a backslash, so that they can be
/// copied. A word that is too long, such as a path, stays whole.
fn command_lines(words: &[String], width: usize) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| visible(word)).collect();
    if words.join(" ").width() <= width {
        return vec![words.join(" ")];
    }
    // The lines after the first are indented by two more. An option stays with its value.
    let room = width.saturating_sub(" \\".len() + 2);
    let mut lines: Vec<String> = Vec::new();
    let options = words.chunk_by(|_, next| !next.starts_with('-'));
    let options = options.flat_map(|option| match option.join(" ") {
        whole if whole.width() <= room => vec![whole],
        _ => option.to_vec(),
    });
    for option in options {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + option.width() <= room => *line += &format!(" {option}"),
            _ => lines.push(option),
        }
    }
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| line.push_str(" \\"));
    lines
}

/// Turns a reason into a sentence.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !text.starts_with('`') => {
            ended(&format!("{}{}", first.to_uppercase(), chars.as_str()))
        }
        _ => ended(text),
    }
}

/// Adds a full stop, unless the text ends in something to copy, such as a command.
fn ended(text: &str) -> String {
    match text.ends_with(['.', '\'', '`', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// The answered queries, each once.
fn replies(pieces: &[Piece]) -> impl Iterator<Item = (&Reply, &Shown)> {
    let mut seen: Vec<(&str, usize, String)> = Vec::new();
    let all = pieces.iter().flat_map(|piece| match &piece.outcome {
        Outcome::Answered { replies, .. } => replies.as_slice(),
        _ => &[],
    });
    all.filter(move |(reply, _)| {
        let key = (
            reply.query.0.as_str(),
            reply.report_index,
            format!("{:?} {:?}", reply.bindings, reply.scope),
        );
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    })
    .map(|(reply, shown)| (reply, shown))
}

/// The rows and columns to show, with the columns in the order of the playbook.
fn narrowed(table: &ResultTable, shown: &Shown) -> ResultTable {
    let place = |name: &String| table.columns.iter().position(|column| column.name == *name);
    let places: Vec<usize> = match shown.columns.as_slice() {
        [] => (0..table.columns.len()).collect(),
        names => names.iter().filter_map(place).collect(),
    };
    let key = shown.key.as_ref().and_then(place).filter(|_| !shown.only.is_empty());
    let is_shown = |row: &&Vec<Cell>| match key.and_then(|key| row.get(key)) {
        Some(Cell::Text(text)) => shown.only.contains(text),
        _ => key.is_none(),
    };
    let cells =
        |row: &Vec<Cell>| places.iter().map(|&at| row.get(at).cloned().unwrap_or(Cell::Null)).collect();
    ResultTable {
        columns: places.iter().map(|&at| table.columns[at].clone()).collect(),
        rows: table.rows.iter().filter(is_shown).map(cells).collect(),
    }
}

/// A line about how an answer was found.
enum Line {
    Words(String),
    /// The words of a command.
    Command(Vec<String>),
}

fn how(pieces: &[Piece]) -> Vec<Line> {
    let (mut words, mut commands): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    let add = |list: &mut Vec<String>, text: String| {
        if !list.contains(&text) {
            list.push(text);
        }
    };
    for (reply, _) in replies(pieces) {
        for matched in &reply.ranges {
            add(&mut words, match_line(matched, &reply.report));
        }
        match reply.attribute {
            Attribution::Thread => {}
            Attribution::Process => add(
                &mut words,
                "Autograd launches the backward pass from another thread, so all launches of the process while \
                 these ranges were open are counted (--attribute process)."
                    .to_owned(),
            ),
            Attribution::Capture => {
                add(
                    &mut words,
                    "CUDA graph nodes are counted in the ranges in which they were captured \
                     (--attribute capture)."
                        .to_owned(),
                );
            }
        }
        for note in &reply.notes {
            add(&mut words, format!("{}: {}.", quotable(&reply.report), visible(note)));
        }
        if let Some(command) = reply.command.as_ref().filter(|command| !commands.contains(command)) {
            commands.push(command.clone());
        }
    }
    words.into_iter().map(Line::Words).chain(commands.into_iter().map(Line::Command)).collect()
}

/// Describes in one line which ranges of a report a pattern matched.
fn match_line(matched: &PatternMatch, report: &str) -> String {
    let quoted = |name: &str| format!("`{}`", quotable(name));
    let report = quotable(report);
    match &matched.found {
        Ok(found) => {
            let count = found.count();
            let ranges = if count == 1 { "range" } else { "ranges" };
            let names: Vec<String> = match found.layers.as_slice() {
                [(only, _)] => vec![quoted(only)],
                layers => layers
                    .iter()
                    .take(5)
                    .map(|(name, count)| format!("{} ({count})", quoted(name)))
                    .collect(),
            };
            let more = match found.layers.len().saturating_sub(5) {
                0 => String::new(),
                more => format!(" and {more} more names"),
            };
            let (names, pattern) = (names.join(", "), &matched.pattern);
            match matched.excludes {
                true => format!(
                    "{pattern} in {report}: {count} {ranges}, {names}{more}, excluded with everything inside."
                ),
                false => format!("{pattern} in {report}: {count} {ranges}, {names}{more}."),
            }
        }
        Err(missing) => {
            let tried: Vec<String> = missing.tried.iter().map(|text| quoted(text)).collect();
            format!(
                "{} in {report}: no range found, so nothing is excluded (looked for {}; use --exclude NAME to \
                 exclude other ranges).",
                matched.pattern,
                tried.join(", ")
            )
        }
    }
}

/// The parts as JSON: the sentences, and every row with its raw values.
pub(super) fn parts_json(args: &Args, answers: &[PartAnswer]) -> Result<Json> {
    let mut parts = Vec::new();
    for answer in answers {
        let mut pieces = Vec::new();
        for piece in &answer.pieces {
            pieces.push(piece_json(args, piece)?);
        }
        parts.push(json!({
            "part": answer.part,
            "question": answer.question,
            "status": answer.status().word(),
            "answers": pieces,
        }));
    }
    Ok(parts.into())
}

fn piece_json(args: &Args, piece: &Piece) -> Result<Json> {
    let (text, facts, replies) = match &piece.outcome {
        Outcome::Lacking(reason) => {
            return Ok(json!({ "about": piece.about, "status": "not answered", "reason": reason }));
        }
        Outcome::Skipped(reason) => {
            return Ok(json!({ "about": piece.about, "status": "not asked for", "reason": reason }));
        }
        Outcome::Answered { text, facts, replies } => (text, facts, replies),
    };
    let lines: Vec<String> = text
        .iter()
        .map(|block| match block {
            Block::Paragraph(text) => text.clone(),
            Block::Item(text) => format!("- {text}"),
        })
        .collect();
    let mut results = Vec::new();
    let mut ranges = Map::new();
    for (reply, shown) in replies {
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
        results.push(reply_json(args, reply, shown)?);
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

fn reply_json(args: &Args, reply: &Reply, shown: &Shown) -> Result<Json> {
    let mut facts = Map::new();
    facts.insert("as".to_owned(), shown.name.as_str().into());
    facts.insert("report".to_owned(), reply.report.as_str().into());
    facts.insert("query".to_owned(), reply.query.0.as_str().into());
    facts.insert("version".to_owned(), reply.query.1.into());
    if let Some(scope) = &reply.scope {
        facts.insert("scope".to_owned(), scope.clone());
    }
    if !reply.notes.is_empty() {
        facts.insert("notes".to_owned(), reply.notes.clone().into());
    }
    if let Some(command) = &reply.command {
        facts.insert("command".to_owned(), command.join(" ").into());
    }
    let mut bytes = Vec::new();
    let style = args.output.style(Format::Json);
    let mut writer = Writer::new(&mut bytes, Format::Json, style, 1);
    let heading = Heading { title: reply.title.clone(), facts, ..Heading::default() };
    writer.result(&heading, |sink| reply.table.replay(sink))?;
    writer.finish()?;
    serde_json::from_slice(&bytes).map_err(|e| Error::Output(e.into()))
}
