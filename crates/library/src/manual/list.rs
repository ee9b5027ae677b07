//! Lists of what the library holds, and of what nsys can record.

use crate::catalog::{Catalog, Shown};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use serde::Deserialize;

/// What people ask first, and the name that answers it: of a query, page or verb.
pub const ASKED_FIRST: [(&str, &str); 20] = [
    ("What should I fix first?", "overview"),
    ("How busy is each GPU?", "gpu_time"),
    ("Why is my GPU idle?", "gpu_idle_cause_sum"),
    ("Which kernels take the most time?", "top_kernels"),
    ("How long does a step take?", "steps"),
    ("Which range or layer takes the time of the GPU?", "gpu_time_by_range"),
    ("Does launching kernels limit the speed?", "launch_bound"),
    ("Where does the host wait for the GPU?", "host_sync"),
    ("Does the GPU wait for data to be loaded?", "data_loading"),
    ("Do kernels hide the communication?", "comm_overlap"),
    ("Which rank makes the others wait?", "stragglers"),
    ("How fast are copies?", "memcpy_bandwidth"),
    ("Do matrix products use tensor cores?", "tensor_core_use"),
    ("How near is the work to the limits of the GPU?", "op_efficiency"),
    ("How much memory does the GPU need?", "memory_peaks"),
    ("Which CUDA calls take the time of the host?", "cuda_api_sum"),
    ("How fast is my inference engine?", "serving_sum"),
    ("How much faster would it be after a change?", "what_if"),
    ("Can I trust the capture?", "capture_trust"),
    ("What changed between two reports?", "nsq diff"),
];

/// A list of items: texts in five columns, given by name and meaning.
pub fn table(columns: [(&str, &str); 5], rows: impl IntoIterator<Item = [String; 5]>) -> ResultTable {
    let column = |(name, doc): (&str, &str)| Column { doc: doc.to_owned(), ..Column::untyped(name) };
    ResultTable {
        columns: columns.map(column).to_vec(),
        rows: rows.into_iter().map(|row| row.map(Value::Text).to_vec()).collect(),
    }
}

/// The queries, by subject.
pub fn queries(catalog: &Catalog, shown: Shown) -> ResultTable {
    let listed = catalog.readable_queries().into_iter().filter(|query| shown.has(query.header.internal));
    let rows = listed.map(|query| {
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

/// The relations that statements read.
pub fn relations(catalog: &Catalog, shown: Shown) -> Result<ResultTable> {
    let listed = catalog.relations()?.into_iter().filter(|relation| shown.has(relation.header.internal));
    let rows = listed.map(|relation| {
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

/// The class maps.
pub fn classes(catalog: &Catalog) -> Result<ResultTable> {
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

/// The playbooks.
pub fn playbooks(catalog: &Catalog) -> ResultTable {
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

/// The pages.
pub fn pages(catalog: &Catalog) -> ResultTable {
    let pages = catalog.readable_pages().into_iter().filter(|page| page.parts.is_empty());
    let rows = pages.map(|page| {
        let tables: Vec<&str> = page.tables.iter().map(|table| table.query.as_str()).collect();
        [
            "pages".to_owned(),
            page.name.clone(),
            page.title.clone(),
            page.version.to_string(),
            tables.join(", "),
        ]
    });
    let columns = [
        ("domain", "Always `pages`."),
        ("name", "Name of the page, for `nsq run -q`."),
        ("summary", "Title of the page."),
        ("version", "Version of the page."),
        ("queries", "Queries of its tables."),
    ];
    table(columns, rows)
}

/// What a search looks in: queries, pages, playbooks, relations, class maps, and what nsys can record.
pub fn library_items(catalog: &Catalog, shown: Shown) -> Result<ResultTable> {
    let mut all = queries(catalog, shown);
    let more =
        [pages(catalog), playbooks(catalog), relations(catalog, shown)?, classes(catalog)?, recorded()?];
    all.rows.extend(more.into_iter().flat_map(|table| table.rows));
    Ok(all)
}

/// Something that nsys records, or does not record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    name: String,
    words: Vec<String>,
    answer: String,
}

/// What nsys can record, and what it cannot: with the relation or query that has it, or the tool to use instead.
fn recorded() -> Result<ResultTable> {
    let things: Vec<Recorded> = serde_yaml::from_str(include_str!("recorded.yml")).map_err(|e| {
        Error::catalog("recorded.yml", 1, e.to_string(), "report this: it is a bug in nsq")
    })?;
    let rows = things.into_iter().map(|thing| {
        ["recorded".to_owned(), thing.name, thing.answer, String::new(), thing.words.join(", ")]
    });
    let columns = [
        ("domain", "Always `recorded`."),
        ("name", "What people look for."),
        ("summary", "Where it is, or why it is nowhere."),
        ("version", "Empty."),
        ("words", "Other words for it."),
    ];
    Ok(table(columns, rows))
}
