//! `nsq list`: lists queries, relations, functions, class maps and playbooks.

use super::note;
use super::options::LibraryArgs;
use super::output::{OutputArgs, fitted, write_to};
use super::surface;
use crate::CHAPTERS;
use nsq_engine::execute;
use nsq_library::catalog::{Catalog, Shown};
use nsq_library::manual::{
    ASKED_FIRST, Found, classes, library_items, pages, playbooks, queries, relations, search, table,
    words_of,
};
use nsq_render::render::{Format, Heading};
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value};
use std::fmt::Write as _;

/// Find a query, page, table or chapter by words, or list all queries
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq list                      what people ask first, then all queries, by subject
  nsq list why is my gpu idle   what nsq has about the words, the best match first
  nsq list power                also what nsys can record, and what it cannot
  nsq list --relations          the tables that `nsq sql` offers
  nsq list --all                internal queries too, which are parts of pages
  nsq list --functions          the SQL functions that nsq adds
  nsq list --classes            the class maps, for --classes
  nsq list --playbooks          the playbooks, for `nsq answer`
  nsq list --pages              the pages, for `nsq run -q`
  nsq list --format json

Words are looked for in queries, pages, relations with their columns, findings, verbs, chapters of the book, and in what nsys can record. With one of --relations, --functions, --classes, --playbooks or --pages, only there.")]
pub(super) struct Args {
    /// List what is about these words, the best match first.
    ///
    /// A question works, too: words such as `why` and `the` are left out.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// List the relations (normalised tables) instead.
    #[arg(long, conflicts_with_all = ["functions", "classes", "playbooks", "pages"])]
    relations: bool,
    /// List the SQL functions that nsq adds instead.
    #[arg(long, conflicts_with_all = ["classes", "playbooks", "pages"])]
    functions: bool,
    /// List the class maps instead.
    #[arg(long, conflicts_with_all = ["playbooks", "pages"])]
    classes: bool,
    /// List the playbooks of `nsq answer` instead.
    #[arg(long, conflicts_with = "pages")]
    playbooks: bool,
    /// List the pages of `nsq run -q` instead.
    #[arg(long)]
    pages: bool,
    /// List internal queries and relations too: parts of pages, and steps of other queries.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let catalog = args.library.load()?;
    for error in catalog.broken() {
        note(&format!("skipped: {error}"));
    }
    let words = words_of(&args.words);
    let is_of_queries =
        !(args.functions || args.classes || args.playbooks || args.pages || args.relations);
    let mut table = if args.functions {
        functions()?
    } else if args.classes {
        classes(&catalog)?
    } else if args.playbooks {
        playbooks(&catalog)
    } else if args.pages {
        pages(&catalog)
    } else if args.relations {
        relations(&catalog, Shown::of(args.all))?
    } else if words.is_empty() {
        queries(&catalog, Shown::of(args.all))
    } else {
        everything(&catalog, Shown::of(args.all))?
    };
    let is_search = !words.is_empty();
    if is_search {
        let found = search(&mut table, &words, &catalog)?;
        doubt(&found, &words, &table, &catalog);
    }
    if args.output.format()? == Format::Text {
        if is_of_queries && !is_search {
            table.rows.splice(0..0, asked_first());
        }
        let text =
            if is_search { ranked(&table, args.output.rows.unwrap_or(BEST)) } else { grouped(&table) };
        let text = if args.output.output.is_none() && is_search { fitted(text) } else { text };
        write_to(args.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes()).map_err(Error::Output)
        })?;
    } else {
        args.output.table(&Heading::default(), &table)?;
    }
    Ok(0)
}

