//! The front matter of findings.

use serde::Deserialize;

/// The tables that `{kind: finding}` gives: intervals, and a row about each finding.
pub const FINDING_TABLES: [&str; 2] = ["finding", "finding_about"];

/// The columns that every finding has, which are those of the table `finding` after `query`.
pub const FINDING_COLUMNS: [&str; 4] = ["gpu_id", "start_ns", "dur_ns", "subject"];

/// The columns of the table `finding` after these: start and end of the part in the window of the GPU, null if there is none.
pub const FINDING_PARTS: [&str; 2] = ["from_ns", "to_ns"];

/// The relation with the window of each GPU to which findings are cut.
pub const FINDING_WINDOWS: &str = "finding_window";

/// What a finding says about a report that has rows. The rows are the intervals that a perfect fix would
/// free.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What is wrong, in one sentence.
    pub claim: String,
    /// Which time a perfect fix would free, and what it would not.
    pub ceiling: String,
    /// What to do, in one or two sentences, with the API or option to use.
    pub remedy: String,
    /// How to do it in PyTorch, if that is a matter of its own: what follows "In PyTorch:".
    #[serde(default)]
    pub in_pytorch: String,
    /// Documentation of the remedy.
    pub link: String,
    /// How sure the claim is where there are rows.
    pub confidence: Confidence,
    /// What the GPU does in the time that a fix frees.
    #[serde(default)]
    pub frees: Frees,
    /// What a perfect fix changes in the program, as `what_if` says it: `launch=graph`. After an `@` at its end come the
    /// finding's intervals. Without it, what the GPU does in these takes no time.
    edit: Option<String>,
    /// The same for a program that does without these operations, where the fix only hides them.
    #[serde(default)]
    pub avoid: String,
    /// Broader findings. Time that both claim counts for this one, which says more about it.
    #[serde(default)]
    pub narrows: Vec<String>,
    /// The relation without whose rows nobody can tell.
    pub known_by: Option<KnownBy>,
}

/// A relation whose rows say that a finding can be told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownBy {
    /// The relation, one that the query reads.
    pub relation: String,
    /// The rows that count, as an SQL condition; all without it.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// What the report lacks if it has no such row.
    pub needs: String,
    /// How to record it.
    pub help: String,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The rows prove it.
    High,
    /// The rows make it likely.
    Medium,
    /// The rows allow it: look before acting.
    Low,
}

/// What the GPU does in the time that a fix of a finding frees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frees {
    /// Nothing.
    #[default]
    Idle,
    /// It runs kernels.
    Kernels,
    /// It runs collectives.
    Communication,
    /// It copies.
    Copies,
}

impl Finding {
    /// The edit of a replay that is a perfect fix.
    pub fn edit(&self) -> &str {
        let usual = if self.frees == Frees::Idle { "idle=@" } else { "work=@" };
        self.edit.as_deref().unwrap_or(usual)
    }
}

impl Frees {
    /// The name in front matter and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Kernels => "kernels",
            Self::Communication => "communication",
            Self::Copies => "copies",
        }
    }
}

impl Confidence {
    /// The name in front matter and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}
