//! Ctrl-C and the signals that ask a program to end: SIGTERM, SIGHUP. All programs that write files end alike.
//!
//! The first one asks the work to stop. Then the program prints one sentence, removes unfinished files, and exits
//! with code 130; a little later at the latest, or at the second one.

mod deadline;

pub use deadline::{arm, disarm, pause};

use crate::cancel::Cancel;
use crate::error::Error;
use crate::whole_file::{remove_leftovers, remove_work_folders};
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
    let _ = ctrlc::set_handler(stop);
    remove_leftovers();
}

fn stop() {
    if interrupt().is_cancelled() {
        remove_work_folders();
        std::process::exit(i32::from(Error::Interrupted.exit_code()));
    }
    interrupt().cancel();
    deadline::arm_interrupt();
}
