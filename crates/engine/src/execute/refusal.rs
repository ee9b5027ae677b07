//! What a statement refuses to answer: a parameter with no meaning, or that names nothing in the report.

use nsq_value::error::Error;

/// What stands between the reason and the help. Both are in the message, for hosts that show no more than that.
const HELP: &str = "\n  help: ";

/// The message with which the statement fails.
pub(super) fn message(reason: &str, help: &str) -> String {
    format!("{reason}{HELP}{help}")
}

/// The error of a refusal; `None` if the message is that of another failure.
pub(super) fn error(message: &str) -> Option<Error> {
    let (reason, help) = message.split_once(HELP)?;
    Some(Error::usage(reason, help))
}
