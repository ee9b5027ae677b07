//! `nsq list`: lists queries, relations, functions, class maps and playbooks.

use super::note;
use super::options::LibraryArgs;
use super::output::{OutputArgs, write_to};
use nsq_engine::execute::FUNCTIONS;
use nsq_library::catalog::Shown;
use nsq_library::manual::{classes, pages, playbooks, queries, relations, search, table, words_of};
use nsq_render::render::{Format, Heading};
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value};
use std::fmt::Write as _;

/// List queries, relations, SQL functions, class maps or playbooks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq list                      all queries, by subject
  nsq list kern                 queries about kernels
  nsq list bottleneck           queries whose texts have the word, or a word for the same thing
  nsq list \"why is my gpu idle\" the same, for the words of a question
  nsq list --relations          the tables that `nsq sql` offers
  nsq list --all                internal queries too, which are parts of pages
  nsq list --functions          the SQL functions that nsq adds
  nsq list --classes            the class maps, for --classes
  nsq list --playbooks          the playbooks, for `nsq answer`
  nsq list --pages              the pages, for `nsq page`
  nsq list --format json")]
pub(super) struct Args {
    /// List what has all of these words in its name, summary, purpose, tags or columns, the best match first.
    ///
    /// A question in quotes works too: words such as `why` and `the` are left out. If nothing has all words,
    /// what has the most of them is listed.
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
    /// List the pages of `nsq page` instead.
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
    let mut table = if args.functions {
        functions()
    } else if args.classes {
        classes(&catalog)?
    } else if args.playbooks {
        playbooks(&catalog)
    } else if args.pages {
        pages(&catalog)
    } else if args.relations {
        relations(&catalog, Shown::of(args.all))?
    } else {
        queries(&catalog, Shown::of(args.all))
    };
    let words = words_of(&args.words);
    if !words.is_empty() {
        let found = search(&mut table, &words, &catalog)?;
        if found == 0 {
            let names = catalog.query_names().chain(catalog.relation_names());
            let near = Error::unknown("query", &words.join("_"), names, "`nsq list` shows all queries.");
            let hint = near.help().unwrap_or_default();
            note(&format!("nothing is about '{}'; {hint}", words.join(" ")));
        } else if found < words.len() {
            note(&format!(
                "nothing is about all of '{}'; these have {found} of the {} words",
                words.join(" "),
                words.len()
            ));
        }
    }
    if args.output.format()? == Format::Text {
        let text = if words.is_empty() { grouped(&table) } else { ranked(&table) };
        write_to(args.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes()).map_err(Error::Output)
        })?;
    } else {
        args.output.table(&Heading::default(), &table)?;
    }
    Ok(0)
}

fn functions() -> ResultTable {
    let rows = FUNCTIONS.iter().map(|function| {
        [
            "functions".to_owned(),
            format!("{}({})", function.name, function.args),
            function.doc.to_owned(),
            String::new(),
            String::new(),
        ]
    });
    let columns = [
        ("domain", "Always `functions`."),
        ("name", "Name and arguments in SQL."),
        ("summary", "What it returns."),
        ("version", "Empty."),
        ("tags", "Empty."),
    ];
    table(columns, rows)
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

/// Formats one line per item, in order, with its domain after its name.
fn ranked(table: &ResultTable) -> String {
    let (domain, name) = (width(table, 0), width(table, 1));
    let mut out = String::new();
    for row in &table.rows {
        let _ = writeln!(out, "{:name$}  {:domain$}  {}", text(row, 1), text(row, 0), text(row, 2));
    }
    if table.rows.is_empty() {
        out.push_str("(no match)\n");
    }
    out
}
