//! Templates of a stranger: bytes → Jinja with nsq's filters, minijinja's own, and arguments that make no
//! sense.

use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// Nesting of expressions and blocks.
const DEPTH: u32 = 4;
/// Longest template in bytes, beyond which only leaves are added.
const LONGEST: usize = 4_000;

/// The filters of minijinja. nsq's own come beside them.
const FILTERS: [&str; 48] = [
    "safe",
    "escape",
    "lower",
    "upper",
    "title",
    "capitalize",
    "replace",
    "length",
    "dictsort",
    "items",
    "reverse",
    "trim",
    "join",
    "split",
    "lines",
    "default",
    "round",
    "abs",
    "int",
    "float",
    "attr",
    "first",
    "last",
    "min",
    "max",
    "sort",
    "list",
    "string",
    "bool",
    "batch",
    "slice",
    "sum",
    "indent",
    "select",
    "reject",
    "selectattr",
    "rejectattr",
    "map",
    "groupby",
    "unique",
    "chain",
    "zip",
    "pprint",
    "format",
    "tojson",
    "nope",
    "center",
    "wordwrap",
];

/// The filters of nsq that are not in `nsq::page::FILTERS`.
const LAYOUT: [&str; 11] = [
    "us",
    "short_us",
    "left",
    "right",
    "cut",
    "bar",
    "then",
    "markdown",
    "markdown_code",
    "fill",
    "shell",
];

const FUNCTIONS: [&str; 7] = ["range", "no_answer", "dict", "namespace", "debug", "loop", "m"];

const NAMES: [&str; 18] = [
    "k",
    "k.rows",
    "k.first",
    "k.first.mean_ns",
    "k.first.name",
    "k.first.nothing",
    "k.by",
    "k.by.gemm",
    "empty",
    "empty.rows",
    "empty.first",
    "row",
    "row.mean_ns",
    "row.name",
    "params",
    "params.list",
    "params.limit",
    "ns.x",
];

const LITERALS: [&str; 26] = [
    "none",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "100",
    "65535",
    "65536",
    "70000",
    "1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "170141183460469231731687303715884105727",
    "1e308",
    "0.5",
    "1e-300",
    "''",
    "'a'",
    "'`b\u{1b}'",
    "'<b>&'",
    "'%9999999d'",
    "'ab cd\nef'",
    "[1, 'a', none]",
    "{'a': 1, 'b': [2]}",
];

const OPERATORS: [&str; 16] =
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">=", "and", "or", "in", "not in"];

const TESTS: [&str; 9] = [
    "none",
    "defined",
    "undefined",
    "number",
    "string",
    "iterable",
    "divisibleby(0)",
    "odd",
    "sameas(1)",
];

const KEYWORDS: [&str; 9] =
    ["attribute", "width", "most", "first", "rest", "bold", "by", "default", "case_sensitive"];

const TEXTS: [&str; 8] = ["a", " ", "\n", "{", "}}", "{#", "#}", "<b>"];

/// Writes a template.
pub struct Grammar<'u, 'b> {
    bytes: &'b mut Unstructured<'u>,
    text: String,
}

