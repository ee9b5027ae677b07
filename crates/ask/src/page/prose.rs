//! The filters of running text: lines of a width, commands, and Markdown.

use super::bounds::at_most;
use super::filters::laid_out;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, State};
use nsq_render::render::{bold, filled, markdown_code, markdown_text, visible, wrapped};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// Name of what layouts know about the terminal.
pub const TERMINAL: &str = "terminal";

/// The terminal that a layout is for. Elsewhere, lines have any length, and nothing is coloured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminal {
    /// Columns.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub color: bool,
}

impl Terminal {
    /// As layouts see it.
    pub(super) fn value(self) -> Value {
        Value::from(BTreeMap::from([
            ("width", Value::from(self.width)),
            ("color", Value::from(self.color)),
        ]))
    }
}

/// Escape sequences of styles.
const STYLES: [(&str, &str); 5] =
    [("bold", "1"), ("green", "32"), ("yellow", "33"), ("magenta", "35"), ("cyan", "36")];

/// A text in a style, if the layout's terminal shows colours.
fn paint(state: &State, text: &Value, style: &str) -> Result<Value, Error> {
    let known = STYLES.iter().find(|(name, _)| *name == style);
    let Some((_, code)) = known else {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("unknown style '{style}'")));
    };
    let shown = if text.is_safe() { text.to_string() } else { visible(&text.to_string()) };
    let color = state.lookup(TERMINAL).and_then(|terminal| terminal.get_attr("color").ok());
    let is_painted = color.is_some_and(|color| color.is_true()) && !shown.is_empty();
    let painted = if is_painted { format!("\u{1b}[{code}m{shown}\u{1b}[0m") } else { shown };
    Ok(laid_out(state, painted))
}

/// Adds the filters.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("markdown", |state: &State, text: String| {
        laid_out(state, markdown_text(&visible(&text)))
    });
    environment.add_filter("markdown_code", |state: &State, text: String| {
        laid_out(state, markdown_code(&text))
    });
    environment.add_filter("bold", |state: &State, text: Value| paint(state, &text, "bold"));
    environment
        .add_filter("paint", |state: &State, text: Value, style: String| paint(state, &text, &style));
    environment.add_filter("fill", fill);
    environment.add_filter(
        "shell",
        |state: &State, words: Vec<String>, width: Option<usize>, indent: usize| {
            let room = width.unwrap_or(usize::MAX).saturating_sub(indent);
            // The lines after the first are indented by two more.
            let margin = " ".repeat(at_most(indent)? + 2);
            Ok::<_, Error>(laid_out(state, command_lines(&words, room).join(&format!("\n{margin}"))))
        },
    );
}

/// Wraps a text into lines of a terminal's width, with options `most` (columns), `first` and `rest` (what the
/// first line and the others begin with) and `bold`.
fn fill(state: &State, text: String, terminal: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let most: Option<usize> = options.get("most")?;
    let (first, rest): (Option<String>, Option<String>) = (options.get("first")?, options.get("rest")?);
    let is_bold = options.get::<Option<bool>>("bold")? == Some(true);
    options.assert_all_used()?;
    let (text, first, rest) = (visible(&text), first.unwrap_or_default(), rest.unwrap_or_default());
    let indent = first.width().max(rest.width());
    let room = |width: usize| width.min(most.unwrap_or(width)).saturating_sub(indent);
    let lines = match (terminal, most) {
        (Some(width), _) => wrapped(&text, room(width)),
        // Elsewhere, a long word stays whole.
        (None, Some(most)) => filled(&text, room(most)),
        (None, None) => vec![text],
    };
    let line = |(place, line): (usize, &String)| {
        bold(&format!("{}{line}", if place == 0 { &first } else { &rest }), is_bold)
    };
    Ok(laid_out(state, lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")))
}

/// A command in lines of at most this width. All but the last end in a backslash, so that they can be
/// copied. A word that is too long, such as a path, stays whole.
fn command_lines(words: &[String], width: usize) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| visible(word)).collect();
    if words.join(" ").width() <= width {
        return vec![words.join(" ")];
    }
    // The lines after the first have less room. An option stays with its value.
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
    let last = lines.len().saturating_sub(1);
    lines[..last].iter_mut().for_each(|line| line.push_str(" \\"));
    lines
}
