//! Runs a plan, and keeps of its rows what explanations need.

use nsq_engine::compile::Plan;
use nsq_engine::execute::{Limits, Session};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};

/// The column with the folded name of the ranges that a query chose itself.
const CHOSEN: &str = "layer_name";

/// A plan that ran.
pub(super) struct Evidence<'p> {
    pub(super) plan: &'p Plan,
    pub(super) rows: usize,
    /// The folded range name in its first row.
    pub(super) chosen: Option<String>,
}

/// Runs a plan and remembers what explanations need.
pub(super) fn run<'p>(
    session: &Session,
    plan: &'p Plan,
    limits: &Limits,
    sink: &mut dyn RowSink,
) -> Result<Evidence<'p>> {
    let mut watched = Watched { sink, place: None, chosen: None };
    let rows = session.run(plan, limits, &mut watched)?;
    Ok(Evidence { plan, rows, chosen: watched.chosen })
}

/// Passes rows on, and remembers the folded range name in the first.
struct Watched<'a> {
    pub(super) sink: &'a mut dyn RowSink,
    pub(super) place: Option<usize>,
    pub(super) chosen: Option<String>,
}

impl RowSink for Watched<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.place = columns.iter().position(|column| column.name == CHOSEN);
        self.sink.begin(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.look(row);
        self.sink.row(row)
    }

    fn take_row(&mut self, row: &mut [Value]) -> Result<()> {
        self.look(row);
        self.sink.take_row(row)
    }

    fn end(&mut self) -> Result<()> {
        self.sink.end()
    }
}

impl Watched<'_> {
    pub(super) fn look(&mut self, row: &[Value]) {
        if let Some(Value::Text(name)) = self.place.take().and_then(|place| row.get(place)) {
            self.chosen = Some(name.clone());
        }
    }
}
