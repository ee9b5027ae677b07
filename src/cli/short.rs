//! Shortens long text in messages, such as an argument of many kilobytes, to its beginning and its end.

/// Most characters between two quotes.
const QUOTED: usize = 200;
/// Most characters in a line: enough for the longest path.
const LINE: usize = 4096;
/// A usage message with more bytes than this quotes a long argument, and is shortened.
pub(super) const LONG_USAGE: usize = 8192;

/// Shortens each text between two of these quotes.
pub(super) fn short_quotes(text: &str, quote: char) -> String {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut shortened = String::new();
    let (mut begin, mut is_inside) = (0, false);
    for (at, mark) in text.match_indices(quote) {
        let end = at + mark.len();
        // An apostrophe is not a quote: one after a word opens nothing, one before a word closes nothing.
        let is_apostrophe = match is_inside {
            true => is_word(text[end..].chars().next()),
            false => is_word(text[..at].chars().next_back()),
        };
        if !is_apostrophe {
            let piece = &text[begin..at];
            shortened += &if is_inside { short(piece, QUOTED) } else { piece.to_owned() };
            shortened += mark;
            (begin, is_inside) = (end, !is_inside);
        }
    }
    let rest = &text[begin..];
    shortened + &if is_inside { short(rest, QUOTED) } else { rest.to_owned() }
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
        let words = format!("the kernels' names of 'a', nsq's and the ranges' {}", "b ".repeat(QUOTED));
        assert_eq!(short_quotes(&words, '\''), words);
        let exact = format!("`{}`", "x".repeat(QUOTED));
        for whole in ["", "`", "it's `a`", "`a` b `", &exact] {
            assert_eq!(short_quotes(whole, '`'), whole);
        }
        assert_eq!(short_line(&"x".repeat(LINE)).len(), LINE);
        assert_eq!(short_line(&"x".repeat(LINE + 1)).chars().count(), LINE);
    }
}
