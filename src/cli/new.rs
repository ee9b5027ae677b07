//! `nsq new`: writes the skeleton of a query.

use super::output::write_to;
use nsq_files::whole_file;
use nsq_library::catalog::query_skeleton;
use nsq_render::render::visible;
use nsq_value::error::{Error, Result};
use std::io::ErrorKind;
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
        /// Folder for the file; nsq makes it if it is missing [default: the current folder]
        #[arg(long, value_name = "DIR")]
        queries: Option<PathBuf>,
    },
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let Command::Query { name, queries } = &args.command;
    let text = query_skeleton(name)?;
    let file = format!("{name}.sql");
    if let Some(folder) = queries {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    }
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
    let written = whole_file::create(path, |out| out.write_all(text.as_bytes()).map_err(Error::Output));
    written.map_err(|error| match &error {
        Error::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists => Error::usage(
            format!("{} exists already", path.display()),
            "choose another name, or edit that file",
        ),
        _ => error,
    })
}
