//! `nsq show`: prints the manual page of a query or relation, or its SQL.

mod json_schema;

use super::options::{LibraryArgs, OpenArgs, ScopeArgs, unlimited};
use super::output::write_to;
use crate::CHAPTERS;
use nsq_ask::manual::{Form, manual};
use nsq_ask::open_report::OpenReport;
use nsq_check::lint::EmptyReport;
use nsq_engine::compile::{Invocation, Layout, OWN_FORMS, Plan, functions_in, in_own_functions, script};
use nsq_engine::execute::functions;
use nsq_engine::normalize::{self, Installation, Scope, UNSCOPED};
use nsq_library::catalog::Catalog;
use nsq_report::report::is_database;
use nsq_value::error::{Error, Result};
use nsq_value::shell;
use std::path::{Path, PathBuf};

/// Describe a query, page, table or chapter, or print its SQL
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq show top_kernels
  nsq show kernel                                       a relation (normalised table)
  nsq show median                                       a function of SQL that nsq adds
  nsq show vllm/llama                                   a class map
  nsq show cs336                                        a playbook: its questions and parameters
  nsq show kernels                                      a page: its tables and layouts
  nsq show cookbook/gate                                a chapter of the book, in Markdown
  nsq show cuda_gpu_trace --sql --report r.sqlite | sqlite3 r.sqlite
  nsq show top_kernels --sql -p limit=5 --device 0 --report r.sqlite
  nsq show overview --json-schema                       what `nsq overview -f json` prints
  nsq show top_kernels --format markdown                the page for a site or a book

