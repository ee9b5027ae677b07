//! Starting a process that ends with nsq, also when nsq is killed.
//!
//! Only a process itself can ask the system for that, before it becomes another program. So nsq
//! starts itself, asks, and becomes that program.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The first argument of an nsq that is to become another program.
const WORD: &str = "--end-with-parent";
/// How an nsq ends that could not become the other program, as in shells.
const NOT_STARTED: i32 = 127;
/// What it says then, before the reason.
const SAID: &str = "nsq: cannot start: ";

/// A command for `program`, which ends with this process where nsq can be started again by `launcher`.
pub(super) fn command(launcher: Option<&Path>, program: &Path) -> Command {
    match launcher {
        Some(launcher) => {
            let mut command = Command::new(launcher);
            command.arg(WORD).arg(std::process::id().to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// The reason why the other program could not be started, in the last words of a process.
pub(super) fn not_started(code: Option<i32>, said: &str) -> Option<String> {
    said.strip_prefix(SAID).filter(|_| code == Some(NOT_STARTED)).map(str::to_owned)
}

/// Becomes another program if `arguments` say so; returns only if they do not, or if it cannot, and
/// then with the exit code.
pub fn run_as_launcher(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let (parent, program) = (arguments.next()?, arguments.next()?);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        use std::os::unix::process::CommandExt;
        let asked = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have been killed before the system was asked.
        let has_parent = getppid().is_some_and(|pid| *parent == *pid.as_raw_nonzero().to_string());
        if asked.is_ok() && has_parent {
            let error = Command::new(program).args(arguments).exec();
            eprintln!("{SAID}{error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (parent, program);
    u8::try_from(NOT_STARTED).ok()
}
