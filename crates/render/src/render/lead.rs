//! The lines above all tables: a heading, and lines of a label and a sentence.

use super::markdown::escaped;
use super::{Style, visible};
use unicode_width::UnicodeWidthChar;

/// Longest line, in characters.
const WIDTH: usize = 110;

/// Formats the labels as a column with the sentences beside them, wrapped between words.
pub(super) fn text(title: &str, lines: &[(&str, String)], style: &Style) -> String {
    let mut text = String::new();
    if !title.is_empty() && !style.no_header {
        text.push_str(&bold(&visible(title), style.color));
        text.push_str("\n\n");
    }
    let margin = lines.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0) + 2;
    let width = style.width.unwrap_or(WIDTH).min(WIDTH).saturating_sub(margin).max(20);
    let mut above = "";
    for (word, sentence) in lines {
        let shown = if *word == above { "" } else { word };
        above = word;
        let padding = " ".repeat(margin - shown.chars().count());
        let hanging = format!("\n{}", " ".repeat(margin));
        text.push_str(&bold(shown, style.color && !shown.is_empty()));
        text.push_str(&padding);
        text.push_str(&wrapped(&visible(sentence), width).join(&hanging));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Bold text, on a terminal with colours.
pub fn bold(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Formats a heading and a list.
pub(super) fn markdown(title: &str, lines: &[(&str, String)]) -> String {
    let mut text = String::new();
    if !title.is_empty() {
        text.push_str(&format!("## {}\n\n", escaped(title)));
    }
    for (word, sentence) in lines {
        text.push_str(&format!("- **{}** {}\n", escaped(word), escaped(sentence)));
    }
    text.push('\n');
    text
}

/// Wraps text at spaces into lines of at most `width` characters; a longer word gets its own line.
pub fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Columns that a text takes on a terminal: escape sequences of styles take none.
pub fn printed_width(text: &str) -> usize {
    let mut is_style = false;
    let column = |c: char| {
        let is_inside = is_style || c == '\u{1b}';
        is_style = is_inside && c != 'm';
        if is_inside { 0 } else { c.width().unwrap_or(0) }
    };
    text.chars().map(column).sum()
}

/// Whether no line ends between two words: a number and its unit, an option and its value.
fn stays_with(word: &str, before: &str) -> bool {
    const UNITS: [&str; 17] = [
        "ns", "µs", "us", "ms", "s", "min", "h", "%", "B", "kB", "MB", "GB", "TB", "GB/s", "MB/s",
        "TFLOP/s", "GFLOP/s",
    ];
    let unit = word.trim_end_matches(|c: char| ".,;:)".contains(c));
    UNITS.contains(&unit) && before.ends_with(|c: char| c.is_ascii_digit())
        || before.ends_with("-q")
        || before.ends_with("-p")
}

/// Wraps a sentence into lines of at most `width` columns. A number and its unit stay together. A word that is wider is
/// broken.
pub fn wrapped(sentence: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut words: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match words.last_mut() {
            Some(before) if stays_with(word, before) => *before += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in words {
        let columns = printed_width(&word);
        let is_next = length > 0 && length + 1 + columns > width;
        let gap = usize::from(length > 0 && !is_next);
        if is_next {
            lines.push(String::new());
            length = 0;
        }
        if gap == 1
            && let Some(line) = lines.last_mut()
        {
            line.push(' ');
            length += 1;
        }
        if length + columns <= width {
            if let Some(line) = lines.last_mut() {
                line.push_str(&word);
                length += columns;
            }
            continue;
        }
        for c in word.chars() {
            let more = c.width().unwrap_or(0);
            if length + more > width && length > 0 {
                lines.push(String::new());
                length = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
                length += more;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_indented_beside_their_labels() {
        let style = Style { width: Some(30), ..Style::default() };
        let lines = [
            ("a", "one two three four five six".to_owned()),
            ("a", "x".to_owned()),
            ("bb", "y\u{7}".to_owned()),
        ];
        let expected = "T\n\na   one two three four five\n    six\n    x\nbb  y\\x07\n\n";
        assert_eq!(text("T", &lines, &style), expected.replace("\\x07", &visible("\u{7}")));
        assert_eq!(wrapped("a abcdefghi jk", 4), ["a", "abcd", "efgh", "i jk"]);
        assert_eq!(wrapped("it takes 12.5 ms.", 13), ["it takes", "12.5 ms."]);
        assert_eq!(wrapped("\u{1b}[1mab cd\u{1b}[0m", 5), ["\u{1b}[1mab cd\u{1b}[0m"]);
        assert_eq!(markdown("", &[("a", "<b>*".to_owned())]), "- **a** &lt;b&gt;\\*\n\n");
    }
}
