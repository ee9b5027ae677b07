//! Notes and progress while a report is being opened.

/// A message for the user before the answer is ready.
#[derive(Debug, Clone, Copy)]
pub enum Notice<'a> {
    /// A line that stays on the screen.
    Note(&'a str),
    /// How far a step is, in bytes. Replaces the progress that was shown before.
    Progress {
        /// What is done: `importing trace.json`.
        step: &'a str,
        /// Bytes done.
        done: u64,
        /// Bytes in all; `None` if unknown.
        total: Option<u64>,
    },
    /// The step is over: remove its progress.
    Done,
}

/// The function that shows notices. By default there is none, and notices are dropped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listener(pub Option<fn(Notice<'_>)>);

impl Listener {
    /// Tells the user.
    pub fn notify(self, notice: Notice<'_>) {
        if let Some(listener) = self.0 {
            listener(notice);
        }
    }

    /// Tells the user this text.
    pub fn note(self, text: &str) {
        self.notify(Notice::Note(text));
    }
}
