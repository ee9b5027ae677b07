//! A value for people.

use super::Style;
use super::delimited::plain;
use nsq_value::table::{Column, Value, humanize};

/// Formats a value for people. The format still has to escape it.
pub(super) fn shown(value: &Value, column: &Column, style: &Style) -> String {
    if style.raw { plain(value, column) } else { humanize(value, column) }
}
