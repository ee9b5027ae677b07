//! The SQL functions `simple_name` and `without_numbers`.

use super::arguments::{flags, text};
use nsq_sweep::classify::simple_name;
use rusqlite::{Connection, Result};

/// Adds the functions to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_scalar_function("simple_name", 1, flags(), |context| {
        Ok(text(context)?.map(|name| simple_name(&name).to_owned()))
    })?;
    connection.create_scalar_function("without_numbers", 1, flags(), |context| {
        Ok(text(context)?.map(|name| without_numbers(&name)))
    })
}

/// The name with each run of digits replaced by `*`.
fn without_numbers(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut in_number = false;
    for c in name.chars() {
        if !c.is_ascii_digit() {
            folded.push(c);
        } else if !in_number {
            folded.push('*');
        }
        in_number = c.is_ascii_digit();
    }
    folded
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
        let sql = "SELECT without_numbers('a12b*3'), without_numbers('')";
        let texts: (String, String) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(texts, ("a*b**".to_owned(), String::new()));
    }
}
