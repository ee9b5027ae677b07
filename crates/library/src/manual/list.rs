//! Lists of what the library holds, and the search for words in them.

use crate::catalog::{Catalog, Shown};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::BTreeMap;

/// Words of a question that say nothing about its subject.
const FILLERS: &str = "\
    a about an and any are as at be by can could data did do does each every find for from get give \
    happen happened happens has have how i if in into is it its list long many me model much my of \
    on or our please query see should show so spend spent take taken takes tell than that the their \
    them there these they this those to training us use used uses was we were what when where which \
    while who why will with would you your";

/// The words to search for, in lower case. A question in quotes is split; its filler words are left out.
pub fn words_of(typed: &[String]) -> Vec<String> {
    let text = typed.join(" ").to_lowercase();
    let is_mark = |c: char| matches!(c, '?' | '!' | '.' | ',' | ';' | ':' | '"' | '\'');
    let mut words: Vec<String> =
        text.split_whitespace().map(|word| word.trim_matches(is_mark).to_owned()).collect();
    words.retain(|word| !word.is_empty());
    let is_filler = |word: &String| FILLERS.split(' ').any(|filler| filler == word);
    if !words.iter().all(is_filler) {
        words.retain(|word| !is_filler(word));
    }
    words
}

/// Keeps the rows with the most words, the best first. Returns how many of the words they have.
pub fn search(table: &mut ResultTable, words: &[String], catalog: &Catalog) -> Result<usize> {
    let synonyms = synonyms()?;
    let spellings: Vec<Spellings> = words.iter().map(|word| Spellings::new(word, &synonyms)).collect();
    let rows = std::mem::take(&mut table.rows).into_iter();
    let mut scored: Vec<(usize, usize, Vec<Value>)> = rows
        .map(|row| {
            let places = places(&row, catalog);
            let scores: Vec<usize> = spellings.iter().map(|word| word.score(&places)).collect();
            let found = scores.iter().filter(|score| **score > 0).count();
            (found, scores.iter().sum(), row)
        })
        .collect();
    let most = scored.iter().map(|(found, ..)| *found).max().unwrap_or(0);
    scored.retain(|(found, ..)| *found == most && most > 0);
    // Equal rows keep their order.
    scored.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    table.rows = scored.into_iter().map(|(.., row)| row).collect();
    Ok(most)
}

/// A word that was typed, and other words for the same thing.
struct Spellings {
    own: Vec<String>,
    others: Vec<String>,
}

impl Spellings {
    fn new(word: &str, synonyms: &BTreeMap<String, Vec<String>>) -> Self {
        // `launched` also finds `launch`, and `gaps` finds `gap`.
        let stems = [("s", 3), ("ed", 4), ("ing", 4)]
            .map(|(end, least)| word.strip_suffix(end).filter(|stem| stem.len() >= least));
        let own: Vec<String> =
            [Some(word)].into_iter().chain(stems).flatten().map(str::to_owned).collect();
        let others = own.iter().filter_map(|word| synonyms.get(word)).flatten().cloned().collect();
        Self { own, others }
    }

    /// How well an item matches: by the place of the word, and twice as well by the word itself as by a
    /// synonym. 0 is no match.
    fn score(&self, places: &[String; 3]) -> usize {
        let best = |words: &[String]| {
            let weighed = places.iter().zip([8, 4, 1]);
            let found = |text: &String| words.iter().any(|word| has_word(text, word));
            weighed.filter(|(text, _)| found(text)).map(|(_, weight)| weight).max().unwrap_or(0)
        };
        (2 * best(&self.own)).max(best(&self.others))
    }
}

/// Whether a word of the text begins with `word`: `os` finds `osrt` and `mem_os`, but not `costs`.
fn has_word(text: &str, word: &str) -> bool {
    let begins = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| begins(at) || !word.starts_with(char::is_alphanumeric))
}

/// What people search for, and the words that the queries use for it.
fn synonyms() -> Result<BTreeMap<String, Vec<String>>> {
    let text = include_str!("synonyms.yml");
    serde_yaml::from_str(text)
        .map_err(|e| Error::catalog("synonyms.yml", 1, e.to_string(), "report this: it is a bug in nsq"))
}

/// The texts of an item in which words are looked for: its name, its summary, and the rest of its row and
/// of a query's documentation.
fn places(row: &[Value], catalog: &Catalog) -> [String; 3] {
    let mut rest = vec![text(row, 0), text(row, 3), text(row, 4)];
    if let Ok(query) = catalog.query(text(row, 1)) {
        let header = &query.header;
        rest.extend([header.title.as_str(), header.why.as_str()]);
        rest.extend(header.columns.iter().map(|column| column.name.as_str()));
    }
    [text(row, 1).to_lowercase(), text(row, 2).to_lowercase(), rest.join(" ").to_lowercase()]
}

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
        ("name", "Name of the page, for `nsq page`."),
        ("summary", "Title of the page."),
        ("version", "Version of the page."),
        ("queries", "Queries of its tables."),
    ];
    table(columns, rows)
}

fn text(row: &[Value], index: usize) -> &str {
    match row.get(index) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}
