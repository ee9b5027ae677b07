//! Writes answers and relations of nsq as Parquet and Arrow.

mod columns;
mod spool;
mod table_file;

pub use columns::{Cells, cast, common, documented, schema_of, value};
pub use spool::Spool;
pub use table_file::encoder;
