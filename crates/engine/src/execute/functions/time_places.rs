//! The SQL functions `time_places` and `place_of`: in which of many intervals a time lies, such as the
//! iteration of an operation.
//!
//! The intervals are a blob: for each, sorted by key and start, its key, its start and the latest end so
//! far of its key, as 64-bit integers.

use super::aggregate::{aggregate, ints};
use super::arguments::flags;
use super::numbers::{Number, numbers};
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};

/// Numbers of an interval.
const NUMBERS: usize = 3;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "time_places", 3, add, time_places)?;
    connection.create_scalar_function("place_of", 3, flags(), |context| {
        let Some(places) = numbers(context.get_raw(0))? else { return Ok(None) };
        let (key, at): (Option<i64>, Option<i64>) = (context.get(1)?, context.get(2)?);
        Ok(key.zip(at).and_then(|(key, at)| place(places, key, at)))
    })
}

/// The number of the interval of `key`, from 0, that started last at or before `at`; `None` if all of
/// its key have ended, or none has started.
fn place(places: &[[Number; NUMBERS]], key: i64, at: i64) -> Option<i64> {
    let number = |place: &[Number; NUMBERS], field: usize| i64::from_le_bytes(place[field]);
    let first = places.partition_point(|place| number(place, 0) < key);
    let behind = places.partition_point(|place| (number(place, 0), number(place, 1)) <= (key, at));
    let last = places.get(first..behind)?.last()?;
    (at < number(last, 2)).then(|| i64::try_from(behind - first - 1).ok())?
}

/// `time_places(key, start_ns, end_ns)`.
fn add(context: &mut Context<'_>, places: &mut Vec<[i64; NUMBERS]>) -> Result<()> {
    places.extend(ints(context, 0)?);
    Ok(())
}

fn time_places(mut places: Vec<[i64; NUMBERS]>) -> Result<Vec<u8>> {
    places.sort_unstable();
    let mut before: Option<[i64; NUMBERS]> = None;
    for place in &mut places {
        if let Some(before) = before.filter(|before| before[0] == place[0]) {
            place[2] = place[2].max(before[2]);
        }
        before = Some(*place);
    }
    Ok(places.into_iter().flatten().flat_map(i64::to_le_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_last_interval_that_began() {
        let connection = Connection::open_in_memory().unwrap();
        super::super::register(&connection, &Default::default()).unwrap();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let places = "(WITH p(key, s, e) AS (VALUES (5, 20, 30), (5, -10, 15), (5, 12, 14), (7, 0, 9), (NULL, 0, 99),
            (7, NULL, 99)) SELECT time_places(key, s, e) FROM p)";
        for (key, at, place) in [
            (5, -11, None),
            (5, -10, Some(0)),
            (5, 11, Some(0)),
            (5, 12, Some(1)),
            // The interval inside has ended, the one around it has not.
            (5, 14, Some(1)),
            (5, 15, None),
            (5, 29, Some(2)),
            (5, 30, None),
            (7, 8, Some(0)),
            (7, 50, None),
            (6, 3, None),
        ] {
            assert_eq!(ask(&format!("SELECT place_of({places}, {key}, {at})")), Ok(place), "{key} {at}");
        }
        assert_eq!(ask("SELECT place_of(NULL, 3, 4)"), Ok(None));
        assert_eq!(ask(&format!("SELECT place_of({places}, 5, NULL)")), Ok(None));
        assert_eq!(
            ask("SELECT place_of(time_places(1, x, 2), 1, 3) FROM (SELECT 1 AS x WHERE 0)"),
            Ok(None)
        );
        assert!(ask("SELECT place_of(x'00', 1, 3)").is_err());
        assert!(ask("SELECT place_of('text', 1, 3)").is_err());
        assert!(ask("SELECT length(time_places('text', 1, 2)) FROM (SELECT 1)").is_err());
    }
}
