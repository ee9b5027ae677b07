//! Finds installed `nsys` programs and their versions.

use super::{ExportOptions, child, launch};
use nsq_value::cancel::Cancel;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A version of Nsight Systems, such as 2026.2.1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u32>);

impl Version {
    /// The first version in a text, such as `2026.2.1`, or `2026@2@1` as captures write it.
    fn first_in(text: &str) -> Option<Self> {
        let mut words = text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '@'));
        words.find_map(|word| {
            let parts: Vec<u32> = word.split(['.', '@']).map_while(|part| part.parse().ok()).collect();
            // Keep three numbers: users know versions by these, not by the build.
            (parts.len() >= 3 && parts[0] > 2000).then(|| Self(parts[..3].to_vec()))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

/// The version of `nsys` that captured a report, from its first bytes.
pub(super) fn captured_by(capture: &Path) -> Option<Version> {
    let mut head = Vec::new();
    File::open(capture).ok()?.take(256).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    Version::first_in(head.strip_prefix("NVIDIA ")?.split('\n').next()?)
}

/// A program that is probably an `nsys`.
#[derive(Debug, Clone)]
pub(super) struct Nsys {
    pub(super) path: PathBuf,
    launcher: Option<PathBuf>,
    cancel: Cancel,
}

/// Time limit for `nsys --version`.
const PATIENCE: Duration = Duration::from_secs(10);

impl Nsys {
    pub(super) fn command(&self) -> Command {
        launch::command(self.launcher.as_deref(), &self.path)
    }

    /// The version that `nsys --version` prints.
    pub(super) fn version(&self) -> Option<Version> {
        let mut command = self.command();
        command.arg("--version");
        let ended = child::run(command, Some(PATIENCE), &self.cancel, &|| {}).ok()?.ok()?;
        Version::first_in(&String::from_utf8_lossy(&ended.out)).filter(|_| ended.status.success())
    }
}

/// The programs to try, in order. A named program is the only one. Otherwise those on `PATH` come first,
/// then those in the usual install folders, newest first.
pub(super) fn candidates(options: &ExportOptions) -> Vec<Nsys> {
    let nsys =
        |path| Nsys { path, launcher: options.launcher.clone(), cancel: options.cache.cancel.clone() };
    let variable = || std::env::var_os("NSQ_NSYS").filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = options.nsys.clone().or_else(variable) {
        return vec![nsys(path)];
    }
    let program = OsString::from(format!("nsys{}", std::env::consts::EXE_SUFFIX));
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&program))
        .filter(|path| is_program(path));
    let mut seen = BTreeSet::new();
    on_path
        .chain(installed(&program))
        .filter(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
        .map(nsys)
        .collect()
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Folders with one installation per version, and the subfolders of an installation to search.
const FOLDERS: [(&str, &[&str]); 5] = [
    ("/opt/nvidia/nsight-systems", INSIDE),
    ("/opt/nvidia/nsight-systems-cli", INSIDE),
    ("/usr/local", &["bin"]),
    ("/Applications", &["Contents/MacOS"]),
    ("C:\\Program Files\\NVIDIA Corporation", INSIDE),
];

const INSIDE: &[&str] = &["bin", "target-linux-x64", "target-linux-sbsa-armv8", "target-windows-x64"];

/// Programs in the usual install folders, newest first: `2026.2.1`, then `2024.1.1`, then `cuda-12.4`.
fn installed(program: &OsString) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (folder, inside) in FOLDERS {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Some of these folders contain other software too.
            if Version::first_in(&name).is_some() || name.starts_with("cuda") {
                let numbers = name.split(|c: char| !c.is_ascii_digit());
                let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
                let programs = inside.iter().map(|inside| entry.path().join(inside).join(program));
                found.extend(
                    programs.filter(|path| is_program(path)).map(|path| (numbers.clone(), path)),
                );
            }
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Option<String> {
        Version::first_in(text).map(|version| version.to_string())
    }

    #[test]
    fn versions_are_found_where_nsys_writes_them() {
        assert_eq!(
            version("NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0").as_deref(),
            Some("2023.4.4")
        );
        assert_eq!(
            version("NVIDIA Tegra Profiler Report 2026@2@1@210-1v0.").as_deref(),
            Some("2026.2.1")
        );
        assert_eq!(version("cuda-12.4"), None);
        assert_eq!(version("Nsight Systems 2024.1.1").as_deref(), Some("2024.1.1"));
        assert!(Version::first_in("2023.10.1") > Version::first_in("2023.4.4"));
        assert!(Version::first_in("99999999999.1.1").is_none());
    }

    #[test]
    fn a_capture_says_who_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let capture = folder.path().join("a.nsys-rep");
        std::fs::write(&capture, b"NVIDIA Tegra Profiler Report 2025@1@2@3-4v0.\n\x0b\xff").unwrap();
        assert_eq!(captured_by(&capture).map(|v| v.to_string()).as_deref(), Some("2025.1.2"));
        std::fs::write(&capture, b"garbage 2025.1.2").unwrap();
        assert!(captured_by(&capture).is_none());
    }
}
