//! What was typed, as messages say it again: the beginning and the end of what is too long to be read.

/// Characters between quotes.
const QUOTED: usize = 200;
/// Characters of a line; a path may have as many.
const LINE: usize = 4096;
/// Bytes of a message about the command line that holds nothing long.
pub(super) const LONG_USAGE: usize = 8192;

/// The text with what stands between two of these quotes made short.
pub(super) fn short_quotes(text: &str, quote: char) -> String {
    let pieces: Vec<&str> = text.split(quote).collect();
    let piece = |(place, piece): (usize, &&str)| match place % 2 {
        1 => short(piece, QUOTED),
        _ => (*piece).to_owned(),
    };
    pieces.iter().enumerate().map(piece).collect::<Vec<_>>().join(&quote.to_string())
}

/// A line that is not without an end.
pub(super) fn short_line(line: &str) -> String {
    short(line, LINE)
}

/// Both ends of a text that has more than `most` characters.
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
    fn what_is_long_is_told_by_both_its_ends() {
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
