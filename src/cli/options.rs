//! Options that several verbs share.

use super::{deadline, note, progress};
use crate::catalog::Catalog;
use crate::compile::{parse_duration, words_in};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::{Attribute, Scope, Selector};
use crate::report::{CacheOptions, ExportOptions, Listener};
use crate::schema::Schema;
use crate::threads;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where queries come from.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Library")]
pub(super) struct LibraryArgs {
    /// Folder of further queries; may be repeated, and a later one wins.
    ///
    /// Folders in NSQ_PATH and the config folder's nsq/queries and nsq/classes are always looked at.
    #[arg(long, value_name = "DIR")]
    pub(super) queries: Vec<PathBuf>,
}

impl LibraryArgs {
    /// The library with every folder that applies.
    pub(super) fn load(&self) -> Result<Catalog> {
        let mut folders = Catalog::default_folders();
        folders.extend(self.queries.iter().cloned());
        Catalog::load(&folders)
    }
}

/// Which class map tells what a kernel is for.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Library")]
pub(super) struct ClassArgs {
    /// Class map for op_class(): NAME, FILE or FILE#NAME; default: default.
    ///
    /// A file is JSON or YAML; a map in it that has the name of another goes before that one.
    /// `nsq list --classes` names those that are in reach.
    #[arg(long, value_name = "MAP")]
    pub(super) classes: Option<String>,
}

impl ClassArgs {
    /// Makes the choice, and says what stands twice in a map that one of `statements` asks.
    pub(super) fn choose<'a>(
        &self,
        catalog: &mut Catalog,
        statements: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        if let Some(spelling) = &self.classes {
            catalog.choose_classes(spelling)?;
        }
        let asks = |statement: &str| words_in(statement).iter().any(|word| word.starts_with("op_class"));
        if self.classes.is_some() || statements.into_iter().any(asks) {
            let map = catalog.classes().chosen_map()?;
            map.compile()?;
            for twice in &map.duplicates {
                note(&twice.to_string());
            }
        }
        Ok(())
    }
}

/// How a report is opened.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct OpenArgs {
    /// The nsys that exports a .nsys-rep; default: NSQ_NSYS, else those on PATH, then those installed.
    ///
    /// Where none is named and one is too old for the report, the next is tried.
    #[arg(long, value_name = "PATH")]
    pub(super) nsys: Option<PathBuf>,
    #[command(flatten)]
    pub(super) keep: KeepArgs,
}

impl OpenArgs {
    pub(super) fn export_options(&self) -> ExportOptions {
        self.keep.export_options(self.nsys.as_deref())
    }
}

/// How what is made of a report is kept.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct KeepArgs {
    /// Keep no export: make a temporary one (in TMPDIR) for this run.
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Use a kept export only if every byte of the report is the same; else size, time, head and tail tell.
    #[arg(long)]
    pub(super) verify: bool,
}

impl KeepArgs {
    pub(super) fn export_options(&self, nsys: Option<&Path>) -> ExportOptions {
        ExportOptions {
            nsys: nsys.map(Path::to_owned),
            launcher: Some(PathBuf::from(MYSELF)).filter(|myself| myself.exists()),
            cache: CacheOptions {
                off: self.no_cache,
                again: false,
                verify: self.verify,
                listener: Listener(Some(progress::show)),
            },
        }
    }
}

/// This program, on Linux, even if its file was replaced meanwhile.
const MYSELF: &str = "/proc/self/exe";

