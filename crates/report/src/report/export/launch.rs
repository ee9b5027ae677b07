//! Starts a process that ends with nsq, even if nsq is killed.
//!
//! Only the process itself can ask the system for that, before it executes the program. So nsq starts
//! itself as a launcher, which asks and then executes the program in its place.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The first argument of the launcher.
const LAUNCHER_FLAG: &str = "--end-with-parent";
/// The launcher's exit code if it could not execute the program, as in shells.
const NOT_STARTED: i32 = 127;
/// The launcher's message in that case, before the reason.
const MESSAGE: &str = "nsq: cannot start: ";

/// A command for `program`. With a `launcher`, it ends with this process.
pub(super) fn command(launcher: Option<&Path>, program: &Path) -> Command {
    match launcher {
        Some(launcher) => {
            let mut command = Command::new(launcher);
            command.arg(LAUNCHER_FLAG).arg(std::process::id().to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// The reason why the launcher could not start the program, if its exit code and messages say so.
pub(super) fn not_started(code: Option<i32>, messages: &str) -> Option<String> {
    messages.strip_prefix(MESSAGE).filter(|_| code == Some(NOT_STARTED)).map(str::to_owned)
}

/// Executes the program in `arguments` in place of this process, if they start with the launcher's flag.
///
/// Returns `None` without the flag, and the exit code if the program cannot be started.
pub fn run_as_launcher(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != LAUNCHER_FLAG {
        return None;
    }
    let (parent, program) = (arguments.next()?, arguments.next()?);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        use std::os::unix::process::CommandExt;
        let asked = set_parent_process_death_signal(Some(Signal::KILL));
        // The parent may have been killed before the request.
        let has_parent = getppid().is_some_and(|pid| *parent == *pid.as_raw_nonzero().to_string());
        if asked.is_ok() && has_parent {
            let error = Command::new(program).args(arguments).exec();
            eprintln!("{MESSAGE}{error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (parent, program);
    u8::try_from(NOT_STARTED).ok()
}
