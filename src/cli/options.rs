//! Options that several verbs share.

use super::{messages, note, progress};
pub(super) use nsq_ask::options::ScopeArgs;
use nsq_engine::compile::{parse_duration, words_in};
use nsq_engine::execute::Limits;
use nsq_files::interrupt::{self, interrupt};
use nsq_library::catalog::{Catalog, ClassRule};
use nsq_report::report::{CacheOptions, ExportOptions, Listener, Temporaries};
use nsq_sweep::classify::Pattern;
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Folders of queries.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Library")]
pub(super) struct LibraryArgs {
    /// Also load queries from this folder; may be repeated, and a later folder overrides an earlier one.
    ///
    /// The folders in NSQ_PATH, and nsq/queries and nsq/classes in the config folder, are always loaded.
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub(super) queries: Vec<PathBuf>,
}

impl LibraryArgs {
    /// Loads the library: the built-in queries, the default folders, then `--queries`.
    pub(super) fn load(&self) -> Result<Catalog> {
        let mut folders = Catalog::default_folders();
        folders.extend(self.queries.iter().cloned());
        Catalog::load(&crate::BUILT_IN, &folders)
    }
}

/// The class map, which sorts kernels by what they are for.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Library")]
pub(super) struct ClassArgs {
    /// Class map that op_class() uses: NAME, FILE or FILE#NAME [default: default]
    ///
    /// FILE is JSON or YAML. A map in FILE overrides any other map of the same name.
    /// `nsq list --classes` lists the available maps.
    #[arg(hide_short_help = true, long, value_name = "MAP")]
    pub(super) classes: Option<String>,
}

impl ClassArgs {
    /// Selects the class map. Prints a note for each duplicate rule if `--classes` is given or a
    /// statement calls op_class().
    pub(super) fn choose<'a>(
        &self,
        catalog: &mut Catalog,
        statements: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        if let Some(spelling) = &self.classes {
            catalog.choose_classes(spelling)?;
        }
        let is_user =
            |statement: &str| words_in(statement).iter().any(|word| word.starts_with("op_class"));
        if self.classes.is_some() || statements.into_iter().any(is_user) {
            let map = catalog.classes().chosen_map()?;
            catalog.classes().compiled()?;
            for duplicate in &map.duplicates {
                note(&duplicate.to_string());
            }
            for rule in map.rules.iter().filter(|rule| self.classes.is_some() && looks_like_regex(rule))
            {
                note(&format!(
                    "{}:{}: '{}' is matched as plain text; write a rule with `match` for a regular expression",
                    rule.file, rule.line, rule.rule.pattern
                ));
            }
        }
        Ok(())
    }
}

/// Whether a rule for plain text is written like a regular expression. No kernel name contains these.
fn looks_like_regex(rule: &ClassRule) -> bool {
    const MARKS: [&str; 8] = ["(?", ".*", ".+", "\\b", "\\d", "\\w", "|", "^"];
    matches!(&rule.rule.pattern, Pattern::Substring(text) if MARKS.iter().any(|mark| text.contains(mark)))
}

/// How a report is opened.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct OpenArgs {
    /// The nsys that exports captures [default: NSQ_NSYS, else nsys on PATH, else an installed nsys]
    ///
    /// If neither --nsys nor NSQ_NSYS is given and the first nsys is too old for the report, the next
    /// one is tried.
    #[arg(hide_short_help = true, long, value_name = "PATH")]
    pub(super) nsys: Option<PathBuf>,
    #[command(flatten)]
    pub(super) keep: KeepArgs,
}

impl OpenArgs {
    pub(super) fn export_options(&self) -> ExportOptions {
        self.keep.export_options(self.nsys.as_deref())
    }
}

/// How a report is opened, alone or with a trace of the same program.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct OpenWithArgs {
    /// Add what a PyTorch trace of the same program knows of the GPU operations of an nsys report
    ///
    /// That is operators, shapes, modules and Python functions. Operations are paired by their correlation IDs, or else by
    /// name, shape and order. `nsq import TRACE --onto EXPORT -o FILE` keeps the result in a file of your own.
    #[arg(hide_short_help = true, long, value_name = "TRACE")]
    with: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
}

impl OpenWithArgs {
    /// The trace.
    pub(super) fn trace(&self) -> Option<&Path> {
        self.with.as_deref()
    }

    /// The options for these reports. A trace belongs to one report.
    pub(super) fn for_reports(&self, paths: &[PathBuf]) -> Result<ExportOptions> {
        if self.with.is_some() && paths.len() > 1 {
            return Err(Error::usage(
                format!("--with adds a trace to one report, but {} are given", paths.len()),
                "join each report with its own trace: nsq import TRACE --onto EXPORT -o FILE",
            ));
        }
        Ok(ExportOptions { with: self.with.clone(), ..self.open.export_options() })
    }
}

/// How exports and imports are cached.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct KeepArgs {
    /// Do not use the cache: make a temporary export in TMPDIR for this run.
    #[arg(hide_short_help = true, long)]
    pub(super) no_cache: bool,
    /// Compare all bytes of the report before using a cached export, not only size, time, head and tail.
    #[arg(hide_short_help = true, long)]
    pub(super) verify: bool,
    /// The temporary exports of this run.
    #[arg(skip)]
    temporaries: Temporaries,
}

