//! The SQL function `greedy_cover(mask, weight)`: the order in which to take bits so that each adds most.
//!
//! This is the greedy algorithm for weighted maximum coverage: no other choice of as many bits covers more than e / (e - 1),
//! about 1.6, times what its first bits cover.

use super::arguments::flags;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::{Connection, Error, Result};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bits of a mask that is not negative.
const BITS: usize = 63;

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function("greedy_cover", 2, flags(), GreedyCover)
}

/// `greedy_cover(mask, weight)`.
struct GreedyCover;

/// The weight of each mask.
type Weights = BTreeMap<i64, i128>;

impl Aggregate<Weights, String> for GreedyCover {
    fn init(&self, _: &mut Context<'_>) -> Result<Weights> {
        Ok(Weights::new())
    }

    fn step(&self, context: &mut Context<'_>, weights: &mut Weights) -> Result<()> {
        let (mask, weight): (Option<i64>, Option<i64>) = (context.get(0)?, context.get(1)?);
        let (Some(mask), Some(weight)) = (mask, weight) else { return Ok(()) };
        if mask < 0 || weight < 0 {
            let reason = "greedy_cover: masks and weights must not be negative";
            return Err(Error::UserFunctionError(reason.into()));
        }
        *weights.entry(mask).or_default() += i128::from(weight);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, weights: Option<Weights>) -> Result<String> {
        let order = ranked(weights.unwrap_or_default()).into_iter().map(|(bit, adds)| {
            let failed = |_| Error::UserFunctionError("greedy_cover: the result exceeds 64 bits".into());
            Ok([bit as i64, i64::try_from(adds).map_err(failed)?])
        });
        Ok(json!(order.collect::<Result<Vec<_>>>()?).to_string())
    }
}

/// Each bit of the masks with what it adds, until all masks are covered.
fn ranked(mut weights: Weights) -> Vec<(usize, i128)> {
    let mut ranks = Vec::new();
    weights.remove(&0);
    while !weights.is_empty() {
        let mut adds = [None; BITS];
        for (mask, weight) in &weights {
            for (bit, adds) in adds.iter_mut().enumerate() {
                if mask >> bit & 1 == 1 {
                    *adds = Some(adds.unwrap_or(0) + weight);
                }
            }
        }
        let best = adds.iter().enumerate().filter_map(|(bit, adds)| Some((bit, (*adds)?)));
        let Some((bit, adds)) = best.max_by_key(|&(bit, adds)| (adds, Reverse(bit))) else { break };
        ranks.push((bit, adds));
        weights.retain(|mask, _| mask >> bit & 1 == 0);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        super::super::register(&connection, &Default::default()).unwrap();
        connection.execute_batch("CREATE TABLE t (mask, weight)").unwrap();
        connection
    }

    /// The same step by step: for every bit that is left, the weight of the masks that have it and no bit of `taken`.
    fn brute_force(rows: &[(i64, i64)]) -> Vec<[i64; 2]> {
        let (mut taken, mut order) = (0i64, Vec::new());
        loop {
            let mut best: Option<[i64; 2]> = None;
            for bit in 0..63 {
                let free = rows.iter().filter(|(mask, _)| mask & taken == 0 && mask >> bit & 1 == 1);
                let weights: Vec<i64> = free.map(|(_, weight)| *weight).collect();
                let sum = weights.iter().sum();
                if !weights.is_empty() && best.is_none_or(|[_, most]| sum > most) {
                    best = Some([bit, sum]);
                }
            }
            let Some(best) = best else { return order };
            taken |= 1 << best[0];
            order.push(best);
        }
    }

    #[test]
    fn it_takes_what_adds_most_each_time() {
        let connection = connection();
        let mut seed = 11u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        let mut ties = 0;
        for round in 0..400 {
            connection.execute("DELETE FROM t", []).unwrap();
            let bits = if round % 4 == 0 { 62 } else { 5 };
            let mut rows = Vec::new();
            for _ in 0..below(30) {
                let mask = (0..below(4)).fold(0, |mask, _| mask | 1i64 << below(bits + 1));
                let row = (mask, below(6));
                connection.execute("INSERT INTO t VALUES (?1, ?2)", row).unwrap();
                rows.push(row);
            }
            let want = brute_force(&rows);
            let got: String = connection
                .query_row("SELECT greedy_cover(mask, weight) FROM t", [], |row| row.get(0))
                .unwrap();
            assert_eq!(got, json!(want).to_string(), "{rows:?}");
            ties += usize::from(want.windows(2).any(|pair| pair[0][1] == pair[1][1]));
        }
        assert!(ties > 100, "{ties}");
    }

    #[test]
    fn odd_input_counts_nothing_or_is_an_error() {
        let connection = connection();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
        assert_eq!(ask("SELECT greedy_cover(mask, weight) FROM t"), Ok("[]".to_owned()));
        assert_eq!(ask("SELECT greedy_cover(NULL, 3)"), Ok("[]".to_owned()));
        assert_eq!(ask("SELECT greedy_cover(0, 3)"), Ok("[]".to_owned()));
        assert_eq!(ask("SELECT greedy_cover(1 << 62, 3)"), Ok("[[62,3]]".to_owned()));
        assert!(ask("SELECT greedy_cover(-1, 3)").is_err());
        assert!(ask("SELECT greedy_cover(1, -3)").is_err());
        assert!(ask("SELECT greedy_cover(1, 'x')").is_err());
        let far = "(VALUES (1, 9223372036854775807), (1, 9223372036854775807))";
        assert!(ask(&format!("SELECT greedy_cover(column1, column2) FROM {far}")).is_err());
    }
}
