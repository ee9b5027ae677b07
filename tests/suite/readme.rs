//! The READMEs show what happens.

use crate::support::{nsq, project, stdout};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::{Mutex, PoisonError};

/// Held by a test that may write README.md.
static WRITING: Mutex<()> = Mutex::new(());

fn readme() -> String {
    fs::read_to_string(project("README.md")).unwrap()
}

/// The fenced block that begins with this line.
fn block(text: &str, fence: &str) -> String {
    let start = text.find(fence).unwrap_or_else(|| panic!("no {fence} block")) + fence.len();
    let end = text[start..].find("```").unwrap();
    text[start..start + end].trim_matches('\n').to_owned()
}

const CONSOLE: &str = "```console\n";
/// The end of a console block whose output follows.
const SHOWS: &str = "```\n\n```text\n";

/// Splits a command into words. A quoted text is one word.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split(['\'', '"']).enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// The arguments for nsq in a line of a console block.
fn arguments(line: &str) -> Option<Vec<String>> {
    let by_cargo = || line.strip_prefix("$ cargo run ")?.split_once(" -- ").map(|(_, rest)| rest);
    let command = line.strip_prefix("$ nsq ").or_else(by_cargo)?;
    Some(words(command.split(" # ").next().unwrap_or_default()))
}

/// The lines of all console blocks.
fn console_lines(text: &str) -> Vec<String> {
    let blocks = text.split(CONSOLE).skip(1);
    blocks.flat_map(|rest| rest.split("```").next().unwrap().lines().map(str::to_owned)).collect()
}

#[test]
fn the_transcripts_are_what_nsq_prints() {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = readme();
    let mut from = 0;
    let mut count = 0;
    // Every console block that is followed by what its command prints.
    while let Some(at) = text[from..].find(CONSOLE) {
        from += at + CONSOLE.len();
        let end = from + text[from..].find("```").unwrap();
        let command = text[from..end].trim_end().to_owned();
        from = end;
        if !text[from..].starts_with(SHOWS) {
            continue;
        }
        from += SHOWS.len();
        assert_eq!(command.lines().count(), 1, "one command for each output: {command}");
        let arguments = arguments(&command).unwrap_or_else(|| panic!("does not run nsq: {command}"));
        let output = nsq().args(arguments).current_dir(project("")).output().unwrap();
        assert!(output.status.success(), "{command}");
        let mut printed = String::from_utf8(output.stdout).unwrap().trim_matches('\n').to_owned();
        let end = from + text[from..].find("\n```").unwrap();
        let shown = text[from..end].to_owned();
        // A last line `…` stands for the rest of the output.
        if let Some(beginning) = shown.strip_suffix("\n…") {
            let lines: Vec<&str> = printed.lines().take(beginning.lines().count()).collect();
            printed = lines.join("\n") + "\n…";
        }
        if std::env::var_os("NSQ_BLESS").is_some() {
            text.replace_range(from..end, &printed);
        } else {
            assert_eq!(shown, printed, "NSQ_BLESS=1 cargo test --test suite readme writes it anew");
        }
        count += 1;
    }
    assert!(count >= 5, "README.md shows what nsq prints");
    if std::env::var_os("NSQ_BLESS").is_some() {
        fs::write(project("README.md"), text).unwrap();
    }
}

/// Every command of docs/agents.md runs on the example.
#[test]
fn the_commands_for_agents_run() {
    let text = fs::read_to_string(project("docs/agents.md")).unwrap();
    let lines = console_lines(&text);
    assert!(lines.len() >= 10, "docs/agents.md shows commands");
    for line in lines {
        let arguments = arguments(&line).unwrap_or_else(|| panic!("does not run nsq: {line}"));
        let is_json = arguments.iter().any(|word| word == "json");
        let output = nsq().args(arguments).current_dir(project("")).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}");
        if is_json {
            serde_json::from_slice::<serde_json::Value>(&output.stdout)
                .unwrap_or_else(|e| panic!("{line}: {e}"));
        }
    }
    // What the page says about `nsq overview`.
    let overview =
        stdout(&["overview", &project("fixtures/example.sqlite").display().to_string(), "-f", "json"]);
    let overview: serde_json::Value = serde_json::from_str(&overview).unwrap();
    let findings =
        overview.as_array().unwrap().iter().find(|table| table["table"] == "findings").unwrap();
    for column in ["verdict", "adds_ns", "claim", "remedy", "confidence", "lacks", "help"] {
        assert!(text.contains(column) && findings["rows"][0].get(column).is_some(), "{column}");
    }
    for tool in
        ["list_reports", "overview", "run_query", "run_sql", "diff", "answer", "explain", "describe"]
    {
        assert!(text.contains(&format!("| `{tool}` |")), "{tool}");
    }
}

