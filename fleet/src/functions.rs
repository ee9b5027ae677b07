//! nsq's statistical functions for DataFusion: under the same names as in SQLite, and with the same code.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion::prelude::SessionContext;
use nsq::statistics::{Moments, percentile};
use std::sync::Arc;

/// The functions.
pub(crate) fn own() -> impl Iterator<Item = AggregateUDF> {
    let kinds = [Kind::Median, Kind::Percentile, Kind::StdDev].into_iter();
    kinds.map(|kind| AggregateUDF::from(Statistic::new(kind)))
}

/// Registers them, in the place of DataFusion's own ones of these names.
pub(crate) fn register(context: &SessionContext) {
    own().for_each(|function| context.register_udaf(function));
}

/// Ballista's aggregate functions, with ours in the place of those of these names.
#[cfg(feature = "cluster")]
pub(crate) fn with_own_aggregates() -> Vec<Arc<AggregateUDF>> {
    let theirs = ballista_core::extension::ballista_aggregate_functions();
    theirs.into_iter().chain(own().map(Arc::new)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Median,
    Percentile,
    StdDev,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Statistic {
    kind: Kind,
    signature: Signature,
}

impl Statistic {
    fn new(kind: Kind) -> Self {
        let arguments = if kind == Kind::Percentile { 2 } else { 1 };
        let signature = Signature::exact(vec![DataType::Float64; arguments], Volatility::Immutable);
        Self { kind, signature }
    }
}

impl AggregateUDFImpl for Statistic {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Median => "median",
            Kind::Percentile => "percentile",
            Kind::StdDev => "stddev",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if arguments.is_distinct {
            return exec_err!("{} counts every value: DISTINCT is not possible", self.name());
        }
        let percent = if self.kind == Kind::Median { Some(50.0) } else { None };
        Ok(Box::new(Sample { kind: self.kind, percent, values: Vec::new() }))
    }

    fn state_fields(&self, _: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let value = Field::new_list_field(DataType::Float64, true);
        Ok(vec![
            Arc::new(Field::new("values", DataType::List(Arc::new(value)), true)),
            Arc::new(Field::new("percent", DataType::Float64, true)),
        ])
    }
}

/// The values of a group.
#[derive(Debug)]
struct Sample {
    kind: Kind,
    percent: Option<f64>,
    values: Vec<f64>,
}

impl Accumulator for Sample {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let [values, rest @ ..] = arguments else { return Ok(()) };
        self.values.extend(values.as_primitive::<Float64Type>().iter().flatten());
        let percent = rest.first().filter(|percents| !percents.is_empty());
        if let (None, Some(percents)) = (self.percent, percent) {
            let percents = percents.as_primitive::<Float64Type>();
            let percent = percents.is_valid(0).then(|| percents.value(0));
            match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
                None => return exec_err!("percentile(x, p): p must be between 0 and 100"),
                percent => self.percent = percent,
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match (self.kind, self.percent) {
            (Kind::StdDev, _) => {
                let mut moments = Moments::default();
                self.values.iter().for_each(|value| moments.add(*value));
                moments.stddev()
            }
            (_, Some(percent)) => percentile(&mut self.values, percent),
            (_, None) => None,
        };
        Ok(ScalarValue::Float64(value))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = datafusion::arrow::array::Float64Array::from(std::mem::take(&mut self.values));
        let list = SingleRowListArrayBuilder::new(Arc::new(values)).build_list_scalar();
        Ok(vec![list, ScalarValue::Float64(self.percent)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [lists, percents] = states else { return Ok(()) };
        for values in lists.as_list::<i32>().iter().flatten() {
            self.values.extend(values.as_primitive::<Float64Type>().iter().flatten());
        }
        let known = percents.as_primitive::<Float64Type>().iter().flatten().next();
        self.percent = self.percent.or(known);
        Ok(())
    }
}
