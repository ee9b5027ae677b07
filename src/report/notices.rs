//! What is said while a report is being opened, to whoever shows it.

/// Something to say before there is an answer.
#[derive(Debug, Clone, Copy)]
pub enum Notice<'a> {
    /// Worth a line that stays.
    Note(&'a str),
    /// What is being done, and how far it is; takes the place of the last one.
    Progress(&'a str),
    /// What was being done is over: nothing needs to show it any more.
    Done,
}

/// Who is told; nobody, unless it is said.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listener(pub Option<fn(Notice<'_>)>);

impl Listener {
    pub(crate) fn notify(self, notice: Notice<'_>) {
        if let Some(listener) = self.0 {
            listener(notice);
        }
    }

    pub(crate) fn note(self, text: &str) {
        self.notify(Notice::Note(text));
    }
}