/// Which part of a report is looked at.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Scope")]
pub(super) struct ScopeArgs {
    /// Only what overlaps this time since the start of the capture: 1.5s/2s, 12ms/, /80%.
    ///
    /// Events that reach over an end count whole in sums.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    pub(super) time: Option<String>,
    /// Only GPU work on these CUDA device ordinals.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) device: Vec<i64>,
    /// Only GPU work on these CUDA streams.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) stream: Vec<i64>,
    /// Only these process ids.
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub(super) process: Vec<i64>,
    /// Only what was launched or done in NVTX ranges of this name; may be repeated.
    ///
    /// NAME is a glob over the range's message, with or without its domain (domain:message). INDEX picks
    /// an instance, from 0 in order of time; A..B picks several.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub(super) nvtx: Vec<String>,
    /// And only in these iterations: `--iter step 3`, `--iter step 2..5`, counted from 0 on each thread.
    #[arg(long, value_name = "TAG [N|A..B]")]
    pub(super) iter: Vec<String>,
    /// Nothing that was launched or done in NVTX ranges of this name, such as a warm-up.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub(super) exclude: Vec<String>,
    /// Only what overlaps NVTX ranges of this name in time, whoever launched it.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub(super) window: Vec<String>,
    /// Whose launches an NVTX range holds: its thread's, or its whole process's while it is open; default: thread.
    ///
    /// `thread` is NVIDIA's rule. Autograd launches the backward pass from a thread of its own: `process`
    /// sees that. `capture` goes by thread, and puts nodes of CUDA graphs where they were captured.
    #[arg(long, value_enum)]
    pub(super) attribute: Option<AttributeArg>,
    /// Whether numbers in names are folded, so that ranges of all iterations share a path.
    #[arg(long, value_enum, default_value = "numbers")]
    pub(super) fold: Fold,
}

/// Whose launches an NVTX range holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AttributeArg {
    #[default]
    Thread,
    Process,
    Capture,
}

/// What becomes of numbers in names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Fold {
    #[default]
    Numbers,
    None,
}

