//! `nsq completions`: prints shell completion scripts.
//!
//! The script calls nsq for each completion, so that it knows names: of queries, relations, pages, class maps
//! and playbooks, and of the ranges of a report on the command line.

use super::options::LibraryArgs;
use super::output;
use clap::builder::StyledStr;
use clap::{Arg, Command};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(nsq completions bash)                      ~/.bashrc
  source <(nsq completions zsh)                       ~/.zshrc, after compinit
  nsq completions fish | source                       ~/.config/fish/config.fish

Put the line into the start-up file of your shell. Completions know the names of queries, relations, pages, class maps and playbooks, the parameters of a \
query, and the NVTX ranges of a SQLite report on the command line.")]
pub(super) struct Args {
    /// Shell to print the script for.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// The environment variable with which the script calls nsq.
const CALLED: &str = "NSQ_COMPLETE";
/// How long to look for ranges in a report: whoever presses a key waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// Most ranges to offer.
const MOST_RANGES: usize = 500;

pub(super) fn run(args: &Args) -> Result<u8> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell).ok_or_else(|| {
        Error::usage(format!("no completions for {shell}"), "use bash, elvish, fish, powershell or zsh")
    })?;
    let mut script = Vec::new();
    shell.write_registration(CALLED, "nsq", "nsq", "nsq", &mut script).map_err(Error::Output)?;
    output::write_to(None, |out| out.write_all(&script).map_err(Error::Output))?;
    Ok(0)
}

