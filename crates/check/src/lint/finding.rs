//! What a check finds.

use nsq_value::error::Error;
use std::fmt;

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File, as the user would open it.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Rule number, such as `Q06`.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} {}\n  help: {}", self.file, self.line, self.rule, self.message, self.help)
    }
}

/// An error of a file as a finding.
pub(super) fn unreadable(error: Error) -> Finding {
    let help = error.help().unwrap_or_default();
    match error {
        Error::Catalog { file, line, reason, .. } => {
            let rule = if file.ends_with(".yml") { "S02" } else { "Q02" };
            Finding { file, line, rule, message: reason, help }
        }
        other => Finding { file: String::new(), line: 1, rule: "Q02", message: other.to_string(), help },
    }
}
