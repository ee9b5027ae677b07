//! Errors in words of the tools. The library speaks to people at a command line: it names options such as
//! `--time`, and commands such as `nsq list`. An agent has neither, so every error passes through here on its way out:
//!
//! - An option or command that a tool can do is said as the tool's name and arguments.
//! - Advice with any other option or command is left out, also one that nsq learns in the future.
//! - Flags of `nsys` stay: they say how to capture again. nsq writes these with their value, `--trace=cuda`, and
//!   its own options without.

/// Options of nsq, and the arguments that say the same. Others have no argument.
const OPTIONS: [(&str, &str); 18] = [
    ("--attribute", "attribute"),
    ("--device", "devices"),
    ("--exclude", "exclude"),
    ("--gpu", "gpus"),
    ("--iter", "iterations"),
    ("--model", "params model"),
    ("--nvtx", "nvtx"),
    ("--param", "params"),
    ("--part", "parts"),
    ("--playbook", "playbook"),
    ("--process", "processes"),
    ("--query", "query"),
    ("--stream", "streams"),
    ("--thread", "threads"),
    ("--time", "time"),
    ("--window", "windows"),
    ("-p", "params"),
    ("-q", "query"),
];

/// What separates pieces of advice that stand alone.
const SEPARATORS: [&str; 4] = [". ", "; ", ", or ", ", and "];

/// What is wrong, in words of the tools. All of it is kept; an option without an argument loses its dashes.
pub(crate) fn message(text: &str) -> String {
    joined(clauses(text).into_iter())
}

/// What to do, in words of the tools; `None` if no tool can.
pub(crate) fn help(text: &str) -> Option<String> {
    let advice = joined(clauses(text).into_iter().filter(|clause| clause.is_doable));
    (!advice.trim().is_empty()).then_some(advice)
}

/// A piece of advice, and the separator before it.
struct Clause {
    before: &'static str,
    text: String,
    is_doable: bool,
}

impl Clause {
    fn after(before: &'static str) -> Self {
        Self { before, text: String::new(), is_doable: true }
    }

    /// Adds words outside of quotes.
    fn add_plain(&mut self, text: &str) {
        for word in text.split_inclusive(' ') {
            let at = word.find(|c| c != '(').unwrap_or(0);
            let (opening, word) = word.split_at(at);
            self.text.push_str(opening);
            match option_in(word) {
                Some((option, rest)) => match argument(option) {
                    Some(argument) => self.text.push_str(&format!("{argument}{rest}")),
                    None if rest.starts_with('=') => self.text.push_str(word),
                    None => {
                        self.text.push_str(word.trim_start_matches('-'));
                        self.is_doable = false;
                    }
                },
                None => self.text.push_str(word),
            }
        }
    }

    /// Adds what stands in backquotes.
    fn add_code(&mut self, code: &str) {
        match code.split_whitespace().next() {
            Some(first) if first == "nsq" || option_in(first).is_some() => match call(code) {
                Some(call) => self.text.push_str(&call),
                None => {
                    self.text.push('`');
                    self.add_plain(code);
                    self.text.push('`');
                    self.is_doable = false;
                }
            },
            _ => self.text.push_str(&format!("`{code}`")),
        }
    }
}

fn joined(clauses: impl Iterator<Item = Clause>) -> String {
    let mut all = String::new();
    for clause in clauses {
        if !all.is_empty() {
            all.push_str(clause.before);
        }
        all.push_str(&clause.text);
    }
    all
}

/// The pieces of a text. What stands in single quotes is a name, and stays as it is.
fn clauses(text: &str) -> Vec<Clause> {
    let (mut done, mut clause) = (Vec::new(), Clause::after(""));
    let mut rest = text;
    while !rest.is_empty() {
        let quote = quote_in(rest).unwrap_or(rest.len());
        let (mut plain, quoted) = rest.split_at(quote);
        while let Some((at, separator)) =
            SEPARATORS.iter().filter_map(|known| Some((plain.find(known)?, *known))).min()
        {
            clause.add_plain(&plain[..at]);
            done.push(std::mem::replace(&mut clause, Clause::after(separator)));
            plain = &plain[at + separator.len()..];
        }
        clause.add_plain(plain);
        let Some(mark) = quoted.chars().next() else { break };
        let end = quoted[1..].find(mark).map_or(quoted.len(), |at| at + 2);
        match quoted[..end].strip_prefix('`').and_then(|code| code.strip_suffix('`')) {
            Some(code) => clause.add_code(code),
            None => clause.text.push_str(&quoted[..end]),
        }
        rest = &quoted[end..];
    }
    done.push(clause);
    done
}

/// Where something in quotes begins: a backquote, or a single quote that is no apostrophe.
fn quote_in(text: &str) -> Option<usize> {
    let is_quote = |(at, c): &(usize, char)| match c {
        '`' => true,
        '\'' => !text[..*at].ends_with(|before: char| before.is_alphanumeric()),
        _ => false,
    };
    text.char_indices().find(is_quote).map(|(at, _)| at)
}

/// The option that a word begins with, and the rest of the word.
fn option_in(word: &str) -> Option<(&str, &str)> {
    let name = word.trim_start_matches('-');
    let is_long = word.len() - name.len() == 2 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    let (option, rest) = word.split_at(word.len() - name.len() + end);
    (is_long || matches!(option, "-p" | "-q")).then_some((option, rest))
}

