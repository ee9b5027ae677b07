//! `nsq diff baseline`: saves what `nsq diff` needs of a report, under a name.

use super::baselines::{folder, names, path_of, shown, unknown};
use super::diff::{self, DIFF, SETTINGS};
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, write_to};
use super::reports::{open, tell};
use nsq_ask::input::Input;
use nsq_ask::page::{PageRequest, SavedReport};
use nsq_ask::request::Request;
use nsq_render::render::{Heading, visible};
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::path::PathBuf;

/// Save a report's figures under a name, to compare others with: nsq diff @NAME new.sqlite
///
/// A baseline is a small JSON file with the calls and times of kernels, copies, NVTX ranges and API
/// functions, and with the steps. It has no environment, command lines or paths. It is kept in
/// NSQ_BASELINES, else XDG_DATA_HOME/nsq/baselines, else ~/.local/share/nsq/baselines.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq diff baseline save main report.sqlite
  nsq diff @main new.sqlite --gate 5
  nsq diff ci/main.json new.sqlite --gate 5
  nsq diff --a @main-1 @main-2 @main-3 --b new-1.sqlite new-2.sqlite new-3.sqlite
  NSQ_BASELINES=ci/baselines nsq diff baseline list")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Save a report's figures, and print the path of the file
    Save(Box<Save>),
    /// List the baselines
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Delete a baseline
    Remove {
        /// Name of the baseline.
        name: String,
    },
    /// Print the path of the folder
    Path,
}

#[derive(Debug, clap::Args)]
struct Save {
    /// Name: letters, digits, dots, dashes and underscores.
    name: String,
    /// A SQLite export, .nsys-rep file or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Skip the first N steps of each thread, as warm-up; default: the first of four or more, and those that take much longer.
    #[arg(long, value_name = "N")]
    skip: Option<u32>,
    /// Replace a baseline of this name.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    match &args.command {
        Command::Save(save) => save.run()?,
        Command::List { output } => output.table(&Heading::default(), &listing()?)?,
        Command::Remove { name } => {
            let path = path_of(name)?;
            std::fs::remove_file(&path).map_err(|_| unknown(name))?;
            say(&format!("removed {}", visible(&path.display().to_string())))?;
        }
        Command::Path => say(&folder()?.display().to_string())?,
    }
    Ok(0)
}

impl Save {
    fn run(&self) -> Result<()> {
        let path = path_of(&self.name)?;
        if path.exists() && !self.force {
            return Err(Error::usage(
                format!("there is a baseline '{}'", self.name),
                "give --force to replace it, or another name",
            ));
        }
        let mut catalog = self.library.load()?;
        self.classes.choose(&mut catalog, [])?;
        let limits = self.limits.limits(Threads::default());
        let opened = open(&self.report, &self.open.export_options())?;
        let scope = diff::scope_of(&self.scope, &opened)?;
        let settings = diff::settings(&scope, self.skip, catalog.classes().chosen());
        let input = Input { scope: Some(scope), ..Input::open(opened.report.name(), &opened) };
        let asking = Request { limits, ..Request::new(&catalog) };
        let mut saved = SavedReport::new(DIFF, &input.name, settings);
        for (place, (setting, per_iteration)) in SETTINGS.into_iter().enumerate() {
            let mut params = vec![format!("per_iteration={per_iteration}")];
            params.extend(self.skip.map(|skip| format!("skip={skip}")));
            let request = PageRequest::new(&catalog, DIFF, &params, visible)?;
            let (report, about, _) = asking.page_report(&request, &input, &opened, &asking.limits)?;
            // Both answers are of one report, and have the same notes.
            if place == 0 {
                tell(&[about], 0, false);
            }
            saved.add(setting, request.partials(), &report);
        }
        let text = saved.to_json()?;
        std::fs::create_dir_all(folder()?).map_err(|e| Error::io(&path, e))?;
        write_to(Some(&path), |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
        say(&visible(&path.display().to_string()))
    }
}

fn say(line: &str) -> Result<()> {
    write_to(None, |out| writeln!(out, "{line}").map_err(Error::Output))
}

fn listing() -> Result<ResultTable> {
    let text = |name: &str, doc: &str| Column { doc: doc.to_owned(), ..Column::untyped(name) };
    let columns = vec![
        text("baseline", "Name, for nsq diff @NAME."),
        text("report", "Report that it was saved from."),
        text("nsq", "Version of nsq that saved it."),
        text("settings", "Scope and other options that a comparison must have too."),
        text("error", "Why it cannot be read; null if it can."),
    ];
    let mut rows = Vec::new();
    for name in names()? {
        let name_cell = Value::Text(name.clone());
        rows.push(match SavedReport::read(&path_of(&name)?) {
            Ok(saved) => {
                vec![
                    name_cell,
                    Value::Text(saved.report),
                    Value::Text(saved.nsq),
                    Value::Text(shown(&saved.settings)),
                    Value::Null,
                ]
            }
            Err(error) => {
                let reason = error.to_string();
                vec![name_cell, Value::Null, Value::Null, Value::Null, Value::Text(reason)]
            }
        });
    }
    Ok(ResultTable { columns, rows })
}
