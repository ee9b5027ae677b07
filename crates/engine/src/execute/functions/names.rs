//! The SQL functions `simple_name` and `without_numbers`.

use super::arguments::{flags, text};
use foldhash::HashMap;
use nsq_sweep::classify::simple_name;
use rusqlite::{Connection, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Adds the functions to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    function_of_name(connection, "simple_name", |name| Some(simple_name(name).to_owned()))?;
    connection.create_scalar_function("without_numbers", 1, flags(), |context| {
        Ok(text(context)?.map(|name| without_numbers(&name)))
    })
}

/// Most results that a function keeps. A report has a few hundred names of kernels.
const MOST_KEPT: usize = 10_000;

/// Adds a function of a name. A million rows have a few hundred names, so the results are kept.
pub(super) fn function_of_name(
    connection: &Connection,
    function: &'static str,
    result: fn(&str) -> Option<String>,
) -> Result<()> {
    let known: Mutex<HashMap<String, Option<Arc<str>>>> = Mutex::default();
    connection.create_scalar_function(function, 1, flags(), move |context| {
        let Some(name) = text(context)? else { return Ok(None) };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = known.get(name.as_ref()) {
            return Ok(result.clone());
        }
        if known.len() >= MOST_KEPT {
            known.clear();
        }
        let result: Option<Arc<str>> = result(&name).map(Arc::from);
        known.insert(name.into_owned(), result.clone());
        Ok(result)
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
