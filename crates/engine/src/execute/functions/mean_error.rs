//! `mean_error`, `mean_error_by`, `mean_freedom`, `mean_freedom_by` and `correlated_freedom`: how far a mean may be off.
//! `difference_error` and `difference_freedom`: how far the difference of two means may be off.

use super::aggregate::aggregate;
use super::arguments::{flags, number};
use nsq_sweep::statistics::{Difference, correlated_freedom, mean_error, mean_freedom};
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "mean_error", 2, add, |values| Ok(mean_error(&in_order(values))))?;
    aggregate(connection, "correlated_freedom", 2, add, |values| {
        Ok(correlated_freedom(&in_order(values)))
    })?;
    aggregate(connection, "mean_error_by", 3, add_by, error_by)?;
    aggregate(connection, "mean_freedom_by", 1, add_part, freedom_by)?;
    aggregate(connection, "difference_error", 4, add_run, |runs| Ok(runs.error()))?;
    aggregate(connection, "difference_freedom", 4, add_run, |runs| Ok(runs.freedom()))?;
    connection.create_scalar_function("mean_freedom", 1, flags(), |context| {
        Ok(context.get::<Option<i64>>(0)?.map(mean_freedom))
    })
}

/// `mean_error(at, x)`: collects the values and sorts them by time at the end.
fn add(context: &mut Context<'_>, values: &mut Vec<(f64, f64)>) -> Result<()> {
    if let (Some(at), Some(x)) = (number(context, 0)?, number(context, 1)?) {
        values.push((at, x));
    }
    Ok(())
}

/// Ties in time are sorted by value, so that the answer does not depend on the order of the rows.
fn in_order(mut values: Vec<(f64, f64)>) -> Vec<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    values.into_iter().map(|(_, x)| x).collect()
}

/// `mean_error_by(part, at, x)`: collects the values and sorts them by part at the end.
fn add_by(context: &mut Context<'_>, values: &mut Vec<(i64, f64, f64)>) -> Result<()> {
    let part: Option<i64> = context.get(0)?;
    if let (Some(part), Some(at), Some(x)) = (part, number(context, 1)?, number(context, 2)?) {
        values.push((part, at, x));
    }
    Ok(())
}

fn error_by(mut values: Vec<(i64, f64, f64)>) -> Result<Option<f64>> {
    values.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)));
    let mut means: Vec<(f64, f64)> = values
        .chunk_by(|a, b| a.0 == b.0)
        .map(|part| (part[0].1, part.iter().map(|(_, _, x)| x).sum::<f64>() / part.len() as f64))
        .collect();
    if means.len() == 1 {
        means = values.into_iter().map(|(_, at, x)| (at, x)).collect();
    }
    Ok(mean_error(&in_order(means)))
}

