//! Tables whose partitions are reports. A scan is a list of reports, one a partition, below an operator that opens
//! each report where the partition runs and yields what it contributes.

use crate::asked::{Ask, Source};
use crate::contributions::{Spans, batches, schema as schema_of_parts};
use crate::pruning::may_have_rows;
use crate::workshop::{Contribution, Workshop};
use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{internal_err, project_schema};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, TryStreamExt, stream};
use nsq::{Cancel, Column};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What an operator yields for each report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Yield {
    /// What it contributes to one query.
    Rows(Box<Ask>),
    /// Whether it can contribute to each of these, and what: a row a report. The contributions are kept.
    Census(Vec<Ask>),
}

/// A report, and what is known of the values in its columns.
pub(crate) type Known = (Source, Spans);

/// A table of what reports contribute.
#[derive(Debug, Clone)]
pub(crate) struct Reports {
    pub(crate) yields: Yield,
    pub(crate) known: Vec<Known>,
    pub(crate) schema: SchemaRef,
    /// Where the reports are opened, if that is here.
    pub(crate) workshop: Option<Arc<Workshop>>,
}

impl Reports {
    /// The contributions to a query.
    pub(crate) fn rows(ask: &Ask, columns: &[Column], found: &[(Source, &Contribution)]) -> Self {
        let parts = found.iter().filter_map(|(_, part)| part.as_ref().ok());
        let schema = schema_of_parts(columns, parts);
        let of = |(source, part): &(Source, &Contribution)| {
            Some((source.clone(), part.as_ref().ok()?.spans.clone()))
        };
        let known = found.iter().filter_map(of).collect();
        Self { yields: Yield::Rows(Box::new(ask.clone())), known, schema, workshop: None }
    }

    pub(crate) fn opened_in(self, workshop: &Arc<Workshop>) -> Self {
        Self { workshop: Some(Arc::clone(workshop)), ..self }
    }
}

/// The schema of a census: place of the report, the executor that opened it, and what was found, as JSON.
#[cfg(feature = "cluster")]
pub(crate) fn census_schema() -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, false);
    Arc::new(Schema::new(vec![
        field("side", DataType::Int64),
        field("executor", DataType::Utf8),
        field("found", DataType::Utf8),
    ]))
}

#[async_trait]
impl TableProvider for Reports {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let asked = self.known.iter().filter(|known| may_have_rows(known, filters));
        let list = sources(asked.map(|(source, _)| source))?;
        let places = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let workshop = self.workshop.clone();
        let schema = Arc::clone(&self.schema);
        Ok(Arc::new(OpenReports::new(list, self.yields.clone(), (schema, places), workshop)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They choose reports, and are applied to the rows afterwards.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}

/// The columns that a list of reports has.
fn source_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("side", DataType::Int64, false),
        Field::new("name", DataType::Utf8, false),
        Field::new("path", DataType::Utf8, false),
        Field::new("not_on", DataType::Utf8, true),
    ]))
}

/// A list of reports, one a partition; without any, one partition without rows.
fn sources<'s>(reports: impl Iterator<Item = &'s Source>) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = source_schema();
    let mut partitions = reports
        .map(|source| {
            let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
            let arrays: Vec<ArrayRef> = vec![
                Arc::new(Int64Array::from(vec![source.side])),
                text(&source.name),
                text(&source.path),
                Arc::new(StringArray::from(vec![source.not_on.as_deref()])),
            ];
            Ok(vec![RecordBatch::try_new(Arc::clone(&schema), arrays)?])
        })
        .collect::<Result<Vec<_>>>()?;
    if partitions.is_empty() {
        partitions.push(Vec::new());
    }
    Ok(MemorySourceConfig::try_new_exec(&partitions, schema, None)?)
}

/// The reports in the rows of a list.
pub(crate) fn sources_in(batch: &RecordBatch) -> Option<Vec<Source>> {
    if batch.schema().fields() != source_schema().fields() {
        return None;
    }
    let text = |column: usize| batch.column(column).as_string::<i32>();
    let sides = batch.column(0).as_primitive::<Int64Type>();
    let source = |row| Source {
        side: sides.value(row),
        name: text(1).value(row).to_owned(),
        path: text(2).value(row).to_owned(),
        not_on: text(3).is_valid(row).then(|| text(3).value(row).to_owned()),
    };
    Some((0..batch.num_rows()).map(source).collect())
}

