//! Why a piece of an answer ends early.

use nsq_value::error::Error;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The reports lack the data, or the user did not give something.
    Lacking(String),
    /// A failure, of which the user must hear.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
