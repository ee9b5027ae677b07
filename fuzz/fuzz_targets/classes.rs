//! Fuzz target: files of class maps, in all four formats. Each is read and compiled, or refused with a
//! reason, and names are classified as the rules say one by one.
#![no_main]

mod support;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use nsq::catalog::{ClassMapSource, ClassRule, parse_classes};
use nsq::classify::{OTHERS, Pattern, activity};
use nsq::error::Error;
use regex::Regex;
use std::fmt::Write;
use std::time::Duration;

/// How long reading or compiling a file may compute: five times as long as without the checks of a fuzzer.
const ALLOWED: Duration = Duration::from_secs(50);
/// Most rules of a map whose classes are compared.
const MOST_COMPARED: usize = 64;

const NAMES: [&str; 6] = [
    "ampere_sgemm_128x32_tn",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int, float)",
    "Memcpy HtoD (Pageable -> Device)",
    "\u{130}stanbul \u{17f} K\u{e4}se",
    "",
];

/// Pieces of patterns: texts, and what costs a compiler of regular expressions the most.
const PIECES: [&str; 40] = [
    "gemm",
    "GEMM",
    "nccl",
    "NCCL",
    "\u{17f}",
    "\u{130}",
    ".*",
    "(a|b)",
    "(?i)",
    "(?-u)",
    "x{1000}",
    "(x{50}){50}",
    "\\w{200}",
    "[^\\W\\d]",
    "\\pL",
    "(?x: a b)",
    "^",
    "$",
    "\\b",
    "(?=a)",
    "(?<n>a)",
    "\\1",
    "(",
    ")",
    "[",
    "]",
    "{",
    "*",
    "+?",
    "\\",
    "\\\\",
    "'",
    "\"",
    "#",
    ": ",
    "- ",
    "\n",
    "\u{0}",
    "\u{feff}",
    "|",
];

/// Writes a file of class maps.
struct Grammar<'u, 'b> {
    bytes: &'b mut Unstructured<'u>,
    is_json: bool,
}

impl Grammar<'_, '_> {
    fn pattern(&mut self) -> Result<String> {
        let mut text = String::new();
        for _ in 0..self.bytes.int_in_range(1..=4)? {
            match self.bytes.ratio(1, 8)? {
                true => text.push(self.bytes.arbitrary()?),
                false => text.push_str(self.bytes.choose(&PIECES)?),
            }
        }
        Ok(text)
    }

    /// A text as the file spells it. JSON in quotes is YAML too.
    fn spelled(&mut self, text: &str) -> Result<String> {
        Ok(match self.bytes.int_in_range(0..=7)? {
            0 => text.to_owned(),
            1 => format!("'{}'", text.replace('\'', "''")),
            2 => format!("\"{text}\""),
            _ => serde_json::Value::from(text).to_string(),
        })
    }

    /// `{pattern: class, …}`, also such as have other values.
    fn flat(&mut self, depth: u32) -> Result<String> {
        let mut text = "{".to_owned();
        for number in 0..self.bytes.int_in_range(0..=12)? {
            if number > 0 {
                text.push_str(self.bytes.choose(&[",", ", ", ",\n", " // x\n,", "\n"])?);
            }
            let (key, class) = (self.pattern()?, self.pattern()?);
            let (key, class) = (self.spelled(&key)?, self.spelled(&class)?);
            let value = match self.bytes.int_in_range(0..=15)? {
                0 => self
                    .bytes
                    .choose(&["null", "1", "[]", "true", "{}", "&a", "*a", "!!binary x"])?
                    .to_string(),
                1 | 2 if depth > 0 => self.flat(depth - 1)?,
                _ => class,
            };
            let _ = write!(text, "{key}: {value}");
        }
        text.push('}');
        Ok(text)
    }

    fn rules(&mut self) -> Result<String> {
        let mut text = "{\"doc\": \"x\", \"rules\": [".to_owned();
        // One pattern many times, each a little different: for what takes as long for each rule as for all.
        if !self.bytes.ratio(7, 8)? {
            let (many, pattern) = (self.bytes.int_in_range(1..=1_990)?, self.pattern()?);
            for number in 0..many {
                let pattern = serde_json::Value::from(format!("k{number}{pattern}"));
                let _ = write!(text, "{{\"class\": \"c\", \"match\": {pattern}}},");
            }
        }
        for number in 0..self.bytes.int_in_range(1..=12)? {
            if number > 0 {
                text.push(',');
            }
            let (kind, pattern) = (
                *self.bytes.choose(&["match", "substring", "activity", "why", "nope"])?,
                self.pattern()?,
            );
            let pattern = match kind {
                "activity" => {
                    (*self.bytes.choose(&["compute", "communication", "memory", "x"])?).to_owned()
                }
                _ => pattern,
            };
            let (class, pattern) = (self.pattern()?, self.spelled(&pattern)?);
            let class = self.spelled(&class)?;
            let _ = write!(text, "{{\"class\": {class}, \"{kind}\": {pattern}}}");
        }
        text.push_str("]}");
        Ok(text)
    }

