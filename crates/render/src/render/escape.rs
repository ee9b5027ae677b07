//! Escapes text from untrusted reports.

/// Escapes control characters (terminal escapes, newlines, bidirectional overrides), so a name can
/// neither move the cursor nor look like another name.
pub fn visible(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// As [`visible`], with backquotes replaced, so a name cannot end the quotation around it.
pub fn quotable(text: &str) -> String {
    visible(text).replace('`', "'")
}

/// The character moves the cursor, changes the text direction, or is invisible, so two names could look
/// the same.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("a\u{1b}[31mb\nc\u{202e}"), "a\\u{1b}[31mb\\nc\\u{202e}");
        assert_eq!(visible("größe<T> µs"), "größe<T> µs");
        assert_eq!(quotable("a`b\n"), "a'b\\n");
    }

    #[test]
    fn invisible_characters_are_escaped() {
        let hidden = "\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2060}\u{2064}\u{2066}\u{206a}\u{206f}\
                      \u{feff}\u{fff9}\u{fffb}\u{e0001}\u{e0041}\u{e007f}";
        for c in hidden.chars() {
            assert_eq!(visible(&format!("gemm{c}")), format!("gemm\\u{{{:x}}}", u32::from(c)));
        }
    }
}
