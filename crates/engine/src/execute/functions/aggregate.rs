//! Aggregates: functions of the rows of a group.

use super::arguments::flags;
use rusqlite::functions::{Aggregate, Context, SqlFnOutput};
use rusqlite::{Connection, Error, Result};
use std::ffi::c_int;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Adds an aggregate. `step` adds a row to what is known of a group, and `finish` makes the result of it.
pub(super) fn aggregate<S, T>(
    connection: &Connection,
    name: &str,
    arguments: c_int,
    step: impl Fn(&mut Context<'_>, &mut S) -> Result<()> + Send + 'static,
    finish: impl Fn(S) -> Result<T> + Send + 'static,
) -> Result<()>
where
    S: Default + RefUnwindSafe + UnwindSafe + Send,
    T: SqlFnOutput,
{
    connection.create_aggregate_function(name, arguments, flags(), Folded { step, finish })
}

struct Folded<Step, Finish> {
    step: Step,
    finish: Finish,
}

impl<S, T, Step, Finish> Aggregate<S, T> for Folded<Step, Finish>
where
    S: Default + RefUnwindSafe + UnwindSafe,
    T: SqlFnOutput,
    Step: Fn(&mut Context<'_>, &mut S) -> Result<()>,
    Finish: Fn(S) -> Result<T>,
{
    fn init(&self, _: &mut Context<'_>) -> Result<S> {
        Ok(S::default())
    }

    fn step(&self, context: &mut Context<'_>, known: &mut S) -> Result<()> {
        (self.step)(context, known)
    }

    fn finalize(&self, _: &mut Context<'_>, known: Option<S>) -> Result<T> {
        (self.finish)(known.unwrap_or_default())
    }
}

/// The integers in the arguments from `first`; `None` if one is null.
pub(super) fn ints<const N: usize>(context: &Context<'_>, first: usize) -> Result<Option<[i64; N]>> {
    let mut ints = [0; N];
    let mut has_null = false;
    for (place, int) in (first..).zip(&mut ints) {
        match context.get(place)? {
            Some(given) => *int = given,
            None => has_null = true,
        }
    }
    Ok((!has_null).then_some(ints))
}

/// A sum as the result of a function, or an error if it exceeds 64 bits.
pub(super) fn within_64_bits(function: &str, sum: i128) -> Result<i64> {
    let failed = |_| Error::UserFunctionError(format!("{function}: the result exceeds 64 bits").into());
    i64::try_from(sum).map_err(failed)
}
