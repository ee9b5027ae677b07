//! `nsq check`: checks the SQL library against its rules.

use super::options::LibraryArgs;
use super::output::write_to;
use nsq_check::lint::{self, Finding};
use nsq_files::bounded_file::{self, Origin};
use nsq_files::whole_file;
use nsq_library::catalog::lock::{FILE, Lock, LockEntry};
use nsq_library::catalog::{BUILT_IN, Catalog, FileKind, Query};
use nsq_value::error::{EXIT_FAILED, Error, Result};
use nsq_value::shell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Check queries: rules, documentation, columns, row order, versions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq check                              check the built-in library and your query folders
  nsq check my_queries                   check one folder
  nsq check my_queries --report r.sqlite also run the queries, and check their results and row order
  nsq check queries --bless              rewrite catalog.lock, after you reviewed the changes
  nsq check queries --strict             fail on advice, too

Exit code 1 if there are errors. Findings about style are advice: they are printed, and do not fail.")]
pub(super) struct Args {
    /// Folder of queries to check [default: the built-in library and your query folders]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Also run every query on this report; may be repeated.
    #[arg(long, value_name = "REPORT")]
    report: Vec<PathBuf>,
    /// Write DIR/catalog.lock; fails if columns, parameters or kind changed without a new version.
    #[arg(long, requires = "folder")]
    bless: bool,
    /// Exit 1 on advice, too.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    if let Some(folder) = args.folder.as_ref().filter(|folder| !folder.is_dir()) {
        let reason = if folder.exists() { "is not a folder" } else { "does not exist" };
        let holding = folder.parent().filter(|path| path.is_dir()).unwrap_or(Path::new("."));
        let help = match folder.is_file() {
            true => format!("check the folder that it is in: nsq check {}", shell::path(holding)),
            false => "give a folder of query files, such as `nsq check my_queries`".to_owned(),
        };
        return Err(Error::usage(format!("{} {reason}", folder.display()), help));
    }
    let mut library = args.library.clone();
    library.queries.extend(args.folder.clone());
    let catalog = library.load()?;
    let is_asked = |file: &str| match &args.folder {
        Some(folder) => Path::new(file).starts_with(folder),
        None => true,
    };
    let mut findings = lint::check(&catalog, is_asked)?;
    let has_errors = |findings: &[Finding]| findings.iter().any(|finding| !finding.is_advice());
    if !has_errors(&findings) {
        findings.extend(check_lock(args, &catalog)?);
    }
    let reports = if has_errors(&findings) { &[] } else { args.report.as_slice() };
    for report in reports {
        let found = lint::check_on_report(&catalog, report)?;
        findings.extend(found.into_iter().filter(|finding| is_asked(&finding.file)));
    }
    let mut text: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    let files = catalog.files().filter(|(_, file)| is_asked(file)).map(|(kind, _)| kind);
    let place = args.folder.as_ref().map_or(String::new(), |folder| format!(" in {}", folder.display()));
    let advice = findings.iter().filter(|finding| finding.is_advice()).count();
    let found = match (findings.len() - advice, advice) {
        (0, 0) => "0 findings".to_owned(),
        (0, advice) => format!("0 errors, {advice} advice"),
        (errors, 0) => count(errors, "error", "errors"),
        (errors, advice) => format!("{}, {advice} advice", count(errors, "error", "errors")),
    };
    text.push_str(&format!("{}{place} checked, {found}\n", counted(files)));
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    let fails = if args.strict { !findings.is_empty() } else { has_errors(&findings) };
    Ok(if fails { EXIT_FAILED } else { 0 })
}

/// How many files of each kind there are, such as `2 queries and 1 class map`.
fn counted(files: impl Iterator<Item = FileKind>) -> String {
    let mut counts = BTreeMap::new();
    files.for_each(|kind| *counts.entry(kind).or_insert(0) += 1);
    let texts = counts.into_iter().map(|(kind, number)| match kind {
        FileKind::Query => count(number, "query", "queries"),
        FileKind::Relation => count(number, "relation", "relations"),
        FileKind::Source => count(number, "source spec", "source specs"),
        FileKind::NameRules => count(number, "file of name rules", "files of name rules"),
        FileKind::ClassMap => count(number, "file of class maps", "files of class maps"),
        FileKind::Playbook => count(number, "playbook", "playbooks"),
        FileKind::Page => count(number, "page", "pages"),
        FileKind::PageLayout => count(number, "layout", "layouts"),
        FileKind::Asset => count(number, "asset", "assets"),
    });
    match texts.collect::<Vec<String>>().as_slice() {
        [] => "0 queries".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Rule Q14: a query whose columns, parameters or kind differ from the lock needs a higher version.
fn check_lock(args: &Args, catalog: &Catalog) -> Result<Vec<Finding>> {
    let (file, text) = match &args.folder {
        None => (Path::new("queries").join(FILE), crate::BUILT_IN.lock().to_owned()),
        Some(folder) => {
            let file = folder.join(FILE);
            match file.exists().then(|| bounded_file::read_text(&file, Origin::Found)) {
                Some(text) => (file, text?),
                // The lock is optional in a user's folder.
                None if !args.bless => return Ok(Vec::new()),
                None => (file, String::new()),
            }
        }
    };
    let lock = Lock::parse(&file.to_string_lossy(), &text)?;
    let is_here = |query: &&Query| match &args.folder {
        Some(folder) => Path::new(&query.file).starts_with(folder),
        None => query.file.starts_with(BUILT_IN),
    };
    let queries: Vec<&Query> = catalog.readable_queries().into_iter().filter(is_here).collect();
    let current = Lock::of(queries.iter().copied());
    let mut findings = Vec::new();
    for query in &queries {
        let now = LockEntry::of(query);
        let locked = lock.get(&query.header.name);
        let finding = |message: String, help: &str| Finding {
            file: query.file.clone(),
            line: nsq_library::catalog::line_of(&query.text, "version:"),
            rule: "Q14",
            message,
            help: help.to_owned(),
        };
        match locked {
            Some(old) if old.contract != now.contract && old.version >= now.version => {
                findings.push(finding(
                    format!(
                        "columns, parameters or kind changed, but the version is still {}",
                        now.version
                    ),
                    "raise `version`, because stored results and scripts rely on it; record the change in CHANGELOG",
                ))
            }
            Some(old) if *old != now && !args.bless => {
                findings.push(finding(
                    "changed since the lock was written".to_owned(),
                    "run `nsq check DIR --bless`",
                ));
            }
            None if !args.bless => {
                findings.push(finding("is not in the lock".to_owned(), "run `nsq check DIR --bless`"));
            }
            _ => {}
        }
    }
    if args.bless && findings.is_empty() {
        whole_file::write(&file, |out| {
            out.write_all(current.render().as_bytes()).map_err(Error::Output)
        })?;
    }
    Ok(findings)
}
