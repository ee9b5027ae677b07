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
use nsq_value::shell;
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
        "kernel" => "for the kernels of a name: -q cuda_gpu_kern_pace or -q nvtx_kernels with -p kernel='*gemm*', \
                     or a statement with WHERE kernel_name GLOB '*gemm*': nsq sql"
            .to_owned(),
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
/// `nsq schema`, a number that is none, and what is missing, without an example.
pub(super) fn in_other_words(
    error: &clap::Error,
    arguments: &[OsString],
    verbs: fn() -> Command,
) -> Option<Error> {
    if let Some(missing) = with_example(error, arguments, &verbs()) {
        return Some(missing);
    }
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

/// The error for what is missing in a command line, with an example from the help of the verb.
fn with_example(error: &clap::Error, arguments: &[OsString], verbs: &Command) -> Option<Error> {
    let mut path = vec![verbs];
    for word in arguments.iter().skip(1) {
        match path.last().and_then(|verb| verb.find_subcommand(word)) {
            Some(verb) => path.push(verb),
            None => break,
        }
    }
    let words = path.iter().map(|verb| verb.get_name()).collect::<Vec<&str>>().join(" ");
    let example = |option: &str| {
        let helps = path.iter().rev().filter_map(|verb| verb.get_after_help());
        let lines: Vec<String> = helps
            .flat_map(|help| help.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        // The page of `nsq REPORT` has a verb that need not be typed.
        let is_example = |line: &&str| {
            line.starts_with(&words) || words == "nsq overview" && line.starts_with("nsq ")
        };
        let commands = lines.iter().map(|line| line.trim_start().split("  ").next().unwrap_or_default());
        commands
            .filter(is_example)
            .find(|line| line.contains(option))
            .map(|line| format!("such as: {}", line.replacen(" report.sqlite", " REPORT", 1)))
    };
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            let name = |text: &String| text.replace(['<', '>'], "").trim_end_matches("...").to_owned();
            let missing = missing.iter().map(name).collect::<Vec<String>>();
            let are = if missing.len() == 1 { "is" } else { "are" };
            let reason = format!("{words}: {} {are} missing", missing.join(" and "));
            Some(Error::usage(reason, example(&words)?))
        }
        (ErrorKind::InvalidValue, Some(ContextValue::String(option))) => {
            let is_empty = |value: &ContextValue| *value == ContextValue::String(String::new());
            error.get(ContextKind::InvalidValue).filter(|value| is_empty(value))?;
            let name = option.split([' ', '=']).next().unwrap_or_default();
            Some(Error::usage(format!("{name} has no value"), example(&format!("{name} "))?))
        }
        (ErrorKind::InvalidSubcommand, _) if path.len() > 1 => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
                return None;
            };
            error.get(ContextKind::SuggestedSubcommand).is_none().then_some(())?;
            let names = path.last()?.get_subcommands().map(Command::get_name);
            let names = names.filter(|name| *name != "help").collect::<Vec<&str>>().join(", ");
            let such = example(&words).map(|such| format!(", {such}")).unwrap_or_default();
            let help = format!("{words} is followed by {names}{such}");
            Some(Error::usage(format!("unrecognized subcommand '{word}'"), help))
        }
        _ => None,
    }
}

