//! `nsq materialize --parquet DIR`: the relations of many reports as a dataset with Hive partitions,
//! `DIR/RELATION/job=…/rank=…/part.parquet`.

use super::args::Args;
use crate::cli::{note, reports};
use nsq_ask::materialize::Source;
use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::Plan;
use nsq_engine::execute::{Limits, Session};
use nsq_files::whole_file::WorkFolder;
use nsq_library::catalog::Catalog;
use nsq_render::render::{Encoder, Format, Heading};
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, create_dir_all, rename};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes the dataset, whole or not at all.
pub(super) fn write(args: &Args, folder: &Path, encode: Encoder) -> Result<u8> {
    if folder.exists() {
        return Err(Error::usage(
            format!("{} already exists", folder.display()),
            "give the name of a new folder",
        ));
    }
    let catalog = args.library.load()?;
    let limits = args.limits.limits(Threads::default());
    let paths = reports::named(&args.report)?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let work = WorkFolder::beside(parent.unwrap_or(Path::new(".")))?;
    let whole = work.path().join("whole");
    create_dir_all(&whole).map_err(|e| Error::io(folder, e))?;
    let (mut jobs, mut ranks, mut relations) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (place, path) in paths.iter().enumerate() {
        let open = OpenReport::new(path, &args.open.export_options())?;
        let (name, mut rank) = (open.report.name(), None);
        let job = args.job.clone().unwrap_or_else(|| folder_name(path));
        let (scope, of_scope) =
            open.in_numbers(&catalog, &args.scope.resolve(&open.schema)?, &limits)?;
        of_scope.iter().for_each(|text| note(text));
        let source = Source {
            report: &open.report,
            schema: &open.schema,
            catalog: &catalog,
            scope: &scope,
            limits: &limits,
            internal: args.all,
        };
        let notes = source.each_group(&BTreeSet::new(), |group| {
            if group.parts.iter().any(|part| part.name == "rank") {
                rank = only_rank(&group.session, &catalog, &limits)?;
            }
            group.parts.iter().try_for_each(|part| {
                let folder = whole.join(&part.name).join(job_folder(&job)).join(place.to_string());
                create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
                let file = folder.join("part.parquet");
                let mut out = BufWriter::new(File::create_new(&file).map_err(|e| Error::io(&file, e))?);
                let mut heading =
                    Heading { title: part.relation.header.summary.clone(), ..Heading::default() };
                let facts = [("relation", &part.name), ("report", &name), ("job", &job)];
                let facts = facts.map(|(key, fact)| (key.to_owned(), fact.as_str().into()));
                heading.facts.extend(facts);
                heading.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
                group.read(part, |feed| feed(&mut *encode(Format::Parquet, &heading, &mut out)))?;
                relations.insert(part.name.clone(), part.relation.header.summary.clone());
                out.flush().map_err(|e| Error::io(&file, e))
            })
        })?;
        notes.iter().for_each(|text| note(text));
        ranks.push(rank);
        jobs.push(job);
    }
    let places: Vec<i64> = (0..).take(paths.len()).collect();
    let known: Vec<i64> = ranks.iter().copied().flatten().collect();
    let keys: BTreeSet<(&String, i64)> = jobs.iter().zip(known.iter().copied()).collect();
    let partitions = match known.len() == paths.len() && keys.len() == paths.len() {
        true => known,
        false => {
            note("rank=… is the position of the report: some reports have no rank, or share one");
            places
        }
    };
    for (place, (job, rank)) in jobs.iter().zip(partitions).enumerate() {
        for relation in relations.keys() {
            let job = whole.join(relation).join(job_folder(job));
            let staged = job.join(place.to_string());
            if staged.exists() {
                rename(&staged, job.join(format!("rank={rank}"))).map_err(|e| Error::io(folder, e))?;
            }
        }
    }
    let views = whole.join(VIEWS);
    std::fs::write(&views, views_of(&relations)).map_err(|e| Error::io(&views, e))?;
    rename(&whole, folder).map_err(|e| Error::io(folder, e))?;
    note(&format!(
        "wrote {}: {} relations of {} {}",
        folder.display(),
        relations.len(),
        paths.len(),
        if paths.len() == 1 { "report" } else { "reports" }
    ));
    Ok(0)
}

/// The file of the dataset that defines its relations as views of DuckDB.
const VIEWS: &str = "views.sql";

/// A view for each relation, with its summary. Paths are relative: the dataset can be moved.
fn views_of(relations: &BTreeMap<String, String>) -> String {
    let mut sql =
        format!("-- The relations of this dataset as views. In this folder: duckdb -init {VIEWS}\n");
    for (name, summary) in relations {
        let summary = summary.replace('\'', "''");
        sql.push_str(&format!(
            "CREATE OR REPLACE VIEW {name} AS\n  \
             FROM read_parquet('{name}/*/*/*.parquet', hive_partitioning = true, union_by_name = true);\n\
             COMMENT ON VIEW {name} IS '{summary}';\n"
        ));
    }
    sql
}

/// The rank of the report, if it is of one.
fn only_rank(session: &Session, catalog: &Catalog, limits: &Limits) -> Result<Option<i64>> {
    let statement = "SELECT DISTINCT rank FROM rank WHERE rank IS NOT NULL";
    let plan = Plan::ad_hoc(statement, ("rank of the report".to_owned(), 1), catalog);
    let ranks = session.table(&plan, limits)?.rows;
    Ok(match ranks.as_slice() {
        [row] => {
            row.first().and_then(|rank| if let Value::Int(rank) = rank { Some(*rank) } else { None })
        }
        _ => None,
    })
}

/// The name of the folder that the report is in.
fn folder_name(report: &Path) -> String {
    let folder = report.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let name = folder.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "job".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The partition of a job: as Hive does, other than plain characters are escaped.
fn job_folder(job: &str) -> String {
    let mut folder = "job=".to_owned();
    for byte in job.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                folder.push(char::from(byte))
            }
            _ => folder.push_str(&format!("%{byte:02X}")),
        }
    }
    folder
}
