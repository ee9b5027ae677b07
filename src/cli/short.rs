//! Shortens long text in messages, such as an argument of many kilobytes, to its beginning and its end.

/// Most characters between two quotes.
const QUOTED: usize = 200;
/// Most characters in a line: enough for the longest path.
const LINE: usize = 4096;
/// A usage message with more bytes than this quotes a long argument, and is shortened.
pub(super) const LONG_USAGE: usize = 8192;

/// Shortens each text between two of these quotes.
pub(super) fn short_quotes(text: &str, quote: char) -> String {
    let pieces: Vec<&str> = text.split(quote).collect();
    let piece = |(place, piece): (usize, &&str)| match place % 2 {
        1 => short(piece, QUOTED),
        _ => (*piece).to_owned(),
    };
    pieces.iter().enumerate().map(piece).collect::<Vec<_>>().join(&quote.to_string())
}

/// Shortens a line.
pub(super) fn short_line(line: &str) -> String {
    short(line, LINE)
}

/// Keeps both ends of a text that is longer than `most` characters.
fn short(text: &str, most: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let tail = most / 4;
    let head = text[..cut].char_indices().nth(most - tail - 1).map_or(cut, |(at, _)| at);
    let end = text.char_indices().rev().nth(tail - 1).map_or(cut, |(at, _)| at);
    format!("{}…{}", &text[..head], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends() {
        let long = format!("a{}b", "ü".repeat(100_000));
        let said = short_quotes(&format!("no range named `{long}`, isn't it? `x`"), '`');
        let wanted = format!("no range named `a{}…{}b`, isn't it? `x`", "ü".repeat(148), "ü".repeat(49));
        assert_eq!(said, wanted);
        let said = short_quotes(&format!("invalid value '{long}' for '--rows <N>'"), '\'');
        assert!(said.chars().count() < 250 && said.ends_with("b' for '--rows <N>'"), "{said}");
        let exact = format!("`{}`", "x".repeat(QUOTED));
        for whole in ["", "`", "it's `a`", "`a` b `", &exact] {
            assert_eq!(short_quotes(whole, '`'), whole);
        }
        assert_eq!(short_line(&"x".repeat(LINE)).len(), LINE);
        assert_eq!(short_line(&"x".repeat(LINE + 1)).chars().count(), LINE);
    }
}
