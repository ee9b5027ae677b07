//! Splits a script into statements.

/// The statements of a script with their byte offsets, without leading comments and white space.
///
/// Semicolons in quotes and comments do not split. Triggers, which have semicolons in their bodies, are
/// not supported, since reports need none.
pub fn split_statements(script: &str) -> Vec<(usize, &str)> {
    let mut statements = Vec::new();
    // Start of the current statement's code.
    let mut start = None;
    let mut at = 0;
    while let Some(c) = script[at..].chars().next() {
        let rest = &script[at..];
        let skip = |from: usize, close: &str| {
            rest.get(from..)
                .and_then(|inner| inner.find(close))
                .map_or(rest.len(), |end| from + end + close.len())
        };
        let (len, is_code) = match c {
            '\'' | '"' | '`' => (skip(1, &c.to_string()), true),
            '[' => (skip(1, "]"), true),
            '-' if rest.starts_with("--") => (skip(2, "\n"), false),
            '/' if rest.starts_with("/*") => (skip(2, "*/"), false),
            ';' => {
                statements.extend(start.take().map(|start| (start, script[start..at].trim_end())));
                (1, false)
            }
            c => (c.len_utf8(), !c.is_whitespace()),
        };
        if is_code && start.is_none() {
            start = Some(at);
        }
        at += len;
    }
    statements.extend(start.map(|start| (start, script[start..].trim_end())));
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
