//! The SQL function `simple_name`.

use super::{flags, text};
use crate::classify::simple_name;
use rusqlite::{Connection, Result};

/// Adds the function to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_scalar_function("simple_name", 1, flags(), |context| {
        Ok(text(context)?.map(|name| simple_name(&name).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_simplified_and_null_stays_null() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let ask = |name: Option<&str>| -> Option<String> {
            connection.query_row("SELECT simple_name(?1)", [name], |row| row.get(0)).unwrap()
        };
        assert_eq!(ask(Some("void ns::f<int>(int)")).as_deref(), Some("f"));
        assert_eq!(ask(None), None);
        assert!(connection.query_row("SELECT simple_name(1)", [], |_| Ok(())).is_err());
    }
}
