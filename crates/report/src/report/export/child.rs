//! A child process whose output is captured, and which ends with nsq.

use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A process that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) out: Vec<u8>,
    err: Vec<u8>,
}

impl Ended {
    /// Its last messages, without progress lines: from standard error, or else from standard output.
    pub(super) fn messages(&self) -> String {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let lines = text.split(['\r', '\n']).map(str::trim_end);
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !is_progress(line)).collect();
            // If nsys prints a summary, the exceptions before it add nothing.
            let summary = lines.iter().rposition(|line| line.starts_with("Exportation error"));
            let from = summary.unwrap_or(0).max(lines.len().saturating_sub(LINES));
            lines[from..].join("\n")
        };
        let err = text(&self.err);
        if err.is_empty() { text(&self.out) } else { err }
    }
}

/// Maximum lines of its messages. The last lines say why it ended.
const LINES: usize = 12;
/// Maximum bytes of its output to keep.
const TAIL: usize = 16 * 1024;
/// Pause between two checks of a process.
const PAUSE: Duration = Duration::from_millis(10);
/// Interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// Time to wait for the rest of the output of a process that has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Runs a command to its end. When it is cancelled or after `limit`, stops it and all processes that it started.
///
/// The inner error means that the command could not be started.
pub(super) fn run(
    mut command: Command,
    limit: Option<Duration>,
    cancel: &Cancel,
    progress: &dyn Fn(),
) -> Result<io::Result<Ended>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // In its own group, Ctrl-C reaches only nsq, and nsq can stop the whole group.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => Group { child, has_ended: false },
        Err(e) => return Ok(Err(e)),
    };
    let out = Tail::of(child.child.stdout.take());
    let err = Tail::of(child.child.stderr.take());
    let (begin, mut reported) = (Instant::now(), Instant::now());
    let failed = |e| Error::io(std::path::Path::new(command.get_program()), e);
    while !child.is_over().map_err(failed)? {
        cancel.check()?;
        if limit.is_some_and(|limit| begin.elapsed() > limit) {
            break;
        }
        if reported.elapsed() > PROGRESS_EVERY {
            reported = Instant::now();
            progress();
        }
        std::thread::sleep(PAUSE);
    }
    let status = child.end().map_err(failed)?;
    let deadline = Instant::now() + LAST_OUTPUT;
    Ok(Ok(Ended { status, out: out.finish(deadline), err: err.finish(deadline) }))
}

/// A process and all processes that it starts. They are killed when the value is dropped.
struct Group {
    child: Child,
    has_ended: bool,
}

impl Group {
    /// Whether the process itself has ended. It is not reaped here, so that its id is not reused yet.
    fn is_over(&mut self) -> io::Result<bool> {
        #[cfg(unix)]
        {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let pid = rustix::process::Pid::from_child(&self.child);
            Ok(waitid(WaitId::Pid(pid), options)?.is_some())
        }
        #[cfg(not(unix))]
        Ok(self.child.try_wait()?.is_some())
    }

    /// Kills the rest of the group and reaps the process.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.has_ended = true;
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            // An error only means that no process is left.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        #[cfg(not(unix))]
        let _ = self.child.kill();
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = self.end();
        }
    }
}

/// The end of a process's output. It is read all the time, so that the process never waits on a full
/// pipe.
struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Tail {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = pipe.map(|mut pipe| {
            let kept = bytes.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&buffer[..read]);
                    let excess = kept.len().saturating_sub(TAIL);
                    kept.drain(..excess);
                }
            })
        });
        Self { bytes, reader }
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the output at its end, or at `deadline` if another process still holds the pipe.
    fn finish(self, deadline: Instant) -> Vec<u8> {
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.bytes()
    }
}

/// Whether a line is a progress bar such as `Processing 600 events: [=====43%     ]`.
fn is_progress(line: &str) -> bool {
    line.ends_with(']') && line.contains('[') && line.contains('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_bars_are_recognized() {
        assert!(is_progress("Processing 9 events: [=43%  ]") && !is_progress("43% of it is lost"));
    }
}
