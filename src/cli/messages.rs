//! Errors and notes on standard error.

use super::progress;
use super::short::{short_line, short_quotes};
use nsq_files::whole_file::tell;
use nsq_render::render::visible;
use nsq_report::report::Notice;
use nsq_value::error::Error;

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
            tell(&format!("  help: {}", short_line(&visible(&help))));
        }
    }
    code
}

/// Prints a note on standard error.
pub(super) fn note(text: &str) {
    progress::clear();
    tell(&format!("note: {}", short_line(&visible(&short_both(text)))));
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
