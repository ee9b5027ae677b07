//! Class maps: ordered rules that map the names of GPU operations to classes.
//!
//! A file has one of four formats: nsq's own, or one of those that the tools before it ("seeds") read:
//! two of GPU Perf Analyzer and one of gputrc2graph.

use super::BUILT_IN;
use super::class_map::ClassMapSource;
use super::class_parser::parse_content;
use super::entry::Content;
use nsq_files::bounded_file::{self, Origin};
use nsq_sweep::classify::ClassMap;
use nsq_value::error::{Error, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Name of the map used by default.
pub const DEFAULT_CLASSES: &str = "default";

/// A file of class maps, parsed on first use.
#[derive(Debug)]
struct ClassFile {
    file: String,
    content: Content,
    parsed: OnceLock<Vec<ClassMapSource>>,
}

/// All known files of class maps, and the name of the selected map.
#[derive(Debug, Clone)]
pub struct ClassMaps {
    /// Newest first: the rules of a file added later are tried first.
    files: Vec<Arc<ClassFile>>,
    chosen: String,
    /// The selected map, compiled on first use, for all that have these maps.
    compiled: Arc<Mutex<Option<Arc<ClassMap>>>>,
}

impl Default for ClassMaps {
    fn default() -> Self {
        Self { files: Vec::new(), chosen: DEFAULT_CLASSES.to_owned(), compiled: Arc::default() }
    }
}

impl ClassMaps {
    /// Adds a file. Its rules are tried before those of earlier files.
    pub(super) fn add(&mut self, file: String, content: Content) {
        self.compiled = Arc::default();
        self.files.insert(0, Arc::new(ClassFile { file, content, parsed: OnceLock::new() }));
    }

    /// Adds a file as [`ClassMaps::add`] does, parses it, and returns the names of its maps.
    pub(super) fn add_file(&mut self, file: String, content: Content) -> Result<Vec<String>> {
        self.add(file, content);
        Ok(self.files[0].maps()?.iter().map(|map| map.name.clone()).collect())
    }

    /// Replaces all maps by this one, and selects it.
    pub(super) fn choose_map(&mut self, map: ClassMapSource) {
        self.compiled = Arc::default();
        self.chosen.clone_from(&map.name);
        let (file, content) = (String::new(), Content::from(""));
        self.files = vec![Arc::new(ClassFile { file, content, parsed: OnceLock::from(vec![map]) })];
    }

    /// Selects the map `NAME`, `FILE#NAME`, or `FILE`, which must have a single map or one named
    /// `default`.
    ///
    /// Adds all maps of the file to the known maps.
    pub fn choose(&mut self, spelling: &str) -> Result<()> {
        self.compiled = Arc::default();
        if self.names().iter().any(|name| name == spelling) {
            spelling.clone_into(&mut self.chosen);
            return Ok(());
        }
        let (path, name) = match spelling.rsplit_once('#') {
            Some((path, name)) if !Path::new(spelling).exists() => (path, Some(name)),
            _ => (spelling, None),
        };
        let is_file = Path::new(path).is_file();
        let looks_like_file = [".json", ".yml", ".yaml"].iter().any(|end| path.ends_with(end));
        if !is_file && !looks_like_file {
            return Err(self.unknown(spelling));
        }
        let text = bounded_file::read_text(Path::new(path), Origin::Named)?;
        let names = self.add_file(path.to_owned(), Content::from(text))?;
        self.chosen = match (name, names.as_slice()) {
            (Some(name), _) if names.iter().any(|known| known == name) => name.to_owned(),
            (Some(name), _) => {
                return Err(Error::unknown(
                    "class map",
                    name,
                    names.iter().map(String::as_str),
                    format!("Maps in {path}: {}.", names.join(", ")),
                ));
            }
            (None, [only]) => only.clone(),
            (None, _) if names.iter().any(|name| name == DEFAULT_CLASSES) => DEFAULT_CLASSES.to_owned(),
            (None, _) => {
                return Err(Error::usage(
                    format!("{path} has {} class maps: {}", names.len(), names.join(", ")),
                    format!("choose one: --classes {path}#NAME"),
                ));
            }
        };
        Ok(())
    }

    /// Name of the selected map.
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// The selected map.
    pub fn chosen_map(&self) -> Result<ClassMapSource> {
        self.map(&self.chosen)
    }

    /// The selected map, compiled. Compiling takes some milliseconds, and is done once.
    pub fn compiled(&self) -> Result<Arc<ClassMap>> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(map) = &*compiled {
            return Ok(Arc::clone(map));
        }
        Ok(Arc::clone(compiled.insert(Arc::new(self.chosen_map()?.compile()?))))
    }

    /// The map of this name, merged from all files that define it.
    pub fn map(&self, name: &str) -> Result<ClassMapSource> {
        let mut whole: Option<ClassMapSource> = None;
        for file in self.files.iter().filter(|file| file.may_define(name)) {
            let maps = match file.maps() {
                Ok(maps) => maps,
                // Ignore errors in files that do not mention this map.
                Err(_) if !file.mentions(name) => continue,
                Err(error) => return Err(error),
            };
            for map in maps.iter().filter(|map| map.name == name) {
                match &mut whole {
                    Some(whole) => whole.append(map),
                    None => whole = Some(map.clone()),
                }
            }
        }
        whole.ok_or_else(|| self.unknown(name))
    }

    /// Sorted names of all readable maps. [`ClassMaps::broken`] lists the files that cannot be read.
    pub fn names(&self) -> Vec<String> {
        let maps = self.files.iter().filter_map(|file| file.maps().ok()).flatten();
        let mut names: Vec<String> = maps.map(|map| map.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The paths of all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.file.as_str())
    }

    /// One error for each file that cannot be read.
    pub fn broken(&self) -> impl Iterator<Item = Error> {
        self.files.iter().filter_map(|file| file.maps().err())
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names();
        Error::unknown(
            "class map",
            name,
            names.iter().map(String::as_str),
            format!(
                "Class maps: {} (see `nsq list --classes`). A file is also accepted.",
                names.join(", ")
            ),
        )
    }
}

