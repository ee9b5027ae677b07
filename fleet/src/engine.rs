//! Questions across reports on DataFusion: the same statements as in SQLite, over tables of contributions whose
//! partitions are reports.

use crate::contributions::{Part, batches, schema};
use crate::functions;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use nsq::{Column, Library};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// An engine whose tables are filled one after the other.
pub(crate) struct Engine<'l> {
    library: &'l Library,
    context: SessionContext,
    known: BTreeSet<String>,
}

impl<'l> Engine<'l> {
    pub(crate) fn new(library: &'l Library, threads: usize) -> Self {
        let config = SessionConfig::new()
            .with_target_partitions(threads)
            // As in SQLite: a null is smaller than every value.
            .set_str("datafusion.sql_parser.default_null_ordering", "nulls_min");
        let context = SessionContext::new_with_config(config);
        functions::register(&context);
        Self { library, context, known: BTreeSet::new() }
    }

    /// A table of what reports contribute: name and side of each, and its rows.
    pub(crate) fn add(
        &mut self,
        table: &str,
        columns: &[Column],
        parts: &[(String, usize, &Part)],
    ) -> Result<()> {
        let types: Vec<(usize, &Part)> = parts.iter().map(|(_, side, part)| (*side, *part)).collect();
        let schema = schema(columns, &types);
        let partition = |(report, side, part): &(String, usize, &Part)| -> Arc<dyn PartitionStream> {
            Arc::new(OfReport {
                schema: Arc::clone(&schema),
                part: Part::clone(part),
                report: report.clone(),
                side: i64::try_from(*side).unwrap_or(i64::MAX),
            })
        };
        let partitions: Vec<_> = parts.iter().map(partition).collect();
        self.known.insert(table.to_owned());
        if partitions.is_empty() {
            let none = MemTable::try_new(Arc::clone(&schema), vec![Vec::new()])?;
            return self.context.register_table(table, Arc::new(none)).map(drop);
        }
        let of_reports = StreamingTable::try_new(Arc::clone(&schema), partitions)?;
        self.context.register_table(table, Arc::new(of_reports)).map(drop)
    }

    /// Asks a query across reports, after those that it asks.
    pub(crate) async fn ask(&mut self, query: &str) -> Result<Vec<RecordBatch>> {
        let asks = self.library.asks_across(query).map_err(outer)?;
        for (table, asked) in asks {
            if self.known.contains(&table) {
                continue;
            }
            let rows = Box::pin(self.ask(&asked)).await?;
            let schema = rows.first().map(RecordBatch::schema);
            let Some(schema) = schema else {
                return Err(DataFusionError::Internal(format!("{asked} has no columns")));
            };
            self.context.register_table(&table, Arc::new(MemTable::try_new(schema, vec![rows])?))?;
            self.known.insert(table);
        }
        let frame = self.context.sql(self.library.statement(query).map_err(outer)?).await?;
        let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
        let mut rows = frame.collect().await?;
        if rows.is_empty() {
            rows.push(RecordBatch::new_empty(schema));
        }
        Ok(rows)
    }
}

fn outer(error: nsq::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The partition of a report.
struct OfReport {
    schema: SchemaRef,
    part: Part,
    report: String,
    side: i64,
}

impl fmt::Debug for OfReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.report)
    }
}

impl PartitionStream for OfReport {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let read = batches(&self.part, &self.report, self.side, &self.schema);
        let (read, failed) = match read {
            Ok(read) => (Some(read), None),
            Err(error) => (None, Some(Err(error))),
        };
        let rows = failed.into_iter().chain(read.into_iter().flatten());
        let rows = rows.map(|batch| batch.map_err(DataFusionError::from));
        let rows = futures::stream::iter(rows);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}
