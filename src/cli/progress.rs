//! What takes long, on a terminal: one line that goes away again.

use super::note;
use crate::render::visible;
use crate::report::Notice;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The line is there.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Shows what is said while a report is being opened.
pub(super) fn show(notice: Notice<'_>) {
    match notice {
        Notice::Note(text) => {
            clear();
            note(text);
        }
        Notice::Progress(text) if io::stderr().is_terminal() => {
            let width =
                terminal_size::terminal_size_of(io::stderr()).map_or(80, |(w, _)| usize::from(w.0));
            let line: String = visible(text).chars().take(width.saturating_sub(1)).collect();
            // That it cannot be shown is no reason to stop.
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
            SHOWN.store(true, Ordering::Relaxed);
        }
        Notice::Progress(_) => {}
        Notice::Done => clear(),
    }
}

fn clear() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}
