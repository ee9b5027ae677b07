//! `nsq show`: prints the manual page of a query or relation, or its SQL.

use super::options::{LibraryArgs, OpenArgs, ScopeArgs};
use super::output::write_to;
use crate::catalog::{Catalog, ColumnSpec, Param, Query, Relation, Source};
use crate::classify::Pattern;
use crate::compile::{Invocation, Layout, Plan, functions_in, script};
use crate::error::{Error, Result};
use crate::execute::FUNCTIONS;
use crate::lint::EmptyReport;
use crate::normalize::{self, Installation};
use crate::report::Report;
use crate::schema::Schema;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Describe a query or relation column by column, or print its SQL
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq show top_kernels
  nsq show kernel                                       a relation (normalised table)
  nsq show vllm/llama                                   a class map
  nsq show cs336                                        a playbook: its questions and parameters
  nsq show cuda_gpu_trace --sql --report r.sqlite | sqlite3 r.sqlite
  nsq show top_kernels --sql -p limit=5 --device 0 --report r.sqlite

The script that --sql prints runs in plain sqlite3. If its first line says `-- needs nsq: …`, run it
with `nsq sql REPORT --file` instead.")]
pub(super) struct Args {
    /// Query (NAME[:ARG…]), relation, source view, class map, playbook, or the path of a .sql or .yml file.
    #[arg(value_name = "NAME")]
    name: String,
    /// Print a standalone SQL script: views, scope and query.
    #[arg(long)]
    sql: bool,
    /// Adapt the script to the tables of this report.
    #[arg(long, value_name = "REPORT", requires = "sql")]
    report: Option<PathBuf>,
    /// Set a parameter of the query in the script; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE", requires = "sql")]
    param: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let mut catalog = args.library.load()?;
    if let Some(page) = class_page(args, &catalog)? {
        write_to(None, |out| out.write_all(page.as_bytes()).map_err(Error::Output))?;
        return Ok(0);
    }
    if let Some(page) = playbook_page(args, &mut catalog)? {
        write_to(None, |out| out.write_all(page.as_bytes()).map_err(Error::Output))?;
        return Ok(0);
    }
    let mut invocation = Invocation::parse(&args.name).with_params(&args.param)?;
    if let Some(path) = invocation.path().map(Path::to_owned) {
        invocation.query = catalog.add_file(&path)?;
    }
    let text = if args.sql {
        standalone(args, &catalog, &invocation)?
    } else if let Some(relation) = catalog.relation(&args.name) {
        relation_page(relation?)
    } else if let Some(source) = catalog.source(&args.name) {
        source_page(source?)
    } else {
        query_page(
            catalog.query(&invocation.query).map_err(|error| suggest(error, &args.name, &catalog))?,
        )
    };
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

/// For an unknown name, suggests both queries and relations.
fn suggest(error: Error, name: &str, catalog: &Catalog) -> Error {
    match error {
        Error::Unknown { .. } => {
            let names = catalog.query_names().chain(catalog.relation_names());
            Error::unknown(
                "query or relation",
                name,
                names,
                "`nsq list` lists the queries and `nsq list --relations` the relations.",
            )
        }
        other => other,
    }
}

fn standalone(args: &Args, catalog: &Catalog, invocation: &Invocation) -> Result<String> {
    let is_relation = catalog.relation(&args.name).is_some() || catalog.source(&args.name).is_some();
    let plan = match is_relation {
        // For a relation, the script defines it and selects all its rows.
        true => Plan::ad_hoc(&format!("SELECT * FROM {}", args.name), Default::default(), catalog),
        // A required parameter without a value stays `:name`, which SQLite shells can set.
        false => Plan::without_values(catalog.query(&invocation.query)?, invocation, &Layout::Own)?,
    };
    let schema = match &args.report {
        Some(path) => Schema::detect(&Report::open(path, &args.open.export_options())?)?,
        None => EmptyReport::new(catalog)?.schema().clone(),
    };
    let scope = args.scope.resolve(&schema)?;
    let installation = normalize::plan(&schema, catalog, &scope, plan.reads.iter().map(String::as_str))?;
    let text = script(&plan, &installation, &native(&plan, &installation));
    Ok(match args.report {
        Some(_) => text,
        None => text.replacen(
            "-- ",
            "-- for an export with every table; --report REPORT adapts it to a report\n-- ",
            usize::from(!text.starts_with("-- needs nsq")),
        ),
    })
}

/// The SQL functions and native relations of nsq that a script needs and plain sqlite3 lacks.
fn native(plan: &Plan, installation: &Installation) -> Vec<String> {
    let called = installation
        .statements
        .iter()
        .chain([&plan.sql])
        .flat_map(|sql| functions_in(sql).unwrap_or_default())
        .collect::<std::collections::BTreeSet<String>>();
    let functions = FUNCTIONS.iter().map(|function| function.name.to_owned());
    let relations = installation.natives.iter().map(|native| &native.relation);
    let is_needed = |name: &&String| plan.requires.is_empty() || plan.requires.contains(name);
    // If the query requires none of the native relations, it can run with them empty.
    let relations: Vec<&String> = match relations.clone().any(|name| is_needed(&name)) {
        true => relations.collect(),
        false => Vec::new(),
    };
    functions.filter(|name| called.contains(name)).chain(relations.into_iter().cloned()).collect()
}

/// The page of a playbook. A query or relation of the same name takes precedence.
fn playbook_page(args: &Args, catalog: &mut Catalog) -> Result<Option<String>> {
    let is_file = args.name.ends_with(".yml");
    let is_other = catalog.query(&args.name).is_ok()
        || catalog.relation(&args.name).is_some()
        || catalog.source(&args.name).is_some()
        || args.sql;
    if is_other || !is_file && !catalog.playbook_names().any(|name| name == args.name) {
        return Ok(None);
    }
    let name = if is_file { catalog.add_playbook(Path::new(&args.name))? } else { args.name.clone() };
    let playbook = catalog.playbook(&name)?;
    let mut page = format!("{}@{} - {}\n\n", playbook.name, playbook.version, playbook.title);
    paragraph(&mut page, &playbook.doc);
    page.push_str("\nQUESTIONS (--part NAME)\n");
    for part in &playbook.parts {
        let about: Vec<&str> = part.answers.iter().map(|answer| answer.about.as_str()).collect();
        item(&mut page, &part.part, &format!("{} [{}]", part.question.trim(), about.join("; ")));
    }
    if !playbook.params.is_empty() {
        page.push_str("\nPARAMETERS (-p name=value)\n");
        params(&mut page, &playbook.params);
    }
    for preset in &playbook.presets {
        let _ = writeln!(page, "\nPRESETS (-p {}=NAME)", preset.param);
        for value in &preset.values {
            let sets: Vec<String> =
                value.sets.iter().map(|(name, text)| format!("{name}={text}")).collect();
            item(&mut page, &value.value, &sets.join(" "));
        }
    }
    if !playbook.files.is_empty() {
        page.push_str("\nFILES (--file name=FILE)\n");
        for file in &playbook.files {
            item(&mut page, &file.name, &format!("{} [{}]", file.doc, file.columns.join(", ")));
        }
    }
    page.push_str("\nPATTERNS (-p name='GLOB' or -p name='/REGEX/' names your own ranges)\n");
    for pattern in &playbook.patterns {
        let spelled = pattern.any.iter().map(|alternative| match alternative.with.as_slice() {
            [] => alternative.name.spelled(),
            with => format!("{} if there is {}", alternative.name.spelled(), with.join(" and ")),
        });
        let mut ways: Vec<String> = spelled.collect();
        if !pattern.all.is_empty() {
            ways.push(format!("else {} together", pattern.all.join(" + ")));
        }
        item(&mut page, &pattern.name, &format!("{} [{}]", pattern.doc, ways.join(" | ")));
    }
    page.push_str("\nQUERIES\n");
    let asks = playbook.parts.iter().flat_map(|part| &part.answers).flat_map(|answer| &answer.queries);
    let queries: std::collections::BTreeSet<&str> = asks.map(|ask| ask.query.as_str()).collect();
    paragraph(&mut page, &queries.into_iter().collect::<Vec<_>>().join(", "));
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &playbook.file);
    Ok(Some(page))
}

