//! Rows → Arrow columns, as they come.
//!
//! The type of a column is the one that its query documents. SQLite types values, not columns: where a value does
//! not fit, such as a mean in a column of integers, the column gets the type that holds all its values.

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_array::{BooleanArray, cast::AsArray, types::Float64Type, types::Int64Type};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use nsq::{Column, Result, RowSink, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows in a batch.
const BATCH: usize = 1 << 16;
/// Most bytes of text in a batch: Arrow counts them with 31 bits.
const BATCH_BYTES: usize = 1 << 30;
/// Rows that are also kept as they are, to be shown.
pub(crate) const HEAD: usize = 100;

/// A sink that fills columns.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) columns: Vec<Column>,
    pub(crate) head: Vec<Vec<Value>>,
    pub(crate) count: usize,
    growing: Vec<Cells>,
    in_batch: usize,
    bytes: usize,
    /// The finished batches, a list of arrays each.
    batches: Vec<Vec<ArrayRef>>,
}

/// The cells of a column in the batch that grows.
enum Cells {
    /// So many nulls, and no value so far.
    Nulls(usize),
    Bools(BooleanBuilder),
    Ints(Int64Builder),
    Reals(Float64Builder),
    Texts(StringBuilder),
}

impl RowSink for Columns {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        self.growing = columns.iter().map(|_| Cells::Nulls(0)).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if self.head.len() < HEAD {
            self.head.push(row.to_vec());
        }
        for ((cells, column), value) in self.growing.iter_mut().zip(&self.columns).zip(row) {
            cells.push(value, column.kind);
            if let Value::Text(text) = value {
                self.bytes += text.len();
            }
        }
        self.count += 1;
        self.in_batch += 1;
        if self.in_batch == BATCH || self.bytes >= BATCH_BYTES {
            self.flush();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.in_batch > 0 {
            self.flush();
        }
        Ok(())
    }
}

impl Columns {
    fn flush(&mut self) {
        let arrays =
            self.growing.iter_mut().map(|cells| std::mem::replace(cells, Cells::Nulls(0)).finish());
        self.batches.push(arrays.collect());
        (self.in_batch, self.bytes) = (0, 0);
    }

    /// The batches, all with the same types. `facts` are metadata of the schema.
    pub(crate) fn into_batches(
        self,
        facts: HashMap<String, String>,
    ) -> Result<(Arc<Schema>, Vec<RecordBatch>), ArrowError> {
        let types: Vec<DataType> = self
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let found = self.batches.iter().map(|batch| batch[place].data_type());
                found.fold(documented(column.kind), |all, one| common(&all, one))
            })
            .collect();
        let fields = self.columns.iter().zip(&types).map(|(column, kind)| {
            Field::new(&column.name, kind.clone(), true).with_metadata(about(column))
        });
        let schema = Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), facts));
        let batches = self.batches.into_iter().map(|arrays| {
            let arrays = arrays.into_iter().zip(&types).map(|(array, kind)| cast(array, kind)).collect();
            RecordBatch::try_new(Arc::clone(&schema), arrays)
        });
        let batches = batches.collect::<Result<_, _>>()?;
        Ok((schema, batches))
    }
}

/// What the metadata of a field says: `type`, and `unit` and `doc` if there are any.
fn about(column: &Column) -> HashMap<String, String> {
    let unit = column.unit.map(|unit| ("unit".to_owned(), unit.name().to_owned()));
    let doc = (!column.doc.is_empty()).then(|| ("doc".to_owned(), column.doc.clone()));
    let kind = ("type".to_owned(), column.kind.name().to_owned());
    [Some(kind), unit, doc].into_iter().flatten().collect()
}

/// The Arrow type of a documented type. `Null`: whatever the values are.
fn documented(kind: Type) -> DataType {
    match kind {
        Type::Int | Type::Timestamp | Type::Duration | Type::Bytes | Type::Id => DataType::Int64,
        Type::Real | Type::Percent => DataType::Float64,
        Type::Bool => DataType::Boolean,
        Type::Text => DataType::Utf8,
        Type::Any => DataType::Null,
    }
}

/// The type that holds the values of both.
fn common(a: &DataType, b: &DataType) -> DataType {
    let order = [DataType::Null, DataType::Boolean, DataType::Int64, DataType::Float64, DataType::Utf8];
    let place =
        |kind: &DataType| order.iter().position(|known| known == kind).unwrap_or(order.len() - 1);
    order[place(a).max(place(b))].clone()
}

