//! `nsq NAME`: runs the program `nsq-NAME` for a verb that nsq itself lacks, as git does. `nsq export --perfetto`
//! runs `nsq-perfetto`.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use nsq_files::whole_file::has_standard_output;
use nsq_value::error::{Error, Result};
use std::env::{consts::EXE_SUFFIX, current_exe, split_paths, var_os};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs `nsq-NAME` with the arguments after the verb, if the command line failed for its verb and there is
/// this program. Otherwise prints nothing and returns the message that says where it was looked for, if the
/// verb is the problem.
pub(super) fn run(
    error: &clap::Error,
    arguments: &[OsString],
) -> std::result::Result<ExitCode, Option<String>> {
    let Some(name) = unknown_verb(error) else { return Err(None) };
    let Some(program) = find(name) else {
        return Err(Some(format!(
            "no program nsq-{name} beside nsq or on PATH either; `nsq help` lists the verbs"
        )));
    };
    // The verb is the first argument, or the second of `nsq help NAME`.
    let passed = match arguments.get(1).is_some_and(|first| first == "help") {
        true => vec![OsString::from("--help")],
        false => arguments.get(2..).unwrap_or_default().to_vec(),
    };
    Err(Some(match execute(&program, &passed) {
        Ok(code) => return Ok(code),
        Err(e) => format!("cannot run {}: {e}", program.display()),
    }))
}

/// The option of `nsq export` that another program serves, with all other arguments.
const PERFETTO: &str = "--perfetto";

/// Runs `nsq-perfetto` for `nsq export --perfetto …`. `None`: the command line does not ask for it.
pub(super) fn run_export(arguments: &[OsString]) -> Option<Result<ExitCode>> {
    let mut options = arguments.iter().skip(2).take_while(|argument| *argument != "--");
    let is_export = arguments.get(1).is_some_and(|verb| verb == "export");
    if !is_export || !options.any(|option| option == PERFETTO) {
        return None;
    }
    let Some(program) = find("perfetto") else {
        return Some(Err(Error::usage(
            "no program nsq-perfetto beside nsq or on PATH",
            "it is built with `cargo build --release -p nsq-perfetto`",
        )));
    };
    let passed: Vec<OsString> =
        arguments.iter().skip(2).filter(|one| *one != PERFETTO).cloned().collect();
    Some(execute(&program, &passed).map_err(|source| Error::Io { path: program, source }))
}

/// Runs `nsq-arrow`, which is nsq with an encoder for Parquet and Arrow, with the same arguments.
pub(super) fn hand_to_arrow(arguments: &[OsString]) -> Result<ExitCode> {
    let program = find("arrow").ok_or_else(|| {
        Error::usage(
            "Parquet and Arrow need the program nsq-arrow, which is not beside nsq or on PATH",
            "install it: cargo install --path arrow, in the source of nsq; or write csv or ndjson",
        )
    })?;
    let rest = arguments.get(1..).unwrap_or_default();
    execute(&program, rest).map_err(|e| Error::io(&program, e))
}

/// The verb, if it is unknown and can be a part of the name of a program.
fn unknown_verb(error: &clap::Error) -> Option<&str> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    (error.kind() == ErrorKind::InvalidSubcommand && is_plain(name)).then_some(name)
}

/// The program `nsq-NAME`: beside nsq, else on `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let file = format!("nsq-{name}{EXE_SUFFIX}");
    let beside = current_exe().ok().and_then(|nsq| nsq.parent().map(Path::to_owned));
    let path = var_os("PATH").unwrap_or_default();
    // A relative folder would run whatever the current folder holds, such as a folder of reports.
    let folders = beside.into_iter().chain(split_paths(&path).filter(|folder| folder.is_absolute()));
    folders.map(|folder| folder.join(&file)).find(|program| is_executable(program))
}

/// Programs of nsq itself. Their names are verbs, also where they are not installed.
const OF_NSQ: [&str; 4] = ["arrow", "fleet", "mcp", "perfetto"];

/// Whether a name stands for the program `nsq-NAME`.
pub(super) fn names_program(name: &str) -> bool {
    OF_NSQ.contains(&name) || is_plain(name) && find(name).is_some()
}

/// Whether a verb can be a part of the name of a program.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

fn is_executable(program: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        program.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    program.is_file()
}

/// The program takes the place of nsq, so its exit code, its signals and its terminal are those of nsq.
#[cfg(unix)]
fn execute(program: &Path, arguments: &[OsString]) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    if !has_standard_output() {
        // By now it is a `/dev/null` that takes everything. This one takes nothing.
        command.stdout(File::open("/dev/null")?);
    }
    Err(command.args(arguments).exec())
}

#[cfg(not(unix))]
fn execute(program: &Path, arguments: &[OsString]) -> std::io::Result<ExitCode> {
    let status = Command::new(program).args(arguments).status()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
