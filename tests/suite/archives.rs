//! Traces in archives, and packed in several layers, are read as they are.

use crate::support::outcome;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A trace with one kernel of this name.
fn trace(kernel: &str) -> Vec<u8> {
    format!(
        "{{\"schemaVersion\": 1, \"traceEvents\": [{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{kernel}\", \"pid\": 0, \
         \"tid\": 7, \"ts\": 12.5, \"dur\": 10, \"args\": {{\"device\": 0, \"stream\": 7}}}}]}}"
    )
    .into_bytes()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

pub(super) fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, text) in members {
        let (mut entry, config) =
            archive.new_file(name).compression_method(CompressionMethod::DEFLATE).start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        writer.write_all(text).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

/// The names of the kernels, or the error.
fn kernels(path: &Path) -> Result<String, String> {
    let sql = "SELECT group_concat(short_name) FROM kernel";
    match outcome(&["sql", "--no-cache", path.to_str().unwrap(), sql, "--format", "csv"]) {
        (0, out, _) => Ok(out.lines().nth(1).unwrap_or_default().to_owned()),
        (_, _, error) => Err(error),
    }
}

#[test]
fn a_trace_in_any_packing_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = trace("mine");
    let notes: &[u8] = b"{\"notes\": \"traceless\"}";
    let twice = [zstd(&text[..40]), zstd(&text[40..])].concat();
    let cases = [
        ("t.json.zst", zstd(&text)),
        ("frames.json.zst", twice),
        ("t.zip", zip(&[("notes.json", notes), ("out/t.json", &text)])),
        ("gz.zip", zip(&[("t.json.gz", &gzip(&text))])),
        ("t.tar", tar(&[("README", b"read me"), ("t.json", &text)])),
        ("t.tgz", gzip(&tar(&[("t.json.gz", &gzip(&text)), ("notes.json", notes)]))),
        ("t.tar.zst", zstd(&tar(&[("t.json.zst", &zstd(&text))]))),
    ];
    for (name, bytes) in cases {
        let file = folder.path().join(name);
        fs::write(&file, &bytes).unwrap();
        assert_eq!(kernels(&file).as_deref(), Ok("mine"), "{name}");
        // Cut anywhere: an error or fewer rows, never a panic.
        for length in (1..bytes.len()).step_by(97) {
            fs::write(&file, &bytes[..length]).unwrap();
            if let Err(error) = kernels(&file) {
                assert!(
                    error.starts_with("error: ") && error.contains("\n  help: "),
                    "{name} {length}: {error}"
                );
            }
        }
    }
}

#[test]
fn an_archive_of_several_traces_is_several_reports() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (trace("first"), trace("second"));
    let members: [(&str, &[u8]); 3] =
        [("rank10.json", &second), ("notes.txt", b"-"), ("rank2.json", &first)];
    for (name, bytes) in [("ranks.zip", zip(&members)), ("ranks.tar.gz", gzip(&tar(&members)))] {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        let (code, out, error) =
            outcome(&["run", file.to_str().unwrap(), "-q", "top_kernels", "-f", "csv", "--no-cache"]);
        assert_eq!(code, 0, "{error}");
        let order: Vec<bool> = out.lines().skip(1).map(|row| row.contains("first")).collect();
        assert_eq!(order, [true, false], "{out}");
        assert_eq!(kernels(&file.join("rank2.json")).as_deref(), Ok("first"), "{name}");
        // Where one report is asked, the archive is not enough.
        let (_, _, several) = outcome(&["schema", "--no-cache", file.to_str().unwrap()]);
        assert!(
            several.contains("is an archive of 2 traces") && several.contains("rank2.json"),
            "{several}"
        );
        let missing = kernels(&file.join("rank3.json")).unwrap_err();
        assert!(missing.contains("is not a trace in") && missing.contains("rank10.json"), "{missing}");
    }
}

#[test]
fn archives_in_a_folder_are_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let (zero, one, two) = (trace("zero"), trace("one"), trace("two"));
    let files = [
        ("a/ranks.zip", zip(&[("rank10.json", &one), ("rank2.json", &zero), ("notes.json", b"{}")])),
        ("b.tgz", gzip(&tar(&[("t.json", &two)]))),
        ("c.tar", tar(&[("README", b"read me")])),
        ("d.json.gz", gzip(&trace("plain"))),
        ("e.json.gz", gzip(b"{\"notes\": 1}")),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let args = ["run", "--no-cache", folder.path().to_str().unwrap(), "-q", "top_kernels", "-f", "csv"];
    let (code, out, error) = outcome(&args);
    assert_eq!(code, 0, "{error}");
    let found = ["zero", "one", "two", "plain"].map(|name| out.find(&format!(",{name}")).unwrap());
    assert!(found.is_sorted(), "{out}");
    assert_eq!(out.lines().count(), 5, "{out}");
}

/// As `tar czf x.tgz .` names members, and as somebody may who wants nsq to read another file.
#[test]
fn names_of_members_stay_in_their_archive() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.json");
    fs::write(&secret, trace("secret")).unwrap();
    let (own, other) = (trace("own"), trace("other"));
    let archive = folder.path().join("reports/x.zip");
    fs::create_dir(archive.parent().unwrap()).unwrap();
    let members = [
        (secret.to_str().unwrap(), own.as_slice()),
        ("../secret.json", &own),
        ("././rank0.json", &other),
    ];
    fs::write(&archive, zip(&members)).unwrap();
    let reports = archive.parent().unwrap().to_str().unwrap();
    let (code, out, error) = outcome(&["run", "--no-cache", reports, "-q", "top_kernels", "-f", "csv"]);
    assert_eq!(code, 0, "{error}");
    assert!(!out.contains(",secret") && out.matches(",own").count() == 2, "{out}");
    assert!(out.contains(",other"), "{out}");
    assert_eq!(kernels(&archive.join("rank0.json")).as_deref(), Ok("other"));
}

#[test]
fn an_archive_without_a_trace_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.zip");
    fs::write(&file, zip(&[("notes.json", b"{}")])).unwrap();
    let error = kernels(&file).unwrap_err();
    assert!(error.contains("is a zip archive, not a report"), "{error}");
}