impl Cells {
    fn push(&mut self, value: &Value, kind: Type) {
        match (&mut *self, value) {
            (Self::Nulls(count), Value::Null) => *count += 1,
            (Self::Bools(bools), Value::Null) => bools.append_null(),
            (Self::Ints(ints), Value::Null) => ints.append_null(),
            (Self::Reals(reals), Value::Null) => reals.append_null(),
            (Self::Texts(texts), Value::Null) => texts.append_null(),
            (Self::Bools(bools), Value::Int(int @ 0..=1)) => bools.append_value(*int == 1),
            (Self::Ints(ints), Value::Int(int)) => ints.append_value(*int),
            (Self::Reals(reals), Value::Int(int)) => reals.append_value(*int as f64),
            (Self::Reals(reals), Value::Real(real)) => reals.append_value(*real),
            (Self::Texts(texts), Value::Text(text)) => texts.append_value(text),
            (Self::Texts(texts), Value::Int(int)) => texts.append_value(int.to_string()),
            (Self::Texts(texts), Value::Real(real)) => texts.append_value(real.to_string()),
            _ => {
                let fitting = match value {
                    Value::Int(0..=1) if kind == Type::Bool => DataType::Boolean,
                    Value::Int(_) if matches!(documented(kind), DataType::Float64) => DataType::Float64,
                    Value::Null | Value::Int(_) => DataType::Int64,
                    Value::Real(_) => DataType::Float64,
                    Value::Text(_) => DataType::Utf8,
                };
                let so_far = std::mem::replace(self, Self::Nulls(0)).finish();
                let fitting = common(so_far.data_type(), &fitting);
                *self = Self::from(&cast(so_far, &fitting));
                self.push(value, kind);
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Nulls(count) => new_null_array(&DataType::Null, count),
            Self::Bools(mut bools) => Arc::new(bools.finish()),
            Self::Ints(mut ints) => Arc::new(ints.finish()),
            Self::Reals(mut reals) => Arc::new(reals.finish()),
            Self::Texts(mut texts) => Arc::new(texts.finish()),
        }
    }
}

/// Cells to go on with, after those of the array.
impl From<&ArrayRef> for Cells {
    fn from(array: &ArrayRef) -> Self {
        match array.data_type() {
            DataType::Boolean => {
                let mut bools = BooleanBuilder::new();
                array.as_boolean().iter().for_each(|bool| bools.append_option(bool));
                Self::Bools(bools)
            }
            DataType::Int64 => {
                let mut ints = Int64Builder::new();
                array.as_primitive::<Int64Type>().iter().for_each(|int| ints.append_option(int));
                Self::Ints(ints)
            }
            DataType::Float64 => {
                let mut reals = Float64Builder::new();
                array.as_primitive::<Float64Type>().iter().for_each(|real| reals.append_option(real));
                Self::Reals(reals)
            }
            DataType::Utf8 => {
                let mut texts = StringBuilder::new();
                array.as_string::<i32>().iter().for_each(|text| texts.append_option(text));
                Self::Texts(texts)
            }
            _ => Self::Nulls(array.len()),
        }
    }
}

/// The array with a type that holds its values: a later one in the order of [`common`].
fn cast(array: ArrayRef, to: &DataType) -> ArrayRef {
    let ints = |array: &ArrayRef| -> Int64Array {
        match array.data_type() {
            DataType::Boolean => array.as_boolean().iter().map(|bool| bool.map(i64::from)).collect(),
            _ => array.as_primitive::<Int64Type>().clone(),
        }
    };
    match (array.data_type(), to) {
        (from, to) if from == to => array,
        (DataType::Null, to) => new_null_array(to, array.len()),
        (_, DataType::Int64) => Arc::new(ints(&array)),
        (_, DataType::Float64) => {
            let reals: Float64Array = ints(&array).iter().map(|int| int.map(|int| int as f64)).collect();
            Arc::new(reals)
        }
        (DataType::Float64, _) => {
            let reals = array.as_primitive::<Float64Type>();
            let texts: StringArray =
                reals.iter().map(|real| real.map(|real| real.to_string())).collect();
            Arc::new(texts)
        }
        _ => {
            let ints = ints(&array);
            let texts: StringArray = ints.iter().map(|int| int.map(|int| int.to_string())).collect();
            Arc::new(texts)
        }
    }
}

/// A cell of an array that this module made.
pub(crate) fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => {
            let bools: &BooleanArray = array.as_boolean();
            Value::Int(i64::from(bools.value(row)))
        }
        DataType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Value::Real(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        _ => Value::Null,
    }
}