/// `.ci/run` runs these lines as they are.
#[test]
fn the_readme_has_two_cargo_commands() {
    let lines = console_lines(&readme());
    let commands: Vec<&String> = lines.iter().filter(|line| line.starts_with("$ cargo ")).collect();
    assert_eq!(
        commands,
        [
            "$ cargo run --release --quiet -- run fixtures/example.sqlite --query top_kernels -p limit=6 -p name=short",
            "$ cargo test --locked",
        ]
    );
}

/// Examples on reports of the reader cannot run here, but their verbs and options can be looked up.
#[test]
fn the_examples_use_verbs_and_options_that_exist() {
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for line in console_lines(&readme()).iter().filter(|line| !line.starts_with("$ cargo ")) {
        let words = arguments(line).unwrap_or_else(|| panic!("does not call nsq: {line}"));
        let (verb, rest) = words.split_first().unwrap();
        let page = pages.entry(verb.clone()).or_insert_with(|| stdout(&[verb, "--help"]));
        for option in rest.iter().filter(|word| word.starts_with('-')) {
            let option = option.split('=').next().unwrap_or_default();
            let is_part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            assert!(
                page.split(|c: char| !is_part(c)).any(|word| word == option),
                "nsq {verb} has no {option}: {line}"
            );
        }
    }
}

#[test]
fn the_index_lists_every_query() {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut index = "| subject | query | a row is |\n|---|---|---|\n".to_owned();
    let mut subject = String::new();
    let listed = stdout(&["list", "--format", "csv"]);
    for row in csv::Reader::from_reader(listed.as_bytes()).records() {
        let row = row.unwrap();
        // Only the first row of a subject names it.
        let first = if row[0] == subject { String::new() } else { format!("{} ", &row[0]) };
        subject = row[0].to_owned();
        let _ =
            writeln!(index, "| {first}| [`{0}`](queries/{subject}/{0}.sql) | {1} |", &row[1], &row[2]);
    }
    let (text, index) = (readme(), index.trim());
    let start = text.find("| subject | query |").expect("a table of the questions");
    let end = start + text[start..].find("\n\n").unwrap();
    if std::env::var_os("NSQ_BLESS").is_some() {
        fs::write(project("README.md"), format!("{}{index}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[start..end], index, "NSQ_BLESS=1 cargo test --test suite readme writes it anew");
}

#[test]
fn the_example_queries_pass_the_check() {
    for (file, text) in [
        ("README.md", readme()),
        ("queries/README.md", fs::read_to_string(project("queries/README.md")).unwrap()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("long_kernels.sql"), block(&text, "```sql\n") + "\n").unwrap();
        let output = nsq().arg("check").arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn every_verb_in_the_readme_exists_and_every_verb_is_there() {
    let text = readme() + &fs::read_to_string(project("CHANGELOG.md")).unwrap();
    let help = stdout(&["--help"]);
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for verb in
        commands.lines().filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help")
    {
        if stdout(&["--help"]).contains(&format!("\n  {verb}")) {
            assert!(
                text.contains(&format!("nsq {verb}")) || text.contains(&format!("`{verb}`")),
                "{verb} is nowhere told of"
            );
            let page = stdout(&[verb, "--help"]);
            assert!(page.contains("Examples:"), "nsq {verb} --help shows no example");
        }
    }
}
