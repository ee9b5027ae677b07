//! Renders templates from rows: sentences with numbers, query parameters, and facts.

use super::limited_buffer::LimitedBuffer;
use super::prose::{TERMINAL, Terminal};
use super::values::{cell, of_json};
use super::{assets, bounds, chart, filters, layout, prose};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{
    AutoEscape, Environment, Error as Fault, ErrorKind, Template, UndefinedBehavior, escape_formatter,
};
use nsq_library::catalog::{Catalog, PageLayout};
use nsq_value::error::Error;
use nsq_value::table::Value as Cell;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of steps of a template. A sentence takes hundreds; a loop over all kernels of a report
/// takes thousands.
const MAX_STEPS: u64 = 20_000_000;
/// End of the names of layouts that are HTML, in which text is escaped.
const HTML: &str = ".html";
/// Maximum number of bytes that a template may write.
const MAX_BYTES: usize = 16 << 20;

/// Name of the function with which a template declares that there is no answer, and why.
const NO_ANSWER: &str = "no_answer";

/// Names of the functions that templates can call.
pub const FUNCTIONS: [&str; 3] = [NO_ANSWER, "namespace", "range"];

/// Prefix of errors raised by this function.
const NO_ANSWER_PREFIX: &str = "no answer: ";

/// Why a template has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The report has no answer: a value is null or a division by 0, or the template calls `no_answer`.
    NoAnswer(String),
    /// The template is wrong.
    Fault(String),
}

impl From<&Fault> for Trouble {
    fn from(fault: &Fault) -> Self {
        let detail = fault.detail().unwrap_or_default();
        if let Some(said) = detail.strip_prefix(NO_ANSWER_PREFIX) {
            return Self::NoAnswer(said.to_owned());
        }
        // minijinja uses both words for null.
        let is_null = |word: &str| word == "null" || word == "none";
        // minijinja's message for a division by 0.
        let has_no_result =
            detail.starts_with("unable to calculate") || detail.contains(filters::NOT_FINITE);
        let has_null = detail.split_whitespace().any(is_null) || has_no_result;
        match fault.kind() {
            ErrorKind::InvalidOperation if has_null => {
                Self::NoAnswer("a value that it needs is null, or is divided by 0".to_owned())
            }
            ErrorKind::OutOfFuel => Self::Fault(format!(
                "takes more than {MAX_STEPS} steps: it has nested loops, or loops over too many rows"
            )),
            ErrorKind::WriteFailure => Self::Fault(format!("writes more than {MAX_BYTES} bytes")),
            _ => Self::Fault(reason(fault)),
        }
    }
}

/// Renders templates: as text for people, or as query parameters.
#[derive(Debug)]
pub struct Templates {
    text: Environment<'static>,
    plain: Environment<'static>,
    layout: Environment<'static>,
}

impl Templates {
    /// `visible` makes text from a report safe to print.
    pub fn new(visible: fn(&str) -> String) -> Self {
        let mut text = environment(visible, false);
        text.set_formatter(move |out, _, value| {
            let shown = value.to_string();
            let is_own = value.is_safe() || value.is_number();
            if value.is_none() {
                return Err(Fault::new(ErrorKind::InvalidOperation, "null is not text"));
            }
            // Only the template may write backquotes: a value must not open or close a quotation.
            out.write_str(&if is_own { shown } else { visible(&shown).replace('`', "'") })
                .map_err(Fault::from)
        });
        let mut plain = environment(visible, false);
        plain.set_formatter(|out, _, value| match value.is_none() {
            // A null parameter is not set.
            true => Ok(()),
            false => out.write_str(&value.to_string()).map_err(Fault::from),
        });
        let mut layout = environment(visible, true);
        layout.set_formatter(move |out, state, value| {
            if value.is_none() {
                return Err(Fault::new(ErrorKind::InvalidOperation, "null is not text"));
            }
            match value.is_safe() || value.is_number() {
                true => escape_formatter(out, state, value),
                false => escape_formatter(out, state, &Value::from(visible(&value.to_string()))),
            }
        });
        Self { text, plain, layout }
    }

