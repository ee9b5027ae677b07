//! `nsq sql`: runs the user's own SQL.

use super::note;
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ};
use crate::cli::reports;
use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::{Plan, split_statements, with_similar_relations, words_in};
use nsq_engine::execute::Session;
use nsq_engine::normalize::{self, Plans};
use nsq_files::bounded_file::{self, Origin};
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Run your own SQL on the normalised tables, which are the same for every nsys version
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq sql report.sqlite \"SELECT short_name, count(*) FROM kernel GROUP BY 1 ORDER BY 2 DESC LIMIT 5\"
  nsq sql report.sqlite --file question.sql --format csv
  echo 'SELECT * FROM gpu' | nsq sql report.sqlite
  nsq sql report.sqlite --time 1s/2s \"SELECT median(dur_ns) FROM memcpy\"

`nsq list --relations` lists the tables; `nsq show kernel` lists the columns of one.
The report is opened read-only: no statement can change it.

Captured environments, command lines and program output are hidden. So are strings that no event
refers to; the other strings are in `string`. --allow-environment shows everything:
  nsq sql report.sqlite --allow-environment \"SELECT * FROM META_DATA_CAPTURE\"")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// The statement [default: from --file, else standard input]
    #[arg(value_name = "SQL", conflicts_with = "file")]
    sql: Option<String>,
    /// Read the statement, or a script from `nsq show --sql`, from this file; - is standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Allow this statement to read captured environments, command lines, output and all strings.
    ///
    /// They can contain passwords, tokens and names of people. No other command shows them.
    #[arg(long)]
    allow_environment: bool,
    /// Stop with an error after this many rows.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_rows: Option<usize>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

impl Args {
    pub(super) fn output(&self) -> &OutputArgs {
        &self.output
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    must_differ(args.output.output.as_deref(), [args.report.as_path()])?;
    let (text, origin) = statement(args)?;
    let mut catalog = args.library.load()?;
    args.classes.choose(&mut catalog, [text.as_str()])?;
    let plans: Vec<Plan> = split_statements(&text)
        .into_iter()
        .map(|(offset, sql)| {
            let line = 1 + text[..offset].matches('\n').count();
            Plan::ad_hoc(sql, (origin.clone(), line), &catalog)
        })
        .collect();
    // A script may create TEMP objects before its first query.
    let first_question = plans.iter().position(|plan| !is_setup(&plan.sql)).unwrap_or(plans.len());
    let (preamble, questions) = plans.split_at(first_question);
    if questions.is_empty() {
        return Err(Error::usage(
            "no SELECT statement to run: a report is read-only",
            "give a SELECT, such as \"SELECT * FROM gpu\"",
        ));
    }
    let opened = reports::open(&args.report, &args.open)?;
    let scope = args.scope.resolve(&opened.schema)?;
    let heading = opened.heading(&scope);
    let OpenReport { report, schema, .. } = opened;
    let mut preamble = preamble.to_vec();
    let created: Vec<String> = preamble.iter().filter_map(|plan| created_name(&plan.sql)).collect();
    let redefined = created.iter().map(String::as_str).filter(|name| {
        let relation = name.strip_prefix(normalize::UNSCOPED).unwrap_or(name);
        catalog.relation_names().any(|name| name == relation)
    });
    let is_script = redefined.clone().next().is_some();
    let plan_for = |roots: &mut dyn Iterator<Item = &str>| {
        let plans = Plans { reveals_secrets: args.allow_environment, is_script };
        normalize::plan_with(&schema, &catalog, &scope, roots, plans)
    };
    let installation = if is_script {
        // A script of `nsq show --sql` defines the relations itself. A statement that is identical to
        // nsq's own is trusted like nsq's own.
        let mut own = plan_for(&mut redefined.clone())?;
        let is_in_script = |statement: &String| preamble.iter().any(|plan| plan.sql == *statement);
        own.statements.copies.retain(is_in_script);
        own.statements.others.retain(is_in_script);
        preamble.retain(|plan| !own.statements.iter().any(|statement| *statement == plan.sql));
        // Any other object of the script may shadow a table that nsq's relations read, and refer to any
        // string by its id. So hide the strings that no event refers to.
        if !preamble.is_empty() && !args.allow_environment {
            own.statements.copy_strings(&schema, catalog.built_in())?;
        }
        own
    } else {
        plan_for(&mut plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str)))?
    };
    installation.notes.iter().for_each(|text| note(text));
    let mut limits = args.limits.limits(Threads::default());
    limits.max_rows = args.max_rows;
    let session = Session::begin_script(report.connect()?, &installation, &preamble, &limits)?;
    args.output.write(questions.len(), |writer| {
        for question in questions {
            let answer = writer.result(&heading, |sink| session.run(question, &limits, sink));
            answer.map_err(|error| with_similar_relations(error, &catalog))?;
        }
        Ok(())
    })?;
    Ok(0)
}

/// The text to run, and its origin for error messages.
fn statement(args: &Args) -> Result<(String, String)> {
    if let Some(sql) = &args.sql {
        return Ok((sql.clone(), "SQL".to_owned()));
    }
    if let Some(file) = args.file.as_ref().filter(|file| file.as_os_str() != "-") {
        let text = bounded_file::read_text(file, Origin::Named)?;
        return Ok((text, file.display().to_string()));
    }
    let input = std::io::stdin().lock();
    if input.is_terminal() && args.file.is_none() {
        return Err(Error::usage(
            "no SQL statement given",
            "give it as the second argument, with --file, or on standard input",
        ));
    }
    let origin = "standard input";
    let bytes = bounded_file::read_from(input, origin.as_ref(), bounded_file::MAX_TEXT_BYTES)?;
    Ok((bounded_file::text(bytes, origin.as_ref())?, origin.to_owned()))
}

/// Whether the statement creates or fills objects. The session decides whether that is allowed.
fn is_setup(sql: &str) -> bool {
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
