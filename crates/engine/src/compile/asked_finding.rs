//! The findings that a query asks, and what is said about each.

use super::Plan;
use nsq_library::catalog::Finding;

/// A finding that a plan asks, with all others.
#[derive(Debug, Clone)]
pub struct AskedFinding {
    /// The query.
    pub plan: Plan,
    /// What it says.
    pub about: Finding,
}

/// The columns of the table about findings, the last two of which are what the report lacks, and help.
pub const FINDING_ABOUT: [&str; 16] = [
    "query",
    "title",
    "claim",
    "ceiling",
    "remedy",
    "in_pytorch",
    "link",
    "confidence",
    "frees",
    "edit",
    "avoid",
    "narrows",
    "reads",
    "subject_kind",
    "lacks",
    "help",
];

impl AskedFinding {
    /// The texts of [`FINDING_ABOUT`] after the name of the query.
    pub fn texts(&self) -> [String; 13] {
        let about = &self.about;
        let subject = self.plan.columns.iter().find(|column| column.name == "subject");
        [
            self.plan.title.clone(),
            about.claim.clone(),
            about.ceiling.clone(),
            about.remedy.clone(),
            about.in_pytorch.clone(),
            about.link.clone(),
            about.confidence.as_str().to_owned(),
            about.frees.as_str().to_owned(),
            about.edit().to_owned(),
            about.avoid.clone(),
            about.narrows.join(","),
            self.plan.reads.join(", "),
            subject.and_then(|column| column.label.clone()).unwrap_or_default(),
        ]
    }
}
