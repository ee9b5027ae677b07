//! The SQL function `aligned(is_b, place, name, class)`: which operations of two sequences stand in the same place.

use super::aggregate::aggregate;
use nsq_sweep::alignment::{Op, align};
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "aligned", 4, add, rows)
}

/// Two sequences of operations: place, name and class of each.
type Sequences = [Vec<(i64, String, String)>; 2];

fn add(context: &mut Context<'_>, sequences: &mut Sequences) -> Result<()> {
    let (is_b, place): (Option<bool>, Option<i64>) = (context.get(0)?, context.get(1)?);
    let (name, class): (Option<String>, Option<String>) = (context.get(2)?, context.get(3)?);
    if let (Some(is_b), Some(place), Some(name)) = (is_b, place, name) {
        sequences[usize::from(is_b)].push((place, name, class.unwrap_or_default()));
    }
    Ok(())
}

fn rows(mut sequences: Sequences) -> Result<String> {
    sequences.iter_mut().for_each(|side| side.sort());
    // In the order of the texts, numbers do not depend on which sequence is which.
    let texts: BTreeSet<&str> =
        sequences.iter().flatten().flat_map(|(_, name, class)| [name.as_str(), class]).collect();
    let numbers: BTreeMap<&str, u32> = texts.into_iter().zip(0..).collect();
    let op = |name: &str, class: &str| Op { name: numbers[name], class: numbers[class] };
    let ops = sequences
        .each_ref()
        .map(|side| side.iter().map(|(_, name, class)| op(name, class)).collect::<Vec<Op>>());
    let places = align(&ops[0], &ops[1]);
    let sides = sequences.iter().zip(&places).enumerate();
    let rows = sides.flat_map(|(is_b, (side, places))| {
        side.iter()
            .zip(places)
            .map(move |((place, ..), aligned)| json!([is_b, place, aligned.block, aligned.group]))
    });
    Ok(json!(rows.collect::<Vec<_>>()).to_string())
}

#[cfg(test)]
mod tests {
    use super::super::register;
    use rusqlite::Connection;

    #[test]
    fn each_operation_has_its_place_again() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, &Default::default()).unwrap();
        let aligned = |values: &str| -> rusqlite::Result<String> {
            let sql = format!(
                "WITH op (b, at, name, class) AS (VALUES {values}) SELECT aligned(b, at, name, class) FROM op"
            );
            connection.query_row(&sql, [], |row| row.get(0))
        };
        let values = "(0, 7, 'y', 'k'), (0, 5, 'x', 'g'), (1, 2, 'x', 'g'), (1, 3, 'z', 'k'), (1, NULL, 'z', 'k')";
        assert_eq!(aligned(values).unwrap(), "[[0,5,0,null],[0,7,1,3],[1,2,0,null],[1,3,1,3]]");
        assert_eq!(aligned("(0, 1, NULL, NULL)").unwrap(), "[]");
        assert!(aligned("(0, 'x', 'y', 'z')").is_err());
    }
}
