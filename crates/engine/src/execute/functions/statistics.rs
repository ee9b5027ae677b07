//! Plain statistics: `median`, `percentile`, `stddev`, `nth_largest`, and the scalars around them.

use super::aggregate::aggregate;
use super::arguments::{flags, number};
use nsq_sweep::statistics::{Moments, percentile, student_bound};
use rusqlite::functions::Context;
use rusqlite::{Connection, Error, Result};

pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags = flags();
    for (name, arguments) in [("median", 1), ("percentile", 2)] {
        aggregate(connection, name, arguments, add, |mut sample: Sample| {
            Ok(sample.percent.and_then(|percent| percentile(&mut sample.values, percent)))
        })?;
    }
    aggregate(connection, "nth_largest", 2, add_largest, |mut largest: Largest| {
        largest.shrink();
        Ok(largest.values.into_iter().min())
    })?;
    let add_moment = |context: &mut Context<'_>, moments: &mut Moments| {
        if let Some(value) = number(context, 0)? {
            moments.add(value);
        }
        Ok(())
    };
    aggregate(connection, "stddev", 1, add_moment, |moments| Ok(moments.stddev()))?;
    connection.create_scalar_function("sqrt", 1, flags, |context| {
        Ok(number(context, 0)?.filter(|x| *x >= 0.0).map(f64::sqrt))
    })?;
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

#[derive(Default)]
struct Largest {
    values: Vec<i64>,
    /// `n`; 0 before the first row.
    rank: usize,
}

impl Largest {
    /// Drops all but the `rank` largest values.
    fn shrink(&mut self) {
        if self.values.len() > self.rank {
            self.values.select_nth_unstable_by(self.rank - 1, |a, b| b.cmp(a));
            self.values.truncate(self.rank);
        }
    }
}

/// `nth_largest(x, n)`: keeps at most `2 * n` values, the largest so far.
fn add_largest(context: &mut Context<'_>, largest: &mut Largest) -> Result<()> {
    if largest.rank == 0 {
        let rank = context.get::<Option<i64>>(1)?.and_then(|rank| usize::try_from(rank).ok());
        largest.rank = rank
            .filter(|rank| *rank > 0)
            .ok_or_else(|| Error::UserFunctionError("nth_largest(x, n): n must be at least 1".into()))?;
    }
    if let Some(value) = context.get::<Option<i64>>(0)? {
        largest.values.push(value);
        if largest.values.len() / 2 >= largest.rank {
            largest.shrink();
        }
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

    #[test]
    fn the_nth_largest_is_that_of_a_sorted_list() {
        let of = |n: i64, values: &[i64]| {
            let rows: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
            ask(&format!("WITH v(x) AS (VALUES {}) SELECT nth_largest(x, {n}) FROM v", rows.join(",")))
                .unwrap()
        };
        let values: Vec<i64> = (0..500).map(|n| n * 7919 % 97 - 40).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        for n in [1, 2, 7, 249, 250, 251, 499, 500, 501, 10_000] {
            let expected = sorted.get(n - 1).or(sorted.last()).map(|value| *value as f64);
            assert_eq!(of(n as i64, &values), expected, "n = {n}");
        }
        assert_eq!(ask("SELECT nth_largest(x, 1) FROM (SELECT NULL AS x)").unwrap(), None);
        assert!(ask("SELECT nth_largest(1, 0)").is_err());
        assert!(ask("SELECT nth_largest(1, NULL)").is_err());
        assert!(ask("SELECT nth_largest(1.5, 1)").is_err());
    }
}
