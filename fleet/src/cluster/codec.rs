//! How nsq's tables and operators travel: as JSON, and their schemas as Arrow. Of everything else, only what
//! Ballista's own stages consist of is read, and by executors only.

use crate::given::Given;
use crate::plan::{Known, OpenReports, Reports, Yield};
use crate::workshop::Workshop;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::catalog::TableProvider;
use datafusion::common::{TableReference, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// Begins a message of nsq's; then its version.
const MARK: &[u8] = b"nsq\x001";

/// Writes a message, and a schema with rows.
fn encode(
    message: &impl Serialize,
    (schema, rows): (&Schema, &[RecordBatch]),
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let json = serde_json::to_vec(message).map_err(outer)?;
    buffer.extend_from_slice(MARK);
    buffer.extend_from_slice(&u64::try_from(json.len()).map_err(outer)?.to_le_bytes());
    buffer.extend_from_slice(&json);
    let mut writer = StreamWriter::try_new(buffer, schema)?;
    rows.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()?;
    Ok(())
}

fn decode<T: DeserializeOwned>(buffer: &[u8]) -> Result<(T, StreamReader<&[u8]>)> {
    let parsed = || {
        let rest = buffer.strip_prefix(MARK)?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
    };
    let Some((json, schema)) = parsed() else {
        return plan_err!("this is no plan of nsq fleet {}", env!("CARGO_PKG_VERSION"));
    };
    Ok((serde_json::from_slice(json).map_err(outer)?, StreamReader::try_new(schema, None)?))
}

/// A table on its way.
#[derive(Serialize, Deserialize)]
enum Table {
    /// What reports contribute.
    Reports(Yield, Vec<Known>),
    /// Rows, which follow.
    Given,
}

fn outer(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Between the client and the scheduler.
#[derive(Debug, Default)]
pub(super) struct Logical(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for Logical {
    fn try_decode(&self, _: &[u8], _: &[LogicalPlan], _: &TaskContext) -> Result<Extension> {
        plan_err!("nsq fleet has no such operation")
    }

    fn try_encode(&self, node: &Extension, buffer: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buffer)
    }

    fn try_decode_table_provider(
        &self,
        buffer: &[u8],
        _: &TableReference,
        _: SchemaRef,
        _: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let (table, rows) = decode(buffer)?;
        let schema = rows.schema();
        match table {
            Table::Reports(yields, known) => {
                Ok(Arc::new(Reports { yields, known, schema, workshop: None }))
            }
            Table::Given => Ok(Arc::new(Given::new(rows.collect::<std::result::Result<_, _>>()?)?)),
        }
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        let node: &dyn Any = &*node;
        if let Some(Reports { yields, known, schema, .. }) = node.downcast_ref() {
            return encode(&Table::Reports(yields.clone(), known.clone()), (schema, &[]), buffer);
        }
        match node.downcast_ref::<Given>() {
            Some(Given { schema, rows, .. }) => encode(&Table::Given, (schema, rows), buffer),
            None => plan_err!("table {table} does not consist of reports"),
        }
    }
}

/// Between the scheduler and the executors.
#[derive(Debug, Default)]
pub(super) struct Physical {
    pub(super) ballista: BallistaPhysicalExtensionCodec,
    /// That of the executor. A scheduler reads no plans of others: it makes them.
    pub(super) workshop: Option<Arc<Workshop>>,
}

impl PhysicalExtensionCodec for Physical {
    fn try_decode(
        &self,
        buffer: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(workshop) = &self.workshop else {
            return plan_err!("the scheduler makes its plans itself");
        };
        if !buffer.starts_with(MARK) {
            return self.ballista.try_decode(buffer, inputs, context, converter);
        }
        let ((yields, places), rows): ((Yield, Vec<usize>), _) = decode(buffer)?;
        let schema = rows.schema();
        let [input] = inputs else { return plan_err!("a list of reports is missing") };
        let workshop = Some(Arc::clone(workshop));
        Ok(Arc::new(OpenReports::new(Arc::clone(input), yields, (schema, places), workshop)?))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match node.downcast_ref::<OpenReports>() {
            Some(OpenReports { yields, columns: (schema, places), .. }) => {
                encode(&(yields, places), (schema, &[]), buffer)
            }
            None => self.ballista.try_encode(node, buffer, converter),
        }
    }
}
