//! The end of a program that does not react.
//!
//! The deadline and Ctrl-C are looked at between two steps of SQLite, and within a function, such as a GLOB
//! over megabytes, SQLite takes none. So a thread waits a little longer, says what would have been said, and
//! ends the program: what is being written is removed, as it is by a second Ctrl-C.
//!
//! Not for: stopping what reacts (see `execute::Limits` and `interrupt`).

use super::complain;
use crate::error::Error;
use crate::execute::Limits;
use crate::report::remove_work_folders;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long what was asked to stop may take to do so.
const GRACE: Duration = Duration::from_secs(1);

static WATCH: Mutex<Watch> = Mutex::new(Watch {
    last: None,
    pauses: 0,
    paused_at: None,
    interrupted_at: None,
    is_watched: false,
    is_over: false,
});
static CHANGED: Condvar = Condvar::new();

/// What the thread goes by.
#[derive(Debug)]
struct Watch {
    /// The latest deadline that was set, and the time that was allowed until then.
    last: Option<(Instant, Duration)>,
    /// For how many the time stands still, and since when.
    pauses: usize,
    paused_at: Option<Instant>,
    /// When Ctrl-C was pressed.
    interrupted_at: Option<Instant>,
    /// There is a thread.
    is_watched: bool,
    /// The program ends by itself.
    is_over: bool,
}

/// Ends the program soon after the deadline of `limits`, where it has not ended by then.
pub(super) fn keep(limits: &Limits) {
    if let Some(deadline) = limits.deadline {
        change(|watch| watch.last = watch.last.max(Some(deadline)));
    }
}

/// Ends the program soon, where it does not end by itself: Ctrl-C was pressed.
pub(super) fn keep_interrupted() {
    change(|watch| watch.interrupted_at = Some(Instant::now()));
}

/// Ends nothing any more: the program is about to.
pub(super) fn call_off() {
    held().is_over = true;
}

/// Does `work` while no time passes on the way to the deadline.
pub(super) fn pause<T>(work: impl FnOnce() -> T) -> T {
    held().pause();
    let done = work();
    held().go_on();
    CHANGED.notify_all();
    done
}

impl Watch {
    fn pause(&mut self) {
        self.pauses += 1;
        self.paused_at.get_or_insert_with(Instant::now);
    }

    fn go_on(&mut self) {
        self.pauses = self.pauses.saturating_sub(1);
        if self.pauses == 0
            && let Some(since) = self.paused_at.take()
            && let Some((deadline, _)) = &mut self.last
        {
            *deadline += since.elapsed();
        }
    }

    /// When the program is to end, and the error that it ends with.
    fn end(&self) -> Option<(Instant, Error)> {
        let deadline = self.last.filter(|_| self.pauses == 0);
        match (self.interrupted_at, deadline) {
            (Some(pressed), _) => Some((pressed + GRACE, Error::Interrupted)),
            (None, Some((deadline, allowed))) => Some((deadline + GRACE, Limits::passed(allowed))),
            (None, None) => None,
        }
    }
}

fn held() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change(change: impl FnOnce(&mut Watch)) {
    let mut watch = held();
    change(&mut watch);
    if !watch.is_watched {
        // Without a thread all is as it was: a second Ctrl-C ends the program.
        let thread = std::thread::Builder::new().name("deadline".to_owned()).spawn(wait);
        watch.is_watched = thread.is_ok();
    }
    CHANGED.notify_all();
}

fn wait() {
    let mut watch = held();
    while !watch.is_over {
        watch = match watch.end() {
            None => CHANGED.wait(watch).unwrap_or_else(PoisonError::into_inner),
            Some((end, error)) => match end.saturating_duration_since(Instant::now()) {
                // The lock is kept: nothing else is said from here on.
                Duration::ZERO => {
                    leave_unheard(error.exit_code());
                    leave(complain(&error));
                }
                left => CHANGED.wait_timeout(watch, left).unwrap_or_else(PoisonError::into_inner).0,
            },
        };
    }
}

fn leave(code: u8) -> ! {
    remove_work_folders();
    std::process::exit(i32::from(code))
}

/// Ends the program a little later, also where what is said cannot be: nobody may read standard error.
fn leave_unheard(code: u8) {
    // Without a thread it waits for whoever reads it.
    let _ = std::thread::Builder::new().name("unheard".to_owned()).spawn(move || {
        std::thread::sleep(GRACE);
        leave(code)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        let last = Some((Instant::now(), Duration::from_secs(3)));
        let (paused_at, interrupted_at) = (None, None);
        Watch { last, pauses: 0, paused_at, interrupted_at, is_watched: false, is_over: false }
    }

    #[test]
    fn the_time_stands_still_while_any_pause_lasts() {
        let mut watch = watch();
        let (end, error) = watch.end().unwrap();
        assert!(error.to_string().contains("longer than 3 s") && error.help().is_some(), "{error}");
        watch.pause();
        watch.pause();
        std::thread::sleep(Duration::from_millis(20));
        watch.go_on();
        assert!(watch.end().is_none());
        watch.go_on();
        assert!(watch.end().unwrap().0 >= end + Duration::from_millis(20));
        // Ctrl-C waits for nothing.
        watch.pause();
        watch.interrupted_at = Some(end - GRACE);
        assert!(matches!(watch.end(), Some((_, Error::Interrupted))));
    }
}
