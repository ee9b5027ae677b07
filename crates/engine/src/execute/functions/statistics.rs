//! Plain statistics: `median`, `percentile`, `stddev`, and the scalars around them.

use super::aggregate::aggregate;
use super::arguments::{flags, number};
use nsq_sweep::statistics::{Moments, percentile, student_bound};
use rusqlite::functions::Context;
use rusqlite::{Connection, Error, ErrorCode, Result};

/// Other extensions, and newer versions of SQLite, have functions of these names that do the same. Theirs stay where a statement runs
/// that keeps SQLite from replacing them, such as `SELECT load_extension(…)`.
fn unless_in_use(added: Result<()>) -> Result<()> {
    match added {
        Err(Error::SqliteFailure(failure, _)) if failure.code == ErrorCode::DatabaseBusy => Ok(()),
        added => added,
    }
}

pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags = flags();
    for (name, arguments) in [("median", 1), ("percentile", 2)] {
        unless_in_use(aggregate(connection, name, arguments, add, |mut sample: Sample| {
            Ok(sample.percent.and_then(|percent| percentile(&mut sample.values, percent)))
        }))?;
    }
    let add_moment = |context: &mut Context<'_>, moments: &mut Moments| {
        if let Some(value) = number(context, 0)? {
            moments.add(value);
        }
        Ok(())
    };
    aggregate(connection, "stddev", 1, add_moment, |moments| Ok(moments.stddev()))?;
    unless_in_use(connection.create_scalar_function("sqrt", 1, flags, |context| {
        Ok(number(context, 0)?.filter(|x| *x >= 0.0).map(f64::sqrt))
    }))?;
    connection.create_scalar_function("student_bound", 2, flags, |context| {
        let (confidence, freedom) = (number(context, 0)?, number(context, 1)?);
        let bound = confidence.zip(freedom).map(|(pct, freedom)| student_bound(pct / 100.0, freedom));
        Ok(bound.filter(|bound| bound.is_finite()))
    })
}

#[derive(Default)]
struct Sample {
    values: Vec<f64>,
    percent: Option<f64>,
}

/// `median(x)` and `percentile(x, p)`: collects the values, of which the ranks are selected at the end.
fn add(context: &mut Context<'_>, sample: &mut Sample) -> Result<()> {
    if sample.percent.is_none() {
        let percent = if context.len() == 1 { Some(50.0) } else { number(context, 1)? };
        let percent = percent.filter(|p| (0.0..=100.0).contains(p)).ok_or_else(|| {
            Error::UserFunctionError("percentile(x, p): p must be between 0 and 100".into())
        })?;
        sample.percent = Some(percent);
    }
    if let Some(value) = number(context, 0)? {
        sample.values.push(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::ask;

    #[test]
    fn statistics_agree_with_hand_computed_values() {
        let of = |call: &str, values: &str| {
            ask(&format!("WITH v(x) AS (VALUES {values}) SELECT {call} FROM v"))
        };
        assert_eq!(of("median(x)", "(1),(9),(4)").unwrap(), Some(4.0));
        assert_eq!(of("median(x)", "(1),(9),(4),(6)").unwrap(), Some(5.0));
        assert_eq!(of("percentile(x, 90)", "(10),(20),(30),(40),(50)").unwrap(), Some(46.0));
        assert_eq!(of("percentile(x, 100)", "(3),(1),(2)").unwrap(), Some(3.0));
        assert_eq!(
            of("stddev(x)", "(2),(4),(4),(4),(5),(5),(7),(9)").unwrap(),
            Some((32.0f64 / 7.0).sqrt())
        );
        assert_eq!(of("stddev(x)", "(7)").unwrap(), Some(0.0));
        assert_eq!(of("median(x)", "(NULL),(8)").unwrap(), Some(8.0));
    }

    #[test]
    fn no_values_are_null_and_text_is_an_error() {
        for call in ["median(x)", "percentile(x, 90)", "stddev(x)"] {
            assert_eq!(ask(&format!("SELECT {call} FROM (SELECT 1 AS x WHERE 0)")).unwrap(), None);
            assert!(ask(&format!("SELECT {call} FROM (SELECT 'a' AS x)")).is_err());
        }
        assert!(ask("SELECT percentile(1, 101)").is_err());
    }
}