/// `mean_freedom_by(part)`: the number of values, and their parts, each seldom more than once.
fn add_part(context: &mut Context<'_>, (count, parts): &mut (i64, Vec<i64>)) -> Result<()> {
    if let Some(part) = context.get(0)? {
        *count += 1;
        if parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    Ok(())
}

fn freedom_by((count, mut parts): (i64, Vec<i64>)) -> Result<f64> {
    parts.sort_unstable();
    parts.dedup();
    Ok(mean_freedom(if parts.len() > 1 { parts.len() as i64 } else { count }))
}

/// `difference_error(is_b, mean, error, by_freedom)`: a row is a run.
fn add_run(context: &mut Context<'_>, runs: &mut Difference) -> Result<()> {
    if let (Some(is_b), Some(mean)) = (context.get(0)?, number(context, 1)?) {
        runs.add(is_b, mean, number(context, 2)?, number(context, 3)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::ask;
    use super::*;

    #[test]
    fn mean_error_sorts_by_time() {
        let of = |values: &str| {
            ask(&format!("WITH v(at, x) AS (VALUES {values}) SELECT mean_error(at, x) FROM v"))
        };
        assert_eq!(of("(1, 7)").unwrap(), None);
        // The variance is 4, the count is 3.
        assert!(
            (of("(1, 1),(2, 5),(3, 3),(4, NULL)").unwrap().unwrap() - (4.0f64 / 3.0).sqrt()).abs()
                < 1e-12
        );
        // 32 shuffled rows that alternate between 0 and 100 in time order: all 16 batches have equal means.
        let rows: Vec<String> =
            (0..32).map(|n| (n * 5) % 32).map(|n| format!("({n}, {})", n % 2 * 100)).collect();
        assert_eq!(of(&rows.join(",")).unwrap(), Some(0.0));
        assert!(of("(1, 'a')").is_err());
        // A trend, in any order of the rows.
        let trend = "(3, 3.5),(1, 1),(6, 6),(2, 2),(5, 5.5),(4, 4),(8, 8),(7, 7),(9, NULL)";
        let freedom = "SELECT correlated_freedom(at, x) FROM v";
        assert_eq!(ask(&format!("WITH v(at, x) AS (VALUES {trend}) {freedom}")).unwrap(), Some(2.0));
    }

    #[test]
    fn mean_freedom_by_counts_parts_or_else_values() {
        let of = |values: &str| {
            ask(&format!("WITH v(part) AS (VALUES {values}) SELECT mean_freedom_by(part) FROM v"))
                .unwrap()
        };
        assert_eq!(of("(1),(2),(1),(3),(2),(NULL)"), Some(mean_freedom(3)));
        assert_eq!(of("(1),(1),(1),(1),(1)"), Some(mean_freedom(5)));
        assert_eq!(of("(NULL)"), Some(0.0));
        assert_eq!(ask("SELECT mean_freedom_by(1) WHERE 0").unwrap(), Some(0.0));
    }

    #[test]
    fn mean_error_by_takes_the_means_of_parts() {
        let of = |values: &str| {
            ask(&format!(
                "WITH v(part, at, x) AS (VALUES {values}) SELECT mean_error_by(part, at, x) FROM v"
            ))
        };
        // Means 3, 1 and 5: the variance is 4, the count is 3.
        let parts = "(9, 1, 2),(9, 2, 4),(4, 3, 1),(7, 5, 0),(7, 4, 10),(7, 4, NULL),(NULL, 6, 99)";
        assert!((of(parts).unwrap().unwrap() - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
        // One part: as mean_error(at, x).
        assert!(
            (of("(1, 1, 1),(1, 2, 5),(1, 3, 3)").unwrap().unwrap() - (4.0f64 / 3.0).sqrt()).abs()
                < 1e-12
        );
        assert_eq!(of("(1, 1, 7)").unwrap(), None);
    }

    #[test]
    fn a_difference_is_as_certain_as_its_runs() {
        let of = |call: &str, runs: &str| {
            ask(&format!(
                "WITH run(is_b, x, e, f) AS (VALUES {runs}) SELECT {call}(is_b, x, e, f) FROM run"
            ))
            .unwrap()
            .map(|bound| (bound * 1e9f64).round() / 1e9)
        };
        let about = |bound: f64| Some((bound * 1e9).round() / 1e9);
        // Two runs each: variances of the means 2 / 2 and 8 / 2, with one degree of freedom each.
        let runs = "(0, 1, 9, 9), (0, 3, 9, 9), (1, 10, 9, 9), (1, 14, 9, 9)";
        assert_eq!(of("difference_error", runs), about(5f64.sqrt()));
        assert_eq!(of("difference_freedom", runs), about(25.0 / 17.0));
        // The run of B varies as those of A do, or more if it does within itself.
        let runs = "(0, 1, 9, 9), (0, 3, 9, 9), (1, 10, 3, 1)";
        assert_eq!(of("difference_error", runs), about(10f64.sqrt()));
        assert_eq!(of("difference_freedom", runs), about(1.0));
        // One run each: errors 3 and 4, with 9 and 4 degrees of freedom.
        let runs = "(0, 1, 3, 1), (1, 10, 4, 2)";
        assert_eq!(of("difference_error", runs), about(5.0));
        assert_eq!(of("difference_freedom", runs), about(625.0 / (81.0 / 9.0 + 256.0 / 4.0)));
        for runs in ["(0, 1, 3, 1)", "(0, 1, 3, 1), (1, NULL, 4, 2)", "(0, 1, NULL, NULL), (1, 2, 3, 1)"]
        {
            assert_eq!(of("difference_error", runs), None);
            assert_eq!(of("difference_freedom", runs), None);
        }
    }
}
