//! The inputs to analyse, from command line options or a config.

use super::loaded::{KERNELS, Loaded, MEMORY, RANGES};
use super::report::{self, Wanted};
use super::{Args, note, tagged};
use nsq_files::bounded_file::{self, Origin};
use nsq_library::catalog::Catalog;
use nsq_render::seed::analyzer::{
    ClassKeys, Config, ConfigInput, CsvLayout, Source, read_kernels, read_memory, read_ranges,
};
use nsq_value::error::{Error, Result};
use nsq_value::shell;
use std::path::{Path, PathBuf};

/// One thing to analyse.
pub(super) struct Input {
    pub(super) title: String,
    iterations: Option<i64>,
    gpus: Option<i64>,
    tag: Option<String>,
    layout: CsvLayout,
    source: Source,
    /// The config that names the paths. A missing path may be relative to it.
    config: Option<PathBuf>,
}

/// Collects the inputs, and the classes of a config.
pub(super) fn collect(args: &Args) -> Result<(Vec<Input>, Option<ClassKeys>)> {
    if let Some(file) = &args.config {
        let bytes = bounded_file::read(file, Origin::Named, bounded_file::MAX_TEXT_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            Error::catalog(file.display().to_string(), line, "the file is not UTF-8", "save it as UTF-8")
        })?;
        let config = Config::parse(file, &text)?;
        config.notes.iter().for_each(|text| note(text));
        let inputs: Vec<Input> =
            config.inputs.into_iter().map(|input| Input::of_config(input, file)).collect();
        check_iteration_options(
            args,
            inputs.iter().any(|input| input.tag.is_some()).then_some("nvtx_tag_of_iter"),
        )?;
        return Ok((inputs, Some(config.kernel_to_class)));
    }
    check_iteration_options(args, args.iter_tag.is_some().then_some("--iter-tag"))?;
    if let Some(tag) = &args.iter_tag {
        note(&format!("`--iter-tag {tag}` is now spelled `--iter '{tag}'`"));
    }
    let plain = |title: String, source: Source| Input {
        title: args.title.clone().unwrap_or(title),
        iterations: args.iters,
        gpus: args.gpus,
        tag: args.iter_tag.clone().or_else(|| args.of_csv().map(str::to_owned)),
        layout: CsvLayout::default(),
        source,
        config: None,
    };
    if let Some(kernel_sum) = &args.kernel_sum {
        let source = Source::Csv {
            kernel_sum: kernel_sum.clone(),
            nvtx_proj_trace: args.nvtx_proj.clone(),
            mem_time_sum: args.mem_time.clone(),
        };
        return Ok((vec![plain(name_of(kernel_sum), source)], None));
    }
    if args.reports.is_empty() {
        return Err(Error::usage(
            "no input is given",
            "give a report, --kernel-sum FILE or --config FILE; see the examples in `nsq classes --help`",
        ));
    }
    if args.title.is_some() && args.reports.len() > 1 {
        return Err(Error::usage(
            "--title takes a single report, and several are given",
            "leave out --title: the heading of each report is its path",
        ));
    }
    let several = args.reports.len() > 1;
    let inputs = args.reports.iter().map(|path| {
        // Several reports may share a file name, so use the whole path.
        let title = if several { path.display().to_string() } else { name_of(path) };
        plain(title, Source::Report { path: path.clone(), with_nvtx: true, with_mem: true })
    });
    Ok((inputs.collect(), None))
}

