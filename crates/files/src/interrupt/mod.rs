//! Ctrl-C and the signals that ask a program to end: SIGTERM, SIGHUP. All programs that write files end alike.
//!
//! The first one asks the work to stop. Then the program prints one sentence, removes unfinished files, and exits
//! with code 130; a little later at the latest, or at the second one.

mod deadline;

pub use deadline::{arm, disarm, pause};

use crate::whole_file::{remove_leftovers, remove_work_folders};
use nsq_value::cancel::Cancel;
use nsq_value::error::Error;
use std::sync::LazyLock;
use std::time::Duration;

/// All work of this program. Signals cancel it.
pub fn interrupt() -> &'static Cancel {
    static INTERRUPT: LazyLock<Cancel> = LazyLock::new(Cancel::default);
    &INTERRUPT
}

/// Handles the signals from now on, and removes what earlier programs left that were killed.
///
/// `complain` prints an error that ends the program, and returns its exit code. Cancelled work has `grace` to stop.
pub fn handle_signals(complain: fn(&Error) -> u8, grace: Duration) {
    deadline::configure(complain, grace);
    // Without our handler, the system's default still ends the program.
    keeping_ignored(|| _ = ctrlc::set_handler(stop));
    remove_leftovers();
}

/// Calls `install`, and goes on to ignore the signals that were ignored before: `nohup` does so with a hangup, and a shell with
/// Ctrl-C for a command in the background.
#[cfg(unix)]
#[allow(unsafe_code)]
fn keeping_ignored(install: impl FnOnce()) {
    use std::ffi::c_int;
    unsafe extern "C" {
        safe fn signal(number: c_int, handler: usize) -> usize;
    }
    // From signal.h: what to do instead of a handler, and SIGHUP, SIGINT, SIGTERM.
    const IGNORE: usize = 1;
    const SIGNALS: [c_int; 3] = [1, 2, 15];
    let before = SIGNALS.map(|number| signal(number, IGNORE));
    SIGNALS.into_iter().zip(before).for_each(|(number, handler)| _ = signal(number, handler));
    install();
    let ignored = SIGNALS.into_iter().zip(before).filter(|(_, handler)| *handler == IGNORE);
    ignored.for_each(|(number, _)| _ = signal(number, IGNORE));
}

#[cfg(not(unix))]
fn keeping_ignored(install: impl FnOnce()) {
    install();
}

fn stop() {
    if interrupt().is_cancelled() {
        remove_work_folders();
        std::process::exit(i32::from(Error::Interrupted.exit_code()));
    }
    interrupt().cancel();
    deadline::arm_interrupt();
}
