//! Which columns a result shows, and in which order.

use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, RowSink, Value};

/// Passes on a choice of columns, in the order of the choice; without a choice, those that identify the row
/// first.
pub(super) struct Arranged<'a> {
    sink: &'a mut dyn RowSink,
    chosen: &'a [String],
    order: Vec<usize>,
    row: Vec<Value>,
}

impl<'a> Arranged<'a> {
    pub(super) fn new(sink: &'a mut dyn RowSink, chosen: &'a [String]) -> Self {
        Self { sink, chosen, order: Vec::new(), row: Vec::new() }
    }
}

impl RowSink for Arranged<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).partition(|&index| columns[index].priority == 0);
        let mut arranged = columns.to_vec();
        self.order = match self.chosen {
            [] => first.into_iter().chain(rest).collect(),
            chosen => {
                let order: Vec<usize> =
                    chosen.iter().filter_map(|wanted| position(columns, wanted)).collect();
                if order.is_empty() {
                    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                    return Err(Error::usage(
                        format!("a result has none of the columns '{}'", chosen.join(",")),
                        format!("its columns are {}", names.join(", ")),
                    ));
                }
                // What the user chose is equally important.
                arranged.iter_mut().for_each(|column| column.priority = 1);
                order
            }
        };
        let arranged: Vec<Column> = self.order.iter().map(|&index| arranged[index].clone()).collect();
        self.row = vec![Value::Null; arranged.len()];
        self.sink.begin(&arranged)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        for (to, &from) in self.row.iter_mut().zip(&self.order) {
            to.clone_from(&row[from]);
        }
        self.sink.take_row(&mut self.row)
    }

    fn end(&mut self) -> Result<()> {
        self.sink.end()
    }
}

/// The column with this name or header.
fn position(columns: &[Column], wanted: &str) -> Option<usize> {
    columns
        .iter()
        .position(|column| column.name == wanted)
        .or_else(|| columns.iter().position(|column| column.header() == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::table::ResultTable;

    fn arranged(chosen: &[&str]) -> Result<(Vec<String>, Vec<Value>)> {
        let columns = [("rank", 3), ("total_ns", 1), ("kernel_name", 0)]
            .map(|(name, priority)| Column { priority, ..Column::untyped(name) });
        let chosen: Vec<String> = chosen.iter().map(|&name| name.to_owned()).collect();
        let mut table = ResultTable::default();
        let mut sink = Arranged::new(&mut table, &chosen);
        sink.begin(&columns)?;
        sink.row(&[Value::Int(1), Value::Int(2), Value::Int(3)])?;
        Ok((table.columns.into_iter().map(|column| column.name).collect(), table.rows.remove(0)))
    }

    #[test]
    fn identity_comes_first_and_a_choice_as_it_was_made() {
        let (names, row) = arranged(&[]).unwrap();
        assert_eq!(names, ["kernel_name", "rank", "total_ns"]);
        assert_eq!(row, [Value::Int(3), Value::Int(1), Value::Int(2)]);
        let (names, row) = arranged(&["total_ns", "nothing_such", "kernel_name"]).unwrap();
        assert_eq!(names, ["total_ns", "kernel_name"]);
        assert_eq!(row, [Value::Int(2), Value::Int(3)]);
        assert!(arranged(&["nothing_such"]).is_err());
    }
}