/// Refuses a word among reports that is no path: the name of a query, a statement, or a question.
pub(super) fn must_be_reports(reports: &[PathBuf]) -> Result<()> {
    for word in reports.iter().filter(|path| !path.exists()).filter_map(|path| path.to_str()) {
        if is_statement(word) {
            let help = "your own SQL: nsq sql REPORT \"SELECT …\"";
            return Err(Error::usage("a statement is not a report", help));
        }
        if word.contains(char::is_whitespace) && !looks_like_path(Path::new(word)) {
            let help = format!("`nsq list {word}` finds what answers a question");
            return Err(Error::usage(format!("'{word}' is not a report"), help));
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
pub(super) fn neither(word: &str, verbs: &Command, arguments: &[OsString]) -> Error {
    let catalog = Catalog::load(&BUILT_IN, &Catalog::default_folders()).ok();
    let names = || verbs.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name);
    let near = || {
        let near_verb = nearest(word, names()).first().map(|verb| format!("`nsq {verb}`"));
        let near_file = similar_names(Path::new(word)).first().map(|file| format!("the file '{file}'"));
        let near: Vec<String> = near_verb.into_iter().chain(near_file).collect();
        (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
    };
    let help = in_help(word, arguments, catalog.as_ref())
        .or_else(|| unquoted(arguments))
        .or_else(|| in_library(word, catalog.as_ref()?))
        .or_else(|| of_nsys(word).map(str::to_owned))
        .or_else(near)
        .or_else(|| of_other_tools(word, catalog.as_ref()?))
        .unwrap_or_else(|| {
            "`nsq help` lists the verbs; a report is given by its path, such as ./report.sqlite"
                .to_owned()
        });
    let kinds =
        if Path::new(word).exists() { "no verb of nsq" } else { "neither a verb of nsq nor a file" };
    Error::usage(format!("'{word}' is {kinds}"), help)
}

/// What to type instead of `nsq help WORD`, where the word is a file or a name of the library.
fn in_help(word: &str, arguments: &[OsString], catalog: Option<&Catalog>) -> Option<String> {
    arguments.get(1).filter(|first| *first == "help")?;
    let file = Path::new(word);
    if file.exists() {
        return Some(format!("the path alone shows what to fix first: nsq {}", shell::path(file)));
    }
    in_library(word, catalog?).map(|_| format!("nsq show {word} describes it"))
}

/// What to type for a file whose name has blanks, which the shell made several words.
fn unquoted(arguments: &[OsString]) -> Option<String> {
    let words = arguments.get(1..)?;
    let joined = (2..=words.len()).map(|count| words[..count].join(OsStr::new(" ")));
    let file = joined.map(PathBuf::from).find(|path| path.is_file())?;
    Some(format!("quote a name with blanks: nsq {}", shell::path(&file)))
}

/// What to type for a verb of nsys, for what its window does, or for an option of nsq.
fn of_nsys(word: &str) -> Option<&'static str> {
    match word {
        "version" => Some("did you mean `nsq --version`?"),
        "profile" | "record" | "start" => {
            Some("nsys records: nsys profile -o report PROGRAM; then: nsq report.nsys-rep")
        }
        "report" | "summary" | "overview" | "info" => Some(
            "a report needs no verb: `nsq REPORT` shows what to fix first, `nsq schema REPORT` what it holds",
        ),
        "gate" => Some("did you mean `nsq diff A B --gate 5`? It fails if B is slower by more than 5 %"),
        "open" | "view" | "ui" | "nsys-ui" => Some("a report is looked at with: nsq timeline REPORT"),
        _ => None,
    }
}

/// What `nsq list` finds first for a verb of another tool, if it is a verb of nsq, a query, a page or a chapter.
fn of_other_tools(word: &str, catalog: &Catalog) -> Option<String> {
    // A longer word is no verb, and looking for it takes time.
    if word.len() > LONGEST_VERB {
        return None;
    }
    let mut table = everything(catalog, Shown::of(false)).ok()?;
    let found = search(&mut table, &words_of(&[word.to_owned()]), catalog).ok()?;
    if !found.is_answer {
        return None;
    }
    // What nsys can record is nothing to type.
    let mut names = table.rows.iter().filter_map(|row| match row.as_slice() {
        [Value::Text(kind), Value::Text(name), ..] => Some((kind, name)),
        _ => None,
    });
    let (kind, name) = names.find(|(kind, _)| *kind != "recorded")?;
    let meant = match kind.as_str() {
        "book" => return Some(format!("`nsq show {name}` prints a chapter of the book about this")),
        "verbs" => format!("`{name}`"),
        _ if catalog.query(name).is_ok() || catalog.page(name).is_ok() => {
            format!("`nsq run REPORT -q {name}`")
        }
        _ => return None,
    };
    Some(format!("did you mean {meant}? A report is given by its path, such as ./report.sqlite"))
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
