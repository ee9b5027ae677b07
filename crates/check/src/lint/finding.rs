//! What a check finds.

use nsq_library::catalog::NO_FRONT_MATTER;
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

/// Rules about texts, names of columns and the length of lines. A query that breaks them answers as well.
const STYLE: [&str; 11] = ["Q03", "Q07", "Q08", "Q18", "Q20", "Q21", "Q22", "V07", "V08", "V18", "S08"];

impl Finding {
    /// Whether it is about style: the file works as it is.
    pub fn is_advice(&self) -> bool {
        STYLE.contains(&self.rule)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_advice() { "advice" } else { "help" };
        write!(f, "{}:{}: {} {}\n  {kind}: {}", self.file, self.line, self.rule, self.message, self.help)
    }
}

/// An error of a file as a finding.
pub(super) fn unreadable(error: Error) -> Finding {
    let help = error.help().unwrap_or_default();
    match error {
        Error::Catalog { file, line, reason, .. } => {
            let rule = match reason.as_str() {
                NO_FRONT_MATTER if !file.contains("views/") => "Q22",
                _ if file.ends_with(".yml") => "S02",
                _ => "Q02",
            };
            Finding { file, line, rule, message: reason, help }
        }
        other => Finding { file: String::new(), line: 1, rule: "Q02", message: other.to_string(), help },
    }
}
