//! A class map: its rules, and what is wrong with them.

use nsq_sweep::classify::{ClassMap, Rule};
use nsq_value::error::{Error, Result};
use std::fmt;

/// Maximum number of rules in a file, and in a map merged from several files.
///
/// Compile time grows with the square of the number of substrings: it is two seconds at this limit.
pub(super) const MAX_RULES: usize = 2_000;

pub(super) fn too_many(count: usize, what: &str) -> String {
    format!("too many {what}: {count} (the limit is {MAX_RULES})")
}

pub(super) const TOO_MANY_HELP: &str = "one regular expression can match many names: `gemm|dot|matmul`";

/// A class map, merged from all files that define a map of this name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassMapSource {
    /// Name, such as `default` or `vllm/llama`.
    pub name: String,
    /// What its classes are.
    pub doc: String,
    /// The rules, in the order they are tried.
    pub rules: Vec<ClassRule>,
    /// Patterns that occur more than once.
    pub duplicates: Vec<Duplicate>,
}

/// A rule and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRule {
    /// The rule.
    pub rule: Rule,
    /// Why the rule exists.
    pub why: String,
    /// The file, as the user would open it.
    pub file: String,
    /// Line number in the file, from 1.
    pub line: usize,
    /// Whether nsq added the rule because the file's format implies it; no line of the file states it.
    pub is_implied: bool,
}

/// A pattern that occurs more than once in a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The file with the finding.
    pub file: String,
    /// Line number in the file, from 1.
    pub line: usize,
    /// Which pattern is repeated, and which rule wins.
    pub message: String,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl ClassMapSource {
    /// A map of rules that stand in no file.
    pub fn of_rules(name: String, rules: Vec<Rule>) -> Self {
        let rule = |rule| ClassRule {
            rule,
            why: String::new(),
            file: String::new(),
            line: 0,
            is_implied: false,
        };
        Self { name, rules: rules.into_iter().map(rule).collect(), ..Self::default() }
    }

    /// Compiles the map. An error names the file, the map and the rule.
    pub fn compile(&self) -> Result<ClassMap> {
        let count = self.rules.iter().filter(|rule| !rule.is_implied).count();
        if count > MAX_RULES {
            return Err(Error::usage(
                format!("class map {}: {}", self.name, too_many(count, "rules")),
                TOO_MANY_HELP,
            ));
        }
        let rules = self.rules.iter().map(|rule| rule.rule.clone()).collect();
        ClassMap::compile(rules).map_err(|broken| match broken.index.and_then(|index| self.rules.get(index)) {
            Some(rule) => Error::catalog(
                &rule.file,
                rule.line,
                format!("class map {}: invalid pattern '{}': {}", self.name, rule.rule.pattern, broken.reason),
                "`match` is a regular expression without look-around; use `substring` for plain text",
            ),
            None => Error::usage(
                format!("class map {}: cannot compile all rules together: {}", self.name, broken.reason),
                "remove some rules, or repeat less inside them, as in `x{1000}`",
            ),
        })
    }

    /// The files that its rules come from, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if !files.contains(&rule.file.as_str()) {
                files.push(&rule.file);
            }
        }
        files
    }

    /// Appends the rules of another map of the same name.
    ///
    /// A pattern that this map already has would never win, so it is dropped. It is reported as a
    /// duplicate if its class differs.
    pub(super) fn append(&mut self, other: &Self) {
        for rule in &other.rules {
            let known = self.rules.iter().find(|known| known.rule.pattern == rule.rule.pattern);
            let Some(known) = known else {
                self.rules.push(rule.clone());
                continue;
            };
            if known.rule.class != rule.rule.class {
                self.duplicates.push(Duplicate {
                    file: known.file.clone(),
                    line: known.line,
                    message: format!(
                        "class map {}: pattern '{}' has class {} here, which applies, and class {} in {}:{}",
                        self.name,
                        rule.rule.pattern,
                        known.rule.class,
                        rule.rule.class,
                        rule.file,
                        rule.line
                    ),
                });
            }
        }
        if self.doc.is_empty() {
            self.doc.clone_from(&other.doc);
        }
        self.duplicates.extend(other.duplicates.iter().cloned());
    }
}