impl KeepArgs {
    pub(super) fn export_options(&self, nsys: Option<&Path>) -> ExportOptions {
        ExportOptions {
            with: None,
            nsys: nsys.map(Path::to_owned),
            launcher: Some(PathBuf::from(MYSELF)).filter(|myself| myself.exists()),
            cache: CacheOptions {
                off: self.no_cache,
                again: false,
                verify: self.verify,
                temporaries: self.temporaries.clone(),
                cancel: interrupt().clone(),
                listener: Listener(Some(messages::show)),
            },
        }
    }
}

/// This program on Linux, also after its file was replaced.
const MYSELF: &str = "/proc/self/exe";

/// Explains a missing report whose path looks like the instances of a range: `--nvtx step 3`.
pub(super) fn no_instances(error: Error) -> Error {
    match error {
        Error::Report { path, reason, .. } if !path.exists() && looks_like_instances(&path) => {
            let help = "instances follow the name of their range: --iter step 2..4, or --nvtx step/2..4 (first \
                        and last, counted from 0)";
            Error::Report { path, reason, help: help.to_owned() }
        }
        error => error,
    }
}

fn looks_like_instances(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(|c| "0123456789.-:,=[]".contains(c))
}

/// No limits but Ctrl-C.
pub(super) fn unlimited() -> Limits {
    Limits { cancel: interrupt().clone(), ..Limits::default() }
}

/// How long the command may run.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Stop after this time, such as 30s [default: no limit]
    ///
    /// The limit covers all reports and queries of the command, until the output is written. Time spent
    /// exporting a .nsys-rep does not count.
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = timeout)]
    pub(super) timeout: Option<Duration>,
}

impl LimitArgs {
    /// The limits for one report, starting now.
    pub(super) fn limits(&self, threads: Threads) -> Limits {
        let cancel = interrupt().clone();
        let mut limits = Limits { cancel, threads, ..Limits::with_timeout(self.timeout) };
        limits.progress.show = Some(progress::show_work);
        if let Some(deadline) = limits.deadline {
            interrupt::arm(deadline);
        }
        limits
    }

    /// One clock for several reports, starting now.
    pub(super) fn start(&self, threads: Threads) -> Clock {
        Clock { limits: self.limits(threads) }
    }
}

/// The time limit shared by several reports. It is paused while a report is opened, which may export it.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    limits: Limits,
}

impl Clock {
    /// Runs `work` without using up the time limit.
    pub(super) fn pause<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = interrupt::pause(work);
        if let Some((deadline, _)) = &mut self.limits.deadline {
            *deadline += begin.elapsed();
        }
        done
    }

    /// The current limits.
    pub(super) fn limits(&self) -> Limits {
        self.limits.clone()
    }
}

/// How many threads are used.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct ThreadArgs {
    /// Number of reports to process at once; 1 uses a single thread [default: one per core]
    ///
    /// The results do not depend on N. Each report may use a few more threads for reading.
    #[arg(hide_short_help = true, short = 'j', long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
}

impl ThreadArgs {
    /// The most threads.
    pub(super) fn most(&self) -> Threads {
        Threads::at_most(self.threads)
    }
}

/// A note about times of less than `least` nanoseconds without a unit, for which seconds may have been meant: `36/37`.
/// Programs write nanoseconds without a unit, so this is no error.
pub(super) fn without_unit(option: &str, text: &str, least: u64) -> Option<String> {
    let times: Vec<&str> = text.split('/').map(str::trim).collect();
    let is_bare = |time: &&str| !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let ns =
        times.iter().filter(|time| is_bare(time)).map(|time| time.parse().unwrap_or(u64::MAX)).max()?;
    let seconds = |time: &&str| if is_bare(time) { format!("{time}s") } else { (*time).to_owned() };
    (0 < ns && ns < least).then(|| {
        let seconds: Vec<String> = times.iter().map(seconds).collect();
        format!("{option}{text} means nanoseconds; for seconds: {option}{}", seconds.join("/"))
    })
}

fn timeout(text: &str) -> Result<Duration, String> {
    let has_unit = !text.ends_with(|c: char| c.is_ascii_digit());
    let ns = parse_duration(text).filter(|_| has_unit).and_then(|ns| u64::try_from(ns).ok());
    ns.map(Duration::from_nanos)
        .ok_or_else(|| "expected a time with its unit, such as 30s or 500ms".to_owned())
}

#[cfg(test)]
mod tests {
    use super::without_unit;

    #[test]
    fn short_times_without_a_unit_are_noted() {
        for (text, seconds) in [("36/37", "36s/37s"), ("5/", "5s/"), ("1s/2", "1s/2s"), ("1", "1s")] {
            let note = without_unit("--time ", text, 1_000_000);
            let wanted = format!("--time {text} means nanoseconds; for seconds: --time {seconds}");
            assert_eq!(note, Some(wanted));
        }
        for text in ["36s/37s", "0/1000000", "0", "0/5ms", "/80%", "66306349/66555454", "*", ""] {
            assert_eq!(without_unit("--time ", text, 1_000_000), None, "{text}");
        }
    }
}
