//! Errors and notes on standard error.

use super::progress;
use super::short::{short_line, short_quotes};
use nsq_files::whole_file::tell;
use nsq_render::render::visible;
use nsq_report::report::Notice;
use nsq_value::error::Error;
use nsq_value::shell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// The report of the command line as a word to type, if there is one alone.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Remembers the report that follows the verb, so that commands in advice name it.
pub(super) fn remember_report(arguments: &[OsString]) {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    // What follows an option may be its value, a .sql file is a query, and a folder may stand for several reports.
    let words = arguments.windows(2).skip(1).filter(|pair| !is_option(&pair[0]) && !is_option(&pair[1]));
    let paths = words.map(|pair| Path::new(&pair[1]));
    let mut reports =
        paths.filter(|path| path.extension().is_none_or(|ending| ending != "sql") && path.is_file());
    if let (Some(report), None) = (reports.next(), reports.next()) {
        let _ = GIVEN.set(shell::path(report));
    }
}

/// A command in which the word REPORT stands for a report, with the report of the command line.
fn with_report(text: &str) -> String {
    let Some(given) = GIVEN.get() else { return text.to_owned() };
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || ".…_".contains(c));
    let mut parts = text.split(" REPORT").peekable();
    let mut written = String::new();
    while let Some(part) = parts.next() {
        written += part;
        if let Some(rest) = parts.peek() {
            let is_in_command = written.contains("nsq") && ends(rest);
            written.push(' ');
            written += if is_in_command { given } else { "REPORT" };
        }
    }
    written
}

/// Prints an error and its help on standard error, and returns the exit code.
pub(super) fn complain(error: &Error) -> u8 {
    progress::clear();
    let code = error.exit_code();
    if code != 0 {
        let text = error.to_string();
        let text = if matches!(error, Error::Sql { .. }) { text } else { short_both(&text) };
        let lines: Vec<String> = text.lines().map(|line| short_line(&visible(line))).collect();
        tell(&format!("error: {}", lines.join("\n")));
        if let Some(help) = error.help() {
            tell(&format!("  help: {}", short_line(&visible(&with_report(&help)))));
        }
    }
    code
}

/// Prints a note on standard error.
pub(super) fn note(text: &str) {
    progress::clear();
    tell(&format!("note: {}", short_line(&visible(&with_report(&short_both(text))))));
}

/// Shortens the text in quotes of both kinds: names in messages are in '...', commands in `...`.
fn short_both(text: &str) -> String {
    short_quotes(&short_quotes(text, '`'), '\'')
}

/// Shows notes and progress while a report is being opened.
pub(super) fn show(notice: Notice<'_>) {
    match notice {
        Notice::Note(text) => note(text),
        Notice::Progress { step, done, total } => progress::show_step(step, done, total),
        Notice::Done => progress::clear(),
    }
}
