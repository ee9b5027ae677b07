//! Shortens texts to a width, so that different texts stay different.

use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// Shortens the texts of a column to `width`; different texts stay different. Returns whether numbers
/// tell some apart.
pub(super) fn shorten(rows: &mut [Vec<String>], column: usize, width: usize) -> bool {
    let mut is_numbered = false;
    let texts: BTreeSet<String> = rows.iter().map(|row| row[column].clone()).collect();
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in texts {
        alike.entry(middle_out(&text, width)).or_default().push(text);
    }
    let mut short = BTreeMap::new();
    for (shortened, texts) in alike {
        match texts.as_slice() {
            [text] => {
                short.insert(text.clone(), shortened);
            }
            texts => {
                let (shortened, has_numbers) = told_apart(texts, width);
                short.extend(shortened);
                is_numbered |= has_numbers;
            }
        }
    }
    for row in rows {
        if let Some(shortened) = short.get(&row[column]) {
            row[column].clone_from(shortened);
        }
    }
    is_numbered
}

/// `abcdefgh` in five characters: `ab…gh`.
fn middle_out(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let tail_width = kept / 2;
    format!("{}…{}", head(text, kept - tail_width), tail(text, tail_width))
}

/// Texts that share both ends, each with the part in which they differ: `abcXefgh` is `a…X…h`.
///
/// Where that part is too long, a number tells them apart. Returns whether it does.
fn told_apart(texts: &[String], width: usize) -> (Vec<(String, String)>, bool) {
    let chars: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let shortest = chars.iter().map(Vec::len).min().unwrap_or(0);
    let differs = |nth: usize| chars.iter().any(|text| text[nth] != chars[0][nth]);
    let first = (0..shortest).find(|&nth| differs(nth)).unwrap_or(shortest);
    let show = |text: &[char]| -> String {
        let from: String = text[first.min(text.len())..].iter().collect();
        let before: String = text[..first.min(text.len())].iter().collect();
        let lead = head(&before, width / 3);
        format!("{lead}…{}", middle_out(&from, width.saturating_sub(lead.width() + 1)))
    };
    let shown: Vec<String> = chars.iter().map(|text| show(text)).collect();
    let distinct: BTreeSet<&String> = shown.iter().collect();
    if distinct.len() == texts.len() && shown.iter().all(|text| text.width() <= width) {
        return (texts.iter().cloned().zip(shown).collect(), false);
    }
    let digits = texts.len().to_string().len();
    let numbered = texts.iter().enumerate().map(|(nth, text)| {
        let short = middle_out(text, width.saturating_sub(digits + 1));
        (text.clone(), format!("{short}#{}", nth + 1))
    });
    (numbered.collect(), true)
}

/// Characters that take no width are kept up to this many times the width: a name of a million of them
/// ends too.
const CHARACTERS_PER_COLUMN: usize = 8;

/// The longest beginning of `text` that is at most `width` wide.
fn head(text: &str, width: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fits = |end: &usize| text[..*end].width() <= width;
    &text[..ends.take(width * CHARACTERS_PER_COLUMN).take_while(fits).last().unwrap_or(0)]
}

/// The longest end of `text` that is at most `width` wide.
fn tail(text: &str, width: usize) -> &str {
    let begins = text.char_indices().rev().map(|(at, _)| at);
    let fits = |begin: &usize| text[*begin..].width() <= width;
    &text[begins.take(width * CHARACTERS_PER_COLUMN).take_while(fits).last().unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_stay_different() {
        for width in [9, 20, 30] {
            let ends = ["a", "z"].map(|end| end.repeat(40));
            let name = |middle: &str| vec![format!("{}{middle}{}", ends[0], ends[1])];
            let mut rows = vec![name("one"), name("two")];
            shorten(&mut rows, 0, width);
            assert_ne!(rows[0], rows[1]);
            assert!(rows.iter().all(|row| row[0].width() <= width), "{rows:?}");
        }
        let texts = ["ax1bbbbbbbb".to_owned(), "ax2bbbbbbbb".to_owned()];
        assert_eq!(told_apart(&texts, 8).0[1].1, "ax…2b…bb");
    }

    /// Each end is read, not the whole name: this took hours when it was.
    #[test]
    fn a_name_of_megabytes_is_shortened() {
        for c in ["a", "字", "\u{301}"] {
            let name = c.repeat(4 << 20);
            assert!(middle_out(&name, 60).width() <= 60);
        }
    }

    #[test]
    fn names_are_shortened_in_the_middle() {
        assert_eq!(middle_out("abcdefgh", 5), "ab…gh");
        assert_eq!(middle_out("abcdefgh", 4), "ab…h");
        assert_eq!(middle_out("abcdefgh", 8), "abcdefgh");
        assert_eq!(middle_out("漢字漢字漢字", 7), "漢…漢字".replace("漢字", "字"));
    }
}