fn params(page: &mut String, params: &[Param]) {
    for param in params {
        let default = match serde_json::to_value(&param.default) {
            Ok(serde_json::Value::Null) | Err(_) => "none".to_owned(),
            Ok(serde_json::Value::String(text)) => text,
            Ok(other) => other.to_string(),
        };
        let kind = match param.values.as_slice() {
            [] => format!("{:?}", param.kind).to_lowercase(),
            values => values.join("|"),
        };
        let default = if param.required { "required".to_owned() } else { format!("default {default}") };
        item(page, &param.name, &format!("{} [{kind}, {default}]", param.doc));
    }
}

fn query_page(query: &Query) -> String {
    let header = &query.header;
    let mut page = format!("{}@{} - {}\n\n", header.name, header.version, header.title);
    paragraph(&mut page, &header.summary);
    paragraph(&mut page, &header.why);
    if let Some(deprecated) = &header.deprecated {
        let text = format!(
            "Deprecated since {}: {} Use {}.",
            deprecated.since, deprecated.reason, deprecated.instead
        );
        paragraph(&mut page, &text);
    }
    if !header.params.is_empty() {
        page.push_str("\nPARAMETERS (-p name=value)\n");
        params(&mut page, &header.params);
    }
    page.push_str("\nCOLUMNS (with their headers in tables)\n");
    for column in &header.columns {
        let header = column.to_column().header();
        let header = if header == column.name { String::new() } else { format!("\"{header}\": ") };
        item(&mut page, &column.name, &format!("{header}{}", described(column)));
    }
    page.push_str("\nLIMITS\n");
    paragraph(&mut page, &header.limits);
    if let Some(nsys) = &header.nsys {
        page.push_str("\nNVIDIA\n");
        let names = std::iter::once(&header.name).chain(&nsys.aliases);
        paragraph(
            &mut page,
            &format!("{} ({}).", nsys.title, names.cloned().collect::<Vec<_>>().join(", ")),
        );
        for arg in &nsys.args {
            let sets: Vec<String> = arg
                .set
                .iter()
                .map(|(name, value)| {
                    let flag = value.as_bool().map(|flag| flag.to_string());
                    format!("{name}={}", value.as_str().map(str::to_owned).or(flag).unwrap_or_default())
                })
                .collect();
            let what = match &arg.param {
                Some(param) => format!("{}=VALUE is the same as -p {param}=VALUE", arg.name),
                None => format!("{} is the same as -p {}", arg.name, sets.join(" -p ")),
            };
            paragraph(&mut page, &what);
        }
        let names: Vec<&str> = nsys.columns.iter().map(|column| column.name.as_str()).collect();
        paragraph(&mut page, &format!("`--columns nsys` prints {}.", names.join(", ")));
    }
    if !header.see_also.is_empty() {
        page.push_str("\nSEE ALSO\n");
        paragraph(&mut page, &header.see_also.join(", "));
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &format!("{}, reading {}", query.file, header.reads.join(", ")));
    page
}