    fn file(&mut self) -> Result<String> {
        let mut text = match self.bytes.int_in_range(0..=4)? {
            0 => self.flat(0)?,
            1 => format!("{{\"inputs\": [], \"kernel_to_class_map\": {}}}", self.flat(1)?),
            2 => {
                format!("{{\"engine\": {{\"model\": {}, \"model\": {}}}}}", self.flat(0)?, self.flat(0)?)
            }
            3 => format!("{{\"m\": {}, \"m\": {}}}", self.rules()?, self.rules()?),
            _ => self.flat(3)?,
        };
        if !self.bytes.ratio(23, 24)? {
            // One text many times: for what takes quadratic time.
            let piece = self.bytes.choose(&[
                "[",
                "{\"a\":",
                "{\"a\":{\"b\":\"c\"},",
                "\"\n",
                "&a [*a,",
                "- ",
                "? ",
            ])?;
            let many = self.bytes.int_in_range(1..=5_000)?;
            text = piece.repeat(many) + &text;
        }
        if !self.is_json && self.bytes.ratio(1, 4)? {
            text = text.replace("\", \"", "\"\n\"");
        }
        Ok(text)
    }
}

/// Panics if the work takes too long.
fn timed<T>(work: impl FnOnce() -> T) -> T {
    let begin = support::computed();
    let done = work();
    let took = support::computed() - begin;
    assert!(took < ALLOWED, "it took {took:?}");
    done
}

/// Panics if a name has another class than the first rule that matches it gives.
fn check(map: &ClassMapSource) {
    let compiled = match timed(|| map.compile()) {
        Ok(compiled) => compiled,
        Err(Error::Catalog { reason, .. } | Error::Usage { reason, .. }) => {
            return assert!(!reason.is_empty());
        }
        Err(other) => panic!("unexpected error: {other:?}"),
    };
    let regex = |pattern: &Pattern| match pattern {
        Pattern::Match(text) => Regex::new(text).ok().map(Some),
        Pattern::Substring(text) => Regex::new(&format!("(?i){}", regex::escape(text))).ok().map(Some),
        Pattern::Activity(_) => Some(None),
    };
    // A pattern that is too large alone for the default limit of the crate is not compared.
    let regexes: Option<Vec<Option<Regex>>> =
        map.rules.iter().take(MOST_COMPARED).map(|rule| regex(&rule.rule.pattern)).collect();
    let Some(regexes) = regexes.filter(|regexes| regexes.len() == map.rules.len()) else { return };
    for name in NAMES {
        let is_match = |(rule, regex): &(&ClassRule, &Option<Regex>)| match (regex, &rule.rule.pattern) {
            (Some(regex), _) => regex.is_match(name),
            (None, pattern) => *pattern == Pattern::Activity(activity(name)),
        };
        let first = map.rules.iter().zip(&regexes).find(is_match);
        let class = first.map_or(OTHERS, |(rule, _)| rule.rule.class.as_str());
        assert_eq!(compiled.classify(name).class, class, "{name}");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let Ok(kind) = bytes.arbitrary::<u8>() else { return };
    let (is_json, is_raw) = (kind % 2 == 0, kind % 8 >= 6);
    let text = match is_raw {
        true => String::from_utf8_lossy(bytes.take_rest()).into_owned(),
        false => Grammar { bytes: &mut bytes, is_json }.file().unwrap_or_default(),
    };
    if std::env::var_os("NSQ_FUZZ_SHOW").is_some() {
        println!("{text}");
    }
    let file = if is_json { "f.json" } else { "f.yml" };
    match timed(|| parse_classes(file, &text)) {
        Ok(maps) => {
            let lines = text.lines().count().max(1);
            for map in &maps {
                assert!(
                    map.rules.iter().all(|rule| (1..=lines).contains(&rule.line)),
                    "a line outside of the file"
                );
                check(map);
            }
        }
        Err(Error::Catalog { reason, .. }) => assert!(!reason.is_empty()),
        Err(other) => panic!("unexpected error: {other:?}"),
    }
});
