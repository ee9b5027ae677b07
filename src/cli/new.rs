//! `nsq new`: writes the skeleton of a query.

use super::output::write_to;
use nsq_library::catalog::query_skeleton;
use nsq_render::render::visible;
use nsq_value::error::{Error, Result};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Write the skeleton of a query of your own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq new query long_kernels                       writes long_kernels.sql into this folder
  nsq new query long_kernels --queries my_queries  writes my_queries/long_kernels.sql

The skeleton runs as it is. A file that exists is never overwritten.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write NAME.sql: SQL, with its documentation in a comment
    Query {
        /// Name of the query, such as long_kernels.
        #[arg(value_name = "NAME")]
        name: String,
        /// Folder for the file [default: the current folder]
        #[arg(long, value_name = "DIR")]
        queries: Option<PathBuf>,
    },
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let Command::Query { name, queries } = &args.command;
    let text = query_skeleton(name)?;
    let file = format!("{name}.sql");
    let path = queries.as_ref().map_or(PathBuf::from(&file), |folder| folder.join(&file));
    write_new(&path, &text)?;
    let shown = visible(&path.display().to_string());
    let folder = visible(&queries.as_deref().unwrap_or(Path::new(".")).display().to_string());
    let said = format!(
        "wrote {shown}\n  run it:   nsq run REPORT --query {shown} -p least=1ms\n  check it: nsq check {folder}\n"
    );
    write_to(None, |out| out.write_all(said.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, text: &str) -> Result<()> {
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::usage(
            format!("{} exists already", path.display()),
            "choose another name, or edit that file",
        ),
        ErrorKind::NotFound => Error::usage(
            format!("the folder of {} does not exist", path.display()),
            "make the folder first, or leave out --queries",
        ),
        _ => Error::io(path, error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half a skeleton is of no use. The first error is the one to report.
        let _ = std::fs::remove_file(path);
        Error::io(path, error)
    })
}
