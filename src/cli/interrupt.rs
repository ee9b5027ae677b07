//! What Ctrl-C cancels.

use crate::cancel::Cancel;
use std::sync::LazyLock;

/// All work of this program.
pub(super) fn interrupt() -> &'static Cancel {
    static INTERRUPT: LazyLock<Cancel> = LazyLock::new(Cancel::default);
    &INTERRUPT
}
