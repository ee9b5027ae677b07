//! The two commands, and what they are asked.

use super::args::DropInArgs;
use nsq_library::catalog::recipe_help;
use nsq_value::error::Error;
use std::path::PathBuf;

/// One of the two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Command {
    /// `nsys stats`, whose reports are of any kind.
    Stats,
    /// `nsys analyze`, whose reports are expert rules.
    Analyze,
}

impl Command {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Stats => "stats",
            Self::Analyze => "analyze",
        }
    }

    /// What it prints.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Stats => "report",
            Self::Analyze => "rule",
        }
    }

    /// The error for an unknown name, with the list that this command prints.
    pub(super) fn explain(self, error: Error) -> Error {
        match error {
            Error::Unknown { what, name, near, .. } => {
                let (verb, noun) = (self.verb(), self.noun());
                let help = recipe_help(&name)
                    .unwrap_or_else(|| format!("`nsq {verb} --help-{noun}s` lists the {noun}s."));
                Error::Unknown { what, name, near, help }
            }
            error => error,
        }
    }
}

/// What was asked of a command: the reports, or its default reports if there are none.
pub(in crate::cli) struct Request<'a> {
    pub(in crate::cli) command: Command,
    pub(in crate::cli) reports: &'a [String],
    pub(in crate::cli) defaults: &'static [&'static str],
    /// Folders of reports of the user.
    pub(in crate::cli) folders: &'a [PathBuf],
    /// `--help-reports` or `--help-rules`: a name, `ALL`, or empty for a list.
    pub(in crate::cli) help: Option<&'a str>,
    pub(in crate::cli) args: &'a DropInArgs,
}
