//! Writes NVIDIA's reports of a profile as text files, each complete or not at all.

use super::Args;
use crate::cli::drop_in::text_of;
use crate::cli::output::write_to;
use nsq_ask::open_report::OpenReport;
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The reports, in the order in which they are written.
const REPORTS: [&str; 5] =
    ["nvtx_sum", "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum"];

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) files: Vec<PathBuf>,
    /// Reports whose data the profile lacks, and why.
    pub(super) lacking: Vec<String>,
}

/// Writes `<base>_<report>.txt` for each report whose data is present.
pub(super) fn write(args: &Args, catalog: &Catalog, profile: &Path, base: &Path) -> Result<Written> {
    let open = OpenReport::new(profile, &args.open.export_options())?;
    let mut written = Written::default();
    for name in REPORTS {
        let mut file = base.as_os_str().to_owned();
        file.push(format!("_{name}.txt"));
        let file = PathBuf::from(file);
        let text = match text_of(catalog, &open, name) {
            Ok(text) => text,
            Err(error @ Error::LacksData { .. }) => {
                let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
                let old = match file.exists() {
                    true => format!("; {} is from an earlier run and was not changed", file.display()),
                    false => String::new(),
                };
                written.lacking.push(format!("{reason}{old}"));
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        }
        write_to(Some(&file), |out| out.write_all(&text).map_err(Error::Output))?;
        written.files.push(file);
    }
    Ok(written)
}

/// Writes the reports of one or two profiles. Returns the reports without data.
pub(super) fn write_beside(args: &Args, catalog: &Catalog, target: &Path) -> Result<Vec<String>> {
    let stems: Vec<_> = args.reports.iter().map(|path| path.file_stem().unwrap_or_default()).collect();
    if let [a, b] = stems.as_slice()
        && a == b
    {
        return Err(Error::usage(
            "the two reports have the same name, so their output files would collide",
            "run `nsq answer --reports` on one report at a time",
        ));
    }
    let mut lacking = Vec::new();
    for (profile, stem) in args.reports.iter().zip(stems) {
        lacking.extend(write(args, catalog, profile, &target.join(stem))?.lacking);
    }
    Ok(lacking)
}
