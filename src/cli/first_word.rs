//! The first word of the command line: a verb, a path, or something else.

use super::external::names_program;
use super::list::everything;
use crate::BUILT_IN;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use nsq_library::catalog::{Catalog, Shown};
use nsq_library::manual::{search, words_of};
use nsq_report::report::{looks_like_path, similar_names};
use nsq_value::error::{Error, Result, nearest};
use nsq_value::table::Value;
use std::ffi::{OsStr, OsString};
use std::num::{IntErrorKind, ParseIntError};
use std::path::{Path, PathBuf};

/// `nsq PATH…` means `nsq overview PATH…`, or `nsq run PATH…` if a query is named or given as a `.sql` file.
pub(super) fn with_verb(mut arguments: Vec<OsString>, verbs: fn() -> Command) -> Vec<OsString> {
    let begins = |first: &OsString| first.as_encoded_bytes().starts_with(b"-") && is_query(first);
    // After `--`, all words are paths, also one that begins with `-`. Commands to type are printed with `./`.
    if arguments.get(1).is_some_and(|first| first == "--") {
        for path in arguments.iter_mut().skip(2).filter(|word| word.as_encoded_bytes().starts_with(b"-"))
        {
            *path = Path::new(".").join(&*path).into_os_string();
        }
    }
    let is_path = |first: &OsString| first == "--" && arguments.len() > 2;
    if arguments.get(1).is_some_and(|first| begins(first) || is_path(first) || is_report(first, verbs)) {
        let verb = if arguments[1..].iter().any(|word| is_query(word)) { "run" } else { "overview" };
        arguments.insert(1, verb.into());
    }
    arguments
}

/// Whether a word names a query: `-q`, `--query`, with or without its value, or a `.sql` file.
fn is_query(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.starts_with(b"-q") || bytes.starts_with(b"--query") || bytes.ends_with(b".sql")
}

/// Whether the first argument names a report: a path, even if nothing is there. A verb comes before a file of its
/// name, for which `./NAME` stands.
fn is_report(first: &OsStr, verbs: fn() -> Command) -> bool {
    let path = Path::new(first);
    if first == "-" {
        return true;
    }
    let is_verb =
        |name: &str| name == "help" || verbs().find_subcommand(name).is_some() || names_program(name);
    !first.as_encoded_bytes().starts_with(b"-")
        && (looks_like_path(path) || path.exists() && !first.to_str().is_some_and(is_verb))
}

/// Replaces the tip about an unknown option, which is to quote it, by what was probably meant.
pub(super) fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_verb = |name: &str| arguments.get(1).is_some_and(|verb| verb == name);
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return error };
    let option = option.clone();
    let has_tip = error.get(ContextKind::SuggestedArg).is_some();
    if error.kind() != ErrorKind::UnknownArgument || has_tip {
        return error;
    }
    // A tip of clap is to give the option as a value, which no verb takes. Another names the verb that has it.
    if let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested)
        && tips.iter().any(|tip| tip.to_string().contains("as a value"))
    {
        error.remove(ContextKind::Suggested);
    }
    let name = option.trim_start_matches('-');
    let begins = |word: &&OsString| word.as_encoded_bytes().starts_with(option.as_bytes());
    let file = arguments.iter().skip(1).filter(|word| word.as_encoded_bytes().starts_with(b"-"));
    let file = file.filter(begins).find(|word| Path::new(word).is_file());
    let tip = match name {
        _ if file.is_some() => {
            let file = file.map(|file| file.display().to_string()).unwrap_or_default();
            format!("for the file of this name: ./{file}")
        }
        _ if !(is_verb("run") || is_verb("sql") || is_verb("overview")) => return error,
        _ if is_verb("sql") && name == option => {
            "for several reports, give a folder or a quoted pattern: nsq sql 'run/*.sqlite' \"SELECT …\""
                .to_owned()
        }
        "csv" | "tsv" | "json" | "ndjson" | "html" | "markdown" | "md" => format!("--format {name}"),
        _ if !is_verb("run") => return error,
        "sql" => {
            "SQL of your own: nsq sql REPORT \"SELECT …\"; the SQL of a query: nsq show QUERY --sql"
                .to_owned()
        }
        "page" | "report" | "playbook" => "queries, pages and reports of NVIDIA: -q NAME".to_owned(),
        "n" | "top" | "head" | "limit" => {
            "to see N rows: --rows N; for a query with the parameter limit: -p limit=N".to_owned()
        }
        name => {
            let name = if name.len() > 1 { name } else { "NAME" };
            format!(
                "`nsq show QUERY` lists the parameters of a query, which are given as -p {name}=VALUE"
            )
        }
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// What clap says badly: a third report of `nsq diff`, which it takes for a subcommand, a name after the report of
/// `nsq schema`, and a number that is none.
pub(super) fn in_other_words(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let is_diff = arguments.get(1).is_some_and(|verb| verb == "diff");
    if is_diff && error.kind() == ErrorKind::ArgumentConflict {
        let third = text(ContextKind::InvalidSubcommand).filter(|word| *word != "baseline")?;
        return Some(Error::usage(
            format!("'{third}' is a third report, and diff compares two"),
            "several runs of each: nsq diff --a A1 A2 --b B1 B2",
        ));
    }
    let is_schema = arguments.get(1).is_some_and(|verb| verb == "schema");
    if is_schema && error.kind() == ErrorKind::UnknownArgument {
        let second = text(ContextKind::InvalidArg).filter(|word| !word.starts_with('-'))?;
        return Some(Error::usage(
            format!("'{second}' is a second report or a name, and schema takes one report"),
            format!("for the columns of a table, query or page: nsq show {second}"),
        ));
    }
    let source = std::error::Error::source(error)?.downcast_ref::<ParseIntError>()?;
    let help = match source.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large",
        _ => "expected a whole number of 0 or more",
    };
    let (value, option) = (text(ContextKind::InvalidValue)?, text(ContextKind::InvalidArg)?);
    Some(Error::usage(format!("invalid value '{value}' for '{option}'"), help))
}

