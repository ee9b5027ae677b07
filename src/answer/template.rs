//! Renders templates from rows: sentences with numbers, query parameters, and facts.

use crate::classify::FunctionName;
use crate::table::{Column, Type, Unit, Value as Cell, humanize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error as Fault, ErrorKind, UndefinedBehavior};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Maximum number of steps of a template. A sentence takes hundreds; a loop over all kernels of a report
/// takes thousands.
const MAX_STEPS: u64 = 20_000_000;
/// Maximum number of bytes that a template may write.
const MAX_BYTES: usize = 16 << 20;

/// Maximum number of characters of a name in a sentence. Tables have the full name.
const NAME_CHARS: usize = 100;

/// The filters of templates: name and description.
pub const FILTERS: [(&str, &str); 11] = [
    ("time", "Formats nanoseconds with a suitable unit: 54.82 ms."),
    ("pct", "Formats a percentage: 76.0 %."),
    ("points", "Formats a difference of percentages with its sign: +9.0 points."),
    ("count", "Formats an integer with commas, and other numbers with two decimals."),
    ("number", "Formats a number with two decimals; number(3) uses three."),
    ("flop", "Formats floating-point operations: 1.61 GFLOP."),
    ("flop_rate", "Formats a rate given in GFLOP/s: 8.05 TFLOP/s."),
    ("list_of", "The items of a parameter of type list."),
    ("name", "Quotes the name of a range, kernel or file safely, and shortens a long name."),
    ("whole", "Quotes a name safely, without shortening it."),
    (
        "kernel",
        "Quotes a kernel's short name, with what a PyTorch template computes in parentheses; kernel(names) uses the full name if another of these names has the same short name.",
    ),
];

/// Name of the function with which a template declares that there is no answer, and why.
pub const NO_ANSWER: &str = "no_answer";

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
        let has_no_result = detail.starts_with("unable to calculate") || detail.contains(NOT_FINITE);
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

/// Marks an error about an infinite number, which a division by 0 gives.
const NOT_FINITE: &str = "is not finite";

/// Renders templates: as text for people, or as query parameters.
#[derive(Debug)]
pub struct Templates {
    text: Environment<'static>,
    plain: Environment<'static>,
}

impl Templates {
    /// `visible` makes text from a report safe to print.
    pub fn new(visible: fn(&str) -> String) -> Self {
        let mut text = environment(visible);
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
        let mut plain = environment(visible);
        plain.set_formatter(|out, _, value| match value.is_none() {
            // A null parameter is not set.
            true => Ok(()),
            false => out.write_str(&value.to_string()).map_err(Fault::from),
        });
        Self { text, plain }
    }