fn argument(option: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(known, _)| *known == option).map(|(_, argument)| *argument)
}

/// The call of a tool that does what a command does.
fn call(command: &str) -> Option<String> {
    let mut words = command.split_whitespace().peekable();
    let verb = if words.next_if_eq(&"nsq").is_some() { words.next()? } else { "run" };
    let (mut name, mut details) = (None, Vec::new());
    let mut about = Vec::new();
    while let Some(word) = words.next() {
        match option_in(word) {
            // Its answer without words has the relations too.
            Some(("--relations", "")) if verb == "list" => {}
            Some((option, "")) => details.push(format!("{} {}", argument(option)?, words.next()?)),
            Some(_) => return None,
            None if verb == "list" => about.push(word),
            None => name = name.or(Some(word)),
        }
    }
    if !about.is_empty() {
        details.push(format!("about '{}'", about.join(" ")));
    }
    let tool = match verb {
        "list" => "list_queries",
        "schema" => {
            details.push("this report".to_owned());
            "list_queries"
        }
        "show" => {
            details.extend(name.map(|name| format!("name {name}")));
            "describe"
        }
        "run" => "run_query",
        "sql" => "run_sql",
        "answer" | "diff" | "overview" => verb,
        _ => return None,
    };
    Some(match details.is_empty() {
        true => tool.to_owned(),
        false => format!("{tool} with {}", details.join(" and ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn options_and_commands_become_arguments_and_tools() {
        for (spoken, wanted) in [
            (
                "raise --timeout, or narrow the scope with --time, --device or --process",
                "narrow the scope with time, devices or processes",
            ),
            (
                "did you mean 'kernel_sum'? `nsq list` shows all queries.",
                "did you mean 'kernel_sum'? list_queries shows all queries.",
            ),
            (
                "`nsq list copy speed` searches for the words.",
                "list_queries with about 'copy speed' searches for the words.",
            ),
            (
                "`nsq run REPORT --query range_names` lists them",
                "run_query with query range_names lists them",
            ),
            ("`--query scope_ids` lists them", "run_query with query scope_ids lists them"),
            (
                "`nsq show top_kernels` lists them; use -p n=1",
                "describe with name top_kernels lists them; use params n=1",
            ),
            (
                "capture with `nsys profile --trace=nvtx …`; `nsq schema a.sqlite` shows what it holds",
                "capture with `nsys profile --trace=nvtx …`; list_queries with this report shows what it holds",
            ),
            (
                "the capture used --trace=cuda, but recorded none",
                "the capture used --trace=cuda, but recorded none",
            ),
            ("read `string`; `nsq sql --allow-environment` shows the table", "read `string`"),
            (
                "it is nsq's file: no range is named '--time'",
                "it is nsq's file: no range is named '--time'",
            ),
        ] {
            assert_eq!(help(spoken).as_deref(), Some(wanted));
        }
        assert_eq!(help("give the path with --nsys"), None);
        assert_eq!(help("run `nsq materialize` (or --new-option X)"), None);
        assert_eq!(
            message("--time 1/0 is empty, with --odd and `nsq sql --x`"),
            "time 1/0 is empty, with odd and `nsq sql x`"
        );
        for odd in ["", "'", "`", "``", "`nsq`", "--", "-", "(--", "`--time`", "é'é`é --é"] {
            message(odd);
            help(odd);
        }
    }

    /// The texts of the library that can be a part of an error, also those that are written after this test.
    #[test]
    fn no_text_of_the_library_names_an_option_to_an_agent() {
        fn sources(folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                // What only the linter says, and manual pages.
                let is_other = ["check", "tests"].iter().any(|name| path.ends_with(name));
                let is_rust = path.extension().is_some_and(|extension| extension == "rs");
                match path.is_dir() {
                    true if is_other => {}
                    true => sources(&path, found),
                    false if is_rust => found.push(std::fs::read_to_string(&path).unwrap()),
                    false => {}
                }
            }
        }
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates"), &mut found);
        let lines = found.iter().flat_map(|text| text.lines()).map(str::trim);
        // A text may go on in the next line, after a backslash.
        let texts = lines.filter(|line| !line.starts_with("//")).flat_map(|line| {
            let quotes = line.matches('"').count();
            let starts_inside = quotes == 0 || quotes % 2 == 1 && !line.ends_with('\\');
            line.split('"').skip(usize::from(!starts_inside)).step_by(2)
        });
        let (mut seen, mut left) = (0, Vec::new());
        for text in texts.filter(|text| text.contains("--") || text.contains("nsq ")) {
            seen += 1;
            for said in help(text).into_iter().chain([message(text)]) {
                // Commands of other programs stay.
                let said: String = said.split('`').step_by(2).collect();
                let is_option = |word: &str| {
                    option_in(word.trim_start_matches('('))
                        .is_some_and(|(_, rest)| !rest.starts_with('='))
                };
                left.extend(said.split(' ').any(is_option).then(|| format!("{said} of {text}")));
            }
        }
        assert!(seen > 40, "{seen}");
        assert!(left.is_empty(), "{left:#?}");
    }
}