/// Refuses a word among reports that is no path: the name of a query, or a statement.
pub(super) fn must_be_reports(reports: &[PathBuf]) -> Result<()> {
    for word in reports.iter().filter(|path| !path.exists()).filter_map(|path| path.to_str()) {
        if is_statement(word) {
            let help = "your own SQL: nsq sql REPORT \"SELECT …\"";
            return Err(Error::usage("a statement is not a report", help));
        }
        if !looks_like_path(Path::new(word))
            && let Ok(catalog) = Catalog::load(&BUILT_IN, &Catalog::default_folders())
            && let Some(help) = in_library(word, &catalog)
        {
            return Err(Error::usage(format!("'{word}' is not a report"), help));
        }
    }
    Ok(())
}

/// Whether this is SQL, not a path.
pub(super) fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.len() < text.len() && ["SELECT", "WITH"].iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// The error for a word that is neither a verb nor a file. It says what the word could have meant.
pub(super) fn neither(word: &str, verbs: &Command) -> Error {
    let catalog = Catalog::load(&BUILT_IN, &Catalog::default_folders()).ok();
    let known = || of_nsys(word).map(str::to_owned);
    let help =
        catalog.and_then(|catalog| in_library(word, &catalog)).or_else(known).unwrap_or_else(|| {
            let names =
                verbs.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name);
            let near_verb = nearest(word, names).first().map(|verb| format!("`nsq {verb}`"));
            let near_file =
                similar_names(Path::new(word)).first().map(|file| format!("the file '{file}'"));
            let near: Vec<String> = near_verb.into_iter().chain(near_file).collect();
            match near.is_empty() {
                true => of_other_tools(word).unwrap_or_else(|| {
                    "`nsq help` lists the verbs; a report is given by its path, such as ./report.sqlite"
                        .to_owned()
                }),
                false => format!("did you mean {}?", near.join(" or ")),
            }
        });
    Error::usage(format!("'{word}' is neither a verb of nsq nor a file"), help)
}

/// What to type for a verb of nsys, or what its window does.
fn of_nsys(word: &str) -> Option<&'static str> {
    match word {
        "version" => Some("did you mean `nsq --version`?"),
        "profile" | "record" | "start" => {
            Some("nsys records: nsys profile -o report PROGRAM; then: nsq report.nsys-rep")
        }
        "open" | "view" | "ui" | "nsys-ui" => Some("a report is looked at with: nsq timeline REPORT"),
        _ => None,
    }
}

/// The verb of nsq for a verb of another tool: what `nsq list` finds first.
fn of_other_tools(word: &str) -> Option<String> {
    // A longer word is no verb, and looking for it takes time.
    if word.len() > LONGEST_VERB {
        return None;
    }
    let catalog = Catalog::load(&BUILT_IN, &Catalog::default_folders()).ok()?;
    let mut table = everything(&catalog, Shown::of(false)).ok()?;
    let found = search(&mut table, &words_of(&[word.to_owned()]), &catalog).ok()?;
    let Some([Value::Text(kind), Value::Text(name), ..]) = table.rows.first().map(Vec::as_slice) else {
        return None;
    };
    let is_verb = found.is_answer && kind == "verbs";
    is_verb.then(|| {
        format!("did you mean `{name}`? A report is given by its path, such as ./report.sqlite")
    })
}

const LONGEST_VERB: usize = 40;

/// What to type for a name of the library.
fn in_library(word: &str, catalog: &Catalog) -> Option<String> {
    let is_relation = matches!(catalog.relation(word), Some(Ok(_)));
    if catalog.query(word).is_ok() {
        Some(format!("it is a query: nsq run REPORT -q {word}"))
    } else if catalog.page(word).is_ok() {
        Some(format!("it is a page: nsq run REPORT -q {word}"))
    } else if is_relation {
        Some(format!("it is a relation: nsq show {word}, or nsq sql REPORT \"SELECT * FROM {word}\""))
    } else {
        None
    }
}