The script that --sql prints runs in plain sqlite3. If its first line says `-- needs nsq: …`, run it \
with `nsq sql REPORT --file` instead, or load nsq into SQLite and read the query as a table.")]
pub(super) struct Args {
    /// Query (NAME[:ARG…]), relation, source view, function, class map, playbook, page, chapter, or the path of a .sql or
    /// .yml file.
    #[arg(value_name = "NAME")]
    name: String,
    /// Print a standalone SQL script: views, scope and query.
    #[arg(long)]
    sql: bool,
    /// Print the JSON Schema of what `--format json` prints for a query or page.
    #[arg(long, conflicts_with = "sql")]
    json_schema: bool,
    /// Print the page as text or as Markdown.
    #[arg(short, long, value_parser = ["text", "markdown"], default_value = "text", hide_default_value = true)]
    #[arg(conflicts_with_all = ["sql", "json_schema"])]
    format: String,
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
    let path = Path::new(&args.name);
    if matches!(is_database(path), Ok(true)) {
        return Err(Error::usage(
            format!("{} is a report, and show describes queries, pages and tables", path.display()),
            format!("what the report holds: nsq schema {}", shell::path(path)),
        ));
    }
    let mut catalog = args.library.load()?;
    if args.json_schema {
        let mut invocation = Invocation::parse(&args.name);
        if let Some(path) = invocation.path().map(Path::to_owned) {
            invocation.query = catalog.add_file(&path)?;
        }
        let text = json_schema::schema(&args.name, &catalog, &invocation)?;
        write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        return Ok(0);
    }
    let chapter = CHAPTERS.iter().find(|[name, ..]| *name == args.name);
    let mut invocation = Invocation::parse(&args.name).with_params(&args.param)?;
    if args.name.ends_with(".yml") && !args.sql {
        invocation.query = catalog.add_playbook(Path::new(&args.name))?;
    } else if let Some(path) = invocation.path().map(Path::to_owned) {
        // A name with a slash can be that of a class map.
        let is_class_map = catalog.classes().names().contains(&args.name);
        if args.sql || !(is_class_map || chapter.is_some()) {
            invocation.query = catalog.add_file(&path)?;
        }
    }
    let text = match args.sql {
        true => standalone(args, &catalog, &invocation)?,
        false => {
            let form = if args.format == "markdown" { Form::Markdown } else { Form::Text };
            // A chapter comes last: a query or relation may have its name.
            match (manual(&catalog, &invocation.query, form), chapter) {
                (Err(Error::Unknown { .. }), Some([.., text])) => (*text).to_owned(),
                (described, _) => described?,
            }
        }
    };
    write_to(None, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    Ok(0)
}

fn standalone(args: &Args, catalog: &Catalog, invocation: &Invocation) -> Result<String> {
    let is_relation = catalog.relation(&args.name).is_some() || catalog.source(&args.name).is_some();
    let plan = match is_relation {
        // For a relation, the script defines it and selects all its rows.
        true => Plan::ad_hoc(&format!("SELECT * FROM {}", args.name), Default::default(), catalog),
        // A required parameter without a value stays `:name`, which SQLite shells can set.
        false => Plan::without_values(catalog, invocation, &Layout::Own)?,
    };
    let (schema, scope) = match &args.report {
        Some(path) => {
            let open = OpenReport::new(path, &args.open.export_options())?;
            let (scope, _) =
                open.in_numbers(catalog, &args.scope.resolve(&open.schema)?, &unlimited())?;
            (open.schema, scope)
        }
        None => {
            let schema = EmptyReport::new(catalog)?.schema().clone();
            let scope = args.scope.resolve(&schema)?;
            (schema, scope)
        }
    };
    let scope = Scope { as_recorded: plan.as_recorded, ..scope };
    let installation =
        normalize::plan_script(&schema, catalog, &scope, plan.reads.iter().map(String::as_str))?;
    let report = args.report.as_deref().and_then(Path::file_name).unwrap_or("report".as_ref());
    let natives = native(&plan, &installation, catalog)?;
    let report = report.to_string_lossy();
    // For a report, the script is to be run. Without one it is read, and says what the file says.
    if args.report.is_some() && has_own_form(&plan, &installation, &natives) {
        let own = in_own_functions(&script(&plan, &installation, &[], &report));
        if let Some(own) = own {
            return Ok(format!("-- in SQLite's own functions: {}\n{own}", natives.join(", ")));
        }
    }
    let text = script(&plan, &installation, &natives, &report);
    Ok(match args.report {
        Some(_) => text,
        None => text.replacen(
            "-- ",
            "-- for an export with every table; --report REPORT adapts it to a report\n-- ",
            usize::from(!text.starts_with("-- needs nsq")),
        ),
    })
}

/// Whether the script may do without what it needs of nsq: functions alone, and no relation that would stay empty. The answers that it
/// asks must count what the query counts, because a script has one scope.
fn has_own_form(plan: &Plan, installation: &Installation, natives: &[String]) -> bool {
    !natives.is_empty()
        && installation.natives.is_empty()
        && natives.iter().all(|native| OWN_FORMS.contains(&native.as_str()))
        && plan.asks.iter().all(|asked| asked.plan.as_recorded == plan.as_recorded)
}

/// Whether a relation is built from another.
fn reads(catalog: &Catalog, relation: &str, other: &str) -> bool {
    let Some(Ok(relation)) = catalog.relation(relation) else { return false };
    let inputs = &relation.header.reads;
    let mut inputs = inputs.iter().map(|input| input.strip_prefix(UNSCOPED).unwrap_or(input));
    inputs.any(|input| input == other || reads(catalog, input, other))
}

/// The statements of a plan, and of the plans that it asks.
fn statements_of(plan: &Plan) -> Vec<&String> {
    let asked = plan.asks.iter().flat_map(|asked| statements_of(&asked.plan));
    std::iter::once(&plan.sql).chain(asked).collect()
}

/// The SQL functions and native relations of nsq that a script needs and plain sqlite3 lacks.
fn native(plan: &Plan, installation: &Installation, catalog: &Catalog) -> Result<Vec<String>> {
    let called = installation
        .statements
        .iter()
        .chain(statements_of(plan))
        .chain(plan.findings.iter().flat_map(|all| all.iter()).map(|asked| &asked.plan.sql))
        .flat_map(|sql| functions_in(sql).unwrap_or_default())
        .collect::<std::collections::BTreeSet<String>>();
    let functions = functions()?.into_iter().map(|function| function.name);
    let relations = installation.natives.iter().map(|native| &native.relation);
    let required = plan.requires.iter().flat_map(|requirement| requirement.split('|').map(str::trim));
    let required: Vec<&str> = required.collect();
    let is_needed = |native: &&String| {
        required.is_empty()
            || required.iter().any(|name| *name == **native || reads(catalog, name, native))
    };
    // If the query requires none of the native relations, it can run with them empty.
    let relations: Vec<&String> = match relations.clone().any(|name| is_needed(&name)) {
        true => relations.collect(),
        false => Vec::new(),
    };
    Ok(functions.filter(|name| called.contains(name)).chain(relations.into_iter().cloned()).collect())
}
