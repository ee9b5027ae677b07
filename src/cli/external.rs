//! `nsq NAME`: runs the program `nsq-NAME` for a verb that nsq itself lacks, as git does. `nsq export --perfetto`
//! runs `nsq-perfetto`. Programs that are built into this one need no file.

use super::first_word::neither;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use nsq_files::whole_file::has_standard_output;
use nsq_value::error::{Error, Result};
use std::env::{consts::EXE_SUFFIX, current_exe, split_paths, var_os};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

/// A program that is built into this one: the part of its name after `nsq-`, and its `main`, whose first argument is
/// its name.
pub type BuiltIn = (&'static str, fn(Vec<OsString>) -> ExitCode);

static BUILT_IN: OnceLock<&'static [BuiltIn]> = OnceLock::new();

/// Sets the programs that this one contains, once, before [`super::main`].
pub fn build_in(programs: &'static [BuiltIn]) {
    // A second call changes nothing.
    let _ = BUILT_IN.set(programs);
}

/// What runs for a verb that nsq itself lacks.
enum Program {
    BuiltIn(BuiltIn),
    File(PathBuf),
}

impl Program {
    /// The program `nsq-NAME`: in this one, next to it, otherwise on `PATH`.
    fn find(name: &str) -> Option<Self> {
        let built_in = BUILT_IN.get().copied().unwrap_or_default();
        match built_in.iter().find(|(own, _)| *own == name) {
            Some(own) => Some(Self::BuiltIn(*own)),
            None => find(name).map(Self::File),
        }
    }

    fn run(self, arguments: &[OsString]) -> Result<ExitCode> {
        match self {
            Self::File(file) => execute(&file, arguments).map_err(|e| Error::io(&file, e)),
            Self::BuiltIn((name, main)) => {
                let own = OsString::from(format!("nsq-{name}"));
                Ok(main(std::iter::once(own).chain(arguments.iter().cloned()).collect()))
            }
        }
    }
}

/// Runs `nsq-NAME` with the arguments after the verb, if the command line failed for its verb and there is this
/// program. Otherwise prints nothing and returns why, if the verb is the problem.
pub(super) fn run(
    error: &clap::Error,
    arguments: &[OsString],
    verbs: fn() -> clap::Command,
) -> std::result::Result<ExitCode, Option<Error>> {
    let Some(name) = unknown_verb(error, arguments) else { return Err(None) };
    let Some(program) = Program::find(name) else {
        return Err(Some(match OF_NSQ.contains(&name) {
            true => Error::usage(
                format!(
                    "`nsq {name}` needs the program nsq-{name}, which is not next to nsq or on PATH"
                ),
                "install nsq with all its parts: cargo install --locked --path complete, in its source"
                    .to_owned(),
            ),
            false => neither(name, &verbs(), arguments),
        }));
    };
    // The verb is the first argument, or the second of `nsq help NAME`.
    let passed = match arguments.get(1).is_some_and(|first| first == "help") {
        true => vec![OsString::from("--help")],
        false => arguments.get(2..).unwrap_or_default().to_vec(),
    };
    program.run(&passed).map_err(Some)
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
    let Some(program) = Program::find("perfetto") else {
        return Some(Err(Error::usage(
            "no program nsq-perfetto next to nsq or on PATH",
            "install nsq with all its parts: cargo install --locked --path complete, in its source",
        )));
    };
    let passed: Vec<OsString> =
        arguments.iter().skip(2).filter(|one| *one != PERFETTO).cloned().collect();
    Some(program.run(&passed))
}

/// Runs `nsq-view`, which shows a timeline in the terminal. `None`: there is no such program, and text is printed.
pub(super) fn view(arguments: &[OsString]) -> Option<Result<ExitCode>> {
    Some(Program::find("view")?.run(arguments.get(2..).unwrap_or_default()))
}

/// Runs `nsq-arrow`, which is nsq with an encoder for Parquet and Arrow, with the same arguments.
pub(super) fn hand_to_arrow(arguments: &[OsString]) -> Result<ExitCode> {
    let program = Program::find("arrow").ok_or_else(|| {
        Error::usage(
            "Parquet and Arrow need the program nsq-arrow, which is not next to nsq or on PATH",
            "install nsq with all its parts: cargo install --locked --path complete, in its source; or write csv \
             or ndjson",
        )
    })?;
    let rest = arguments.get(1..).unwrap_or_default();
    program.run(rest)
}

/// The verb, if it is unknown.
fn unknown_verb<'e>(error: &'e clap::Error, arguments: &[OsString]) -> Option<&'e str> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_first = arguments
        .iter()
        .skip(1)
        .take(2)
        .find(|word| *word != "help")
        .is_some_and(|word| word == name.as_str());
    (error.kind() == ErrorKind::InvalidSubcommand && is_first).then_some(name)
}

/// The file of the program `nsq-NAME`: next to nsq, otherwise on `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    if !is_plain(name) {
        return None;
    }
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
    OF_NSQ.contains(&name) || find(name).is_some()
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
