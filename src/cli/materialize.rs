//! `nsq materialize`: writes the normalised tables to a plain SQLite file, or as Parquet.

mod dataset;

use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::{note, output};
use crate::catalog::{Catalog, Relation};
use crate::error::{Error, Result};
use crate::execute::{Limits, Session, TableWriter};
use crate::normalize::{self, Presence, UNSCOPED};
use crate::render::encoder;
use crate::report::Report;
use crate::schema::Schema;
use crate::table::{Column, Type, Unit, Value, humanize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Write the normalised tables to a SQLite file for sqlite3, datasette, DuckDB or nsq
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq materialize report.sqlite -o plain.sqlite
  nsq materialize report.sqlite -o second.sqlite --time 1s/2s
  nsq materialize job/ --parquet dataset
  sqlite3 plain.sqlite \"SELECT short_name, count(*) FROM kernel GROUP BY 1\"
  nsq run plain.sqlite --query top_kernels

The table nsq_column documents every column. Captured environments and command lines are left out.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace; with --parquet, several of them, or folders of them.
    #[arg(required = true, value_name = "REPORT")]
    report: Vec<PathBuf>,
    /// File to write; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE", required_unless_present = "parquet")]
    output: Option<PathBuf>,
    /// Write DIR/RELATION/job=…/rank=…/part.parquet instead; needs nsq-arrow.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "force"])]
    parquet: Option<PathBuf>,
    /// Value of job=… [default: name of the folder that the report is in]
    #[arg(long, value_name = "NAME", requires = "parquet")]
    job: Option<String>,
    /// Replace the output file if it exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

impl Args {
    pub(super) fn is_parquet(&self) -> bool {
        self.parquet.is_some()
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    if let (Some(folder), Some(encode)) = (&args.parquet, encoder()) {
        return dataset::write(args, folder, encode);
    }
    match (&args.output, args.report.as_slice()) {
        (Some(output), [report]) => one_file(args, report, output),
        _ => Err(Error::usage(
            "a SQLite file holds one report",
            "give one report, or --parquet DIR for several",
        )),
    }
}

/// A report whose relations can be read.
struct Opened<'c> {
    report: String,
    relations: Vec<&'c Relation>,
    session: Session,
}

impl<'c> Opened<'c> {
    fn new(args: &Args, catalog: &'c Catalog, path: &Path, limits: &Limits) -> Result<Self> {
        let report = Report::open(path, &args.open.export_options())?;
        let schema = Schema::detect(&report)?;
        let scope = args.scope.resolve(&schema)?;
        let relations = present_relations(catalog, &schema)?;
        let names = relations.iter().map(|relation| relation.header.name.as_str());
        let installation = normalize::plan(&schema, catalog, &scope, names)?;
        installation.notes.iter().for_each(|text| note(text));
        let session = Session::begin(report.connect()?, &installation, limits)?;
        Ok(Self { report: report.name(), relations, session })
    }
}

fn one_file(args: &Args, report: &Path, output: &Path) -> Result<u8> {
    output::must_be_free(output, args.force)?;
    let catalog = args.library.load()?;
    let report = Report::open(report, &args.open.export_options())?;
    output::must_differ(Some(output), [report.path.as_path(), report.database.as_path()])?;
    let schema = Schema::detect(&report)?;
    let scope = args.scope.resolve(&schema)?;
    let relations = present_relations(&catalog, &schema)?;
    let beyond = if scope.is_whole() { BTreeSet::new() } else { read_beyond(&catalog, &relations)? };
    let names = relations.iter().map(|relation| relation.header.name.as_str());
    let roots = names.chain(beyond.iter().map(String::as_str));
    let installation = normalize::plan(&schema, &catalog, &scope, roots)?;
    installation.notes.iter().for_each(|text| note(text));
    let limits = args.limits.limits();
    let name = report.name();
    let session = Session::begin(report.connect()?, &installation, &limits)?;
    output::replace(output, |path| {
        let writer = TableWriter::create(path)?;
        writer.describe(&[
            ("NSQ_VERSION", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("NSQ_REPORT", Some(name)),
            ("NSQ_SCOPE_START_NS", scope.start_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE_END_NS", scope.end_ns.map(|ns| ns.to_string())),
            (
                "NSQ_SCOPE",
                (!scope.is_whole()).then(|| serde_json::to_string(&scope).unwrap_or_default()),
            ),
            ("EXPORT_SCHEMA_VERSION", schema.export_version.clone()),
            ("EXPORT_PRODUCT_VERSION", schema.nsys_version.clone()),
        ])?;
        for relation in &relations {
            let condition = match relation.header.name.as_str() {
                STRINGS => referred_to(&relations),
                _ => "true".to_owned(),
            };
            let name = &relation.header.name;
            session.copy_relation(relation, name, &condition, &writer, &limits)?;
            let whole = format!("{UNSCOPED}{name}");
            if beyond.contains(&whole) {
                session.copy_relation(relation, &whole, "true", &writer, &limits)?;
            }
        }
        writer.finish()
    })?;
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let (read, written) = (size(&report.database), size(output));
    note(&format!(
        "wrote {}: {} in {} relations, from a report of {}",
        output.display(),
        bytes(written),
        relations.len(),
        bytes(read)
    ));
    if written / FEW_TIMES > read {
        note(
            "names are repeated in every row; to keep less, use --time, --device or other scope options",
        );
    }
    Ok(0)
}

/// A file this many times larger than its report deserves an explanation.
const FEW_TIMES: u64 = 4;

fn bytes(size: u64) -> String {
    let column = Column { kind: Type::Bytes, unit: Some(Unit::Bytes), ..Column::untyped("") };
    humanize(&Value::Int(i64::try_from(size).unwrap_or(i64::MAX)), &column)
}

/// The relations that the report has data for. As in an export, data that was not captured has no table.
fn present_relations<'c>(catalog: &'c Catalog, schema: &Schema) -> Result<Vec<&'c Relation>> {
    let presence = Presence::new(schema, catalog);
    let mut present = Vec::new();
    for relation in catalog.relations()? {
        if presence.is_present(&relation.header.name)? {
            present.push(relation);
        }
    }
    Ok(present)
}

/// The `all_…` relations that queries read: lookups that ignore the scope.
fn read_beyond(catalog: &Catalog, relations: &[&Relation]) -> Result<BTreeSet<String>> {
    let is_here = |read: &&String| {
        let name = read.strip_prefix(UNSCOPED);
        name.is_some_and(|name| relations.iter().any(|relation| relation.header.name == name))
    };
    let queries = catalog.readable_queries();
    Ok(queries.iter().flat_map(|query| query.header.reads.iter().filter(is_here).cloned()).collect())
}

/// The relation of all strings. Strings that no event refers to can be paths and command lines.
const STRINGS: &str = "string";

/// The SQL condition that an event refers to a string.
fn referred_to(relations: &[&Relation]) -> String {
    let mut names = Vec::new();
    for relation in relations {
        let columns = relation
            .header
            .columns
            .iter()
            .filter(|column| column.name.ends_with("name_id") || column.name == "text_id");
        names.extend(
            columns.map(|column| format!("SELECT {} FROM {}", column.name, relation.header.name)),
        );
    }
    format!("string_id IN ({})", names.join(" UNION "))
}