/// Prints completions, if a script asks for them. Else `None`. `all`: the command line.
pub(super) fn complete(all: fn() -> Command) -> Option<ExitCode> {
    // The engine removes the variable before it asks for names.
    let is_bash = std::env::var_os(CALLED)? == "bash";
    let current = std::env::current_dir().ok();
    let completed = CompleteEnv::with_factory(move || command(all(), is_bash))
        .var(CALLED)
        .bin("nsq")
        .try_complete(std::env::args_os(), current.as_deref());
    // A message would end up in the command line that is being typed.
    Some(if completed.unwrap_or(false) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The command line with completers of names.
fn command(all: Command, is_bash: bool) -> Command {
    let verbs: Vec<String> = all.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.into_iter().fold(all, |command, verb| {
        command.mut_subcommand(&verb, |of| of.mut_args(|arg| with_names(&verb, arg, is_bash)))
    })
}

/// Adds the completer of names to an argument of a verb.
fn with_names(verb: &str, arg: Arg, is_bash: bool) -> Arg {
    let names: fn(&Words) -> Vec<Name> = match (verb, arg.get_id().as_str()) {
        ("run", "query") => |words| [words.queries(), words.pages()].concat(),
        ("show", "name") => |words| words.everything(),
        ("page", "page") => |words| words.pages(),
        ("answer", "playbook") => |words| words.playbooks(),
        ("run", "param") => |words| words.parameters(),
        (_, "nvtx" | "exclude" | "window" | "iter" | "iter_tag") => |words| words.ranges(),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| offered(typed, names, is_bash)))
}

/// A name, and what it means.
type Name = (String, String);

/// The names that begin with what was typed.
fn offered(typed: &OsStr, names: fn(&Words) -> Vec<Name>, is_bash: bool) -> Vec<CompletionCandidate> {
    let mut typed = typed.to_string_lossy().into_owned();
    if is_bash {
        // bash passes the word as it was typed.
        typed.retain(|c| c != '\\');
    }
    let all = names(&Words::typed());
    let matching = all.into_iter().filter(|(name, _)| name.starts_with(&typed));
    matching
        // A name with control characters cannot be typed, and could do harm to the terminal.
        .filter(|(name, _)| !name.chars().any(char::is_control))
        .map(|(name, meaning)| {
            // Other shells quote names themselves.
            let value = if is_bash { escaped(&name) } else { name };
            CompletionCandidate::new(value).help(Some(StyledStr::from(meaning)))
        })
        .collect()
}

/// A name as bash reads it as one word.
fn escaped(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    let escape = |c: char| if is_plain(c) { vec![c] } else { vec!['\\', c] };
    name.chars().flat_map(escape).collect()
}

/// The words of the command line that is being typed.
struct Words {
    words: Vec<OsString>,
    catalog: Option<Catalog>,
}

impl Words {
    fn typed() -> Self {
        // The script calls `nsq -- WORDS`.
        let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
        let queries = values(&words, "--queries").into_iter().map(PathBuf::from).collect();
        let catalog = LibraryArgs { queries }.load().ok();
        Self { words, catalog }
    }

    fn queries(&self) -> Vec<Name> {
        let Some(catalog) = &self.catalog else { return Vec::new() };
        let name = |query: &nsq_library::catalog::Query| {
            (query.header.name.clone(), query.header.summary.clone())
        };
        catalog.readable_queries().into_iter().map(name).collect()
    }

    fn pages(&self) -> Vec<Name> {
        let Some(catalog) = &self.catalog else { return Vec::new() };
        let pages = catalog.readable_pages().into_iter().filter(|page| page.parts.is_empty());
        pages.map(|page| (page.name.clone(), page.title.clone())).collect()
    }

    fn playbooks(&self) -> Vec<Name> {
        let Some(catalog) = &self.catalog else { return Vec::new() };
        let playbooks = catalog.readable_playbooks().into_iter();
        playbooks.map(|playbook| (playbook.name.clone(), playbook.title.clone())).collect()
    }

    /// What `nsq show` describes.
    fn everything(&self) -> Vec<Name> {
        let Some(catalog) = &self.catalog else { return Vec::new() };
        let relations = catalog.relations().unwrap_or_default().into_iter();
        let relations =
            relations.map(|relation| (relation.header.name.clone(), relation.header.summary.clone()));
        let maps = catalog.classes().names().into_iter().map(|name| (name, "class map".to_owned()));
        let others = relations.chain(self.pages()).chain(self.playbooks()).chain(maps);
        let names: BTreeMap<String, String> = others.chain(self.queries()).collect();
        names.into_iter().collect()
    }

    /// The parameters of the queries on the command line.
    fn parameters(&self) -> Vec<Name> {
        let Some(catalog) = &self.catalog else { return Vec::new() };
        let queries = values(&self.words, "--query").into_iter().chain(values(&self.words, "-q"));
        let queries = queries.filter_map(|name| catalog.query(name.to_str()?).ok());
        let params = queries.flat_map(|query| &query.header.params);
        params.map(|param| (format!("{}=", param.name), param.doc.clone())).collect()
    }

    /// The names of NVTX ranges in the reports on the command line: with numbers as `*`, then as they are.
    fn ranges(&self) -> Vec<Name> {
        // An export of a capture or the import of a trace would take too long.
        let reports = self.words.iter().map(Path::new).filter(|path| is_export(path));
        let mut counts = BTreeMap::<String, i64>::new();
        for path in reports {
            let Ok(report) = crate::open(path) else { continue };
            let Ok(ranges) = report.query("range_names").timeout(PATIENCE).run() else { continue };
            for row in ranges.iter().take(MOST_RANGES) {
                let names: BTreeSet<&str> = ["layer_name", "range_name"]
                    .into_iter()
                    .filter_map(|column| row.text(column))
                    .collect();
                for name in names {
                    *counts.entry(name.to_owned()).or_default() += row.int("range_count").unwrap_or(0);
                }
            }
        }
        counts.into_iter().map(|(name, count)| (name, format!("{count} ranges"))).collect()
    }
}

/// Whether the file is a SQLite export, which opens at once.
fn is_export(path: &Path) -> bool {
    let mut start = [0; 16];
    let mut read = || File::open(path)?.read_exact(&mut start);
    path.is_file() && read().is_ok() && start == *b"SQLite format 3\0"
}

/// The values of an option that may be repeated.
fn values<'w>(words: &'w [OsString], option: &str) -> Vec<&'w OsStr> {
    let pairs = words.windows(2).filter(|pair| pair[0] == option);
    pairs.map(|pair| pair[1].as_os_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_reads_an_escaped_name_as_one_word() {
        assert_eq!(escaped("top_kernels"), "top_kernels");
        assert_eq!(escaped("step *"), "step\\ \\*");
        assert_eq!(escaped("a'b$(x)`"), "a\\'b\\$\\(x\\)\\`");
    }
}
