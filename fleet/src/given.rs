//! A table whose rows are known: those of a query that another one asks.

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::plan_err;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Rows that are here, and can travel.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) schema: SchemaRef,
    pub(crate) rows: Vec<RecordBatch>,
    table: MemTable,
}

impl Given {
    pub(crate) fn new(rows: Vec<RecordBatch>) -> Result<Self> {
        let Some(schema) = rows.first().map(RecordBatch::schema) else {
            return plan_err!("a query without columns");
        };
        let table = MemTable::try_new(Arc::clone(&schema), vec![rows.clone()])?;
        Ok(Self { schema, rows, table })
    }
}

#[async_trait]
impl TableProvider for Given {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.table.scan(session, projection, filters, limit).await
    }
}