fn relation_page(relation: &Relation) -> String {
    let header = &relation.header;
    let mut page = format!("{} - a relation (normalised table)\n\n", header.name);
    paragraph(&mut page, &header.summary);
    columns(&mut page, &header.columns);
    if !header.limits.is_empty() {
        page.push_str("\nLIMITS\n");
        paragraph(&mut page, &header.limits);
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &format!("{}, reading {}", relation.file, header.reads.join(", ")));
    paragraph(
        &mut page,
        &format!(
            "Scope options such as --time limit the rows of {0}. all_{0} always has all rows.",
            header.name
        ),
    );
    page
}

fn source_page(source: &Source) -> String {
    let mut page =
        format!("{} - {}, from {}\n\n", source.view, source.title, source.tables.join(" or "));
    paragraph(&mut page, &source.doc);
    paragraph(&mut page, &format!("Recorded by: {}", source.capture));
    page.push_str("\nCOLUMNS\n");
    for column in &source.columns {
        let mut facts = vec![format!("{:?}", column.kind).to_lowercase()];
        facts.extend(column.unit.map(|unit| unit.name().to_owned()));
        facts.extend(column.reference.as_ref().map(|target| format!("see {target}")));
        facts.extend(column.since.as_ref().map(|version| format!("since schema {version}")));
        facts.extend(column.until.as_ref().map(|version| format!("gone in schema {version}")));
        item(&mut page, &column.name, &format!("{} [{}]", column.doc, facts.join(", ")));
    }
    for row in &source.rows {
        item(&mut page, &row.id.to_string(), &format!("{} ({})", row.label, row.name));
    }
    page
}

/// The page of a class map. A query or relation of the same name takes precedence.
fn class_page(args: &Args, catalog: &Catalog) -> Result<Option<String>> {
    let name = &args.name;
    let is_other = catalog.query(name).is_ok()
        || catalog.relation(name).is_some()
        || catalog.source(name).is_some()
        || args.sql;
    if is_other || !catalog.classes().names().contains(name) {
        return Ok(None);
    }
    let map = catalog.classes().map(name)?;
    let mut page = format!("{name} - a class map of {} rules\n\n", map.rules.len());
    paragraph(&mut page, &map.doc);
    page.push_str("\nRULES (the first that matches decides)\n");
    for rule in &map.rules {
        let kind = match rule.rule.pattern {
            Pattern::Match(_) => "match ",
            Pattern::Substring(_) => "substring ",
            Pattern::Activity(_) => "",
        };
        let why = if rule.why.is_empty() { String::new() } else { format!(" [{}]", rule.why) };
        item(&mut page, &rule.rule.class, &format!("{kind}{}{why}", rule.rule.pattern));
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &map.files().join(", "));
    Ok(Some(page))
}

fn columns(page: &mut String, columns: &[ColumnSpec]) {
    page.push_str("\nCOLUMNS\n");
    for column in columns {
        item(page, &column.name, &described(column));
    }
}

/// Meaning, type and unit of a column.
fn described(column: &ColumnSpec) -> String {
    let unit = column.unit.map_or(String::new(), |unit| format!(", {}", unit.name()));
    format!("{} [{}{unit}]", column.doc, column.kind.name())
}

/// Width of a manual page, in characters.
const WIDTH: usize = 96;

fn paragraph(page: &mut String, text: &str) {
    for line in wrapped(text, WIDTH - 2) {
        let _ = writeln!(page, "  {line}");
    }
}

fn item(page: &mut String, name: &str, text: &str) {
    const INDENT: usize = 24;
    for (index, line) in wrapped(text, WIDTH - INDENT).into_iter().enumerate() {
        match index {
            0 if name.len() + 4 > INDENT => {
                let _ = writeln!(page, "  {name}\n{:INDENT$}{line}", "");
            }
            0 => {
                let _ = writeln!(page, "  {name:width$}{line}", width = INDENT - 2);
            }
            _ => {
                let _ = writeln!(page, "{:INDENT$}{line}", "");
            }
        }
    }
}

/// Wraps text at spaces into lines of at most `width` characters; a longer word gets its own line.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
