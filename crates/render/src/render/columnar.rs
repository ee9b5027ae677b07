//! Formats of columns, Parquet and Arrow, which `nsq-arrow` writes: it is this program with an encoder.

use super::format::Format;
use super::style::{Heading, Output};
use nsq_value::table::RowSink;
use std::sync::OnceLock;

/// Makes the sink that writes one table to an output.
pub type Encoder = for<'o> fn(Format, &Heading, &'o mut Output) -> Box<dyn RowSink + 'o>;

static ENCODER: OnceLock<Encoder> = OnceLock::new();

/// Lets this process write Parquet and Arrow.
pub fn set_encoder(encoder: Encoder) {
    ENCODER.get_or_init(|| encoder);
}

/// The encoder of this process. `nsq` itself has none.
pub fn encoder() -> Option<Encoder> {
    ENCODER.get().copied()
}
