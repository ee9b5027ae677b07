//! `nsq list WORDS`: questions as people type them, and what has to come first.

use crate::support::{outcome, project, stdout};
use nsq::catalog::{Catalog, Shown};
use nsq::cli::everything;
use nsq::manual::{Search, words_of};
use nsq::table::Value;
use std::fs;

/// A question, the names that may come first, and those that did.
struct Asked {
    question: String,
    right: Vec<String>,
    names: Vec<String>,
}

impl Asked {
    /// Whether one of the first `most` names is right.
    fn is_among(&self, most: usize) -> bool {
        self.names.iter().take(most).any(|name| self.right.contains(name))
    }
}

fn asked(file: &str) -> Vec<Asked> {
    let text = fs::read_to_string(project(&format!("tests/suite/questions/{file}"))).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    // As the program does, which takes half a minute for as many processes.
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let search = Search::new(everything(&catalog, Shown::Public).unwrap().rows, &catalog).unwrap();
    lines
        .map(|line| {
            let (question, right) = line.split_once('\t').unwrap();
            let (found, _) = search.find(&words_of(&[question.to_owned()]));
            let name = |row: &Vec<Value>| match &row[1] {
                Value::Text(name) => name.clone(),
                other => panic!("{question}: {other:?}"),
            };
            // Behind it may be the thread in which it was asked.
            let right = right.split('\t').next().unwrap().split('|').map(str::to_owned).collect();
            Asked {
                question: question.to_owned(),
                right,
                names: found.iter().take(5).map(name).collect(),
            }
        })
        .collect()
}

/// The share of questions, of `count`, that are answered by the first name, and by one of the first two. Prints the
/// others.
fn measure(file: &str, count: usize) -> (f64, f64) {
    let asked = asked(file);
    assert_eq!(asked.len(), count, "{file}");
    let printed = stdout(&["list", "-f", "tsv", "--no-header", &asked[0].question]);
    let printed = printed.lines().take(5).map(|row| row.split('\t').nth(1).unwrap());
    assert!(printed.eq(&asked[0].names), "{}", asked[0].question);
    let share = |most| asked.iter().filter(|one| one.is_among(most)).count() as f64 / count as f64;
    for one in asked.iter().filter(|one| !one.is_among(1)) {
        let place = if one.is_among(2) { "second" } else { "missed" };
        println!("{place}: {}: {:?}, not {:?}", one.question, one.right, one.names);
    }
    let (first, second) = (share(1), share(2));
    println!("{file}: first {:.1} %, first or second {:.1} %", 100.0 * first, 100.0 * second);
    (first, second)
}

#[test]
fn questions_find_their_answers() {
    let (first, second) = measure("tuned.tsv", 359);
    assert!(first >= 0.9 && second >= 0.95, "{first} {second}");
}

#[test]
fn questions_on_which_nothing_was_tuned_find_their_answers() {
    let (first, second) = measure("apart.tsv", 135);
    assert!(first >= 0.8 && second >= 0.9, "{first} {second}");
}

#[test]
fn questions_of_public_threads_find_their_answers() {
    let (first, second) = measure("public.tsv", 50);
    assert!(first >= 0.75 && second >= 0.9, "{first} {second}");
}

#[test]
fn what_nsq_cannot_answer_is_said() {
    let (code, out, error) = outcome(&["list", "pizza margherita"]);
    assert!(code == 0 && out.starts_with("(no match)"), "{out}");
    assert!(error.contains("nsq has no answer about 'pizza margherita'"), "{error}");
    assert!(error.contains("write your own with `nsq new query NAME`"), "{error}");
    // Where only a part of the question is known, the nearest item is named.
    let (_, out, error) = outcome(&["list", "kubernetes pod restarts"]);
    assert!(
        out.starts_with("cluster ") && error.contains("the nearest is cluster, or write your own"),
        "{error}"
    );
    // What nsys does not record has the tool that does.
    for (question, tool) in [
        ("register spills", "ncu"),
        ("loss curve", "TensorBoard"),
        ("branch mispredictions", "perf stat"),
        ("host memory leak", "valgrind"),
        ("xid errors", "dmesg"),
        ("why guard failures", "TORCH_LOGS"),
        ("tensor values", "compute-sanitizer"),
    ] {
        let first = stdout(&["list", "-f", "tsv", "--no-header", question]);
        let first = first.lines().next().unwrap();
        assert!(first.starts_with("recorded\t") && first.contains(tool), "{question}: {first}");
    }
    let (_, out, error) = outcome(&["list", "power"]);
    assert!(out.starts_with("power ") && out.contains("nsys does not record power"), "{out}");
    assert!(error.is_empty(), "{error}");
    // Text shows the best ones; machine formats have all.
    let text = stdout(&["list", "kernel"]);
    assert!(text.contains(" more: --rows 0"), "{text}");
    assert!(stdout(&["list", "kernel", "-f", "csv"]).lines().count() > 20);
}

/// What is written beside the library names what exists.
#[test]
fn lists_of_questions_name_what_exists() {
    let text = fs::read_to_string(project("crates/library/src/manual/asked.yml")).unwrap();
    let names =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let all = [&["list", "--all"][..], &["list", "--pages"], &["list", "--relations"]].map(|words| {
        let listed = stdout(&[words, &["-f", "tsv", "--no-header"]].concat());
        listed.lines().map(|row| row.split('\t').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    });
    let command = nsq::cli::command();
    for (name, _) in names {
        let is_verb =
            name.strip_prefix("nsq ").is_some_and(|verb| command.find_subcommand(verb).is_some());
        let is_chapter = project(&format!("docs/src/{name}.md")).is_file();
        assert!(is_verb || is_chapter || all.iter().flatten().any(|known| known == name), "{name}");
    }
}
