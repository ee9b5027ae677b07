//! What machines read: JUnit XML by its schema, and JSON.

use super::program::{Kernel, Program, kernel};
use crate::support::{nsq, outcome};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// The name of an element; the attributes that it may have, and that it must have; and the elements in it.
type Rule = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// What junit-10.xsd of Jenkins' xUnit plugin demands (src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd in
/// jenkinsci/xunit-plugin, read in November 2026), for the elements that a gate writes. GitLab and GitHub's reporters read less.
const JUNIT: [Rule; 8] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &[], &["testsuite"]),
    (
        "testsuite",
        &[
            "name",
            "tests",
            "failures",
            "errors",
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
        ],
        &["name", "tests", "failures", "errors"],
        &["testsuite", "properties", "testcase", "system-out", "system-err"],
    ),
    (
        "testcase",
        &["name", "time", "classname", "group"],
        &["name"],
        &["skipped", "error", "failure", "system-out", "system-err"],
    ),
    ("skipped", &["message", "type"], &[], &[]),
    ("failure", &["message", "type"], &[], &[]),
    ("error", &["message", "type"], &[], &[]),
    ("system-out", &[], &[], &[]),
    ("system-err", &[], &[], &[]),
];

/// An element with its attributes and the elements in it.
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    inner: Vec<Element>,
}

/// Reads XML without comments and sections, and accepts no other.
fn read(xml: &str) -> Element {
    let mut rest =
        xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    let mut open = vec![Element { name: String::new(), attributes: BTreeMap::new(), inner: Vec::new() }];
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>') && is_text(text), "{text}");
        let (tag, after) = tag.split_once('>').expect("an end of the tag");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().unwrap();
            assert_eq!(closed.name, name);
            open.last_mut().expect("an open element").inner.push(closed);
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut left) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = BTreeMap::new();
        while let Some((key, value)) = left.trim().split_once("=\"") {
            let (value, after) = value.split_once('"').expect("an end of the value");
            assert!(is_text(value), "{value}");
            assert!(attributes.insert(key.to_owned(), value.to_owned()).is_none(), "{key} twice");
            left = after;
        }
        assert!(left.trim().is_empty(), "{left}");
        let element = Element { name: name.to_owned(), attributes, inner: Vec::new() };
        if is_closed { open.last_mut().unwrap().inner.push(element) } else { open.push(element) }
    }
    assert!(rest.trim().is_empty() && open.len() == 1, "{xml}");
    open.pop().unwrap().inner.pop().unwrap()
}

/// Whether each `&` begins an entity that XML knows, and no control character is there.
fn is_text(text: &str) -> bool {
    let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"];
    text.split('&').skip(1).all(|rest| known.iter().any(|entity| rest.starts_with(entity)))
        && !text.chars().any(|c| c.is_control() && !c.is_whitespace())
}

/// Asserts that an element is as the schema says, with all in it.
fn check(element: &Element) {
    let (_, may, must, inner) =
        JUNIT.iter().find(|(name, ..)| *name == element.name).expect("a known element");
    let has = |name: &str| element.attributes.contains_key(name);
    assert!(element.attributes.keys().all(|name| may.contains(&name.as_str())), "{}", element.name);
    assert!(must.iter().all(|name| has(name)), "{} lacks one of {must:?}", element.name);
    for count in ["tests", "failures", "errors", "disabled", "skipped"] {
        let text = element.attributes.get(count).map_or("0", String::as_str);
        let parts = |name: &str| {
            element.inner.iter().filter(|case| case.inner.iter().any(|part| part.name == name)).count()
        };
        let number: usize = text.parse().expect("a number");
        let counted = match count {
            "tests" => element.inner.iter().filter(|case| case.name == "testcase").count(),
            "failures" => parts("failure"),
            "skipped" => parts("skipped"),
            "errors" => parts("error"),
            _ => 0,
        };
        assert!(element.name != "testsuite" || number == counted, "{count} of {}", element.name);
    }
    assert!(element.inner.iter().all(|part| inner.contains(&part.name.as_str())), "{}", element.name);
    element.inner.iter().for_each(check);
}

/// A program whose names need care in XML.
fn program(folder: &Path, name: &str, seed: u64, share: f64) -> String {
    let mut program = Program { steps: 30, ..Program::training(seed) };
    let odd = "void scale<\"a\" & 'b', (1 < 2) && (3 > 2)>(float *)\u{7}";
    program.kernels.push(Kernel { range: "forward", ..kernel(odd, 4, 80.0) });
    program.slower(share).write(folder, name)
}

/// Asserts that a text is what the schema demands.
pub fn junit(text: &str) {
    let root = read(text);
    assert_eq!(root.name, "testsuites");
    check(&root);
}

#[test]
fn junit_is_valid_whatever_the_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let junit = folder.path().join("gate.xml");
    let a = program(folder.path(), "a", 1, 0.0);
    let b = program(folder.path(), "b", 2, 0.1);
    let same = program(folder.path(), "same", 3, 0.0);
    let other = Program::training(4).with("gemm", |gemm| gemm.name = "other_gemm");
    let other = Program { has_ranges: false, steps: 1, ..other }.write(folder.path(), "other");
    let cases: [(&str, &[&str], i32); 5] = [
        (&b, &["5"], 1),
        (&b, &["5", "--gate-parts"], 1),
        (&same, &["5"], 0),
        (&same, &["0.01"], 4),
        (&other, &["5"], 4),
    ];
    for (b, words, code) in cases {
        let words = [&["diff", &a, b, "--junit", junit.to_str().unwrap(), "--gate"], words].concat();
        assert_eq!(outcome(&words).0, code, "{words:?}");
        let root = read(&std::fs::read_to_string(&junit).unwrap());
        assert_eq!(root.name, "testsuites");
        check(&root);
        let failures = &root.inner[0].attributes["failures"];
        assert_eq!(failures != "0", code == 1, "{words:?}");
    }
}

/// Asserts that `jq .` accepts a text, and that it is JSON where there is no jq.
fn is_json(text: &str) {
    assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
    let jq = Command::new("jq").arg(".").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let Ok(mut jq) = jq else { return };
    std::io::Write::write_all(&mut jq.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(jq.wait().unwrap().success());
}

#[test]
fn every_json_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let a = program(folder.path(), "a", 1, 0.0);
    let b = program(folder.path(), "b", 2, 0.1);
    let ask = |words: &[&str]| {
        let output = nsq().env("NSQ_BASELINES", folder.path()).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for more in
        [&[][..], &["--gate", "5"], &["--gate", "5", "--github"], &["--section", "kernels"], &["--raw"]]
    {
        is_json(&ask(&[&["diff", &a, &b, "-f", "json"], more].concat()));
        let lines = ask(&[&["diff", &a, &b, "-f", "ndjson"], more].concat());
        assert!(lines.lines().count() > 1);
        lines.lines().for_each(is_json);
    }
    ask(&["baseline", "save", "main", &a]);
    let saved = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let saved = saved.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let saved: Vec<_> = saved.collect();
    assert_eq!(saved.len(), 1);
    is_json(&std::fs::read_to_string(&saved[0]).unwrap());
    is_json(&ask(&["diff", "@main", &b, "-f", "json"]));
    is_json(&ask(&["show", "diff", "--json-schema"]));
}
