//! `nsq list`: lists queries, relations, functions, class maps and playbooks.

use super::note;
use super::options::LibraryArgs;
use super::output::{OutputArgs, write_to};
use crate::catalog::Catalog;
use crate::error::{Error, Result, nearest};
use crate::execute::FUNCTIONS;
use crate::render::{Format, Heading};
use crate::table::{Column, ResultTable, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// List queries, relations, SQL functions, class maps or playbooks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq list                      all queries, by subject
  nsq list kern                 queries about kernels
  nsq list bottleneck           queries whose texts have the word, or a word for the same thing
  nsq list --relations          the tables that `nsq sql` offers
  nsq list --functions          the SQL functions that nsq adds
  nsq list --classes            the class maps, for --classes
  nsq list --playbooks          the playbooks, for `nsq answer`
  nsq list --format json")]
pub(super) struct Args {
    /// List only items about all of these words: in their name, summary, purpose, tags or columns.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// List the relations (normalised tables) instead.
    #[arg(long, conflicts_with_all = ["functions", "classes", "playbooks"])]
    relations: bool,
    /// List the SQL functions that nsq adds instead.
    #[arg(long, conflicts_with_all = ["classes", "playbooks"])]
    functions: bool,
    /// List the class maps instead.
    #[arg(long, conflicts_with = "playbooks")]
    classes: bool,
    /// List the playbooks of `nsq answer` instead.
    #[arg(long)]
    playbooks: bool,
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
    } else if args.relations {
        relations(&catalog)?
    } else {
        queries(&catalog)
    };
    if !args.words.is_empty() {
        let synonyms = synonyms()?;
        table.rows.retain(|row| {
            let text = searched(row, &catalog).to_lowercase();
            args.words.iter().all(|word| {
                let word = word.to_lowercase();
                let others = synonyms.get(&word).into_iter().flatten();
                std::iter::once(&word).chain(others).any(|word| text.contains(word.as_str()))
            })
        });
        if table.rows.is_empty() {
            let names = catalog.query_names().chain(catalog.relation_names());
            let near = nearest(&args.words.join("_"), names);
            let hint = match near.as_slice() {
                [] => "`nsq list` shows all queries".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            note(&format!("nothing is about '{}'; {hint}", args.words.join(" ")));
        }
    }
    if args.output.format()? == Format::Text {
        let text = grouped(&table);
        write_to(args.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes()).map_err(Error::Output)
        })?;
    } else {
        args.output.table(&Heading::default(), &table)?;
    }
    Ok(0)
}

/// What people search for, and the words that the queries use for it.
fn synonyms() -> Result<BTreeMap<String, Vec<String>>> {
    let text = include_str!("synonyms.yml");
    serde_yaml::from_str(text)
        .map_err(|e| Error::catalog("synonyms.yml", 1, e.to_string(), "report this: it is a bug in nsq"))
}

/// The text of an item in which words are looked for: its row, and for a query also its documentation.
fn searched(row: &[Value], catalog: &Catalog) -> String {
    let mut texts: Vec<&str> = row
        .iter()
        .filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if let Some(Value::Text(name)) = row.get(1)
        && let Ok(query) = catalog.query(name)
    {
        let header = &query.header;
        texts.extend([header.title.as_str(), header.why.as_str()]);
        texts.extend(header.columns.iter().map(|column| column.name.as_str()));
    }
    texts.join(" ")
}

fn table(columns: [(&str, &str); 5], rows: impl IntoIterator<Item = [String; 5]>) -> ResultTable {
    let column = |(name, doc): (&str, &str)| Column { doc: doc.to_owned(), ..Column::untyped(name) };
    ResultTable {
        columns: columns.map(column).to_vec(),
        rows: rows.into_iter().map(|row| row.map(Value::Text).to_vec()).collect(),
    }
}

fn queries(catalog: &Catalog) -> ResultTable {
    let rows = catalog.readable_queries().into_iter().map(|query| {
        let header = &query.header;
        [
            query.domain.clone(),
            header.name.clone(),
            header.summary.clone(),
            header.version.to_string(),
            header.tags.join(", "),
        ]
    });
    let columns = [
        ("domain", "Folder of the query."),
        ("name", "Name of the query."),
        ("summary", "What a row of the result is."),
        ("version", "Version of the query."),
        ("tags", "Tags of the query."),
    ];
    table(columns, rows)
}

fn relations(catalog: &Catalog) -> Result<ResultTable> {
    let rows = catalog.relations()?.into_iter().map(|relation| {
        let header = &relation.header;
        let names: Vec<&str> = header.columns.iter().map(|column| column.name.as_str()).collect();
        [
            "relations".to_owned(),
            header.name.clone(),
            header.summary.clone(),
            header.present_if.join(", "),
            names.join(", "),
        ]
    });
    let columns = [
        ("domain", "Always `relations`."),
        ("name", "Name in SQL."),
        ("summary", "What a row is."),
        ("present_if", "The relation is present if one of these relations or sources is."),
        ("columns", "Names of its columns."),
    ];
    Ok(table(columns, rows))
}

fn classes(catalog: &Catalog) -> Result<ResultTable> {
    let maps = catalog.classes();
    let names = maps.names();
    let mut rows = Vec::with_capacity(names.len());
    for name in names {
        let map = maps.map(&name)?;
        rows.push([
            "classes".to_owned(),
            name,
            map.doc.clone(),
            map.rules.len().to_string(),
            map.files().join(", "),
        ]);
    }
    let columns = [
        ("domain", "Always `classes`."),
        ("name", "Name of the map, for --classes."),
        ("summary", "What the map is for."),
        ("rules", "Number of rules."),
        ("files", "Files with its rules, in the order in which they are tried."),
    ];
    Ok(table(columns, rows))
}

fn playbooks(catalog: &Catalog) -> ResultTable {
    let rows = catalog.readable_playbooks().into_iter().map(|playbook| {
        let parts: Vec<&str> = playbook.parts.iter().map(|part| part.part.as_str()).collect();
        [
            "playbooks".to_owned(),
            playbook.name.clone(),
            format!("{}: {}", playbook.title, parts.join(", ")),
            playbook.version.to_string(),
            playbook.file.clone(),
        ]
    });
    let columns = [
        ("domain", "Always `playbooks`."),
        ("name", "Name of the playbook, for `nsq answer --playbook`."),
        ("summary", "Title of the playbook, and its parts."),
        ("version", "Version of the playbook."),
        ("files", "File of the playbook."),
    ];
    table(columns, rows)
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

/// Formats one heading per domain and one line per item.
fn grouped(table: &ResultTable) -> String {
    let text = |row: &[Value], index: usize| match &row[index] {
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    let width = table.rows.iter().map(|row| text(row, 1).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let mut domain = String::new();
    for row in &table.rows {
        if text(row, 0) != domain {
            domain = text(row, 0);
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{domain}");
        }
        let _ = writeln!(out, "  {:width$}  {}", text(row, 1), text(row, 2));
    }
    if table.rows.is_empty() {
        out.push_str("(no match)\n");
    }
    out
}
