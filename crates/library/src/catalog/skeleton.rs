//! The skeleton of a query, which runs as it is and is then edited.

use super::front_matter::has_front_matter;
use nsq_value::error::{Error, Result};

/// The skeleton. NAME and TITLE are replaced.
const QUERY: &str = "\
/*---
name: NAME
version: 1
title: TITLE
summary: Kernels that ran longer than a limit, longest first.
why: To find outliers that a mean hides.
kind: sum
tags: [kernel]
reads: [kernel]
params:
  - {name: least, type: duration, default: 100us, doc: \"Shortest execution time to include.\"}
columns:
  - {name: dur_ns, type: duration, unit: ns, label: \"execution time\", priority: 1, doc: \"Execution time.\"}
  - {name: kernel_id, type: id, priority: 3, doc: \"Row ID in the raw table.\"}
  - {name: kernel_name, type: text, label: \"kernel\", priority: 0, doc: \"Demangled name.\"}
limits: Kernels of a CUDA graph traced as a whole are not included.
---*/
SELECT dur_ns, kernel_id, kernel_name
FROM kernel
WHERE dur_ns >= :least
ORDER BY dur_ns DESC, kernel_id
";

/// The text of a new query file. Fails if the name is not in lower_snake_case.
pub fn query_skeleton(name: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) {
        return Err(Error::usage(
            format!("invalid name '{name}' for a query"),
            "a name has lower-case letters, digits and _, and begins with a letter, such as long_kernels",
        ));
    }
    let words = name.replace('_', " ");
    let title = words[..1].to_uppercase() + words[1..].trim_end();
    let text = QUERY.replace("NAME", name).replace("TITLE", &title);
    debug_assert!(has_front_matter(&text));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_the_name_and_the_title() {
        let text = query_skeleton("my_kernels").unwrap();
        assert!(
            text.contains("\nname: my_kernels\n") && text.contains("\ntitle: My kernels\n"),
            "{text}"
        );
        for name in ["", "My", "1st", "a-b", "a/b", "a.sql", "_a"] {
            assert!(query_skeleton(name).is_err(), "{name}");
        }
    }
}
