//! Nearly valid JSON → JSON.
//!
//! Profilers have written bare `inf` and `nan`, Windows paths with single backslashes, and names with
//! raw control characters or invalid UTF-8. One bad event must not make the whole trace unreadable.

/// Repairs the object at the start of `text`. Returns it with its length in `text`, or `None` if the
/// object does not end in `text`.
pub(super) fn repair(text: &[u8]) -> Option<(String, usize)> {
    let mut repaired = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at = repair_string(text, at, &mut repaired)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    repaired.push(byte);
                    return Some((String::from_utf8_lossy(&repaired).into_owned(), at + 1));
                }
            }
            b'-' | b'+' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let (word, length) = repair_word(&text[at..]);
                repaired.extend_from_slice(word);
                at += length;
                continue;
            }
            _ => {}
        }
        repaired.push(byte);
        at += 1;
    }
    None
}

/// Like [`repair`], for a value of any type. A word or number at the end of `text` gives `None`: more of
/// it may follow.
pub(super) fn repair_value(text: &[u8]) -> Option<(String, usize)> {
    match text.first()? {
        b'{' | b'[' => repair(text),
        b'"' => {
            let mut repaired = Vec::new();
            let used = repair_string(text, 0, &mut repaired)?;
            Some((String::from_utf8_lossy(&repaired).into_owned(), used))
        }
        _ => {
            let (repaired, used) = repair_word(text);
            (used > 0 && used < text.len())
                .then(|| (String::from_utf8_lossy(repaired).into_owned(), used))
        }
    }
}

/// The word or number at the start of `text`, and its length. It becomes null if JSON does not allow it.
fn repair_word(text: &[u8]) -> (&[u8], usize) {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = text.iter().take_while(is_part).count();
    let word = &text[..length];
    // A number outside the range of a double, such as 1e999, becomes null as well.
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    let begins = word.get(usize::from(word.first() == Some(&b'-'))).is_some_and(u8::is_ascii_digit);
    let is_number = begins && number.is_some_and(f64::is_finite);
    let is_json = is_number || matches!(word, b"true" | b"false" | b"null");
    (if is_json { word } else { b"null" }, length)
}

/// Copies the string that starts at `start` and returns its end.
fn repair_string(text: &[u8], start: usize, repaired: &mut Vec<u8>) -> Option<usize> {
    repaired.push(b'"');
    let mut at = start + 1;
    loop {
        match *text.get(at)? {
            b'"' => {
                repaired.push(b'"');
                return Some(at + 1);
            }
            b'\\' => {
                let next = *text.get(at + 1)?;
                if next == b'u'
                    && let Some((unit, is_whole)) = utf16_unit(text, at)?
                {
                    // An unpaired surrogate becomes U+FFFD.
                    let unit = if is_whole { &text[at..at + unit] } else { &b"\\ufffd"[..] };
                    repaired.extend_from_slice(unit);
                    at += if is_whole { unit.len() } else { 6 };
                    continue;
                }
                let is_escape = next != b'u' && b"\"\\/bfnrt".contains(&next);
                if is_escape {
                    repaired.extend_from_slice(&[b'\\', next]);
                    at += 2;
                } else {
                    repaired.extend_from_slice(b"\\\\");
                    at += 1;
                }
                continue;
            }
            control @ 0..0x20 => repaired.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
            byte => repaired.push(byte),
        }
        at += 1;
    }
}

/// The length of the character whose `\\u` escape is at `at`, and false for an unpaired surrogate.
///
/// The outer `None` means that `text` ends too soon, the inner one that `\\u` has no hexadecimal number.
fn utf16_unit(text: &[u8], at: usize) -> Option<Option<(usize, bool)>> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(text.get(at + 2..at + 6)?).ok();
        let is_hex = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(digits.filter(is_hex).and_then(|digits| u16::from_str_radix(digits, 16).ok()))
    };
    Some(match unit(at)? {
        None => None,
        Some(0xd800..0xdc00) => {
            let is_pair =
                text.get(at + 6..at + 8)? == b"\\u" && matches!(unit(at + 6)?, Some(0xdc00..0xe000));
            Some((12, is_pair))
        }
        Some(0xdc00..0xe000) => Some((6, false)),
        Some(_) => Some((6, true)),
    })
}

#[cfg(test)]
mod tests {
    use super::repair;

    fn repaired(text: &[u8]) -> String {
        let (repaired, used) = repair(text).expect("a complete object");
        assert_eq!(used, text.len());
        serde_json::from_str::<serde_json::Value>(&repaired).expect("JSON").to_string()
    }

    #[test]
    fn known_profiler_faults_are_repaired() {
        assert_eq!(
            repaired(br#"{"a": inf, "b": -inf, "c": NaN, "d": -nan}"#),
            r#"{"a":null,"b":null,"c":null,"d":null}"#
        );
        assert_eq!(
            repaired(br#"{"a": true, "b": -1.5e+3, "c": "inf"}"#),
            r#"{"a":true,"b":-1500.0,"c":"inf"}"#
        );
        assert_eq!(repaired(br#"{"path": "C:\Users\x\new"}"#), "{\"path\":\"C:\\\\Users\\\\x\\new\"}");
        assert_eq!(
            repaired(br#"{"a": "\ud800", "b": "\udc00x", "c": "\ud83d\ude00", "d": "\ud800\u0041"}"#),
            "{\"a\":\"\u{fffd}\",\"b\":\"\u{fffd}x\",\"c\":\"\u{1f600}\",\"d\":\"\u{fffd}A\"}"
        );
        assert_eq!(repaired(br#"{"a": 1e999, "b": 12.50, "c": -0}"#), r#"{"a":null,"b":12.5,"c":-0.0}"#);
        assert_eq!(repaired(b"{\"a\": \"tab\there\"}"), "{\"a\":\"tab\\there\"}");
        assert_eq!(repaired(b"{\"a\": \"\xff\"}"), "{\"a\":\"\u{fffd}\"}");
        assert_eq!(repaired(br#"{"a": [{"b": "}]"}]}"#), r#"{"a":[{"b":"}]"}]}"#);
    }

    #[test]
    fn an_object_without_an_end_is_not_repaired() {
        for text in [&br#"{"a": 1"#[..], br#"{"a": "x\"#, br#"{"a": "\u00"#, b"}", b""] {
            assert_eq!(repair(text), None);
        }
    }
}
