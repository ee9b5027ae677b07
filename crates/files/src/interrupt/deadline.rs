//! A watchdog that ends the program when a statement ignores the deadline or Ctrl-C.
//!
//! SQLite checks the deadline and Ctrl-C only between two steps. One step can take long: a GLOB over
//! megabytes runs inside a single function call. So a watchdog thread waits a little longer than the
//! deadline, prints the same error, removes unfinished files as a second Ctrl-C does, and exits.
//!
//! Statements that do check stop by themselves: see `Limits` of the engine.

use crate::whole_file::remove_work_folders;
use nsq_value::error::Error;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time that the work has to stop by itself after its deadline.
const GRACE: Duration = Duration::from_secs(1);

/// How a program ends that has not said how.
fn say_nothing(error: &Error) -> u8 {
    error.exit_code()
}

static WATCH: Mutex<Watch> = Mutex::new(Watch {
    complain: say_nothing,
    grace: GRACE,
    last: None,
    pauses: 0,
    paused_at: None,
    interrupted_at: None,
    has_thread: false,
    is_disarmed: false,
});
static CHANGED: Condvar = Condvar::new();

/// The state that the watchdog thread reads.
#[derive(Debug)]
struct Watch {
    /// Prints the error that ends the program, and returns its exit code.
    complain: fn(&Error) -> u8,
    /// Time that the work has to stop by itself after a signal.
    grace: Duration,
    /// The latest deadline, and the timeout that led to it.
    last: Option<(Instant, Duration)>,
    /// Number of pauses in progress, and when the first began.
    pauses: usize,
    paused_at: Option<Instant>,
    /// When Ctrl-C was pressed.
    interrupted_at: Option<Instant>,
    /// Whether the watchdog thread runs.
    has_thread: bool,
    /// The program is about to exit by itself.
    is_disarmed: bool,
}

/// Sets how the program ends.
pub(super) fn configure(complain: fn(&Error) -> u8, grace: Duration) {
    let mut watch = lock();
    (watch.complain, watch.grace) = (complain, grace);
}

/// Sets the watchdog to a deadline, and the timeout that led to it.
pub fn arm(deadline: (Instant, Duration)) {
    change(|watch| watch.last = watch.last.max(Some(deadline)));
}

/// Sets the watchdog to end the program soon: Ctrl-C was pressed.
pub(super) fn arm_interrupt() {
    change(|watch| watch.interrupted_at = Some(Instant::now()));
}

/// Stops the watchdog: the program is about to exit by itself.
pub fn disarm() {
    lock().is_disarmed = true;
}

/// Runs `work` and moves the deadline back by the time it took.
pub fn pause<T>(work: impl FnOnce() -> T) -> T {
    lock().pause();
    let done = work();
    lock().resume();
    CHANGED.notify_all();
    done
}

impl Watch {
    fn pause(&mut self) {
        self.pauses += 1;
        self.paused_at.get_or_insert_with(Instant::now);
    }

    fn resume(&mut self) {
        self.pauses = self.pauses.saturating_sub(1);
        if self.pauses == 0
            && let Some(since) = self.paused_at.take()
            && let Some((deadline, _)) = &mut self.last
        {
            *deadline += since.elapsed();
        }
    }

    /// When the watchdog ends the program, and with which error.
    fn end(&self) -> Option<(Instant, Error)> {
        let deadline = self.last.filter(|_| self.pauses == 0);
        match (self.interrupted_at, deadline) {
            (Some(pressed), _) => Some((pressed + self.grace, Error::Interrupted)),
            (None, Some((deadline, allowed))) => Some((deadline + GRACE, Error::timed_out(allowed))),
            (None, None) => None,
        }
    }
}

fn lock() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change(change: impl FnOnce(&mut Watch)) {
    let mut watch = lock();
    change(&mut watch);
    if !watch.has_thread {
        // If no thread can be started, a second Ctrl-C still ends the program.
        let thread = std::thread::Builder::new().name("deadline".to_owned()).spawn(wait);
        watch.has_thread = thread.is_ok();
    }
    CHANGED.notify_all();
}

fn wait() {
    let mut watch = lock();
    while !watch.is_disarmed {
        watch = match watch.end() {
            None => CHANGED.wait(watch).unwrap_or_else(PoisonError::into_inner),
            Some((end, error)) => match end.saturating_duration_since(Instant::now()) {
                // The lock stays held, so that `disarm` blocks and the main thread prints nothing more.
                Duration::ZERO => {
                    exit_if_blocked(error.exit_code());
                    exit((watch.complain)(&error));
                }
                left => CHANGED.wait_timeout(watch, left).unwrap_or_else(PoisonError::into_inner).0,
            },
        };
    }
}

fn exit(code: u8) -> ! {
    remove_work_folders();
    std::process::exit(i32::from(code))
}

/// Ends the program a little later, even if printing the error blocks on standard error.
fn exit_if_blocked(code: u8) {
    // If no thread can be started, the program waits for a reader.
    let _ = std::thread::Builder::new().name("exit".to_owned()).spawn(move || {
        std::thread::sleep(GRACE);
        exit(code)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        let last = Some((Instant::now(), Duration::from_secs(3)));
        Watch {
            complain: say_nothing,
            grace: GRACE,
            last,
            pauses: 0,
            paused_at: None,
            interrupted_at: None,
            has_thread: false,
            is_disarmed: false,
        }
    }

    #[test]
    fn the_deadline_waits_while_any_pause_lasts() {
        let mut watch = watch();
        let (end, error) = watch.end().unwrap();
        assert!(error.to_string().contains("longer than 3 s") && error.help().is_some(), "{error}");
        watch.pause();
        watch.pause();
        std::thread::sleep(Duration::from_millis(20));
        watch.resume();
        assert!(watch.end().is_none());
        watch.resume();
        assert!(watch.end().unwrap().0 >= end + Duration::from_millis(20));
        // A pause does not delay Ctrl-C.
        watch.pause();
        watch.interrupted_at = Some(end - GRACE);
        assert!(matches!(watch.end(), Some((_, Error::Interrupted))));
    }
}
