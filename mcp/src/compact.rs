//! Tables as compact JSON: the names of the columns once, then rows as lists.
//!
//! Integers are exact. Percentages have two decimals and other numbers six digits, as nobody reads more. Texts come from the
//! profiled program or from its users: control characters are written out, long texts lose their middle,
//! and `untrusted_text` names the columns that hold them.

use crate::failure::Failure;
use nsq::{Column, Table, Type, Value};
use serde_json::{Map, Value as Json, json};

/// Longest text of a cell in an answer, in characters, unless whole names are asked for.
const LONGEST_TEXT: usize = 160;
/// Longest text of a cell if whole names are asked for.
const LONGEST_WHOLE: usize = 8_000;
/// Bytes of an answer beside its rows.
const BESIDE_ROWS: usize = 400;

/// Which part of a table is shown.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    /// First row, from 0.
    pub(crate) offset: usize,
    /// Most rows.
    pub(crate) limit: usize,
    /// Columns in this order; none: all.
    pub(crate) columns: &'a [String],
    /// Rows with the largest values in this column come first.
    pub(crate) largest_by: Option<&'a str>,
    /// Show whole texts.
    pub(crate) whole_text: bool,
    /// Most bytes of the rows.
    pub(crate) bytes: usize,
}

/// The part of a table, and where the next one begins.
pub(crate) fn table(table: &Table, part: &Part<'_>) -> Result<Map<String, Json>, Failure> {
    let places = places(table.columns(), part.columns)?;
    let columns: Vec<&Column> = places.iter().map(|place| &table.columns()[*place]).collect();
    let total = table.rows().len();
    let mut left = part.bytes.saturating_sub(BESIDE_ROWS);
    let mut rows = Vec::new();
    for row in ordered(table, part.largest_by)?.into_iter().skip(part.offset).take(part.limit) {
        let cells = places.iter().zip(&columns);
        let cells: Vec<Json> =
            cells.map(|(place, column)| cell(&row[*place], column, part.whole_text)).collect();
        let row = Json::from(cells);
        let bytes = row.to_string().len() + 1;
        // The first row is shown in any case: otherwise paging would not go on.
        if bytes > left && !rows.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        rows.push(row);
    }
    let next = part.offset + rows.len();
    let mut answer = Map::new();
    answer.insert("columns".to_owned(), columns.iter().map(|column| column.name.as_str()).collect());
    let units: Map<String, Json> = columns.iter().filter_map(|column| hidden_unit(column)).collect();
    if !units.is_empty() {
        answer.insert("units".to_owned(), units.into());
    }
    let is_text = |place: &&usize| table.rows().iter().any(|row| matches!(row[**place], Value::Text(_)));
    let untrusted: Vec<&str> =
        places.iter().filter(is_text).map(|place| table.columns()[*place].name.as_str()).collect();
    if !untrusted.is_empty() {
        answer.insert("untrusted_text".to_owned(), json!(untrusted));
    }
    answer.insert("rows".to_owned(), rows.into());
    answer.insert("total_rows".to_owned(), total.into());
    if next < total {
        answer.insert("next_offset".to_owned(), next.into());
    }
    Ok(answer)
}

/// A row as an object of some of its columns, without nulls. Only the texts of the columns in `names` are
/// shortened: others are nsq's own.
pub(crate) fn object(
    table: &Table,
    row: &[Value],
    columns: &[&str],
    names: &[&str],
) -> Map<String, Json> {
    let place = |name: &str| table.columns().iter().position(|column| column.name == name);
    let cells = columns.iter().filter_map(|name| Some((*name, place(name)?)));
    let cells = cells.map(|(name, place)| {
        let is_whole = !names.contains(&name);
        (name.to_owned(), cell(&row[place], &table.columns()[place], is_whole))
    });
    cells.filter(|(_, cell)| !cell.is_null()).collect()
}

