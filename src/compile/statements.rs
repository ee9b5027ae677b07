//! Several statements in one text.

/// The statements of a script with their byte offsets; empty ones and trailing blanks left out.
///
/// Semicolons in quotes and comments do not count. Triggers, whose bodies hold semicolons, are not
/// for reports.
pub fn split_statements(script: &str) -> Vec<(usize, &str)> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut has_code = false;
    let mut push = |start: usize, end: usize, has_code: bool| {
        let text = &script[start..end];
        if has_code {
            let blank = text.len() - text.trim_start().len();
            statements.push((start + blank, text.trim()));
        }
    };
    while let Some(c) = script[at..].chars().next() {
        let rest = &script[at..];
        let skip = |from: usize, close: &str| {
            rest.get(from..).and_then(|inner| inner.find(close)).map_or(rest.len(), |end| from + end + close.len())
        };
        at += match c {
            '\'' | '"' | '`' => {
                has_code = true;
                skip(1, &c.to_string())
            }
            '[' => {
                has_code = true;
                skip(1, "]")
            }
            '-' if rest.starts_with("--") => skip(2, "\n"),
            '/' if rest.starts_with("/*") => skip(2, "*/"),
            ';' => {
                push(start, at, has_code);
                (start, has_code) = (at + 1, false);
                1
            }
            c => {
                has_code |= !c.is_whitespace();
                c.len_utf8()
            }
        };
    }
    push(start, script.len(), has_code);
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_split() {
        let script = "-- a;b\nSELECT ';', \"x;y\" /* ; */;\n\nSELECT 2 -- end;\n;;";
        let statements = split_statements(script);
        assert_eq!(statements.len(), 2);
        assert_eq!(statements[1].1, "SELECT 2 -- end;");
        assert_eq!(&script[statements[1].0..statements[1].0 + 8], "SELECT 2");
        assert!(split_statements(" -- nothing\n").is_empty());
        assert_eq!(split_statements("SELECT 'open").len(), 1);
    }
}
