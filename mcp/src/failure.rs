//! Why a tool call has no answer, in words that the caller can act on.

/// What is wrong and where, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) text: String,
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: Some(help.into()) }
    }
}

impl From<nsq::Error> for Failure {
    fn from(error: nsq::Error) -> Self {
        Self { text: error.to_string(), help: error.help() }
    }
}