/// Refuses options that name the iterations twice. `tag` is the option or config key with a tag, if any.
fn check_iteration_options(args: &Args, tag: Option<&str>) -> Result<()> {
    match (args.scope.iter.as_slice(), tag) {
        ([_, _, ..], _) => Err(Error::usage(
            "--iter is given several times, and it names the iterations",
            "give one --iter, with * and ? as wildcards; --nvtx narrows further",
        )),
        ([_], Some(tag)) => Err(Error::usage(
            format!("--iter and {tag} both name the iterations"),
            "leave one out: `--iter step` selects all iterations, `--iter step 2..5` some",
        )),
        _ => Ok(()),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

impl Input {
    fn of_config(input: ConfigInput, file: &Path) -> Self {
        Self {
            title: input.title,
            iterations: input.args.iterations,
            gpus: input.args.gpus,
            tag: input.args.tag,
            layout: input.args.layout,
            source: input.source,
            config: Some(file.to_owned()),
        }
    }

    /// The report, or the table of kernels.
    pub(super) fn main_file(&self) -> &Path {
        match &self.source {
            Source::Csv { kernel_sum, .. } => kernel_sum,
            Source::Report { path, .. } => path,
        }
    }

    /// The files that the input is read from.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let more = match &self.source {
            Source::Csv { nvtx_proj_trace, mem_time_sum, .. } => [nvtx_proj_trace, mem_time_sum],
            Source::Report { .. } => [&None, &None],
        };
        let rest = more.into_iter().filter_map(|path| path.as_deref());
        std::iter::once(self.main_file()).chain(rest).chain(self.config.as_deref())
    }

    /// The answers of the input to the queries of the page.
    pub(super) fn load(&self, args: &Args, catalog: &Catalog) -> Result<Loaded> {
        let mut loaded = match &self.source {
            Source::Csv { kernel_sum, nvtx_proj_trace, mem_time_sum } => {
                self.load_csv(args, kernel_sum, nvtx_proj_trace.as_deref(), mem_time_sum.as_deref())?
            }
            Source::Report { path, with_nvtx, with_mem } => {
                if let Some(error) = self.missing(path) {
                    return Err(error);
                }
                let from_config = self.config.is_some();
                if from_config && *with_nvtx && self.tag.is_none() && args.seed_compat.is_some() {
                    return Err(self.lacks_tag());
                }
                let wanted = Wanted {
                    path,
                    tag: self.tag.as_deref(),
                    iterations: self.iterations,
                    gpus: self.gpus,
                    with_nvtx: *with_nvtx,
                    with_mem: *with_mem,
                };
                let mut loaded = report::load(args, catalog, &wanted)?;
                if self.tag.is_some() && !with_nvtx {
                    loaded
                        .notes
                        .push("nvtx_tag_of_iter is ignored, because `with_nvtx` is not true".to_owned());
                }
                loaded
            }
        };
        loaded.check_sums(&self.title)?;
        let has_windows = loaded.tables.get(RANGES).is_some_and(|found| !found.rows.is_empty());
        if self.iterations.is_none() && !has_windows && args.seed_compat.is_some() {
            return Err(Error::usage(
                format!("{}: iteration count not detected", self.title),
                "give --iters N, or an --iter NAME that matches ranges",
            ));
        }
        let is_unknown = self.iterations.is_none() && loaded.tag.is_none() && args.seed_compat.is_none();
        match loaded.steps().filter(|_| is_unknown) {
            Some((_, true)) => {}
            Some((count, false)) => loaded.notes.push(format!(
                "iteration count not detected: {count} steps repeat, but other work was captured too. \
                 --steady leaves only the steps"
            )),
            None if is_unknown => {
                let help = match &loaded.with_ranges {
                    Some(report) => format!(
                        "give --iters N, or --iter with a name from `nsq run {} --query range_names`",
                        shell::path(report)
                    ),
                    None => "give --iters N".to_owned(),
                };
                loaded.notes.push(format!("iteration count not detected: {help}"));
            }
            None => {}
        }
        loaded.capture_given(self.iterations, self.gpus);
        Ok(loaded)
    }

    fn load_csv(
        &self,
        args: &Args,
        kernels: &Path,
        ranges: Option<&Path>,
        memory: Option<&Path>,
    ) -> Result<Loaded> {
        let mut scope = args.scope.clone();
        scope.iter.retain(|name| Some(name.as_str()) != args.of_csv());
        if !scope.is_whole() {
            return Err(Error::usage(
                "--time, --device, --nvtx and the other scope options need a report, not CSV tables",
                "give the report itself instead of CSV files",
            ));
        }
        let compat = args.seed_compat.is_some();
        let layout = CsvLayout { ignores_units: compat, ..self.layout.clone() };
        let mut loaded = Loaded::default();
        loaded.tables.insert(KERNELS, read_kernels(kernels, &self.read(kernels)?, &layout)?);
        let named = match self.optional(ranges, compat, "NVTX ranges", &mut loaded.notes)? {
            Some((file, bytes)) => Some(read_ranges(file, &bytes, &layout)?),
            None => None,
        };
        if let Some((file, bytes)) =
            self.optional(memory, compat, "memory operations", &mut loaded.notes)?
        {
            loaded.tables.insert(MEMORY, read_memory(file, &bytes, &layout)?);
        }
        match (&self.tag, named) {
            (None, Some(_)) if compat => return Err(self.lacks_tag()),
            (None, Some(_)) => loaded
                .notes
                .push("the NVTX ranges are ignored, because no tag names the iterations".to_owned()),
            (Some(_), None) if ranges.is_none() && self.config.is_none() => {
                return Err(Error::usage("--iter needs NVTX ranges", "give them with --nvtx-proj FILE"));
            }
            (Some(tag), Some(ranges)) => {
                let found = tagged::of_tag(&ranges, tag)?;
                if compat && !found.is_exact {
                    loaded.notes.push(format!(
                        "no range is named exactly `{tag}`: the original tool would not print these figures"
                    ));
                }
                loaded.keep_tagged(found, &ranges);
            }
            _ => {}
        }
        Ok(loaded)
    }

    fn lacks_tag(&self) -> Error {
        Error::usage(
            format!("{}: NVTX ranges are given, but no tag names the iterations", self.title),
            "give --iter NAME (nvtx_tag_of_iter in a config), or leave out the NVTX ranges",
        )
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        if let Some(error) = self.missing(path) {
            return Err(error);
        }
        let origin = if self.config.is_some() { Origin::Found } else { Origin::Named };
        bounded_file::read(path, origin, bounded_file::MAX_TABLE_BYTES)
    }

    /// Reads an optional table. With --seed-compat an unreadable table is left out, like in the original
    /// tool, but with a note.
    fn optional<'p>(
        &self,
        path: Option<&'p Path>,
        compat: bool,
        what: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<(&'p Path, Vec<u8>)>> {
        let Some(path) = path else { return Ok(None) };
        match self.read(path) {
            Ok(bytes) => Ok(Some((path, bytes))),
            Err(error) if compat => {
                notes.push(format!("{what} are left out: {error}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The error for a missing file of a config: where nsq looked, and where the file may be.
    fn missing(&self, path: &Path) -> Option<Error> {
        let config = self.config.as_deref()?;
        if path.exists() || path.is_absolute() {
            return None;
        }
        let folder =
            config.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = folder.join(path);
        let help = match beside.exists() {
            true => {
                format!("the file is next to the config, {}: run nsq from that folder", beside.display())
            }
            false => "paths in a config are relative to the working directory".to_owned(),
        };
        Some(Error::Report {
            path: path.to_owned(),
            reason: format!(
                "no such file in the working directory; paths in {} are relative to it",
                config.display()
            ),
            help,
        })
    }
}