    /// Renders sentences for people.
    pub fn sentences(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<String, Trouble> {
        let template = self.text.template_from_str(source).map_err(|e| Trouble::from(&e))?;
        render(&template, MAX_BYTES, Value::from(context.clone()))
    }

    /// Renders text for programs, such as a heading.
    pub fn parameter(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<String, Trouble> {
        let template = self.plain.template_from_str(source).map_err(|e| Trouble::from(&e))?;
        render(&template, MAX_BYTES, Value::from(context.clone()))
    }

    /// The value of a query parameter: that of its expression, if the template is nothing else, and else its
    /// text. `None` leaves the parameter unset.
    pub fn argument(
        &self,
        source: &str,
        context: &BTreeMap<String, Value>,
    ) -> Result<Option<Cell>, Trouble> {
        let cell = match expression_in(source) {
            Some(expression) => cell(&self.value(expression, context)?),
            None => Cell::Text(self.parameter(source, context)?),
        };
        let is_unset =
            matches!(&cell, Cell::Null) || matches!(&cell, Cell::Text(text) if text.is_empty());
        Ok((!is_unset).then_some(cell))
    }

    /// Renders one of the layouts of a page. It may include the others, and take assets.
    pub fn layout<'l>(
        &self,
        layouts: impl Iterator<Item = (&'l str, &'l PageLayout)>,
        assets: impl Iterator<Item = (&'l str, &'l PageLayout)>,
        name: &str,
        context: Value,
        terminal: Terminal,
    ) -> Result<String, Trouble> {
        let (mut environment, mut is_built_in) = (self.layout.clone(), true);
        // Its parts are escaped as the layout is, whatever their names.
        let is_html = name.ends_with(HTML);
        environment.set_auto_escape_callback(move |_| match is_html {
            true => AutoEscape::Html,
            false => AutoEscape::None,
        });
        environment.add_global(TERMINAL, terminal.value());
        let texts = assets.map(|(name, asset)| (name.to_owned(), asset.text.clone()));
        assets::add(&mut environment, texts.collect());
        for (name, layout) in layouts {
            let added = environment.add_template_owned(name.to_owned(), layout.text.clone());
            added.map_err(|e| Trouble::from(&e))?;
            is_built_in &= layout.is_built_in;
        }
        if is_built_in {
            // nsq's own layouts write as much as a report holds.
            environment.set_fuel(None);
        }
        let template = environment.get_template(name).map_err(|e| Trouble::from(&e))?;
        render(&template, if is_built_in { usize::MAX } else { MAX_BYTES }, context)
    }

    /// Renders a layout of nsq's own, which is alone in a folder of its name. `seen` is what it sees.
    pub fn own_layout(&self, catalog: &Catalog, name: &str, seen: &Json) -> Result<String, Error> {
        let (layouts, assets) = (catalog.layouts(name), catalog.assets(name));
        let text = self.layout(layouts, assets, name, of_json(seen), Terminal::default());
        text.map_err(|trouble| {
            let (Trouble::Fault(reason) | Trouble::NoAnswer(reason)) = trouble;
            Error::catalog(name, 1, reason, "this is a defect of nsq's own layout")
        })
    }

    /// Evaluates an expression.
    pub fn value(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<Value, Trouble> {
        let expression = self.plain.compile_expression(source).map_err(|e| Trouble::from(&e))?;
        let value = expression.eval(Value::from(context.clone())).map_err(|e| Trouble::from(&e))?;
        if value.is_undefined() {
            return Err(Trouble::Fault(format!("`{source}` has no value")));
        }
        if value.is_number() {
            filters::number(&value).map_err(|e| Trouble::from(&e))?;
        }
        Ok(value)
    }

    /// Whether a filter with this name exists.
    pub fn has_filter(&self, name: &str) -> bool {
        let source = format!("1|{name}");
        let Ok(expression) = self.plain.compile_expression(&source) else { return false };
        let known = |fault: Fault| fault.kind() != ErrorKind::UnknownFilter;
        expression.eval(()).map_or_else(known, |_| true)
    }

    /// The names that a template uses. The error is a syntax error.
    pub fn names_in(&self, source: &str) -> Result<BTreeSet<String>, String> {
        let template = self.text.template_from_str(source).map_err(|e| reason(&e))?;
        Ok(template.undeclared_variables(false).into_iter().collect())
    }

    /// The names that an expression uses. The error is a syntax error.
    pub fn names_in_expression(&self, source: &str) -> Result<BTreeSet<String>, String> {
        let expression = self.text.compile_expression(source).map_err(|e| reason(&e))?;
        Ok(expression.undeclared_variables(false).into_iter().collect())
    }
}

fn render(template: &Template<'_, '_>, most: usize, context: Value) -> Result<String, Trouble> {
    let mut output = LimitedBuffer { bytes: Vec::new(), most };
    template.render_captured_to(context, &mut output).map_err(|e| Trouble::from(&e))?;
    String::from_utf8(output.bytes)
        .map_err(|_| Trouble::Fault("writes bytes that are not UTF-8".to_owned()))
}

/// The error message, with the line in the template.
fn reason(fault: &Fault) -> String {
    let detail = fault.detail().unwrap_or_default();
    let line = fault.line().map_or(String::new(), |line| format!(" in line {line} of the template"));
    match detail {
        "" => format!("{}{line}", fault.kind()),
        detail => format!("{}: {detail}{line}", fault.kind()),
    }
}

/// `keeps_end`: whether a newline at the end of a template is kept.
fn environment(visible: fn(&str) -> String, keeps_end: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A missing value is an error. By default it would leave a gap in the sentence.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A tag on its own line leaves no blank line.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(keeps_end);
    if let Ok(syntax) = syntax.build() {
        environment.set_syntax(syntax);
    }
    bounds::add(&mut environment);
    filters::add(&mut environment, visible);
    chart::add(&mut environment, visible);
    layout::add(&mut environment, visible);
    prose::add(&mut environment);
    assets::add_filter(&mut environment);
    environment.add_filter("map", |values: Value, options: Kwargs| {
        let column: String = options.get("attribute")?;
        options.assert_all_used()?;
        let of = |row: Value| match row.get_attr(&column)? {
            // A sum over a column that does not exist would be 0.
            value if value.is_undefined() => {
                Err(Fault::new(ErrorKind::UndefinedError, format!("the rows have no column '{column}'")))
            }
            value => Ok(value),
        };
        values.try_iter()?.map(of).collect::<Result<Vec<Value>, Fault>>()
    });
    environment.add_function(NO_ANSWER, |reason: String| {
        Err::<Value, _>(Fault::new(ErrorKind::InvalidOperation, format!("{NO_ANSWER_PREFIX}{reason}")))
    });
    environment
}

/// The expression of a template that is nothing but `{{ expression }}`.
fn expression_in(source: &str) -> Option<&str> {
    let inside = source.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!["{{", "}}", "{%"].iter().any(|tag| inside.contains(tag))).then(|| inside.trim_matches('-').trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::FILTERS;

    fn templates() -> Templates {
        Templates::new(|text| text.replace('\u{1b}', "ESC"))
    }

    fn context() -> BTreeMap<String, Value> {
        let row = BTreeMap::from([
            ("mean_ns".to_owned(), Value::from(1_500_000)),
            ("name".to_owned(), Value::from("a`b\u{1b}")),
            ("null".to_owned(), Value::from(())),
        ]);
        BTreeMap::from([("row".to_owned(), Value::from(row))])
    }

    #[test]
    fn numbers_have_units() {
        let say = |text: &str| templates().sentences(text, &context()).unwrap();
        assert_eq!(
            say("{{ row.mean_ns|time }}, {{ 76.04|pct }}, {{ (-9)|points }}"),
            "1.50 ms, 76.0 %, -9.0 points"
        );
        assert_eq!(say("{{ 1610612736|count }} {{ 1610612736|flop }}"), "1,610,612,736 1.61 GFLOP");
        assert_eq!(say("{{ 8050.2|flop_rate }} {{ 2.5|count }} {{ 3.0|count }}"), "8.05 TFLOP/s 2.50 3");
        assert_eq!(
            say("{{ 0.01|pct }} {{ 99.99|pct }} {{ 0|pct }} {{ 100|pct }}"),
            "< 0.1 % > 99.9 % 0.0 % 100.0 %"
        );
    }

    #[test]
    fn every_filter_exists() {
        for (name, _) in FILTERS {
            assert!(templates().has_filter(name), "{name}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let say = |text: &str| templates().sentences(text, &context()).unwrap();
        assert_eq!(say("{{ row.name|name }} {{ row.name }}"), "`a'bESC` a'bESC");
    }

    #[test]
    fn a_missing_value_is_an_error_and_not_a_gap() {
        let fails = |text: &str| match templates().sentences(text, &context()).unwrap_err() {
            Trouble::Fault(reason) => reason,
            Trouble::NoAnswer(reason) => format!("no answer: {reason}"),
        };
        assert!(fails("{{ row.mean_ms|time }}").contains("not a number"));
        assert!(fails("x {{ other }}").contains("undefined"));
        for null in [
            "{{ row.null|time }}",
            "for {{ row.null }}",
            "{{ 1 + row.null }}",
            "{{ (row.mean_ns / 0)|time }}",
            "{{ (row.null / 2)|pct }}",
        ] {
            assert_eq!(
                fails(null),
                "no answer: a value that it needs is null, or is divided by 0",
                "{null}"
            );
        }
        assert_eq!(fails("{{ no_answer('two rows') }}"), "no answer: two rows");
        assert!(matches!(templates().value("row.null * 2", &context()), Err(Trouble::NoAnswer(_))));
        assert!(matches!(templates().value("1 / 0", &context()), Err(Trouble::NoAnswer(_))));
        assert!(templates().value("row.other", &context()).is_err());
        assert_eq!(templates().parameter("{{ row.null }}", &context()).unwrap(), "");
    }

    #[test]
    fn a_parameter_has_the_value_of_its_expression() {
        let mut context = context();
        context.insert("many".to_owned(), Value::from(vec!["a,b", " c"]));
        let set = |text: &str| templates().argument(text, &context).unwrap();
        assert_eq!(set("{{ row.mean_ns * 2 }}"), Some(Cell::Int(3_000_000)));
        assert_eq!(set("{{ 0.1 + 0.2 }}"), Some(Cell::Real(0.1 + 0.2)));
        assert_eq!(set("{{ 1 == 1 }}"), Some(Cell::Int(1)));
        assert_eq!(set("{{ many }}"), Some(Cell::Text("[\"a,b\",\" c\"]".to_owned())));
        assert_eq!(set("{{ '{}' }}"), Some(Cell::Text("{}".to_owned())));
        assert_eq!((set("{{ row.null }}"), set("{{ '' }}"), set("")), (None, None, None));
        // More than an expression is text.
        for text in ["{{ 1 }}{{ 2 }}", "{% if true %}12{% endif %}", "12"] {
            assert_eq!(set(text), Some(Cell::Text("12".to_owned())), "{text}");
        }
        assert!(templates().argument("{{ other }}", &context).is_err());
    }

    #[test]
    fn a_template_without_end_is_an_error() {
        let fails = |text: &str| match templates().sentences(text, &context()) {
            Err(Trouble::Fault(reason)) => reason,
            other => panic!("{text}: {other:?}"),
        };
        let forever = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}";
        assert!(fails(forever).contains("nested loops"));
        let long = "x".repeat(10_000);
        assert!(fails(&format!("{{% for a in range(9000) %}}{long}{{% endfor %}}")).contains("bytes"));
    }

    #[test]
    fn different_kernels_never_get_the_same_name() {
        let say = |text: &str| templates().sentences(text, &context()).unwrap();
        let names = "['void f<a>(int)', 'void f<b>(int)', 'g']";
        assert_eq!(say(&format!("{{{{ 'void f<a>(int)'|kernel({names}) }}}}")), "`void f<a>(int)`");
        assert_eq!(say(&format!("{{{{ 'g'|kernel({names}) }}}}")), "`g`");
        assert_eq!(say("{{ 'void f<a>(int)'|kernel }}"), "`f`");
        let long = "x".repeat(300);
        assert_eq!(say(&format!("{{{{ '{long}'|whole }}}}")), format!("`{long}`"));
    }

    #[test]
    fn names_used_by_a_template_are_found() {
        let names = templates().names_in("{% for row in a.rows %}{{ row.x + b }}{% endfor %}").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!(templates().names_in("{{ a").is_err() && templates().names_in("{% if %}").is_err());
    }
}