/// `--iter TAG N` is two words: joins them, so that the report behind `--iter TAG` stays a report.
pub(super) fn join_iterations(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let is_instance = word.to_str().is_some_and(|word| instances(word).is_some());
        match joined.as_mut_slice() {
            [.., option, tag] if option == "--iter" && is_instance => {
                tag.push("/");
                tag.push(word);
            }
            [.., option] if is_instance && option.to_string_lossy().starts_with("--iter=") => {
                option.push("/");
                option.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// `N` or `A..B`: the first and the last instance.
fn instances(text: &str) -> Option<(usize, usize)> {
    match text.split_once("..") {
        Some((first, last)) => {
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some((first, last))
        }
        None => text.parse().ok().map(|instance| (instance, instance)),
    }
}

/// `NAME[@DOMAIN][/INDEX]`.
fn selector(text: &str, by_thread: bool) -> Result<Selector> {
    let (rest, instances) = match text.rsplit_once('/') {
        Some((rest, index)) if instances(index).is_some() => (rest, instances(index)),
        _ => (text, None),
    };
    let (name, domain) = match rest.rsplit_once('@') {
        Some((name, domain)) => (name, Some(domain.to_owned())),
        None => (rest, None),
    };
    if name.is_empty() {
        return Err(Error::usage(
            format!("`{text}` names no NVTX range"),
            "write NAME, NAME@DOMAIN or NAME/INDEX, such as `forward`, `ncclAllReduce@NCCL` or `step/3`",
        ));
    }
    Ok(Selector { name: name.to_owned(), spelled: text.to_owned(), domain, instances, by_thread })
}

impl ScopeArgs {
    /// No option is given that leaves a part out.
    pub(super) fn is_whole(&self) -> bool {
        let lists = [&self.nvtx, &self.iter, &self.exclude, &self.window];
        let ids = [&self.device, &self.stream, &self.process];
        self.time.is_none()
            && lists.iter().all(|list| list.is_empty())
            && ids.iter().all(|ids| ids.is_empty())
    }

    /// The scope on a report; percentages need to know how long its capture was.
    pub(super) fn resolve(&self, schema: &Schema) -> Result<Scope> {
        let mut scope = Scope {
            devices: self.device.clone(),
            streams: self.stream.clone(),
            processes: self.process.clone(),
            nvtx: selectors(&self.nvtx, false)?,
            iterations: selectors(&self.iter, true)?,
            exclude: selectors(&self.exclude, false)?,
            windows: selectors(&self.window, false)?,
            attribute: match self.attribute.unwrap_or_default() {
                AttributeArg::Thread => Attribute::Thread,
                AttributeArg::Process => Attribute::Process,
                AttributeArg::Capture => Attribute::Capture,
            },
            keep_names: self.fold == Fold::None,
            ..Scope::default()
        };
        if let Some(text) = &self.time {
            let (from, to) = text.split_once('/').ok_or_else(|| malformed(text))?;
            scope.start_ns = instant(text, from, schema)?;
            scope.end_ns = instant(text, to, schema)?;
            if let (Some(from), Some(to)) = (scope.start_ns, scope.end_ns)
                && from >= to
            {
                return Err(Error::usage(
                    format!("--time {text} is empty: it begins at {from} ns and ends at {to} ns"),
                    "give the earlier time first",
                ));
            }
        }
        // A file that was made for a window ends there, though what reaches over its ends is in it.
        let (from, to) = schema.window_ns;
        scope.start_ns = scope.start_ns.max(from);
        scope.end_ns = [scope.end_ns, to].into_iter().flatten().min();
        Ok(scope)
    }
}

fn selectors(texts: &[String], by_thread: bool) -> Result<Vec<Selector>> {
    texts.iter().map(|text| selector(text, by_thread)).collect()
}

fn malformed(text: &str) -> Error {
    Error::usage(
        format!("`{text}` is no stretch of time"),
        "write --time A/B, such as 1.5s/2s, 300ns/12ms or 10%/50%; leave out A or B for an open end",
    )
}

fn instant(whole: &str, text: &str, schema: &Schema) -> Result<Option<i64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let Some(percent) = text.strip_suffix('%') else {
        return parse_duration(text).map(Some).ok_or_else(|| malformed(whole));
    };
    let percent: f64 = percent.trim().parse().map_err(|_| malformed(whole))?;
    let length = schema.capture_ns.ok_or_else(|| {
        Error::usage(
            "the report does not say how long its capture was, so there is no percentage of it",
            "give times instead, such as --time 1s/2s",
        )
    })?;
    Ok(Some((percent / 100.0 * length as f64).round() as i64))
}

/// How long a statement may run.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Give up after this long, such as 30s; default: never.
    ///
    /// It is the time of all that is asked, however many reports and queries, to the end of the output. The
    /// time that an export of a .nsys-rep takes is not counted.
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub(super) timeout: Option<Duration>,
}

impl LimitArgs {
    /// The limits of what is asked of one report from now on.
    pub(super) fn limits(&self) -> Limits {
        let limits = Limits::with_timeout(self.timeout);
        deadline::keep(&limits);
        limits
    }

    /// A clock for all that is asked of several reports.
    pub(super) fn start(&self) -> Clock {
        Clock { limits: self.limits() }
    }
}

/// The time that is left for several reports: it stands still while one is opened, which may export it.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    limits: Limits,
}

impl Clock {
    /// Does `work` while the time stands still.
    pub(super) fn pause<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = deadline::pause(work);
        if let Some((deadline, _)) = &mut self.limits.deadline {
            *deadline += begin.elapsed();
        }
        done
    }

    /// The limits of what is asked from now on.
    pub(super) fn limits(&self) -> Limits {
        self.limits.clone()
    }
}

/// How much of the machine is used.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct ThreadArgs {
    /// Reports that are worked on at once; 1: on a single thread; default: one a core.
    ///
    /// The answer is the same whatever the number. Each report may read on a few threads more.
    #[arg(short = 'j', long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
}

impl ThreadArgs {
    /// Allows as many threads as were asked for; returns how many there may be.
    pub(super) fn allow(&self) -> usize {
        threads::allow(self.threads.map_or(0, NonZeroUsize::get));
        threads::allowed()
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    let has_unit = !text.ends_with(|c: char| c.is_ascii_digit());
    let ns = parse_duration(text).filter(|_| has_unit).and_then(|ns| u64::try_from(ns).ok());
    ns.map(Duration::from_nanos)
        .ok_or_else(|| "give a time with its unit, such as 30s or 500ms".to_owned())
}
