//! Parameters of queries, as `nsq run` has them.

use nsq::{Error, Result};

/// Splits `KEY=VALUE`.
pub(crate) fn params(given: &[String]) -> Result<Vec<(String, String)>> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
        None => Err(Error::usage(
            format!("'{text}' is no parameter"),
            "write --param KEY=VALUE; `nsq show QUERY` lists the parameters",
        )),
    };
    given.iter().map(split).collect()
}
