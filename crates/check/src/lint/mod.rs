//! Lint rules for the SQL library, used by `nsq check` and by the project's tests.
//!
//! Each rule has a number, a message and a remedy. The letter tells the kind of file: `Q` queries, `V`
//! relations, `S` source specs and name rules, `C` class maps, `G` pages, `P` their questions. `R` rules need a report.
//!
//! Users' statements in `nsq sql` are not checked, and running a query needs nothing from this module.

mod dialect;
mod empty_report;
mod finding;
mod internal;
mod names;
mod page;
mod query;
mod questions;
mod reads;
mod relation;
mod report;
mod statement;
mod template;

pub use empty_report::EmptyReport;
pub use finding::Finding;
pub use report::check_on_report;

use finding::unreadable;
use nsq_engine::execute::check_rules;
use nsq_library::catalog::Catalog;
use nsq_value::error::Result;

/// Checks the files of the library that are asked for. Queries, relations, playbooks and pages are checked only if all
/// relations and source specs can be read.
pub fn check(catalog: &Catalog, is_asked: impl Fn(&str) -> bool) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = catalog.broken().into_iter().map(unreadable).collect();
    let vocabulary_is_whole = catalog.relations().is_ok() && catalog.sources().is_ok();
    if vocabulary_is_whole {
        let empty_report = EmptyReport::new(catalog)?;
        for source in catalog.sources()? {
            relation::check_source(source, &mut findings);
        }
        for rules in catalog.all_rules().unwrap_or_default() {
            findings.extend(check_rules(rules).err().map(unreadable));
        }
        check_classes(catalog, &mut findings);
        for relation in catalog.relations()?.into_iter().filter(|relation| is_asked(&relation.file)) {
            relation::check_relation(relation, catalog, &empty_report, &mut findings);
        }
        for page in catalog.manifests().filter(|page| is_asked(&page.file)) {
            page::check_page(page, catalog, &mut findings);
        }
        for query in catalog.readable_queries().into_iter().filter(|query| is_asked(&query.file)) {
            query::check_query(query, catalog, &empty_report, &mut findings);
        }
        internal::check_internal(catalog, &mut findings)?;
    }
    findings.retain(|finding| is_asked(&finding.file));
    findings.sort();
    Ok(findings)
}

/// C01, C02: class maps compile, have a doc and rules, and have no duplicate patterns.
fn check_classes(catalog: &Catalog, findings: &mut Vec<Finding>) {
    let maps = catalog.classes();
    // Unreadable files are findings already.
    for name in maps.names() {
        let Ok(map) = maps.map(&name) else { continue };
        findings.extend(map.compile().err().map(unreadable));
        findings.extend(map.duplicates.into_iter().map(|duplicate| Finding {
            file: duplicate.file,
            line: duplicate.line,
            rule: "C01",
            message: duplicate.message,
            help: "remove one of the two".to_owned(),
        }));
        let file = map.rules.first().map_or(String::new(), |rule| rule.file.clone());
        if map.doc.is_empty() || map.rules.is_empty() {
            findings.push(Finding {
                file,
                line: 1,
                rule: "C02",
                message: format!("class map {name} has no `doc` or no `rules`"),
                help: "add rules, and describe the classes in `doc`".to_owned(),
            });
        }
    }
}
