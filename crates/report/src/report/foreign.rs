//! Names files of other kinds, and says which command makes what nsq reads.

use crate::trace::is_tar;
use std::path::Path;

/// How to get a report that nsq reads, for exports of nsys in other formats.
const EXPORT: &str =
    "nsq reads SQLite: `nsys export --type sqlite REPORT.nsys-rep`, or give nsq the .nsys-rep";
/// How to get a report, for files that hold no profile.
const RECORD: &str = "record one with `nsys profile -o report COMMAND`, or with torch.profiler and \
                      export_chrome_trace()";
/// How to get a report that nsq reads, instead of a text made from one.
const NOT_TEXT: &str = "give the report itself: a .nsys-rep, its SQLite export, or a PyTorch trace";
/// What to do with an archive.
const UNPACK: &str = "unpack it, and give the report or the folder with the reports";

/// What a file is, as the end of a sentence, and what to do.
pub(super) type Named = (&'static str, String);

/// What a file is whose kind nsq does not read, by its first bytes, else by its name.
pub(super) fn foreign(header: &[u8], path: &Path) -> Option<Named> {
    by_content(header).or_else(|| by_name(path)).map(|(what, help)| (what, help.to_owned()))
}

fn by_content(header: &[u8]) -> Option<(&'static str, &'static str)> {
    let begins = |magic: &[u8]| header.starts_with(magic);
    let holds = |text: &str| header.windows(text.len()).any(|window| window == text.as_bytes());
    Some(if begins(b"\x89HDF\r\n") {
        ("is HDF5 data, as `nsys export --type hdf` writes it", EXPORT)
    } else if begins(b"PAR1") {
        ("is a Parquet file, as `nsys export --type parquetdir` writes them", EXPORT)
    } else if begins(b"ARROW1") || begins(b"\xff\xff\xff\xff") {
        ("is Arrow data, as `nsys export --type arrow` writes it", EXPORT)
    } else if begins(b"data: \"") {
        ("is a text export of nsys", EXPORT)
    } else if begins(b"PK\x03\x04") {
        ("is a zip archive, not a report", "unpack it with `unzip`, and give the report or the folder")
    } else if begins(b"\x28\xb5\x2f\xfd") {
        ("is packed with zstd", "unpack it with `unzstd`, and give the file that it writes")
    } else if begins(b"\xfd7zXZ") {
        ("is packed with xz", "unpack it with `unxz`, and give the file that it writes")
    } else if begins(b"BZh") {
        ("is packed with bzip2", "unpack it with `bunzip2`, and give the file that it writes")
    } else if begins(b"7z\xbc\xaf\x27\x1c") {
        ("is a 7-Zip archive, not a report", UNPACK)
    } else if is_tar(header) {
        ("is a tar archive, not a report", "unpack it with `tar -xf`, and give the report or the folder")
    } else if begins(b"NVR\0") {
        ("is a report of Nsight Compute", NSIGHT_COMPUTE)
    } else if begins(b"\x7fELF") || begins(b"MZ") {
        ("is a program, not a report", "record a report with `nsys profile -o report COMMAND`")
    } else if header.first() == Some(&0x80) && header.get(1).is_some_and(|version| *version <= 5) {
        if holds("device_traces") || holds("segments") {
            ("is a memory snapshot of PyTorch", MEMORY_SNAPSHOT)
        } else if holds("pg_config") || holds("entries") {
            ("is a flight recorder dump of PyTorch", FLIGHT_RECORDER)
        } else {
            ("is a Python pickle, not a report", RECORD)
        }
    } else {
        return by_text(header);
    })
}

/// What text is, by its first line.
fn by_text(header: &[u8]) -> Option<(&'static str, &'static str)> {
    // The last character may be cut.
    let text = valid_start(header);
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    if text.len() + 3 < header.len() || text.trim().is_empty() || text.contains(is_control) {
        return None;
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_count = |count: &str| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    Some(
        if first.rsplit_once(' ').is_some_and(|(stack, count)| stack.contains(';') && is_count(count)) {
            ("is a list of folded stacks, as flame graphs are drawn from", NOT_TEXT)
        } else if first.starts_with("Time (%)") || first.starts_with("Start (ns)") {
            ("is a table that `nsys stats` printed", NOT_TEXT)
        } else {
            ("is a text file, not a report", NOT_TEXT)
        },
    )
}

/// The part at the start that is UTF-8.
fn valid_start(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

const NSIGHT_COMPUTE: &str = "open it with `ncu-ui`, or `ncu --import FILE`; for a timeline, record with \
                              `nsys profile`";
pub(crate) const MEMORY_SNAPSHOT: &str =
    "open it at https://pytorch.org/memory_viz; for GPU times, record with torch.profiler";
pub(crate) const FLIGHT_RECORDER: &str =
    "analyze it with `torchfrtrace`; for GPU times, record with torch.profiler";

fn by_name(path: &Path) -> Option<(&'static str, &'static str)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ends = |ending: &str| name.ends_with(ending);
    Some(if ends(".pftrace") || ends(".perfetto-trace") {
        (
            "is a Perfetto trace",
            "open it at https://ui.perfetto.dev; nsq reads traces of torch.profiler and exports of nsys",
        )
    } else if ends(".xplane.pb") {
        (
            "is an XPlane profile of JAX or TensorFlow",
            "nsq reads the .trace.json.gz that jax.profiler writes next to it, and reports of `nsys profile`; XProf reads this file",
        )
    } else if ends(".ncu-rep") {
        ("is a report of Nsight Compute", NSIGHT_COMPUTE)
    } else {
        return None;
    })
}

/// What a folder is that holds an export of nsys, by the names of its files.
pub(super) fn foreign_folder(folder: &Path) -> Option<Named> {
    let has = |name: &str| folder.join(name).is_file();
    let kinds = [
        ("StringIds.parquet", "is an export of `nsys export --type parquetdir`"),
        ("StringIds.arrow", "is an export of `nsys export --type arrowdir`"),
    ];
    kinds.into_iter().find(|(file, _)| has(file)).map(|(_, what)| (what, EXPORT.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_named_by_content_and_by_name() {
        let named = |header: &[u8], name: &str| foreign(header, Path::new(name)).map(|(what, _)| what);
        let mut tar = vec![0; 512];
        tar[..6].copy_from_slice(b"a.json");
        tar[257..262].copy_from_slice(b"ustar");
        let cases: [(&[u8], &str, &str); 16] = [
            (b"\x89HDF\r\n\x1a\n", "r.h5", "HDF5"),
            (b"PAR1", "kernel", "Parquet"),
            (b"\xff\xff\xff\xff\xc0\x01\0\0", "r.arrows", "Arrow"),
            (b"data: \"[Unknown]\"\n", "r.txt", "text export"),
            (b"PK\x03\x04", "t.json", "zip"),
            (b"\x28\xb5\x2f\xfd\0\0", "t.json.zst", "zstd"),
            (&tar, "t.tar", "tar archive"),
            (b"NVR\0", "k", "Nsight Compute"),
            (b"\x80\x04}(segments]", "s.pickle", "memory snapshot"),
            (b"\x80\x04}(entries]", "nccl_trace_rank_0", "flight recorder"),
            (b"\x80\x04}.", "x.pkl", "pickle"),
            (b"\n\x0c", "t.pftrace", "Perfetto"),
            (b"\n\x0c", "h.XPLANE.pb", "XPlane"),
            (b"main;f 3\nmain;g 12\n", "stacks.txt", "folded stacks"),
            (b"Time (%),Total Time (ns),Instances\n", "kern.csv", "nsys stats"),
            ("each line é".as_bytes(), "README", "text file"),
        ];
        for (header, name, wanted) in cases {
            assert!(named(header, name).is_some_and(|what| what.contains(wanted)), "{name}");
        }
        assert_eq!(named(b"\x01\x02\x03", "report.sqlite"), None);
    }
}
