//! Where a report goes: the console, a file or a process.

use crate::cli::output;
use nsq_engine::compile::Invocation;
use nsq_render::render::{self, nsys::NsysFormat};
use nsq_value::error::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    Console,
    File(PathBuf),
    Process(String),
}

impl Destination {
    /// `-`, `@COMMAND`, or the base name of a file, which `.` derives from the input.
    pub(super) fn new(output: &str, input: &Path, invocation: &Invocation, format: NsysFormat) -> Self {
        match (output, output.strip_prefix('@')) {
            ("-", _) => Self::Console,
            (_, Some(command)) => Self::Process(command.to_owned()),
            (".", _) => Self::File(file_name(input.with_extension(""), invocation, format)),
            (base, _) => Self::File(file_name(PathBuf::from(base), invocation, format)),
        }
    }

    /// Writes a report. A file appears when it is complete.
    pub(super) fn write(&self, produce: impl FnOnce(&mut render::Output) -> Result<()>) -> Result<()> {
        match self {
            Self::Console => output::write_to(None, produce),
            Self::File(path) => output::write_to(Some(path), produce),
            Self::Process(command) => pipe(command, produce),
        }
    }
}

/// As nsys says it in the line about a report.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Console => Ok(()),
            Self::File(path) => write!(f, " to [{}]", path.display()),
            Self::Process(command) => write!(f, " to process [@{command}]"),
        }
    }
}

/// The output file, named as nsys names it: `BASE_report_arg.ext`.
fn file_name(base: PathBuf, invocation: &Invocation, format: NsysFormat) -> PathBuf {
    let name: Vec<&str> = std::iter::once(invocation.query.as_str())
        .chain(invocation.args.iter().map(String::as_str))
        .collect();
    let mut file = base.into_os_string();
    // A range's name may hold a slash, which would name a folder.
    file.push(format!("_{}.{}", name.join("_").replace('/', "_"), format.extension()));
    PathBuf::from(file)
}

/// Runs a command with the report as its standard input. Like nsys, splits the command at spaces.
fn pipe(command: &str, produce: impl FnOnce(&mut render::Output) -> Result<()>) -> Result<()> {
    let mut words = command.split_whitespace();
    let program =
        words.next().ok_or_else(|| Error::usage("no command after `@`", "write -o '@grep cudaFree'"))?;
    let failed = |e| Error::io(Path::new(program), e);
    let mut child = Command::new(program).args(words).stdin(Stdio::piped()).spawn().map_err(failed)?;
    let produced = child.stdin.take().map_or(Ok(()), |mut input| produce(&mut input));
    let status = child.wait().map_err(failed)?;
    match produced {
        // A command such as `head` may stop reading early.
        Err(Error::Output(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    if status.success() {
        return Ok(());
    }
    Err(failed(std::io::Error::other(format!("the command ended with {status}"))))
}
