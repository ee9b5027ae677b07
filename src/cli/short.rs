//! What was typed, as messages say it again: the beginning and the end of what is too long to be read.

/// Characters between quotes.
const QUOTED: usize = 200;
/// Characters of a line; a path may have as many.
const LINE: usize = 4096;
/// Bytes of a message about the command line that holds nothing long.
pub(super) const LONG_USAGE: usize = 8192;

/// The text with what stands between two of these quotes made short.
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