/// Says so if nothing is about the words, or not about all, and how to ask it oneself.
fn doubt(found: &Found, words: &[String], table: &ResultTable, catalog: &Catalog) {
    let unknown: Vec<&str> = found.unknown.iter().map(|at| words[*at].as_str()).collect();
    let own = "write your own with `nsq new query NAME`";
    if unknown.len() == words.len() {
        let names = catalog.query_names().chain(catalog.relation_names());
        let near = Error::unknown("query", &words.join("_"), names, "`nsq list` shows all queries.");
        let hint = near.help().unwrap_or_default();
        note(&format!("nsq has no answer about '{}'; {hint} Or {own}", words.join(" ")));
    } else if let (false, Some(nearest)) = (found.is_answer, table.rows.first()) {
        let about = if unknown.is_empty() { words.join(" ") } else { unknown.join(" ") };
        note(&format!(
            "nsq has no answer about '{about}'; the nearest is {}, or {own}",
            text(nearest, 1)
        ));
    }
}

/// Everything that `nsq list WORDS` looks through: items of the library, of nsys, verbs, and chapters of the book.
pub fn everything(catalog: &Catalog, shown: Shown) -> Result<ResultTable> {
    let mut all = library_items(catalog, shown)?;
    all.rows.extend([functions()?, verbs(), chapters()].into_iter().flat_map(|table| table.rows));
    Ok(all)
}

/// The questions with which the list of queries begins.
fn asked_first() -> Vec<Vec<Value>> {
    let row = |(question, name): (&str, &str)| {
        ["questions", name, question, "", ""].map(|cell| Value::Text(cell.to_owned())).to_vec()
    };
    ASKED_FIRST.map(row).to_vec()
}

/// The columns of a list of things that have no version.
fn columns(kind: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("domain", kind),
        ("name", "Name."),
        ("summary", "What it is."),
        ("version", "Empty."),
        ("tags", "Other words for it."),
    ]
}

fn verbs() -> ResultTable {
    let verbs = surface::command();
    let shown = verbs.get_subcommands().filter(|verb| !verb.is_hide_set());
    let rows = shown.map(|verb| {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        ["verbs".to_owned(), format!("nsq {}", verb.get_name()), about, String::new(), String::new()]
    });
    table(columns("Always `verbs`."), rows)
}

fn chapters() -> ResultTable {
    let rows = CHAPTERS
        .iter()
        .map(|[path, title, headings, _]| ["book", path, title, "", headings].map(str::to_owned));
    table(columns("Always `book`."), rows)
}

fn functions() -> Result<ResultTable> {
    let rows = execute::functions()?.into_iter().map(|function| {
        let call = format!("{}({})", function.name, function.args);
        ["functions".to_owned(), call, function.doc, String::new(), String::new()]
    });
    Ok(table(columns("Always `functions`."), rows))
}

/// The text in a cell.
fn text(row: &[Value], index: usize) -> &str {
    match row.get(index) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

fn width(table: &ResultTable, index: usize) -> usize {
    table.rows.iter().map(|row| text(row, index).chars().count()).max().unwrap_or(0)
}

/// Formats one heading per domain and one line per item.
fn grouped(table: &ResultTable) -> String {
    let width = width(table, 1);
    let mut out = String::new();
    let mut domain = "";
    for row in &table.rows {
        if text(row, 0) != domain {
            domain = text(row, 0);
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{domain}");
        }
        let _ = writeln!(out, "  {:width$}  {}", text(row, 1), text(row, 2));
    }
    out
}

/// Items that a search shows as text.
const BEST: usize = 10;

/// Formats one line per item, in order, with its domain after its name; 0 means all.
fn ranked(table: &ResultTable, most: usize) -> String {
    if table.rows.is_empty() {
        return "(no match)\n".to_owned();
    }
    let shown = if most == 0 { table.rows.len() } else { most.min(table.rows.len()) };
    let best = ResultTable { rows: table.rows[..shown].to_vec(), columns: table.columns.clone() };
    let (domain, name) = (width(&best, 0), width(&best, 1));
    let mut out = String::new();
    for row in &best.rows {
        let _ = writeln!(out, "{:name$}  {:domain$}  {}", text(row, 1), text(row, 0), text(row, 2));
    }
    if shown < table.rows.len() {
        let _ = writeln!(out, "{} more: --rows 0", table.rows.len() - shown);
    }
    out.push_str("\n`nsq run REPORT -q NAME` runs a query or page; `nsq show NAME` describes it, or prints a chapter of the book.\n");
    out
}