impl ClassFile {
    fn maps(&self) -> Result<&[ClassMapSource]> {
        if let Some(maps) = self.parsed.get() {
            return Ok(maps);
        }
        let maps = parse_content(&self.file, &self.content)?;
        Ok(self.parsed.get_or_init(|| maps))
    }

    /// Whether the text mentions the map, so the file may define it.
    fn mentions(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.content.text.contains(last)
            || Path::new(&self.file).file_stem().is_some_and(|stem| stem == name)
    }

    /// `false` only for a built-in file that does not define the map. Most runs need a single built-in
    /// file, and this avoids parsing the others.
    fn may_define(&self, name: &str) -> bool {
        !self.file.starts_with(BUILT_IN) || self.content.text.contains(&format!("{name}:"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::class_map::{ClassRule, MAX_RULES};
    use crate::catalog::class_parser::parse;

    fn shape(maps: &[ClassMapSource]) -> Vec<(String, Vec<String>)> {
        let rule = |rule: &ClassRule| format!("{}={}", rule.rule.pattern, rule.rule.class);
        maps.iter().map(|map| (map.name.clone(), map.rules.iter().map(rule).collect())).collect()
    }

    fn one(name: &str, rules: &[&str]) -> Vec<(String, Vec<String>)> {
        vec![(name.to_owned(), rules.iter().map(|rule| (*rule).to_owned()).collect())]
    }

    #[test]
    fn the_format_of_nsq() {
        let text = "mine:\n  doc: Mine.\n  rules:\n    - {class: gemm, match: 'gemm|dot', why: 'x'}\n    - {class: fmha, substring: FMHA_}\n    - {class: comm, activity: communication}\n";
        let maps = parse("f.yml", text).unwrap();
        assert_eq!(
            shape(&maps),
            one("mine", &["gemm|dot=gemm", "fmha_=fmha", "activity: communication=comm"])
        );
        assert_eq!((maps[0].doc.as_str(), maps[0].rules[1].line), ("Mine.", 5));
        assert_eq!(maps[0].compile().unwrap().classify("x_fmha_y").class, "fmha");
    }

    #[test]
    fn the_format_of_gputrc2graph_keeps_its_order() {
        let text = "{\"eng\": {\"m1\": {\"z\\\\d\": \"a\", \"b\": \"c\"}, \"m2\": {\".*\": \"misc\"}}}";
        let maps = parse("x.json", text).unwrap();
        let mut expected = one("eng/m1", &["z\\d=a", "b=c"]);
        expected.extend(one("eng/m2", &[".*=misc"]));
        assert_eq!(shape(&maps), expected);
        let yaml = parse("x.yml", "eng:\n  m1: {'z\\d': a, b: c}\n  m2: {'.*': misc}\n").unwrap();
        assert_eq!(shape(&yaml), expected);
    }

    #[test]
    fn the_formats_of_gpu_perf_analyzer() {
        let expected = one("f", &["nccl=nccl", "gemm=G", "softmax=s"]);
        assert_eq!(
            shape(&parse("f.json", "{\"GEMM\": \"G\", \"softmax\": \"s\",} // x").unwrap()),
            expected
        );
        let settings = "{\"inputs\": [{\"format\": \"csv\"}], // one\n\"kernel_to_class_map\": {\"gemm\": \"G\", \"softmax\": \"s\"}}";
        assert_eq!(shape(&parse("dir/f.json", settings).unwrap()), expected);
    }

    #[test]
    fn only_rules_added_by_nsq_are_implied() {
        let implied = |file: &str, text: &str| -> Vec<bool> {
            parse(file, text).unwrap()[0].rules.iter().map(|rule| rule.is_implied).collect()
        };
        assert_eq!(implied("f.json", "{\"gemm\": \"g\"}"), [true, false]);
        assert_eq!(implied("f.json", "{\"gemm\": \"g\", \"NCCL\": \"comm\"}"), [false, false]);
        let own = "m:\n  rules:\n    - {class: comm, substring: nccl, why: mine}\n";
        assert_eq!(implied("f.yml", own), [false]);
    }

    #[test]
    fn duplicates_are_reported() {
        // GPU Perf Analyzer: the later value wins, the earlier position stays.
        let flat =
            &parse("f.json", "{\"softmax\": \"Softmax\", \"gemm\": \"g\", \"SoftMax\": \"softmax\"}")
                .unwrap()[0];
        assert_eq!(
            shape(std::slice::from_ref(flat)),
            one("f", &["nccl=nccl", "softmax=softmax", "gemm=g"])
        );
        assert_eq!(flat.duplicates.len(), 1);
        let ours = "m:\n  rules:\n    - {class: a, match: x}\n    - {class: b, match: x}\n";
        let ours = &parse("f.yml", ours).unwrap()[0];
        assert_eq!(ours.compile().unwrap().classify("x").class, "a");
        assert_eq!(
            ours.duplicates[0].message,
            "class map m: duplicate pattern 'x': the first rule applies (class a)"
        );
        assert_eq!(ours.duplicates[0].line, 4);
    }

    #[test]
    fn line_numbers_point_to_rules_and_not_to_similar_text() {
        let lines = |file: &str, text: &str| -> Vec<usize> {
            let maps = parse(file, text).unwrap();
            maps.iter().flat_map(|map| &map.rules).map(|rule| rule.line).collect()
        };
        let two = "{\"e\": {\n\"a\": {\n\"gemm\": \"dot\",\n\"dot\": \"x\\\\d\"},\n\"b\": {\n\"gemm\": \"y\"}}}";
        assert_eq!(lines("f.json", two), [3, 4, 6]);
        // A key written with escapes is not found, but the keys after it still are.
        assert_eq!(
            lines("f.json", "{\n\"\\u0061\": \"x\",\n\"b\\\\d\": \"y\",\n\"c\": \"z\"}")[2..],
            [3, 4]
        );
        let ours = "m:\n  rules:\n    - {class: gemm, match: gemm}\n    - {class: a, substring: gemm}\nn:\n  rules:\n    - {class: b, match: gemm}\n";
        assert_eq!(lines("f.yml", ours), [3, 4, 7]);
    }

    #[test]
    fn the_limit_on_rules_is_exact() {
        let keys = |count: usize| -> String {
            let keys: Vec<String> =
                (0..count).map(|n| format!("\"k\\u0065rnel_{n}\": \"class_{n}\"")).collect();
            keys.join(",\n")
        };
        let flat = format!("{{{}}}", keys(MAX_RULES));
        let map = parse("f.json", &flat).unwrap().remove(0);
        assert_eq!(map.rules.len(), MAX_RULES + 1);
        assert_eq!(map.compile().unwrap().classify("a KERNEL_1999 b").class, "class_1");
        let mut maps = ClassMaps::default();
        maps.add("f.json".into(), flat.clone().into());
        maps.add("f.yml".into(), "f:\n  rules:\n    - {class: c, match: x}\n".into());
        let error = maps.map("f").unwrap().compile().unwrap_err().to_string();
        assert_eq!(error, "class map f: too many rules: 2001 (the limit is 2000)");
        let nested = format!("{{\"e\": {{\"m\": {{{}}}}}}}", keys(MAX_RULES));
        assert_eq!(parse("f.json", &nested).unwrap()[0].rules.len(), MAX_RULES);
        let rules: String =
            (0..MAX_RULES).map(|n| format!("    - {{class: c, match: 'kernel_{n}'}}\n")).collect();
        let ours = parse("f.yml", &format!("m:\n  rules:\n{rules}")).unwrap();
        assert_eq!(ours[0].rules[MAX_RULES - 1].line, MAX_RULES + 2);
        let error = parse("f.json", &format!("{{{}}}", keys(100_000))).unwrap_err().to_string();
        assert_eq!(error, "f.json:1: too many entries: 100000 (the limit is 2000)");
    }

    #[test]
    fn maps_of_the_same_name_merge_and_later_files_go_first() {
        let mut maps = ClassMaps::default();
        maps.add(
            "old.yml".into(),
            "m:\n  doc: Old.\n  rules:\n    - {class: a, match: x}\n    - {class: b, match: y}\n".into(),
        );
        maps.add(
            "new.json".into(),
            "{\"m\": {\"rules\": [{\"class\": \"c\", \"match\": \"y\"}]}}".into(),
        );
        let map = maps.map("m").unwrap();
        assert_eq!(shape(std::slice::from_ref(&map)), one("m", &["y=c", "x=a"]));
        assert_eq!((map.doc.as_str(), map.duplicates.len()), ("Old.", 1));
        assert_eq!(map.files(), ["new.json", "old.yml"]);
        assert!(map.duplicates[0].message.contains("old.yml:5"), "{:?}", map.duplicates);
    }

    #[test]
    fn a_broken_file_affects_only_its_own_maps() {
        let mut maps = ClassMaps::default();
        maps.add("good.yml".into(), "m:\n  doc: x\n  rules: [{class: a, match: x}]\n".into());
        maps.add("bad.yml".into(), "other: [\n".into());
        assert_eq!(maps.names(), ["m"]);
        assert_eq!(maps.map("m").unwrap().rules.len(), 1);
        assert!(maps.map("other").unwrap_err().to_string().starts_with("bad.yml:"));
        assert!(maps.map("bad").is_err());
        assert_eq!(maps.broken().count(), 1);
    }

    #[test]
    fn errors_in_a_map_say_where() {
        let message = |file: &str, text: &str| match parse(file, text) {
            Err(error) => error.to_string(),
            Ok(maps) => maps.iter().find_map(|map| map.compile().err()).unwrap().to_string(),
        };
        for (text, expected) in [
            (
                "m:\n  rules:\n    - {class: a, match: 'x('}\n",
                "f.yml:3: class map m: invalid pattern 'x(': unclosed group",
            ),
            ("m:\n  rules:\n    - {class: a}\n", "f.yml:1: class map m: a rule has no pattern"),
            ("m:\n  rules:\n    - {match: a}\n", "a rule has no `class`"),
            ("m:\n  rules:\n    - {class: a, match: b, substring: c}\n", "a rule has two patterns"),
            ("m:\n  rules:\n    - {class: a, activity: idle}\n", "an unknown activity 'idle'"),
            ("m:\n  rules:\n    - {class: a, match: ''}\n", "an empty `match`"),
            ("m:\n  rules:\n    - {klass: a, match: b}\n", "an unknown key 'klass'"),
            ("m:\n  rules:\n    - gemm\n", "a rule has no keys"),
            ("m:\n  docs: x\n  rules: []\n", "f.yml:2: class map m: invalid key 'docs'"),
            ("e:\n  m:\n    'a(': b\n", "f.yml:3: class map e/m: invalid pattern 'a('"),
            ("e:\n  m:\n    a:\n", "class map e/m: invalid class for 'a': expected text"),
            ("e:\n  m:\n    a: 3\n", "class map e/m: invalid class for 'a': expected text"),
            ("e:\n  m: x\n", "'e/m' is not a class map"),
            ("a: b\nc: 3\n", "is not a class map"),
            ("[1]", "the file is not a class map"),
            ("{}", "the file has no class map"),
            ("", "the file is not a class map"),
            (
                "doc: x\nrules:\n  - {class: a, match: b}\n",
                "f.yml:2: the class map has no name: `rules` is at the top of the file",
            ),
        ] {
            let found = message("f.yml", text);
            assert!(found.contains(expected), "{text}\nwant {expected}\ngot  {found}");
        }
    }
}
