//! `nsq sql`: runs the user's own SQL.

use super::first_word::is_statement;
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenWithArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ};
use super::reports::{ManyArgs, complain, inputs, named, open, tell};
use nsq_ask::input::shortest_names;
use nsq_ask::request::Request;
use nsq_ask::script::{Script, is_setup};
use nsq_engine::compile::{Plan, named_params, split_statements, typed_params, unknown_param};
use nsq_files::bounded_file::{self, Origin};
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Run your own SQL on a report
///
/// The tables are normalised: they are the same for every version of nsys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq sql report.sqlite \"SELECT short_name, count(*) FROM kernel GROUP BY 1 ORDER BY 2 DESC LIMIT 5\"
  nsq sql report.sqlite question.sql --format csv
  echo 'SELECT * FROM gpu' | nsq sql report.sqlite
  nsq sql report.sqlite \"SELECT * FROM kernel WHERE dur_ns > :least\" -p least=1ms
  nsq sql report.sqlite --time 1s/2s \"SELECT median(dur_ns) FROM memcpy\"
  nsq sql 'run/rank*.sqlite' \"SELECT count(*) FROM kernel\"      each report, with a column `report`

`nsq list --relations` lists the tables; `nsq show kernel` lists the columns of one. \
The report is opened read-only: no statement can change it.

Captured environments, command lines and program output are hidden. So are strings that no event \
refers to; the other strings are in `string`. --allow-environment shows everything:
  nsq sql report.sqlite --allow-environment \"SELECT * FROM META_DATA_CAPTURE\"")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace, or a folder or quoted pattern: then each report is asked.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// The statement, or the path of a .sql file [default: from --file, else standard input]
    #[arg(value_name = "SQL", conflicts_with = "file")]
    sql: Option<String>,
    /// Read the statement, or a script from `nsq show --sql`, from this file; - is standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Set a parameter, such as `:least` in the statement; may be repeated.
    ///
    /// A value is a number, a time (1ms), a size (4KiB), else a text; 'quotes' force a text.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Allow this statement to read captured environments, command lines, output and all strings.
    ///
    /// They can contain passwords, tokens and names of people. No other command shows them.
    #[arg(hide_short_help = true, long)]
    allow_environment: bool,
    /// Stop with an error after this many rows.
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = "Limits")]
    max_rows: Option<usize>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenWithArgs,
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
    if args.report.to_str().is_some_and(is_statement) && !args.report.exists() {
        return Err(Error::usage(
            "a statement is not a report",
            "the report comes first: nsq sql REPORT \"SELECT …\"",
        ));
    }
    let paths = named(std::slice::from_ref(&args.report))?;
    let read = paths.iter().map(PathBuf::as_path).chain(args.open.trace());
    must_differ(args.output.output.as_deref(), read)?;
    let (text, origin) = statement(args)?;
    if let Some(command) = text.split_whitespace().next().filter(|word| word.starts_with('.')) {
        return Err(Error::usage(
            format!("'{command}' is a command of the sqlite3 shell"),
            "tables: `nsq list --relations`, columns: `nsq show TABLE`, what was recorded: nsq schema REPORT",
        ));
    }
    let mut catalog = args.library.load()?;
    args.classes.choose(&mut catalog, [text.as_str()])?;
    let values = typed_params(&args.param)?;
    let names = named_params(&text);
    if let Some((key, _)) = values.iter().find(|(key, _)| !names.contains(key)) {
        return Err(unknown_param(key, names.iter().map(String::as_str)));
    }
    let plans: Vec<Plan> = split_statements(&text)
        .into_iter()
        .map(|(offset, sql)| {
            let line = 1 + text[..offset].matches('\n').count();
            Plan::ad_hoc(sql, (origin.clone(), line), &catalog).with_values(&values)
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
    let mut limits = args.limits.limits(Threads::default());
    limits.max_rows = args.max_rows;
    let script = Script { preamble: preamble.to_vec(), reveals_secrets: args.allow_environment };
    let asking = Request {
        scope: args.scope.text(),
        limits,
        explains: false,
        script: Some(script),
        ..Request::new(&catalog)
    };
    let options = args.open.for_reports(&paths)?;
    let opener = |path: &Path| open(path, &options);
    // People tell reports apart by short names; programs join them by the path that was given.
    let names = match args.output.format()?.is_for_people() {
        true => shortest_names(&paths),
        false => paths.iter().map(|path| path.display().to_string()).collect(),
    };
    let mut rows = asking.queries(&inputs(&paths, names, &opener), questions)?;
    tell(&rows.reports, 0, paths.len() > 1);
    let (answered, output) = ((rows.reports.len(), paths.len()), args.output.output.as_deref());
    let (code, is_shown) = complain(&rows.failures, answered, &ManyArgs::default(), output);
    if !is_shown {
        return Ok(code);
    }
    let heading = rows.heading();
    args.output.write(questions.len(), |writer| {
        rows.results(&mut |_, rows| writer.result(&heading, |sink| rows(sink)).map(drop))
    })?;
    Ok(code)
}

/// The text to run, and its origin for error messages.
fn statement(args: &Args) -> Result<(String, String)> {
    // No statement is one word with this ending.
    let is_file = |sql: &&String| sql.ends_with(".sql") && !sql.contains('\n');
    let named = args.sql.as_ref().filter(is_file).map(PathBuf::from);
    if let (Some(sql), None) = (&args.sql, &named) {
        return Ok((sql.clone(), "SQL".to_owned()));
    }
    if let Some(file) = named.as_ref().or(args.file.as_ref()).filter(|file| file.as_os_str() != "-") {
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