    /// Renders sentences for people.
    pub fn sentences(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<String, Trouble> {
        render(&self.text, source, context)
    }

    /// Renders the value of a query parameter.
    pub fn parameter(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<String, Trouble> {
        render(&self.plain, source, context)
    }

    /// Evaluates an expression.
    pub fn value(&self, source: &str, context: &BTreeMap<String, Value>) -> Result<Value, Trouble> {
        let expression = self.plain.compile_expression(source).map_err(|e| Trouble::from(&e))?;
        let value = expression.eval(Value::from(context.clone())).map_err(|e| Trouble::from(&e))?;
        if value.is_undefined() {
            return Err(Trouble::Fault(format!("`{source}` has no value")));
        }
        if value.is_number() {
            number(&value).map_err(|e| Trouble::from(&e))?;
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

fn render(
    environment: &Environment<'static>,
    source: &str,
    context: &BTreeMap<String, Value>,
) -> Result<String, Trouble> {
    let template = environment.template_from_str(source).map_err(|e| Trouble::from(&e))?;
    let mut output = LimitedBuffer(Vec::new());
    template
        .render_captured_to(Value::from(context.clone()), &mut output)
        .map_err(|e| Trouble::from(&e))?;
    String::from_utf8(output.0).map_err(|_| Trouble::Fault("writes bytes that are not UTF-8".to_owned()))
}

/// Output of a template, with an error beyond [`MAX_BYTES`].
struct LimitedBuffer(Vec<u8>);

impl io::Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

fn environment(visible: fn(&str) -> String) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A missing value is an error. By default it would leave a gap in the sentence.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A tag on its own line leaves no blank line.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    if let Ok(syntax) = syntax.build() {
        environment.set_syntax(syntax);
    }
    environment.add_filter("time", |value: Value| Ok::<_, Fault>(unit(number(&value)?, Unit::Ns)));
    environment.add_filter("pct", |value: Value| Ok::<_, Fault>(percent(number(&value)?)));
    environment
        .add_filter("points", |value: Value| Ok::<_, Fault>(format!("{:+.1} points", number(&value)?)));
    environment.add_filter("count", |value: Value| {
        let real = number(&value)?;
        let column = Column { unit: Some(Unit::Count), ..Column::untyped("") };
        Ok::<_, Fault>(match value.as_i64() {
            Some(int) => humanize(&Cell::Int(int), &column),
            None if real.fract() == 0.0 && real.abs() < 1e15 => {
                humanize(&Cell::Int(real as i64), &column)
            }
            None => format!("{real:.2}"),
        })
    });
    environment.add_filter("number", |value: Value, decimals: Option<usize>| {
        Ok::<_, Fault>(format!("{:.*}", decimals.unwrap_or(2), number(&value)?))
    });
    environment.add_filter("flop", |value: Value| Ok::<_, Fault>(scaled(number(&value)?, "FLOP")));
    environment
        .add_filter("flop_rate", |value: Value| Ok::<_, Fault>(scaled(1e9 * number(&value)?, "FLOP/s")));
    environment.add_filter("list_of", |value: Value| {
        let items: Vec<String> = serde_json::from_str(value.as_str().unwrap_or_default())
            .map_err(|_| Fault::new(ErrorKind::InvalidOperation, format!("'{value}' is not a list")))?;
        Ok::<_, Fault>(Value::from(items.into_iter().map(Value::from).collect::<Vec<_>>()))
    });
    environment.add_filter("name", move |value: Value| {
        if value.is_none() {
            return Value::from_safe_string("(no name)".to_owned());
        }
        Value::from_safe_string(quoted(&shortened(&visible(&value.to_string()))))
    });
    environment.add_filter("whole", move |value: Value| match value.is_none() {
        true => Value::from_safe_string("(no name)".to_owned()),
        false => Value::from_safe_string(quoted(&visible(&value.to_string()))),
    });
    environment.add_filter("kernel", move |value: Value, among: Option<Vec<String>>| {
        if value.is_none() {
            return Value::from_safe_string("(no name)".to_owned());
        }
        let short = |name: &str| shortened(&visible(&kernel(name)));
        let name = value.to_string();
        let own = short(&name);
        let is_alike = among.iter().flatten().any(|other| *other != name && short(other) == own);
        Value::from_safe_string(quoted(&if is_alike { visible(&name) } else { own }))
    });
    environment.add_function(NO_ANSWER, |reason: String| {
        Err::<Value, _>(Fault::new(ErrorKind::InvalidOperation, format!("{NO_ANSWER_PREFIX}{reason}")))
    });
    environment
}

/// The value as a finite number.
fn number(value: &Value) -> Result<f64, Fault> {
    let refuse = || {
        let what = if value.is_none() { "null".to_owned() } else { format!("'{value}'") };
        Fault::new(ErrorKind::InvalidOperation, format!("{what} is not a number"))
    };
    match value.kind() {
        ValueKind::Number => {
            let real = f64::try_from(value.clone()).map_err(|_| refuse())?;
            match real.is_finite() {
                true => Ok(real),
                false => Err(Fault::new(ErrorKind::InvalidOperation, format!("'{value}' {NOT_FINITE}"))),
            }
        }
        _ => Err(refuse()),
    }
}

fn unit(number: f64, unit: Unit) -> String {
    let column = Column { kind: Type::Duration, unit: Some(unit), ..Column::untyped("") };
    let value = if number.fract() == 0.0 { Cell::Int(number as i64) } else { Cell::Real(number) };
    humanize(&value, &column)
}

/// Formats a percentage. Only exact values show as 0 % or 100 %.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.05 {
        "< 0.1 %".to_owned()
    } else if (99.95..100.0).contains(&share) {
        "> 99.9 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

fn scaled(number: f64, unit: &str) -> String {
    const STEPS: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = STEPS.iter().find(|(factor, _)| number.abs() >= factor * 0.999_995);
    match step {
        Some((factor, prefix)) => format!("{:.2} {prefix}{unit}", number / factor),
        None => format!("{number:.0} {unit}"),
    }
}

/// Puts a name in backquotes, and replaces backquotes inside it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// Shortens a long name in its middle.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME_CHARS {
        return name.to_owned();
    }
    let tail = NAME_CHARS / 3;
    let head: String = name.chars().take(NAME_CHARS - tail - 1).collect();
    let tail: String = name.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// `void at::native::elementwise_kernel<…MulFunctor<float>…>(…)` → `elementwise_kernel (MulFunctor)`.
///
/// The short name of a kernel: its function, and up to two words of its template arguments that tell
/// what it computes.
fn kernel(name: &str) -> String {
    let own = FunctionName::of(name).own;
    let end = name.find(own).map_or(name.len(), |at| at + own.len());
    let says = |word: &&str| {
        const ENDS: [&str; 6] =
            ["Functor", "_kernel_cuda", "_kernel_impl", "Ops", "_functor", "_cuda_out"];
        let is_wrapper = word.starts_with("gpu_kernel_impl");
        !is_wrapper && ENDS.iter().any(|end| word.contains(end)) || word.starts_with("cutlass_")
    };
    let mut words: Vec<&str> = Vec::new();
    for word in name[end..].split(|c: char| !c.is_alphanumeric() && c != '_').filter(says) {
        if !words.contains(&word) && words.len() < 2 {
            words.push(word);
        }
    }
    match words.as_slice() {
        [] => own.to_owned(),
        words => format!("{own} ({})", words.join(" ")),
    }
}

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A paragraph, joined to one line.
    Paragraph(String),
    /// A list item, joined to one line.
    Item(String),
}

/// Splits a rendered template into blocks. An empty line ends a paragraph, and `- ` starts an item.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(item.trim().to_owned()));
            is_open = true;
        } else if line.is_empty() {
            is_open = false;
        } else if let (true, Some(Block::Paragraph(last) | Block::Item(last))) =
            (is_open, blocks.last_mut())
        {
            last.push(' ');
            last.push_str(line);
        } else {
            blocks.push(Block::Paragraph(line.to_owned()));
            is_open = true;
        }
    }
    blocks
}