/// Opens the reports of its input, and yields what they contribute.
#[derive(Debug, Clone)]
pub(crate) struct OpenReports {
    pub(crate) input: Arc<dyn ExecutionPlan>,
    pub(crate) yields: Yield,
    /// The schema of all columns, and the places of those that are read.
    pub(crate) columns: (SchemaRef, Vec<usize>),
    workshop: Option<Arc<Workshop>>,
    properties: Arc<PlanProperties>,
}

impl OpenReports {
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        yields: Yield,
        columns: (SchemaRef, Vec<usize>),
        workshop: Option<Arc<Workshop>>,
    ) -> Result<Self> {
        let schema = project_schema(&columns.0, Some(&columns.1))?;
        let count = input.properties().output_partitioning().partition_count();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(count),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { input, yields, columns, workshop, properties })
    }
}

impl DisplayAs for OpenReports {
    fn fmt_as(&self, _: DisplayFormatType, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reports = self.properties.output_partitioning().partition_count();
        match &self.yields {
            Yield::Rows(ask) => {
                let all = self.columns.0.fields().len();
                let read = self.columns.1.len();
                write!(out, "OpenReports: {}, {reports} reports, {read} of {all} columns", ask.query)
            }
            Yield::Census(asks) => write!(out, "OpenReports: {} queries, {reports} reports", asks.len()),
        }
    }
}

impl ExecutionPlan for OpenReports {
    fn name(&self) -> &str {
        "OpenReports"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        // A report is a partition already.
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("OpenReports has one input");
        };
        let Self { yields, columns, workshop, .. } = Self::clone(&self);
        Ok(Arc::new(Self::new(input, yields, columns, workshop)?))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        use datafusion::physical_plan::ChildrenPropertiesMode;
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(workshop) = self.workshop.clone() else {
            return internal_err!("reports are opened by executors only");
        };
        let (yields, columns) = (Arc::new(self.yields.clone()), self.columns.clone());
        let lists = self.input.execute(partition, context)?;
        let rows = lists
            .map(move |list| {
                let (workshop, yields, columns) =
                    (Arc::clone(&workshop), Arc::clone(&yields), columns.clone());
                let of_list = async move {
                    let Some(sources) = sources_in(&list?) else {
                        return internal_err!("this is no list of reports");
                    };
                    let rows = sources.into_iter().map(move |source| {
                        stream::once(open(
                            Arc::clone(&workshop),
                            Arc::clone(&yields),
                            source,
                            columns.clone(),
                        ))
                        .try_flatten()
                    });
                    Ok(stream::iter(rows).flatten())
                };
                stream::once(of_list).try_flatten()
            })
            .flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// Stops the engine when the reader goes away.
struct StopWith(Cancel);

impl Drop for StopWith {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

type Batches = std::pin::Pin<Box<dyn futures::Stream<Item = Result<RecordBatch>> + Send>>;

/// Opens one report.
async fn open(
    workshop: Arc<Workshop>,
    yields: Arc<Yield>,
    source: Source,
    (schema, places): (SchemaRef, Vec<usize>),
) -> Result<Batches> {
    let here = Arc::clone(&workshop);
    let _permit =
        here.open.acquire().await.map_err(|error| DataFusionError::External(Box::new(error)))?;
    let stop = StopWith(Cancel::default());
    let cancel = stop.0.clone();
    let work = move || -> Result<Batches> {
        match &*yields {
            Yield::Rows(ask) => {
                let read = |file: &std::path::Path| {
                    batches(file, &source.name, source.side, (&schema, &places)).map_err(|error| {
                        match error {
                            datafusion::arrow::error::ArrowError::IoError(_, error) => error,
                            error => std::io::Error::other(error),
                        }
                    })
                };
                let rows = workshop
                    .file(&source, ask, &cancel, read)
                    .map_err(|failure| DataFusionError::External(Box::new(failure)))?;
                Ok(stream::iter(rows.map(|batch| batch.map_err(DataFusionError::from))).boxed())
            }
            Yield::Census(asks) => {
                let found = workshop.contributions(&source, asks, &cancel);
                let found = serde_json::to_string(&found)
                    .map_err(|error| DataFusionError::External(Box::new(error)))?;
                let arrays: Vec<ArrayRef> = vec![
                    Arc::new(Int64Array::from(vec![source.side])),
                    Arc::new(StringArray::from(vec![workshop.executor.clone()])),
                    Arc::new(StringArray::from(vec![found])),
                ];
                let row = RecordBatch::try_new(schema, arrays)?.project(&places)?;
                Ok(stream::iter([Ok(row)]).boxed())
            }
        }
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| DataFusionError::External(Box::new(error)))?
}
