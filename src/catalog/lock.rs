//! `catalog.lock`: which version of a query stands for which content.
//!
//! One line a query: name, version, hash of the statement, hash of the contract (columns,
//! parameters, kind). A contract that changes must take a higher version; a statement that changes
//! under the same contract only refreshes the lock, so that the diff shows it in review.

use super::Query;
use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Name of the lock file in a query folder.
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
    /// Hash of columns, parameters and kind.
    pub contract: String,
}

impl LockEntry {
    /// The state of a query as it is now.
    pub fn of(query: &Query) -> Self {
        let header = &query.header;
        let mut contract = format!("{:?}\n", header.kind);
        for column in &header.columns {
            contract.push_str(&format!("{} {:?} {:?}\n", column.name, column.kind, column.unit));
        }
        for param in &header.params {
            contract.push_str(&format!(":{} {:?} {:?}\n", param.name, param.kind, param.values));
        }
        Self { version: header.version, body: hash(&query.sql), contract: hash(&contract) }
    }
}

/// Twelve hexadecimal digits: enough to see a change, short enough to read a diff.
fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

impl Lock {
    /// Reads a lock file.
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
                    "is no `name version body contract`",
                    "run `nsq check --bless`",
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

    /// The state of these queries as they are now.
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
