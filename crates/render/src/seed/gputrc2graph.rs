//! `result.csv` as vLLM's gputrc2graph writes it: its columns, arithmetic, rounding and order.

use nsq_value::table::{Column, ResultTable, Row, Value};

const COLUMNS: [&str; 5] = ["Model_Engine", "Category", "Instances", "Name", "Elapsed Time (sec)"];

/// The table of gputrc2graph. `operations` has the rows of `elapsed_operations`, without bars of single
/// GPUs. `seconds` is the elapsed time of each report as typed; 0 leaves no time without GPU work.
pub fn result_csv(operations: &ResultTable, seconds: &[f64]) -> ResultTable {
    let mut rows: Vec<(&str, usize, [String; 5])> = Vec::new();
    for (index, given) in seconds.iter().enumerate() {
        let is_own = |row: &Row<'_>| row.int("report_rank") == i64::try_from(index + 1).ok();
        for row in operations.iter().filter(is_own) {
            let text = |column| row.text(column).unwrap_or_default();
            let ns = |column| row.int(column).unwrap_or_default() as f64 / 1e9;
            let is_gpu = row.int("is_gpu") == Some(1);
            let elapsed = match is_gpu {
                true => ns("elapsed_ns"),
                false => {
                    let busy = to_tenths(ns("bar_busy_ns"));
                    let given = if *given > 0.0 { to_tenths(*given) } else { 0.0 };
                    given.max(busy) - busy
                }
            };
            // Its category is empty if no rule matches.
            let category = if is_gpu && row.text("class_rule").is_none() { "" } else { text("class") };
            let calls = row.int("calls").unwrap_or_default().to_string();
            let label = text("report").to_owned();
            let cells =
                [label, category.to_owned(), calls, text("op_name").to_owned(), as_python(elapsed)];
            rows.push((category, index, cells));
        }
    }
    // Within a category, rows keep the order of reports and of elapsed time.
    rows.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    ResultTable {
        columns: COLUMNS.iter().map(|name| Column::untyped(name)).collect(),
        rows: rows.into_iter().map(|(_, _, cells)| cells.map(Value::Text).into()).collect(),
    }
}

/// A number as Python writes it: the shortest digits that parse to the same number.
fn as_python(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..16).contains(&exponent) || number == 0.0 => format!("{number:?}"),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
        Err(_) => scientific,
    }
}

/// Rounded to tenths, as gputrc2graph rounds before it subtracts.
fn to_tenths(seconds: f64) -> f64 {
    format!("{seconds:.1}").parse().unwrap_or(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (number, text) in [
            (0.0, "0.0"),
            (2.1376e-5, "2.1376e-05"),
            (1e-9, "1e-09"),
            (0.0001, "0.0001"),
            (0.00052, "0.00052"),
            (20.0, "20.0"),
            (10.0 - 8.8, "1.1999999999999993"),
            (1e16, "1e+16"),
            (123456789.125, "123456789.125"),
        ] {
            assert_eq!(as_python(number), text);
        }
        assert_eq!(as_python(to_tenths(7.8499)), "7.8");
    }
}
