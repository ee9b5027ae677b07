//! What the READMEs show is what happens.

use crate::support::{nsq, project, stdout};
use std::fmt::Write as _;
use std::fs;

fn readme() -> String {
    fs::read_to_string(project("README.md")).unwrap()
}

/// The fenced block that begins with this line.
fn block(text: &str, fence: &str) -> String {
    let start = text.find(fence).unwrap_or_else(|| panic!("no {fence} block")) + fence.len();
    let end = text[start..].find("```").unwrap();
    text[start..start + end].trim_matches('\n').to_owned()
}

#[test]
fn the_transcripts_are_what_nsq_prints() {
    let mut text = readme();
    let mut from = 0;
    let mut count = 0;
    // Every command of a console block that is followed by what it prints.
    while let Some(at) = text[from..].find("```console\n") {
        from += at + "```console\n".len();
        let command = text[from..].lines().next().unwrap_or_default().to_owned();
        let Some(arguments) = command.split(" -- ").nth(1) else { continue };
        let output = nsq().args(arguments.split_whitespace()).current_dir(project("")).output().unwrap();
        assert!(output.status.success(), "{command}");
        let printed = String::from_utf8(output.stdout).unwrap().trim_matches('\n').to_owned();
        let shown = block(&text[from..], "```text\n");
        if std::env::var_os("NSQ_BLESS").is_some() {
            let at = from + text[from..].find("```text\n").unwrap() + "```text\n".len();
            text.replace_range(at..at + shown.len(), &printed);
        } else {
            assert_eq!(
                shown, printed,
                "NSQ_BLESS=1 cargo test --test readme the_transcripts writes it anew"
            );
        }
        count += 1;
    }
    assert!(count >= 2, "README.md shows what nsq prints");
    if std::env::var_os("NSQ_BLESS").is_some() {
        fs::write(project("README.md"), text).unwrap();
    }
}

#[test]
fn the_index_lists_every_query() {
    let mut index = String::new();
    let mut domain = String::new();
    let listed = stdout(&["list", "--format", "csv"]);
    for row in csv::Reader::from_reader(listed.as_bytes()).records() {
        let row = row.unwrap();
        if row[0] != domain {
            domain = row[0].to_owned();
            let _ = writeln!(index, "\n**{domain}**\n\n| query | a row is |\n|---|---|");
        }
        let _ = writeln!(index, "| [`{0}`](queries/{domain}/{0}.sql) | {1} |", &row[1], &row[2]);
    }
    let (text, index) = (readme(), index.trim());
    let start = text.find("## The questions\n\n").unwrap() + "## The questions\n\n".len();
    let end = text.find("\n\n`name@2` insists").unwrap();
    if std::env::var_os("NSQ_BLESS").is_some() {
        fs::write(project("README.md"), format!("{}{index}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[start..end], index, "NSQ_BLESS=1 cargo test --test readme writes it anew");
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
