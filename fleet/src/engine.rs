//! Questions across reports on DataFusion: the same statements as in SQLite, over tables of contributions whose
//! partitions are reports.

use crate::functions;
use crate::given::Given;
use crate::plan::Reports;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use nsq::Library;
use nsq::compile::without_hints;
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A session whose tables are what reports contribute.
pub(crate) struct Engine<'l> {
    library: &'l Library,
    context: SessionContext,
    known: BTreeSet<String>,
    /// Whether plans travel.
    is_far: bool,
}

/// How statements are read: as SQLite does.
pub(crate) fn as_sqlite(config: SessionConfig) -> SessionConfig {
    // A null is smaller than every value.
    config.set_str("datafusion.sql_parser.default_null_ordering", "nulls_min")
}

impl<'l> Engine<'l> {
    /// On the cores of this machine.
    pub(crate) fn embedded(library: &'l Library, threads: usize) -> Self {
        let config = as_sqlite(SessionConfig::new().with_target_partitions(threads));
        Self::new(library, SessionContext::new_with_config(config), false)
    }

    /// In a session whose plans run elsewhere.
    #[cfg(feature = "cluster")]
    pub(crate) fn far(library: &'l Library, context: SessionContext) -> Self {
        Self::new(library, context, true)
    }

    fn new(library: &'l Library, context: SessionContext, is_far: bool) -> Self {
        functions::register(&context);
        Self { library, context, known: BTreeSet::new(), is_far }
    }

    /// A table of what reports contribute: name and side of each, and its rows.
    pub(crate) fn add(&mut self, table: &str, reports: Reports) -> Result<()> {
        self.known.insert(table.to_owned());
        self.context.register_table(table, Arc::new(reports)).map(drop)
    }

    /// The statement of a query. DataFusion does not know which rows SQLite is to store.
    fn statement(&self, query: &str) -> Result<String> {
        let statement = self.library.statement(query).map_err(outer)?;
        without_hints(statement).map_err(DataFusionError::Plan)
    }

    /// The rows of a query across reports, after those that it asks. `watch` sees each plan before it runs.
    pub(crate) async fn ask(
        &mut self,
        query: &str,
        watch: &(impl Fn(&Arc<dyn ExecutionPlan>) + Sync),
    ) -> Result<Vec<RecordBatch>> {
        for (table, asked) in self.library.asks_across(query).map_err(outer)? {
            // As a part of this plan it would be computed for every mention, and nothing would be known of its
            // size: DataFusion then joins in an order that takes minutes instead of a second.
            if self.known.insert(table.clone()) {
                let rows = Box::pin(self.ask(&asked, watch)).await?;
                self.context.register_table(&table, Arc::new(Given::new(rows)?))?;
            }
        }
        let frame = self.context.sql(&self.statement(query)?).await?;
        if self.is_far && is_recursive(frame.logical_plan())? {
            return self.ask_here(query, watch).await;
        }
        self.rows(frame, watch).await
    }

    /// Gathers what a query reads, and runs it on this machine: Ballista has no recursion.
    async fn ask_here(
        &self,
        query: &str,
        watch: &(impl Fn(&Arc<dyn ExecutionPlan>) + Sync),
    ) -> Result<Vec<RecordBatch>> {
        let here = Engine::embedded(self.library, 1);
        for (table, _) in self.library.asks_across(query).map_err(outer)? {
            let provider = self.context.table_provider(&table).await?;
            let known: &dyn Any = &*provider;
            let rows = match known.downcast_ref::<Given>() {
                Some(given) => given.rows.clone(),
                None => self.rows_of(&table, watch).await?,
            };
            here.context.register_table(&table, Arc::new(Given::new(rows)?))?;
        }
        let frame = here.context.sql(&self.statement(query)?).await?;
        here.rows(frame, |_| ()).await
    }

    /// All rows of a table.
    pub(crate) async fn rows_of(
        &self,
        table: &str,
        watch: impl FnOnce(&Arc<dyn ExecutionPlan>),
    ) -> Result<Vec<RecordBatch>> {
        let frame = self.context.table(table).await?;
        self.rows(frame, watch).await
    }

    async fn rows(
        &self,
        frame: DataFrame,
        watch: impl FnOnce(&Arc<dyn ExecutionPlan>),
    ) -> Result<Vec<RecordBatch>> {
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let plan = frame.create_physical_plan().await?;
        watch(&plan);
        let mut rows = collect(plan, self.context.task_ctx()).await?;
        if rows.is_empty() {
            rows.push(RecordBatch::new_empty(schema));
        }
        Ok(rows)
    }
}

fn is_recursive(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))))
}

fn outer(error: nsq::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
