//! Blobs of numbers, by which functions pass on intervals.

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Error, Result};

/// The bytes of a 64-bit integer, the lowest first.
pub(super) type Number = [u8; 8];

/// The rows of `N` numbers in a blob; `None` for null.
pub(super) fn numbers<const N: usize>(value: ValueRef<'_>) -> Result<Option<&[[Number; N]]>> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(blob) if blob.len().is_multiple_of(size_of::<[Number; N]>()) => {
            Ok(Some(blob.as_chunks().0.as_chunks().0))
        }
        _ => Err(Error::InvalidFunctionParameterType(0, Type::Blob)),
    }
}
