//! Progress of slow steps: one line on the terminal, erased at the end.

use super::note;
use crate::render::visible;
use crate::report::Notice;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the progress line is on the screen.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Shows notes and progress while a report is being opened.
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
            // Failing to show progress must not stop the work.
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
