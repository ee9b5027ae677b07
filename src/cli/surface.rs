//! What the help shows: eight verbs first, the others in groups. `-h` is a summary of `--help`.

use super::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write as _;

/// The verbs that are enough for most questions, in addition to `nsq REPORT`.
const FIRST: [&str; 7] = ["run", "list", "show", "sql", "diff", "timeline", "schema"];

/// The other verbs. A verb that is in neither list is hidden: it still works.
const GROUPS: [(&str, &[&str]); 4] = [
    ("As NVIDIA's tools", &["stats", "analyze"]),
    ("Convert", &["export", "import", "materialize"]),
    ("As other tools", &["classes", "breakdown", "kernels", "flame", "answer"]),
    ("Develop", &["new", "check", "cache", "completions"]),
];

/// What `nsq REPORT` does.
const OVERVIEW: &str = "Show what to fix first, and how each GPU spent its time";

const MORE: &str = "More verbs and examples: nsq --help. About one verb: nsq VERB --help.";

const EXAMPLES: &str = "\
Options: -h, --help (-h is a summary) and -V, --version.

Examples:
  nsq report.nsys-rep                          what to fix first
  nsq run report.sqlite -q top_kernels         the kernels that use the most GPU time
  nsq list why is my gpu idle                  find a query by words
  nsq diff before.sqlite after.sqlite          what changed, beyond noise
  nsq sql report.sqlite \"SELECT count(*) FROM kernel\"

`nsq VERB --help` describes a verb. `nsq NAME` runs the program nsq-NAME next to nsq or on PATH, such as nsq-mcp.

Exit codes: 0 success, 1 failure, 2 usage error, 3 data missing in the report, 4 inconclusive gate, 5 a report that diff cannot read, 130 interrupted.";

/// The command line, with its help.
pub fn command() -> Command {
    let names: Vec<String> =
        Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let all = names.iter().fold(Cli::command(), |all, verb| all.mut_subcommand(verb, summarised));
    let mut first = format!("  {:12} {OVERVIEW}\n", "nsq REPORT");
    FIRST.iter().for_each(|verb| first += &line(&all, verb));
    let mut others = String::new();
    for (heading, verbs) in GROUPS {
        let _ = writeln!(others, "{heading}:");
        verbs.iter().for_each(|verb| others += &line(&all, verb));
        others.push('\n');
    }
    all.override_usage("nsq REPORT…\n       nsq VERB …")
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{first}{{after-help}}"
        ))
        .after_help(MORE)
        .after_long_help(others + EXAMPLES)
}

/// A verb and what it does.
fn line(all: &Command, verb: &str) -> String {
    let about = all.find_subcommand(verb).and_then(Command::get_about);
    format!("  {verb:12} {}\n", about.map(ToString::to_string).unwrap_or_default())
}

/// The help of a verb: what comes after its examples is left to `--help`.
fn summarised(verb: Command) -> Command {
    // So that `--gate -5` is an invalid number, not an unknown option.
    let verb = verb.mut_args(|one| match one.get_long() {
        Some(_) if one.get_action().takes_values() => one.allow_negative_numbers(true),
        _ => one,
    });
    let Some(all) = verb.get_after_help().map(ToString::to_string) else { return verb };
    let examples = all.split("\n\n").next().unwrap_or_default().to_owned();
    verb.after_help(examples).after_long_help(all)
}
