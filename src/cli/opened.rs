//! Opens reports as the command line asks for it.

use super::note;
use super::options::{OpenArgs, no_instances};
use nsq_ask::open_report::OpenReport;
use nsq_files::interrupt;
use nsq_value::error::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Opens a report with the options of the command line. Time spent exporting it does not count.
pub(super) fn open(path: &Path, args: &OpenArgs) -> Result<OpenReport> {
    interrupt::pause(|| OpenReport::new(path, &args.export_options())).map_err(no_instances)
}

/// Prints the notes that come with an answer, and returns it.
pub(super) fn noted<T>((answer, notes): (T, Vec<String>)) -> T {
    notes.iter().for_each(|text| note(text));
    answer
}

/// The shortest ends of the paths that tell them apart: file names, or as many folders as it takes.
pub(super) fn shortest_names(paths: &[PathBuf]) -> Vec<String> {
    let longest = paths.iter().map(|path| path.components().count()).max().unwrap_or(0);
    let ends = |kept: usize| -> Vec<String> {
        let end = |path: &PathBuf| {
            let skipped = path.components().count().saturating_sub(kept);
            path.components().skip(skipped).collect::<PathBuf>().display().to_string()
        };
        paths.iter().map(end).collect()
    };
    let are_distinct = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    // The same path twice is never told apart.
    (1..=longest).map(ends).find(are_distinct).unwrap_or_else(|| ends(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_the_shortest_distinct_names() {
        let names =
            |paths: &[&str]| shortest_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["/x/a.sqlite", "/x/b.sqlite"]), ["a.sqlite", "b.sqlite"]);
        assert_eq!(names(&["/x/1/r.sqlite", "/x/2/r.sqlite"]), ["1/r.sqlite", "2/r.sqlite"]);
        assert_eq!(names(&["r", "/a/r"]), ["r", "a/r"]);
        assert_eq!(names(&["/x/r", "/x/r"]), ["r", "r"]);
    }
}
