//! The SQL function `refuse`.

use super::super::refusal;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Error, Result};

/// Adds the function to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    // SQLite would call a deterministic function before it knows whether a row needs the result.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("refuse", 2, flags, |context| {
        let (reason, help) = (context.get::<Option<String>>(0)?, context.get::<Option<String>>(1)?);
        match reason {
            Some(reason) => {
                let message = refusal::message(&reason, &help.unwrap_or_default());
                Err::<Option<i64>, _>(Error::UserFunctionError(message.into()))
            }
            None => Ok(None),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::ask;
    use super::refusal;

    #[test]
    fn a_reason_is_an_error_with_its_help() {
        assert_eq!(ask("SELECT refuse(NULL, 'no')").unwrap(), None);
        assert_eq!(ask("SELECT CASE WHEN 0 THEN refuse('a', 'b') END").unwrap(), None);
        let message = ask("SELECT refuse('no kernel', 'look')").unwrap_err().to_string();
        assert_eq!(message, "no kernel\n  help: look");
        let error = refusal::error(&message).unwrap();
        assert!(error.to_string().contains("no kernel"));
        assert!(refusal::error("no such table: x").is_none());
    }
}
