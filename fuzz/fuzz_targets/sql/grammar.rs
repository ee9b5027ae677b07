//! Statements of a stranger: bytes → SQL that tries to read secrets, to write, or to run for long.
//!
//! The grammar produces mostly valid statements: SQLite refuses others before they could do harm. Equal
//! bytes give equal statements.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use std::sync::LazyLock;

/// Nesting of queries and expressions.
const DEPTH: u32 = 5;
/// Longest statement in bytes, beyond which only leaves are added.
const LONGEST: usize = 6_000;

/// A table, and columns that it has.
type Named = (&'static str, &'static [&'static str]);

/// Tables that hold secrets, tables of SQLite that could lead to them, and relations.
const TABLES: [Named; 40] = [
    ("META_DATA_CAPTURE", &["name", "value"]),
    ("META_DATA_EXPORT", &["name", "value"]),
    ("TARGET_INFO_SYSTEM_ENV", &["devStateName", "name", "value"]),
    ("ProcessStreams", &["globalPid", "filenameId", "contentId"]),
    ("ANALYSIS_FILE", &["id", "filename", "contentId"]),
    ("DIAGNOSTIC_EVENT", &["text", "source"]),
    ("StringIds", &["id", "value"]),
    ("StringIds", &["id", "value"]),
    ("sqlite_stat1", &["tbl", "idx", "stat"]),
    ("sqlite_stat4", &["tbl", "neq", "sample"]),
    ("sqlite_master", &["type", "name", "sql"]),
    ("sqlite_schema", &["type", "name", "sql"]),
    ("sqlite_temp_master", &["name", "sql"]),
    ("sqlite_sequence", &["name", "seq"]),
    ("sqlite_dbpage", &["pgno", "data"]),
    ("sqlite_stmt", &["sql"]),
    ("dbstat", &["name", "payload"]),
    ("values_of_capture", &["value"]),
    ("src_string_id", &["id", "value"]),
    ("src_capture_meta", &["name", "value"]),
    ("src_system_env", &["name", "value"]),
    ("src_process_stream", &["filenameId", "contentId"]),
    ("src_diagnostic_event", &["text", "severity"]),
    ("src_export_meta", &["name", "value"]),
    ("src_nvtx_event", &["text", "textId"]),
    ("string", &["string_id", "text"]),
    ("string", &["string_id", "text"]),
    ("all_string", &["string_id", "text"]),
    ("export_fact", &["fact", "value"]),
    ("kernel", &["start_ns", "dur_ns", "kernel_name", "name_id", "stream_id"]),
    ("all_kernel", &["start_ns", "dur_ns", "kernel_name", "name_id"]),
    ("nvtx_range", &["range_name", "start_ns", "tid"]),
    ("nvtx_span", &["text", "text_id", "start_ns"]),
    ("process", &["pid", "process_name"]),
    ("thread", &["tid", "thread_name"]),
    ("CUPTI_ACTIVITY_KIND_KERNEL", &["start", "end", "shortName"]),
    ("NVTX_EVENTS", &["text", "jsonText"]),
    ("own_view", &["name", "value"]),
    ("own_view_of_view", &["value"]),
    ("own_strings", &["id", "value"]),
];

/// Table functions, most with the name of a table as their argument.
const TABLE_FUNCTIONS: [Named; 22] = [
    ("pragma_table_info", &["cid", "name", "type"]),
    ("pragma_table_xinfo", &["cid", "name", "hidden"]),
    ("pragma_table_list", &["schema", "name", "type"]),
    ("pragma_index_list", &["name", "origin"]),
    ("pragma_index_info", &["name"]),
    ("pragma_index_xinfo", &["name"]),
    ("pragma_database_list", &["name", "file"]),
    ("pragma_function_list", &["name"]),
    ("pragma_module_list", &["name"]),
    ("pragma_foreign_key_list", &["table"]),
    ("pragma_compile_options", &["compile_options"]),
    ("pragma_integrity_check", &["integrity_check"]),
    ("pragma_quick_check", &["quick_check"]),
    ("pragma_optimize", &["optimize"]),
    ("pragma_writable_schema", &["writable_schema"]),
    ("pragma_temp_store_directory", &["temp_store_directory"]),
    ("json_each", &["key", "value", "atom"]),
    ("json_tree", &["key", "value", "fullkey"]),
    ("generate_series", &["value"]),
    ("bytecode", &["opcode", "p4"]),
    ("tables_used", &["name"]),
    ("fts5vocab", &["term"]),
];

const PRAGMAS: [&str; 26] = [
    "writable_schema",
    "query_only",
    "trusted_schema",
    "table_info",
    "table_xinfo",
    "index_xinfo",
    "table_list",
    "database_list",
    "function_list",
    "journal_mode",
    "wal_checkpoint",
    "user_version",
    "application_id",
    "temp_store_directory",
    "data_store_directory",
    "mmap_size",
    "page_size",
    "cache_spill",
    "incremental_vacuum",
    "integrity_check",
    "optimize",
    "schema_version",
    "case_sensitive_like",
    "recursive_triggers",
    "hard_heap_limit",
    "analysis_limit",
];

/// The functions of nsq, with the number of their arguments, which are documented as `x, part`.
static OWN_FUNCTIONS: LazyLock<Vec<(String, usize)>> = LazyLock::new(|| {
    let functions = nsq::execute::functions().expect("they are listed");
    functions.into_iter().map(|function| (function.name, function.args.split(',').count())).collect()
});

/// Functions of SQLite, from harmless to refused, with a number of arguments. nsq's own come beside them.
const FUNCTIONS: [(&str, usize); 54] = [
    ("count", 1),
    ("sum", 1),
    ("total", 1),
    ("min", 1),
    ("max", 1),
    ("max", 2),
    ("group_concat", 1),
    ("group_concat", 2),
    ("string_agg", 2),
    ("hex", 1),
    ("unhex", 1),
    ("quote", 1),
    ("length", 1),
    ("octet_length", 1),
    ("substr", 3),
    ("instr", 2),
    ("replace", 3),
    ("trim", 2),
    ("upper", 1),
    ("unicode", 1),
    ("char", 2),
    ("abs", 1),
    ("round", 1),
    ("coalesce", 2),
    ("ifnull", 2),
    ("iif", 3),
    ("nullif", 2),
    ("likely", 1),
    ("printf", 2),
    ("format", 3),
    ("zeroblob", 1),
    ("json", 1),
    ("json_array", 2),
    ("json_object", 2),
    ("json_extract", 2),
    ("json_group_array", 1),
    ("json_group_object", 2),
    ("json_patch", 2),
    ("json_valid", 1),
    ("typeof", 1),
    ("glob", 2),
    ("like", 2),
    ("load_extension", 1),
    ("readfile", 1),
    ("writefile", 2),
    ("edit", 1),
    ("fts3_tokenizer", 1),
    ("sqlite_compileoption_get", 1),
    ("sqlite_source_id", 0),
    ("sqlite_offset", 1),
    ("last_insert_rowid", 0),
    ("row_number", 0),
    ("lag", 1),
    ("ntile", 1),
];

/// Columns of other tables, and of rows in general.
const COLUMNS: [&str; 25] = [
    "value",
    "name",
    "id",
    "text",
    "rowid",
    "_rowid_",
    "oid",
    "sql",
    "sample",
    "filename",
    "contentId",
    "filenameId",
    "string_id",
    "start_ns",
    "dur_ns",
    "kernel_name",
    "short_name",
    "pid",
    "x",
    "y",
    "key",
    "json",
    "atom",
    "fullkey",
    "jsonText",
];

/// Names that a statement gives to its own relations: those of hidden tables, and of nsq's relations.
const ALIASES: [&str; 16] = [
    "a",
    "b",
    "x",
    "src_string_id",
    "string",
    "StringIds",
    "META_DATA_CAPTURE",
    "kernel",
    "all_kernel",
    "scope",
    "sqlite_master",
    "TARGET_INFO_SYSTEM_ENV",
    "temp",
    "main",
    "own_view",
    "stringids",
];

const LITERALS: [&str; 24] = [
    "NULL",
    "0",
    "1",
    "-1",
    "2",
    "10",
    "1000",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1e308",
    "0.5",
    "''",
    "'a'",
    "'%'",
    "'$.a'",
    "'[1,[2,{\"a\":3}]]'",
    "x'00ff'",
    "X''",
    "'kernel'",
    "'main'",
    "'temp'",
    "'%s%99999d'",
];

const OPERATORS: [&str; 22] = [
    "+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "IS", "IS NOT", "AND", "OR", "LIKE", "GLOB",
    "MATCH", "REGEXP", "&", "<<", "->", "->>",
];

/// A hostile statement, or a script whose first statements create TEMP objects.
pub struct Script {
    /// Statements to run first, as `nsq sql` runs those that create TEMP objects.
    pub preamble: Vec<String>,
    /// The statement whose rows are shown.
    pub question: String,
}

/// Writes statements from bytes.
pub struct Grammar<'u, 'b> {
    bytes: &'b mut Unstructured<'u>,
    /// A folder in which a statement may try to make files.
    folder: &'b str,
    text: String,
    /// Columns of the tables that the statement reads here.
    columns: Vec<&'static str>,
}

impl<'u> Grammar<'u, '_> {
    /// A script from bytes. It may try to make files in `folder`.
    pub fn script(bytes: &mut Unstructured<'u>, folder: &str) -> Result<Script> {
        let mut preamble = Vec::new();
        if !bytes.ratio(3, 4)? {
            for _ in 0..bytes.int_in_range(1..=3)? {
                let mut grammar = Grammar { bytes, folder, text: String::new(), columns: Vec::new() };
                grammar.create()?;
                preamble.push(grammar.text);
            }
        }
        let mut grammar = Grammar { bytes, folder, text: String::new(), columns: Vec::new() };
        grammar.statement()?;
        Ok(Script { preamble, question: grammar.text })
    }

    fn say(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    fn pick(&mut self, of: &[&'static str]) -> Result<&'static str> {
        self.bytes.choose(of).copied()
    }

    /// Whether something rare happens. It does not when the bytes are used up.
    fn one_in(&mut self, many: u8) -> Result<bool> {
        Ok(!self.bytes.ratio(many - 1, many)?)
    }

    /// A statement of any kind. Most are queries.
    fn statement(&mut self) -> Result<()> {
        match self.bytes.int_in_range(0..=31)? {
            12 => {
                let file = format!("ATTACH '{}/attached.sqlite' AS", self.folder);
                self.say(&file);
                self.name(&ALIASES)
            }
            1 => {
                let start = self.pick(&["ATTACH ':memory:' AS", "DETACH", "ATTACH '' AS"])?;
                self.say(start);
                self.name(&ALIASES)
            }
            2 | 3 => self.pragma(),
            4 => {
                let start =
                    self.pick(&["DELETE FROM", "DROP TABLE", "DROP VIEW temp.", "REINDEX", "ANALYZE"])?;
                self.say(start);
                self.table()
            }
            5 => {
                self.say("UPDATE");
                self.table()?;
                self.say("SET");
                self.column()?;
                self.say("=");
                self.expression(DEPTH - 2)?;
                if self.one_in(2)? {
                    self.say("RETURNING");
                    self.expression(DEPTH - 2)?;
                }
                Ok(())
            }
            6 => {
                let start =
                    self.pick(&["INSERT INTO", "REPLACE INTO", "INSERT OR IGNORE INTO temp."])?;
                self.say(start);
                self.table()?;
                self.query(DEPTH - 2)
            }
            7 => {
                let file = format!("VACUUM INTO '{}/copy.sqlite'", self.folder);
                self.say(&file);
                Ok(())
            }
            8 => {
                let word =
                    self.pick(&["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "VACUUM"])?;
                self.say(word);
                Ok(())
            }
            9 => self.create(),
            10 => {
                let word = self.pick(&["EXPLAIN", "EXPLAIN QUERY PLAN"])?;
                self.say(word);
                self.query(DEPTH)
            }
            11 => {
                self.say("ALTER TABLE");
                self.table()?;
                let change = self.pick(&["RENAME TO a", "ADD COLUMN a", "DROP COLUMN value"])?;
                self.say(change);
                Ok(())
            }
            _ => self.query(DEPTH),
        }
    }

    fn pragma(&mut self) -> Result<()> {
        self.say("PRAGMA");
        if self.one_in(3)? {
            let schema = self.pick(&["main.", "temp."])?;
            self.say(schema);
        }
        let name = self.pick(&PRAGMAS)?;
        self.say(name);
        match self.bytes.int_in_range(0..=3)? {
            0 => Ok(()),
            1 => {
                let value = self.pick(&["= 1", "= ON", "= OFF", "= 0", "= WAL", "= 'x'"])?;
                self.say(value);
                Ok(())
            }
            _ => {
                self.say("(");
                self.table()?;
                self.say(")");
                Ok(())
            }
        }
    }

    /// `CREATE`, mostly of TEMP objects with the names of nsq's relations.
    fn create(&mut self) -> Result<()> {
        let kind = self.pick(&[
            "CREATE TEMP VIEW",
            "CREATE TEMP VIEW",
            "CREATE TEMP TABLE",
            "CREATE TEMPORARY VIEW IF NOT EXISTS",
            "CREATE VIEW",
            "CREATE TABLE main.",
            "CREATE TEMP TRIGGER",
            "CREATE VIRTUAL TABLE temp.",
            "INSERT INTO temp.",
        ])?;
        self.say(kind);
        self.name(&ALIASES)?;
        match kind {
            "CREATE TEMP TRIGGER" => {
                self.say("AFTER INSERT ON");
                self.table()?;
                self.say("BEGIN SELECT");
                self.expression(DEPTH - 2)?;
                self.say("; END");
                Ok(())
            }
            "CREATE VIRTUAL TABLE temp." => {
                let module = self.pick(&[
                    "fts5(x)",
                    "fts5vocab(main, a, row)",
                    "rtree(a, b, c)",
                    "dbstat",
                    "fts4(x)",
                ])?;
                self.say("USING");
                self.say(module);
                Ok(())
            }
            "INSERT INTO temp." => self.query(DEPTH - 2),
            _ => {
                self.say("AS");
                self.query(DEPTH - 1)
            }
        }
    }

    /// A name in one of SQLite's quotations, or without.
    fn name(&mut self, of: &[&'static str]) -> Result<()> {
        let name = self.pick(of)?;
        let name = match self.bytes.int_in_range(0..=9)? {
            0 => format!("\"{name}\""),
            1 => format!("[{name}]"),
            2 => format!("`{name}`"),
            3 => name.to_ascii_uppercase(),
            4 => name.to_ascii_lowercase(),
            5 => format!("'{name}'"),
            _ => name.to_owned(),
        };
        self.say(&name);
        Ok(())
    }

    /// A table, whose columns can then be named.
    fn table(&mut self) -> Result<()> {
        if self.one_in(12)? {
            let schema = self.pick(&["main.", "temp.", "\"main\".", "x."])?;
            self.say(schema);
        }
        if self.one_in(12)? {
            return self.name(&ALIASES);
        }
        let (name, columns) = *self.bytes.choose(&TABLES)?;
        self.columns.extend(columns);
        self.name(&[name])
    }

    fn column(&mut self) -> Result<()> {
        let column = match self.columns.is_empty() || self.one_in(12)? {
            true => self.pick(&COLUMNS)?,
            false => *self.bytes.choose(&self.columns)?,
        };
        if self.one_in(16)? {
            self.name(&ALIASES)?;
            self.say(".");
        }
        self.say(&format!("\"{column}\""));
        Ok(())
    }

    fn is_leaf(&self, depth: u32) -> bool {
        depth == 0 || self.text.len() > LONGEST || self.bytes.is_empty()
    }

    /// A query, with its CTEs, set operations, order and limit.
    fn query(&mut self, depth: u32) -> Result<()> {
        if self.is_leaf(depth) {
            self.say("SELECT * FROM");
            return self.table();
        }
        if self.one_in(3)? {
            let with = self.pick(&["WITH", "WITH RECURSIVE"])?;
            self.say(with);
            for number in 0..self.bytes.int_in_range(1..=3)? {
                if number > 0 {
                    self.say(",");
                }
                self.name(&ALIASES)?;
                if self.one_in(2)? {
                    let columns =
                        self.pick(&["(x)", "(x, y)", "(value)", "(id, value)", "(name, value)"])?;
                    self.say(columns);
                }
                let how = self.pick(&["AS (", "AS MATERIALIZED (", "AS NOT MATERIALIZED ("])?;
                self.say(how);
                if with == "WITH RECURSIVE" && self.one_in(2)? {
                    let endless = self.pick(&[
                        "SELECT 1 UNION ALL SELECT x + 1 FROM x",
                        "VALUES (1) UNION SELECT x + 1 FROM a, b",
                        "SELECT 'a' UNION ALL SELECT x || x FROM x",
                    ])?;
                    self.say(endless);
                } else {
                    self.query(depth - 1)?;
                }
                self.say(")");
            }
        }
        self.core(depth)?;
        while self.one_in(6)? && !self.bytes.is_empty() {
            let set = self.pick(&["UNION ALL", "UNION", "EXCEPT", "INTERSECT"])?;
            self.say(set);
            self.core(depth - 1)?;
        }
        if self.one_in(4)? {
            let order = self.pick(&["ORDER BY 1", "ORDER BY 1 DESC", "ORDER BY 1 COLLATE NOCASE"])?;
            self.say(order);
        }
        if self.one_in(4)? {
            self.say("LIMIT");
            self.literal()?;
        }
        Ok(())
    }

    fn core(&mut self, depth: u32) -> Result<()> {
        if self.one_in(12)? {
            self.say("VALUES (");
            self.expression(depth.saturating_sub(1))?;
            self.say(")");
            return Ok(());
        }
        // The tables first, so that the columns are theirs. An inner query can also name those around it.
        let (before, around) = (std::mem::take(&mut self.text), self.columns.len());
        let inner = before.len();
        self.source(depth.saturating_sub(1))?;
        while self.one_in(4)? && !self.is_leaf(depth) && self.text.len() + inner < LONGEST {
            let join = self.pick(&[",", "JOIN", "LEFT JOIN", "NATURAL JOIN", "CROSS JOIN"])?;
            self.say(join);
            self.source(depth.saturating_sub(1))?;
            if join.ends_with("T JOIN") && self.one_in(2)? {
                self.say("ON");
                self.expression(1)?;
            }
        }
        let from = std::mem::replace(&mut self.text, before);
        let select = self.pick(&["SELECT", "SELECT", "SELECT DISTINCT"])?;
        self.say(select);
        for number in 0..self.bytes.int_in_range(1..=3)? {
            if number > 0 {
                self.say(",");
            }
            match self.bytes.int_in_range(0..=3)? {
                0 => self.say("*"),
                1 => self.column()?,
                _ => self.expression(depth.saturating_sub(1))?,
            }
        }
        self.say("FROM");
        self.say(&from);
        if self.one_in(3)? {
            self.say("WHERE");
            self.expression(depth.saturating_sub(1))?;
        }
        if self.one_in(6)? {
            self.say("GROUP BY");
            self.expression(1)?;
            if self.one_in(2)? {
                self.say("HAVING");
                self.expression(1)?;
            }
        }
        if !self.one_in(8)? {
            self.columns.truncate(around);
        }
        Ok(())
    }

    fn source(&mut self, depth: u32) -> Result<()> {
        match self.bytes.int_in_range(0..=9)? {
            8 | 9 if !self.is_leaf(depth) => {
                self.say("(");
                self.query(depth)?;
                self.say(")");
            }
            6 | 7 => {
                let (function, columns) = *self.bytes.choose(&TABLE_FUNCTIONS)?;
                self.columns.extend(columns);
                self.say(function);
                self.say("(");
                match self.bytes.int_in_range(0..=3)? {
                    0 => self.expression(1)?,
                    1 => {}
                    _ => {
                        let (table, _) = self.bytes.choose(&TABLES)?;
                        self.say(&format!("'{table}'"));
                    }
                }
                self.say(")");
            }
            _ => self.table()?,
        }
        if self.one_in(4)? {
            self.say("AS");
            self.name(&ALIASES)?;
        }
        if self.one_in(24)? {
            let how = self.pick(&["NOT INDEXED", "INDEXED BY values_of_capture"])?;
            self.say(how);
        }
        Ok(())
    }

    fn expression(&mut self, depth: u32) -> Result<()> {
        if self.is_leaf(depth) {
            return match self.one_in(2)? {
                true => self.column(),
                false => self.literal(),
            };
        }
        match self.bytes.int_in_range(0..=15)? {
            0..=2 => self.column(),
            3 | 4 => self.literal(),
            5..=7 => self.call(depth),
            8 | 9 => {
                self.say("(");
                self.query(depth - 1)?;
                self.say(")");
                Ok(())
            }
            10 => {
                self.expression(depth - 1)?;
                let word = self.pick(&["IN (", "NOT IN ("])?;
                self.say(word);
                self.query(depth - 1)?;
                self.say(")");
                Ok(())
            }
            11 => {
                self.say("CASE WHEN");
                self.expression(depth - 1)?;
                self.say("THEN");
                self.expression(depth - 1)?;
                self.say("ELSE");
                self.expression(depth - 1)?;
                self.say("END");
                Ok(())
            }
            12 => {
                self.say("CAST (");
                self.expression(depth - 1)?;
                let kind = self.pick(&["AS TEXT)", "AS BLOB)", "AS INTEGER)", "AS REAL)"])?;
                self.say(kind);
                Ok(())
            }
            13 => {
                self.say("EXISTS (");
                self.query(depth - 1)?;
                self.say(")");
                Ok(())
            }
            _ => {
                self.expression(depth - 1)?;
                let operator = self.pick(&OPERATORS)?;
                self.say(operator);
                self.expression(depth - 1)
            }
        }
    }

    fn call(&mut self, depth: u32) -> Result<()> {
        let place = self.bytes.choose_index(FUNCTIONS.len() + OWN_FUNCTIONS.len())?;
        let (name, arguments) = match place.checked_sub(FUNCTIONS.len()) {
            Some(own) => (OWN_FUNCTIONS[own].0.as_str(), OWN_FUNCTIONS[own].1),
            None => FUNCTIONS[place],
        };
        self.say(name);
        self.say("(");
        let arguments = if self.one_in(16)? { self.bytes.int_in_range(0..=4)? } else { arguments };
        for number in 0..arguments {
            if number > 0 {
                self.say(",");
            }
            self.expression(depth - 1)?;
        }
        self.say(")");
        match self.bytes.int_in_range(0..=31)? {
            29 => self.say("FILTER (WHERE 1)"),
            30 => self.say("OVER (ORDER BY 1)"),
            31 => self.say("OVER (PARTITION BY 1 ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)"),
            _ => {}
        }
        Ok(())
    }

    fn literal(&mut self) -> Result<()> {
        if self.one_in(6)? {
            let number: i16 = self.bytes.arbitrary()?;
            self.say(&number.to_string());
            return Ok(());
        }
        let literal = self.pick(&LITERALS)?;
        self.say(literal);
        Ok(())
    }
}