impl<'u> Grammar<'u, '_> {
    /// A template.
    pub fn template(bytes: &mut Unstructured<'u>) -> Result<String> {
        let mut grammar = Grammar { bytes, text: String::new() };
        for _ in 0..grammar.bytes.int_in_range(1..=6)? {
            grammar.piece(DEPTH)?;
        }
        Ok(grammar.text)
    }

    /// An expression.
    pub fn formula(bytes: &mut Unstructured<'u>) -> Result<String> {
        let mut grammar = Grammar { bytes, text: String::new() };
        grammar.expression(DEPTH)?;
        Ok(grammar.text)
    }

    fn say(&mut self, word: &str) {
        self.text.push_str(word);
    }

    fn push(&mut self, of: &[&str]) -> Result<()> {
        let word = *self.bytes.choose(of)?;
        self.say(word);
        Ok(())
    }

    /// Whether something rare happens. It does not when the bytes are used up.
    fn one_in(&mut self, many: u8) -> Result<bool> {
        Ok(!self.bytes.ratio(many - 1, many)?)
    }

    fn is_leaf(&self, depth: u32) -> bool {
        depth == 0 || self.text.len() > LONGEST || self.bytes.is_empty()
    }

    fn piece(&mut self, depth: u32) -> Result<()> {
        if self.is_leaf(depth) {
            return self.push(&TEXTS);
        }
        match self.bytes.int_in_range(0..=15)? {
            0 => self.push(&TEXTS),
            1 | 2 => {
                self.say("{% for row in ");
                self.expression(depth - 1)?;
                self.say(" %}");
                self.piece(depth - 1)?;
                if self.one_in(4)? {
                    self.say("{% else %}");
                    self.piece(depth - 1)?;
                }
                self.say("{% endfor %}");
                Ok(())
            }
            3 => {
                self.say("{% if ");
                self.expression(depth - 1)?;
                self.say(" %}");
                self.piece(depth - 1)?;
                self.say("{% endif %}");
                Ok(())
            }
            4 | 5 => {
                self.push(&[
                    "{% set x = ",
                    "{% set row = ",
                    "{% set ns = ",
                    "{% set ns.x = ",
                    "{% set k = ",
                ])?;
                self.expression(depth - 1)?;
                self.say(" %}");
                Ok(())
            }
            6 => {
                self.say("{% macro m(x) %}");
                self.piece(depth - 1)?;
                self.say("{% endmacro %}");
                Ok(())
            }
            7 => self.push(&[
                "{% include '_part' %}",
                "{% include 'page' %}",
                "{% import '_part' as x %}",
                "{% extends '_part' %}",
                "{% block a %}",
                "{% endblock %}",
                "{% raw %}{{ x }}{% endraw %}",
                "{% autoescape true %}",
                "{% do ns.x %}",
                "{% with x = 1 %}{% endwith %}",
                "{% continue %}",
            ]),
            8 => {
                self.say("{% filter ");
                self.filter(depth - 1)?;
                self.say(" %}");
                self.piece(depth - 1)?;
                self.say("{% endfilter %}");
                Ok(())
            }
            9 => {
                self.say("{% call m(");
                self.expression(depth - 1)?;
                self.say(") %}");
                self.piece(depth - 1)?;
                self.say("{% endcall %}");
                Ok(())
            }
            _ => {
                self.push(&["{{ ", "{{- "])?;
                self.expression(depth)?;
                self.push(&[" }}", " -}}"])
            }
        }
    }

    fn expression(&mut self, depth: u32) -> Result<()> {
        if self.is_leaf(depth) {
            return match self.one_in(2)? {
                true => self.push(&NAMES),
                false => self.literal(),
            };
        }
        match self.bytes.int_in_range(0..=15)? {
            0 | 1 => self.push(&NAMES),
            2 => self.literal(),
            3..=8 => {
                self.say("(");
                self.expression(depth - 1)?;
                self.say(")|");
                self.filter(depth - 1)
            }
            9 | 10 => {
                self.say("(");
                self.expression(depth - 1)?;
                self.say(" ");
                self.push(&OPERATORS)?;
                self.say(" ");
                self.expression(depth - 1)?;
                self.say(")");
                Ok(())
            }
            11 => {
                self.expression(depth - 1)?;
                self.push(&[" is ", " is not "])?;
                self.push(&TESTS)
            }
            12 => {
                self.say("(");
                self.expression(depth - 1)?;
                self.push(&[")[", ")[1:", ")[-1::"])?;
                self.expression(depth - 1)?;
                self.say("]");
                Ok(())
            }
            13 => {
                self.say("[");
                self.expression(depth - 1)?;
                self.say(", ");
                self.expression(depth - 1)?;
                self.say("]");
                Ok(())
            }
            14 => {
                self.expression(depth - 1)?;
                self.say(" if ");
                self.expression(depth - 1)?;
                self.say(" else ");
                self.expression(depth - 1)
            }
            _ => {
                self.push(&FUNCTIONS)?;
                self.arguments(depth - 1)
            }
        }
    }

    fn filter(&mut self, depth: u32) -> Result<()> {
        let own = nsq::page::FILTERS.len();
        let place = self.bytes.choose_index(FILTERS.len() + LAYOUT.len() + own)?;
        let name = match place.checked_sub(FILTERS.len() + LAYOUT.len()) {
            Some(own) => nsq::page::FILTERS[own].0,
            None => FILTERS.iter().chain(&LAYOUT).nth(place).unwrap(),
        };
        self.say(name);
        match self.one_in(3)? {
            true => Ok(()),
            false => self.arguments(depth),
        }
    }

    fn arguments(&mut self, depth: u32) -> Result<()> {
        self.say("(");
        for number in 0..self.bytes.int_in_range(0..=3)? {
            if number > 0 {
                self.say(", ");
            }
            if self.one_in(4)? {
                self.push(&KEYWORDS)?;
                self.say("=");
            }
            self.expression(depth.saturating_sub(1))?;
        }
        self.say(")");
        Ok(())
    }

    fn literal(&mut self) -> Result<()> {
        match self.one_in(6)? {
            true => {
                let number: i32 = self.bytes.arbitrary()?;
                self.say(&number.to_string());
                Ok(())
            }
            false => self.push(&LITERALS),
        }
    }
}
