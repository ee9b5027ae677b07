//! No file is read or written on behalf of a client, except reports in the roots. DataFusion reads files through
//! stores, so there are none.

use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::ObjectStore;
use std::path::Path;
use std::sync::Arc;
use url::Url;

#[derive(Debug)]
struct NoFiles;

impl ObjectStoreRegistry for NoFiles {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        plan_err!("nsq fleet opens reports only: {url} is not read")
    }
}

/// A runtime that reads no files, and sorts in `scratch`.
pub(super) fn without_files(scratch: Option<&Path>) -> Result<Arc<RuntimeEnv>> {
    let mut builder = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(NoFiles));
    if let Some(scratch) = scratch {
        builder = builder.with_temp_file_path(scratch);
    }
    Ok(Arc::new(builder.build()?))
}
