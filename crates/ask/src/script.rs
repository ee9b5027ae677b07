//! Scripts: statements that create TEMP objects before the first question, as those of `nsq show --sql` do.

use crate::open_report::OpenReport;
use nsq_engine::compile::{Plan, words_in};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{self, Plans, Scope};
use nsq_library::catalog::{Catalog, ClassMaps};
use nsq_value::error::Result;

/// What comes before the questions of a script.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Statements that create TEMP objects.
    pub preamble: Vec<Plan>,
    /// Captured environments, command lines, output and all strings may be read.
    pub reveals_secrets: bool,
}

impl Script {
    /// Begins a session for questions that read `roots`. Also returns notes, where the scope cannot be applied.
    pub(crate) fn begin<'a>(
        &self,
        open: &OpenReport,
        catalog: &'a Catalog,
        classes: &ClassMaps,
        scope: &Scope,
        roots: impl Iterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        let Self { preamble, reveals_secrets } = self;
        let (scope, of_scope) = open.in_numbers(catalog, scope, limits)?;
        let scope = &scope;
        let created: Vec<String> = preamble.iter().filter_map(|plan| created_name(&plan.sql)).collect();
        let redefined = created.iter().map(String::as_str).filter(|name| {
            let relation = name.strip_prefix(normalize::UNSCOPED).unwrap_or(name);
            catalog.relation_names().any(|name| name == relation)
        });
        let is_script = redefined.clone().next().is_some();
        let plans = Plans { reveals_secrets: *reveals_secrets, is_script };
        let mut preamble = preamble.clone();
        let mut installation = if is_script {
            // A script of `nsq show --sql` defines the relations itself. A statement that is identical to
            // nsq's own is trusted like nsq's own.
            let mut own = normalize::plan_with(&open.schema, catalog, scope, redefined, plans)?;
            let is_in_script = |statement: &String| preamble.iter().any(|plan| plan.sql == *statement);
            own.statements.copies.retain(is_in_script);
            own.statements.others.retain(is_in_script);
            preamble.retain(|plan| !own.statements.iter().any(|statement| *statement == plan.sql));
            // Any other object of the script may shadow a table that nsq's relations read, and refer to any
            // string by its id. So hide the strings that no event refers to.
            if !preamble.is_empty() && !reveals_secrets {
                own.statements.copy_strings(&open.schema, catalog.built_in())?;
            }
            own
        } else {
            let own = self.preamble.iter().flat_map(|plan| plan.reads.iter());
            let roots: Vec<String> = roots.map(str::to_owned).chain(own.cloned()).collect();
            let roots = roots.iter().map(String::as_str);
            normalize::plan_with(&open.schema, catalog, scope, roots, plans)?
        };
        installation.classes = classes.clone();
        let mut notes = of_scope;
        notes.append(&mut installation.notes);
        let session = Session::begin_script(open.report.connect()?, &installation, &preamble, limits)?;
        Ok((session, notes))
    }
}

/// Whether the statement creates or fills objects. The session decides whether that is allowed.
pub fn is_setup(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["CREATE", "INSERT"].iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// The name of the object that `CREATE TEMP VIEW|TABLE [IF NOT EXISTS] name …` creates.
fn created_name(sql: &str) -> Option<String> {
    let mut words = sql.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty());
    let is = |word: Option<&str>, wanted: &[&str]| {
        word.is_some_and(|word| wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
    };
    let creates = is(words.next(), &["CREATE"])
        && is(words.next(), &["TEMP", "TEMPORARY"])
        && is(words.next(), &["VIEW", "TABLE"]);
    let mut name = words.skip_while(|word| is(Some(word), &["IF", "NOT", "EXISTS"]));
    creates.then(|| name.next().and_then(|name| words_in(name).into_iter().next())).flatten()
}
