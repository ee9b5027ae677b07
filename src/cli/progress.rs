//! Progress of slow steps: a bar or a spinner on the terminal, removed at the end.

use indicatif::{ProgressBar, ProgressStyle};
use nsq_engine::execute::Work;
use nsq_render::render::visible;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that ends within this time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two changes on the screen.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows how far a step is while a report is being opened.
pub(super) fn show_step(step: &str, done: u64, total: Option<u64>) {
    STATE.lock_bar().show(&visible(step), done, total, true);
}

/// Shows how far statements are, once they have taken a second.
pub(super) fn show_work(work: &Work) {
    if HAS_OUTPUT.load(Ordering::Relaxed) || !*IS_TERMINAL {
        return;
    }
    let mut bar = STATE.lock_bar();
    match work.share() {
        Some((done, total)) => bar.show("reading", done, Some(total), false),
        None => bar.show("computing", 0, None, false),
    }
}

/// Shows how many of many reports are done.
pub(super) fn show_reports(done: u64, total: u64) {
    if !HAS_OUTPUT.load(Ordering::Relaxed) {
        STATE.lock_bar().show(&format!("{done} of {total} reports"), done, Some(total), false);
    }
}

/// Removes the progress from the terminal.
pub(super) fn clear() {
    STATE.lock_bar().clear();
}

/// A writer that removes the progress before the first output, and shows none from then on.
pub(super) struct Unobstructed<W>(pub(super) W);

impl<W: Write> Write for Unobstructed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !HAS_OUTPUT.swap(true, Ordering::Relaxed) {
            clear();
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Removes the progress of work that ends or fails.
pub(super) fn end() {
    HAS_OUTPUT.store(true, Ordering::Relaxed);
    clear();
}

static HAS_OUTPUT: AtomicBool = AtomicBool::new(false);
static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());
static STATE: State = State(Mutex::new(None));

/// The progress on the screen.
struct State(Mutex<Option<Bar>>);

struct Bar {
    begin: Instant,
    drawn: Option<Instant>,
    bar: Option<ProgressBar>,
    has_total: bool,
    step: String,
}

impl State {
    fn lock_bar(&self) -> Locked<'_> {
        Locked(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Locked<'a>(MutexGuard<'a, Option<Bar>>);

impl Locked<'_> {
    fn clear(&mut self) {
        if let Some(bar) = self.0.take().and_then(|bar| bar.bar) {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, step: &str, done: u64, total: Option<u64>, is_bytes: bool) {
        if !*IS_TERMINAL {
            return;
        }
        let now = Instant::now();
        let state = self.0.get_or_insert_with(|| Bar {
            begin: now,
            drawn: None,
            bar: None,
            has_total: false,
            step: String::new(),
        });
        let is_due = state.drawn.is_none_or(|drawn| now - drawn >= PAUSE);
        if now - state.begin < PATIENCE || !is_due {
            return;
        }
        state.drawn = Some(now);
        if state.bar.is_none() || state.step != step || state.has_total != total.is_some() {
            if let Some(old) = state.bar.take() {
                old.finish_and_clear();
            }
            let template = match (total, is_bytes) {
                (Some(_), true) => "{msg} [{bar:30}] {bytes} of {total_bytes}, {eta} left",
                (Some(_), false) => "{msg} [{bar:30}] {percent} %, {eta} left",
                (None, true) => "{spinner} {msg} {bytes} written, {elapsed}",
                (None, false) => "{spinner} {msg} {elapsed}",
            };
            // The templates are constants, and a faulty template must not stop the work.
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = match total {
                Some(total) => ProgressBar::new(total),
                None => ProgressBar::new_spinner(),
            };
            let bar = bar.with_style(style.progress_chars("=> ")).with_elapsed(now - state.begin);
            state.bar = Some(bar.with_message(step.to_owned()));
            (state.has_total, state.step) = (total.is_some(), step.to_owned());
        }
        if let Some(bar) = &state.bar {
            bar.set_length(total.unwrap_or(0).max(1));
            bar.set_position(done);
            bar.tick();
        }
    }
}
