//! The folder of baselines: the files that `nsq diff baseline` saves, and `nsq diff` compares with.

use nsq_ask::page::SavedReport;
use nsq_value::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of all baselines. It may not exist yet.
pub(super) fn folder() -> Result<PathBuf> {
    let from =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = from("NSQ_BASELINES") {
        return std::path::absolute(&path).map_err(|e| Error::io(&path, e));
    }
    let below_home =
        if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    // A missing home folder is not created.
    let home = from("HOME").filter(|home| home.is_absolute() && home.is_dir());
    let data = from("XDG_DATA_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| from("LOCALAPPDATA").filter(|_| cfg!(windows)))
        .or_else(|| home.map(|home| home.join(below_home)));
    data.map(|data| data.join("nsq").join("baselines")).ok_or_else(|| {
        Error::usage(
            "no folder for baselines: NSQ_BASELINES is not set and there is no home folder",
            "set NSQ_BASELINES to a folder",
        )
    })
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(is_plain)
}

/// The file of a baseline, which may not exist.
pub(super) fn path_of(name: &str) -> Result<PathBuf> {
    if !is_name(name) {
        return Err(Error::usage(
            format!("invalid name '{name}' for a baseline"),
            "use letters, digits, dots, dashes and underscores",
        ));
    }
    Ok(folder()?.join(format!("{name}.json")))
}

/// The error that there is no baseline of this name.
pub(super) fn unknown(name: &str) -> Error {
    let known = names().unwrap_or_default();
    let help = match known.as_slice() {
        [] => "There are none: `nsq diff baseline save NAME REPORT` saves one.".to_owned(),
        known => format!("Baselines: {}.", known.join(", ")),
    };
    Error::unknown("baseline", name, known.iter().map(String::as_str), help)
}

/// Whether a file is a baseline: it begins as one.
fn is_saved(path: &Path) -> bool {
    const START: &[u8] = br#"{"saved_version":"#;
    let mut start = [0; START.len()];
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    path.is_file() && read() && start == START
}

/// The baseline that an argument of `nsq diff` names as `@NAME` or by its file, and its path.
pub(super) fn named(argument: &Path) -> Option<Result<(SavedReport, PathBuf)>> {
    if is_saved(argument) {
        return Some(SavedReport::read(argument).map(|saved| (saved, argument.to_owned())));
    }
    let name = argument.to_str()?.strip_prefix('@')?;
    // A file of this name is a report.
    if argument.exists() {
        return None;
    }
    let read = |name: &str| {
        let path = path_of(name)?;
        if !path.exists() {
            return Err(unknown(name));
        }
        Ok((SavedReport::read(&path)?, path))
    };
    Some(read(name))
}

/// The names of all baselines, sorted.
pub(super) fn names() -> Result<Vec<String>> {
    let folder = folder()?;
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .filter(|name| is_name(name))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Whether there is a baseline of this name.
pub(super) fn has(name: &str) -> bool {
    path_of(name).is_ok_and(|path| path.is_file())
}

/// Settings as a line of text.
pub(super) fn shown(settings: &BTreeMap<String, String>) -> String {
    settings.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
}
