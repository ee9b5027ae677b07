//! Writes the manual pages of nsq and its verbs into a folder: `cargo run -p nsq-man -- FOLDER`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        eprintln!("error: expected one folder\n  help: cargo run -p nsq-man -- target/man");
        return ExitCode::from(2);
    };
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(nsq::cli::command(), &folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: cannot write manual pages to {}: {e}", folder.display());
            ExitCode::FAILURE
        }
    }
}