/// The rows in the order of the query, or by the values of a column.
fn ordered<'t>(table: &'t Table, by: Option<&str>) -> Result<Vec<&'t Vec<Value>>, Failure> {
    let mut rows: Vec<&Vec<Value>> = table.rows().iter().collect();
    if let Some(by) = by {
        let place = places(table.columns(), &[by.to_owned()])?[0];
        let number = |row: &Vec<Value>| match row[place] {
            Value::Int(int) => int as f64,
            Value::Real(real) => real,
            Value::Null | Value::Text(_) => f64::NEG_INFINITY,
        };
        // Equal rows keep the order of the query.
        rows.sort_by(|a, b| number(b).total_cmp(&number(a)));
    }
    Ok(rows)
}

/// The places of the columns that are asked for.
fn places(columns: &[Column], wanted: &[String]) -> Result<Vec<usize>, Failure> {
    if wanted.is_empty() {
        return Ok((0..columns.len()).collect());
    }
    let place = |name: &String| {
        columns.iter().position(|column| column.name == *name).ok_or_else(|| {
            let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            Failure::new(
                format!("unknown column {}", crate::roots::quoted(name)),
                format!("columns: {}", known.join(", ")),
            )
        })
    };
    wanted.iter().map(place).collect()
}

/// The unit of a column whose name does not end with it.
fn hidden_unit(column: &Column) -> Option<(String, Json)> {
    let unit = column.unit.filter(|unit| !column.name.ends_with(unit.suffix()))?;
    Some((column.name.clone(), unit.name().into()))
}

fn cell(value: &Value, column: &Column, whole_text: bool) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(int) if column.kind == Type::Bool => (*int != 0).into(),
        Value::Int(int) => (*int).into(),
        Value::Real(real) if column.kind == Type::Percent => percentage(*real),
        Value::Real(real) => number(*real, column.decimals),
        Value::Text(text) => self::text(text, whole_text).into(),
    }
}

/// A text without control characters, and without its middle if it is long.
pub(crate) fn text(text: &str, whole: bool) -> String {
    let most = if whole { LONGEST_WHOLE } else { LONGEST_TEXT };
    let count = text.chars().count();
    if count <= most {
        return nsq::visible(text);
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{}…{}", nsq::visible(&start), nsq::visible(&end))
}

/// The decimal places for this number of significant digits.
fn places_for(real: f64, digits: f64) -> usize {
    let first = real.abs().max(1e-300).log10().floor();
    (digits - 1.0 - first).clamp(0.0, 17.0) as usize
}

/// A number with six significant digits, but with all digits before the decimal point.
fn number(real: f64, decimals: Option<usize>) -> Json {
    let places = places_for(real, 6.0);
    rounded(real, decimals.map_or(places, |decimals| decimals.min(places)))
}

/// A percentage with two decimals, or as many as three significant digits need.
fn percentage(real: f64) -> Json {
    rounded(real, places_for(real, 3.0).max(2))
}

fn rounded(real: f64, places: usize) -> Json {
    if !real.is_finite() {
        return Json::Null;
    }
    let rounded: f64 = format!("{real:.places$}").parse().unwrap_or(real);
    match rounded.fract() == 0.0 && rounded.abs() < 9e15 {
        true => Json::from(rounded as i64),
        false => Json::from(rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(number(50.914_375_28, None), json!(50.9144));
        assert_eq!(number(4_004_750.117, None), json!(4_004_750));
        assert_eq!(number(0.000_001_234_567_8, None), json!(0.00000123457));
        assert_eq!(number(100.0, Some(1)), json!(100));
        assert_eq!(number(33.333_333, Some(1)), json!(33.3));
        assert_eq!(number(f64::NAN, None), Json::Null);
        assert_eq!(number(-0.5, None), json!(-0.5));
        assert_eq!(percentage(84.606_217), json!(84.61));
        assert_eq!(percentage(0.001_234), json!(0.00123));
        assert_eq!(percentage(0.0), json!(0));
    }

    #[test]
    fn texts_are_harmless_and_short() {
        assert_eq!(text("a\u{1b}[31m\n", false), "a\\u{1b}[31m\\n");
        let long = "x".repeat(1000);
        assert_eq!(text(&long, false).chars().count(), 160);
        assert_eq!(text(&long, true), long);
    }
}
