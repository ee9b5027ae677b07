//! Rows → Arrow columns. The type of a column is the one that its query documents; where a value does not fit,
//! such as a mean in a column of integers, the column gets the type that holds all its values.

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use nsq::{Column, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The Arrow type of a documented type. `Null`: whatever the values are.
#[must_use]
pub fn documented(kind: Type) -> DataType {
    match kind {
        Type::Int | Type::Timestamp | Type::Duration | Type::Bytes | Type::Id => DataType::Int64,
        Type::Real | Type::Percent => DataType::Float64,
        Type::Bool => DataType::Boolean,
        Type::Text => DataType::Utf8,
        Type::Any => DataType::Null,
    }
}

/// What the types of values can be, each holding the values of those before it.
const ORDER: [DataType; 5] =
    [DataType::Null, DataType::Boolean, DataType::Int64, DataType::Float64, DataType::Utf8];

/// The type that holds the values of both.
#[must_use]
pub fn common(a: &DataType, b: &DataType) -> DataType {
    let place = |kind| ORDER.iter().position(|known| known == kind).unwrap_or(ORDER.len() - 1);
    ORDER[place(a).max(place(b))].clone()
}

/// The schema of columns with these types: `type`, `unit` and `doc` are in the metadata of each field.
#[must_use]
pub fn schema_of(columns: &[Column], types: &[DataType], facts: HashMap<String, String>) -> Schema {
    let field = |(column, kind): (&Column, &DataType)| {
        // A column of which no value is known is one of texts: Parquet's readers want a type.
        let kind = if *kind == DataType::Null { DataType::Utf8 } else { kind.clone() };
        Field::new(&column.name, kind, true).with_metadata(about(column))
    };
    Schema::new_with_metadata(columns.iter().zip(types).map(field).collect::<Vec<_>>(), facts)
}

fn about(column: &Column) -> HashMap<String, String> {
    let unit = column.unit.map(|unit| ("unit".to_owned(), unit.name().to_owned()));
    let doc = (!column.doc.is_empty()).then(|| ("doc".to_owned(), column.doc.clone()));
    let kind = ("type".to_owned(), column.kind.name().to_owned());
    [Some(kind), unit, doc].into_iter().flatten().collect()
}

/// The cells of one column, as they come: of the documented type, until one comes that it does not hold.
#[derive(Debug)]
pub enum Cells {
    /// So many nulls, in a column whose type its values decide.
    Nulls(usize),
    /// Booleans.
    Bools(BooleanBuilder),
    /// Integers.
    Ints(Int64Builder),
    /// Reals.
    Reals(Float64Builder),
    /// Texts.
    Texts(StringBuilder),
}

impl Cells {
    /// A column of this type without cells.
    #[must_use]
    pub fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Boolean => Self::Bools(BooleanBuilder::new()),
            DataType::Int64 => Self::Ints(Int64Builder::new()),
            DataType::Float64 => Self::Reals(Float64Builder::new()),
            DataType::Utf8 => Self::Texts(StringBuilder::new()),
            _ => Self::Nulls(0),
        }
    }

    /// Adds a cell.
    pub fn push(&mut self, value: &Value) {
        match (&mut *self, value) {
            (Self::Nulls(count), Value::Null) => *count += 1,
            (Self::Bools(cells), Value::Null) => cells.append_null(),
            (Self::Bools(cells), Value::Int(int @ 0..=1)) => cells.append_value(*int != 0),
            (Self::Ints(cells), Value::Null) => cells.append_null(),
            (Self::Ints(cells), Value::Int(int)) => cells.append_value(*int),
            (Self::Reals(cells), Value::Null) => cells.append_null(),
            (Self::Reals(cells), Value::Int(int)) => cells.append_value(*int as f64),
            (Self::Reals(cells), Value::Real(real)) => cells.append_value(*real),
            (Self::Texts(cells), Value::Null) => cells.append_null(),
            (Self::Texts(cells), Value::Int(int)) => cells.append_value(int.to_string()),
            (Self::Texts(cells), Value::Real(real)) => cells.append_value(real.to_string()),
            (Self::Texts(cells), Value::Text(text)) => cells.append_value(text),
            _ => self.widen(value),
        }
    }

    /// Adds a cell that the type does not hold: the column gets one that holds all its cells.
    fn widen(&mut self, value: &Value) {
        let to = match value {
            Value::Null | Value::Int(_) => DataType::Int64,
            Value::Real(_) => DataType::Float64,
            Value::Text(_) => DataType::Utf8,
        };
        let before = cast(self.finish(), &to);
        let mut wider = Self::new(&to);
        (0..before.len()).for_each(|row| wider.push(&self::value(&before, row)));
        wider.push(value);
        *self = wider;
    }

    /// Takes the cells as an array.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Nulls(count) => new_null_array(&DataType::Null, std::mem::take(count)),
            Self::Bools(cells) => Arc::new(cells.finish()),
            Self::Ints(cells) => Arc::new(cells.finish()),
            Self::Reals(cells) => Arc::new(cells.finish()),
            Self::Texts(cells) => Arc::new(cells.finish()),
        }
    }
}

/// The array with a type that holds its values: a later one in the order of [`common`].
#[must_use]
pub fn cast(array: ArrayRef, to: &DataType) -> ArrayRef {
    let ints = |array: &ArrayRef| -> Int64Array {
        match array.data_type() {
            DataType::Boolean => array.as_boolean().iter().map(|bool| bool.map(i64::from)).collect(),
            _ => array.as_primitive::<Int64Type>().clone(),
        }
    };
    match (array.data_type(), to) {
        (from, to) if from == to => array,
        (DataType::Null, to) => new_null_array(to, array.len()),
        // Nulls are stored as texts until a value is known.
        (_, to) if array.null_count() == array.len() => new_null_array(to, array.len()),
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

/// A cell of an array of one of these types.
#[must_use]
pub fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => Value::Int(i64::from(array.as_boolean().value(row))),
        DataType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Value::Real(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::Utf8View => Value::Text(array.as_string_view().value(row).to_owned()),
        _ => Value::Null,
    }
}
