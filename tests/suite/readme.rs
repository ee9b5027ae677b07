//! README.md and the book show what happens: their commands run, and print what the pages show.

use crate::support::{NEWEST_COMMON, build, nsq, project, stdout, traces};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// README.md, and all chapters of the book that are not generated.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![project("README.md")];
    let mut folders = vec![project("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).unwrap()
}

fn readme() -> String {
    read(&project("README.md"))
}

/// The reports that the pages open, in a folder as `docs/samples.py` makes it.
struct Samples {
    folder: tempfile::TempDir,
    /// Whether there is a Python, which writes the variants of the example.
    has_variants: bool,
}

impl Samples {
    fn shared() -> &'static Self {
        static SAMPLES: OnceLock<Samples> = OnceLock::new();
        SAMPLES.get_or_init(Self::new)
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(format!("{name}.sqlite"));
        std::os::unix::fs::symlink(project("fixtures"), folder.path().join("fixtures")).unwrap();
        for trace in traces() {
            build(NEWEST_COMMON, &trace, &at(&trace));
        }
        for side in ["before", "after"] {
            let connection = Connection::open(at(side)).unwrap();
            for file in [format!("schema/{NEWEST_COMMON}"), format!("diff/{side}")] {
                let script = fs::read_to_string(project(&format!("fixtures/{file}.sql"))).unwrap();
                connection.execute_batch(&script).unwrap();
            }
            crate::support::drop_empty_tables(&connection);
        }
        let mut has_variants = true;
        for (name, option) in [("base", None), ("new", Some("--prefetch"))] {
            for run in ["1", "2", "3"] {
                let mut python = std::process::Command::new("python3");
                python.arg(project("fixtures/make_example.py")).arg(at(&format!("{name}-{run}")));
                has_variants &=
                    python.args(["--run", run]).args(option).status().is_ok_and(|s| s.success());
            }
        }
        Self { folder, has_variants }
    }

    /// What a command prints, and whether it exits as the page says: with 0, or as in `# exits with 1`.
    fn output_of(&self, command: &str) -> Option<String> {
        let needs_python = ["base-", "new-"].iter().any(|name| command.contains(name));
        if needs_python && !self.has_variants {
            eprintln!("skipped, without python3: {command}");
            return None;
        }
        let arguments = self.arguments(command);
        let output = nsq().args(arguments).current_dir(self.folder.path()).output().unwrap();
        let wanted =
            command.split_once("# exits with ").map_or(0, |(_, code)| code.trim().parse().unwrap());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(wanted), "{command}: {error}");
        Some(String::from_utf8(output.stdout).unwrap().trim_matches('\n').to_owned())
    }

    /// The arguments of a command. As in a shell, `base-*.sqlite` is all files that match.
    fn arguments(&self, command: &str) -> Vec<String> {
        let arguments = arguments(command).unwrap_or_else(|| panic!("does not run nsq: {command}"));
        let expand = |word: String| -> Vec<String> {
            let Some(start) = word.strip_suffix("*.sqlite") else { return vec![word] };
            let files =
                fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
            names.retain(|name| name.starts_with(start));
            names.sort();
            names
        };
        arguments.into_iter().flat_map(expand).collect()
    }
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

/// A page, with what its commands print in place of what it shows; and how many commands that are.
fn as_printed(mut text: String) -> (String, usize) {
    let (mut from, mut count) = (0, 0);
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
        let end = from + text[from..].find("\n```").unwrap();
        if let Some(mut printed) = Samples::shared().output_of(&command) {
            // A last line `…` stands for the rest of the output.
            if let Some(beginning) = text[from..end].strip_suffix("\n…") {
                let lines: Vec<&str> = printed.lines().take(beginning.lines().count()).collect();
                printed = lines.join("\n") + "\n…";
            }
            text.replace_range(from..end, &printed);
        }
        count += 1;
    }
    (text, count)
}

#[test]
fn the_transcripts_are_what_nsq_prints() {
    let mut transcripts = 0;
    let mut stale = Vec::new();
    for page in pages() {
        let text = read(&page);
        let (printed, count) = as_printed(text.clone());
        transcripts += count;
        if text == printed {
            continue;
        }
        if std::env::var_os("NSQ_BLESS").is_some() {
            fs::write(&page, printed).unwrap();
            continue;
        }
        let lines = text.lines().zip(printed.lines()).find(|(shown, printed)| shown != printed);
        let (shown, printed) = lines.unwrap_or(("its end", "another end"));
        stale.push(format!("{}:\n  shows   {shown}\n  prints  {printed}", page.display()));
    }
    assert!(
        stale.is_empty(),
        "{}\nNSQ_BLESS=1 cargo test --test suite readme writes it anew",
        stale.join("\n")
    );
    assert!(transcripts >= 30, "README.md and the book show what nsq prints: {transcripts}");
}

/// Every command of docs/src/agents.md runs on the example.
#[test]
fn the_commands_for_agents_run() {
    let text = fs::read_to_string(project("docs/src/agents.md")).unwrap();
    let lines = console_lines(&text);
    assert!(lines.len() >= 10, "docs/src/agents.md shows commands");
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
            "$ cargo run --quiet --locked -- run fixtures/example.sqlite --query top_kernels -p limit=6 -p name=short",
            "$ cargo test --locked",
        ]
    );
}

/// Programs of their own, which the members of the workspace build.
const OTHER_PROGRAMS: [&str; 3] = ["fleet", "mcp", "perfetto"];

/// Examples on reports of the reader cannot run here, but their verbs and options can be looked up.
#[test]
fn the_examples_use_verbs_and_options_that_exist() {
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    for page in pages() {
        for line in console_lines(&read(&page)).iter().filter(|line| !line.starts_with("$ cargo test")) {
            let words = arguments(line).unwrap_or_else(|| panic!("does not call nsq: {line}"));
            let (verb, rest) = words.split_first().unwrap();
            // `nsq REPORT` is `nsq overview REPORT`.
            let verb = if verb.contains('.') { "overview" } else { verb };
            if OTHER_PROGRAMS.contains(&verb) {
                continue;
            }
            let text = help.entry(verb.to_owned()).or_insert_with(|| stdout(&[verb, "--help"]));
            for option in rest.iter().filter(|word| word.starts_with('-')) {
                let option = option.split('=').next().unwrap_or_default();
                let is_part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
                assert!(
                    text.split(|c: char| !is_part(c)).any(|word| word == option),
                    "{}: nsq {verb} has no {option}: {line}",
                    page.display()
                );
            }
        }
    }
}

#[test]
fn the_example_query_passes_the_check() {
    let text = fs::read_to_string(project("queries/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long_kernels.sql"), block(&text, "```sql\n") + "\n").unwrap();
    let output = nsq().arg("check").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn every_verb_is_in_the_book_and_its_help_has_examples() {
    let text: String = pages().iter().map(|page| read(page)).collect();
    for verb in nsq::cli::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let verb = verb.get_name();
        assert!(
            text.contains(&format!("nsq {verb}")) || text.contains(&format!("`{verb}`")),
            "the book does not mention {verb}"
        );
        let page = stdout(&[verb, "--help"]);
        assert!(page.contains("Examples:"), "nsq {verb} --help shows no example");
    }
}