/// Converts a template value to JSON.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
            Some(int) => int.into(),
            None => f64::try_from(value.clone()).map_or(serde_json::Value::Null, Into::into),
        },
        ValueKind::String => value.to_string().into(),
        ValueKind::Seq | ValueKind::Iterable => value
            .try_iter()
            .map(|items| items.map(|item| to_json(&item)).collect::<Vec<_>>().into())
            .unwrap_or_default(),
        ValueKind::Map => {
            let mut map = serde_json::Map::new();
            for key in value.try_iter().into_iter().flatten() {
                let item = value.get_item(&key).unwrap_or_default();
                map.insert(key.to_string(), to_json(&item));
            }
            map.into()
        }
        _ => serde_json::Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let value = if name == "list_of" { "'[]'" } else { "1" };
            let source = format!("{{{{ {value}|{name} }}}}");
            assert!(templates().sentences(&source, &context()).is_ok(), "{name}");
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
    fn kernels_are_named_by_what_they_compute() {
        for (full, short) in [
            ("ampere_sgemm_128x32_tn", "ampere_sgemm_128x32_tn"),
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>>(int, T2)",
                "vectorized_elementwise_kernel (BinaryFunctor MulFunctor)",
            ),
            (
                "void at::native::elementwise_kernel<(int)128, void at::native::gpu_kernel_impl_nocast<at::native::<unnamed>::where_kernel_impl(at::TensorIterator &)::[lambda() (instance 1)]>(int)>",
                "elementwise_kernel (where_kernel_impl)",
            ),
            (
                "void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<4>>(T1 *)",
                "CatArrayBatchedCopy",
            ),
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128>(T1::Params)",
                "Kernel2 (cutlass_80_tensorop_s1688gemm_128x128)",
            ),
            ("heat(float *)", "heat"),
        ] {
            assert_eq!(kernel(full), short);
        }
    }

    #[test]
    fn lines_become_paragraphs_and_items() {
        let read = blocks("One\n  two.\n\nThree.\n- a\n  b\n- c\n\n");
        let paragraph = |text: &str| Block::Paragraph(text.to_owned());
        let item = |text: &str| Block::Item(text.to_owned());
        assert_eq!(read, [paragraph("One two."), paragraph("Three."), item("a b"), item("c")]);
    }

    #[test]
    fn names_used_by_a_template_are_found() {
        let names = templates().names_in("{% for row in a.rows %}{{ row.x + b }}{% endfor %}").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!(templates().names_in("{{ a").is_err() && templates().names_in("{% if %}").is_err());
    }
}
