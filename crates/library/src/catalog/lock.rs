//! `catalog.lock`: the content of each version of a query.
//!
//! Each line has a query's name, its version, the hash of its statement, and the hash of its contract
//! (columns, parameters, kind). A change of the contract requires a higher version. A change of only the
//! statement requires a refresh of the lock, so that it shows up in the review of the diff.

use super::Query;
use nsq_value::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Name of the lock file of a query folder.
pub const FILE: &str = "catalog.lock";

/// The locked state of queries, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    entries: BTreeMap<String, LockEntry>,
}

/// The locked state of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockEntry {
    /// Version of the query.
    pub version: u32,
    /// Hash of the statement.
    pub body: String,
    /// Hash of the columns, parameters and kind.
    pub contract: String,
}

impl LockEntry {
    /// The current state of a query.
    pub fn of(query: &Query) -> Self {
        let header = &query.header;
        let mut contract = format!("{:?}\n", header.kind);
        for column in &header.columns {
            contract.push_str(&format!("{} {:?} {:?}\n", column.name, column.kind, column.unit));
        }
        for param in &header.params {
            let required = if param.required { " required" } else { "" };
            contract
                .push_str(&format!(":{} {:?} {:?}{required}\n", param.name, param.kind, param.values));
        }
        Self { version: header.version, body: hash(&query.sql), contract: hash(&contract) }
    }
}

/// A hash of 12 hexadecimal digits: enough to detect a change, and short enough for a readable diff.
fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

impl Lock {
    /// Parses a lock file.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let mut entries = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = line.split_whitespace().collect();
            let entry = match fields.as_slice() {
                [name, version, body, contract] => version.parse().ok().map(|version| {
                    let (body, contract) = ((*body).to_owned(), (*contract).to_owned());
                    ((*name).to_owned(), LockEntry { version, body, contract })
                }),
                _ => None,
            };
            let (name, entry) = entry.ok_or_else(|| {
                Error::catalog(
                    file,
                    index + 1,
                    "invalid line: expected `name version body contract`",
                    "rewrite the file with `nsq check DIR --bless`",
                )
            })?;
            entries.insert(name, entry);
        }
        Ok(Self { entries })
    }

    /// The locked state of the query called `name`.
    pub fn get(&self, name: &str) -> Option<&LockEntry> {
        self.entries.get(name)
    }

    /// The current state of these queries.
    pub fn of<'a>(queries: impl IntoIterator<Item = &'a Query>) -> Self {
        let entry = |query: &Query| (query.header.name.clone(), LockEntry::of(query));
        Self { entries: queries.into_iter().map(entry).collect() }
    }

    /// The text of the lock file.
    pub fn render(&self) -> String {
        let mut text =
            "# name version sha256(statement) sha256(contract); written by `nsq check --bless`\n"
                .to_owned();
        for (name, entry) in &self.entries {
            text.push_str(&format!("{name} {} {} {}\n", entry.version, entry.body, entry.contract));
        }
        text
    }
}
