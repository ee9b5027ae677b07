//! Limits of filters: the steps of a template are counted, but one filter can fill the memory in a step.

use minijinja::value::{Kwargs, Rest, StringInput, Value, ValueOrKwargs};
use minijinja::{Environment, Error as Fault, ErrorKind, State, filters};

/// Most columns of a cell, decimals of a number, and items to fill a list with.
const MOST: usize = 10_000;
/// Most bytes that one filter may add to a text. nsq's own layouts replace in texts as long as a report has.
const MOST_BYTES: usize = 256 << 20;

/// The most items of minijinja's `range`, which does not tell its length.
const LONGEST_RANGE: usize = 100_000;

/// A width or a count that a template asks for, if it is not too large.
pub(super) fn at_most(count: usize) -> Result<usize, Fault> {
    match count <= MOST {
        true => Ok(count),
        false => Err(too_much(format!("{count} is above {MOST}, the most columns, decimals or items"))),
    }
}

fn too_much(reason: String) -> Fault {
    Fault::new(ErrorKind::InvalidOperation, reason)
}

/// Gives limits to the filters of minijinja that have none, and mends a test that panics.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("batch", |state: &State, list: Value, count: usize, fill: Option<Value>| {
        filters::batch(state, list, at_most(count)?, fill)
    });
    environment.add_filter("slice", |state: &State, list: Value, count: usize, fill: Option<Value>| {
        filters::slice(state, list, at_most(count)?, fill)
    });
    environment.add_filter("indent", indent);
    environment.add_filter("tojson", to_json);
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("format", format);
    environment.add_test("divisibleby", is_divisible);
}

/// As minijinja's own test, which panics for 0, and for the least number and -1.
fn is_divisible(value: &Value, by: &Value) -> bool {
    let integers = (i128::try_from(value.clone()), i128::try_from(by.clone()));
    if let (Ok(value), Ok(by)) = integers {
        return by != 0 && value.wrapping_rem(by) == 0;
    }
    let numbers = (f64::try_from(value.clone()), f64::try_from(by.clone()));
    matches!(numbers, (Ok(value), Ok(by)) if value % by == 0.0)
}

fn indent(
    text: StringInput<'_>,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<Value, Fault> {
    let named: Option<usize> = options.get("width")?;
    let wide = at_most(width.or(named).unwrap_or_default())?;
    at_most_bytes(text.as_str().matches('\n').count().saturating_add(1).saturating_mul(wide))?;
    filters::indent(text, width, first, blank, options)
}

fn to_json(value: &Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Fault> {
    let named: Option<Value> = options.get("indent")?;
    let width = indent.clone().or(named).and_then(|width| usize::try_from(width).ok());
    at_most(width.unwrap_or_default())?;
    filters::tojson(value, indent, options)
}

fn replace(
    state: &mut State,
    text: StringInput<'_>,
    from: StringInput<'_>,
    to: StringInput<'_>,
) -> Result<Value, Fault> {
    let places = text.as_str().matches(from.as_str()).count();
    at_most_bytes(places.saturating_mul(to.as_str().len()))?;
    filters::replace(state, text, from, to)
}

fn join(
    state: &mut State,
    list: &Value,
    joiner: Option<StringInput<'_>>,
    attribute: Option<&str>,
    options: Kwargs,
) -> Result<Value, Fault> {
    let named: Option<StringInput<'_>> = options.get("d")?;
    let bytes = joiner.as_ref().or(named.as_ref()).map_or(0, |joiner| joiner.as_str().len());
    at_most_bytes(list.len().unwrap_or(LONGEST_RANGE).saturating_mul(bytes))?;
    filters::join(state, list, joiner, attribute, options)
}

fn format(state: &mut State, format: &Value, values: Rest<ValueOrKwargs>) -> Result<Value, Fault> {
    for field in format.as_str().unwrap_or_default().split('%').skip(1) {
        // `%(name)-10.3f`: flags, width and precision are between the name and the type.
        let field =
            field.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(field, |(_, f)| f);
        let end = field.find(|c: char| !"#0- +.*123456789".contains(c)).unwrap_or(field.len());
        if field[..end].contains('*') {
            return Err(too_much("write the width of a format in its text, not as a value".to_owned()));
        }
        let numbers = field[..end].split(|c: char| !c.is_ascii_digit()).filter(|text| !text.is_empty());
        for number in numbers {
            at_most(number.parse().unwrap_or(usize::MAX))?;
        }
    }
    filters::format(state, format, values)
}

/// An error if a filter would add too much to a text.
fn at_most_bytes(bytes: usize) -> Result<(), Fault> {
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err(too_much(format!("a filter adds more than {MOST_BYTES} bytes to a text"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::page::{Templates, Trouble};
    use std::collections::BTreeMap;

    #[test]
    fn a_filter_cannot_fill_the_memory() {
        let templates = Templates::new(str::to_owned);
        for formula in [
            "1|number(70000)",
            "1|us(70000)",
            "'a'|right(70000)",
            "'a'|left(1000000000000)",
            "'a'|left(1, 1000000000000)",
            "1|bar(1, 1000000000000)",
            "['a']|shell(1, 1000000000000)",
            "'a\nb'|indent(1000000000000)",
            "'a\nb'|indent(width=1000000000000)",
            "[1]|batch(1000000000000, 2)",
            "[1]|slice(1000000000000)",
            "[1]|tojson(1000000000000)",
            "[1]|tojson(indent=1000000000000)",
            "'%1000000000000d'|format(1)",
            "'%.70000f'|format(1)",
            "'%(a)-+70000d'|format(a=1)",
            "'%-*d'|format(1000000000000, 1)",
            "('a' * 100000)|replace('a', 'b' * 100000)",
            "range(100000)|join('b' * 100000)",
            "range(100000)|join(d='b' * 100000)",
        ] {
            let Err(Trouble::Fault(reason)) =
                templates.sentences(&format!("{{{{ {formula} }}}}"), &BTreeMap::new())
            else {
                panic!("{formula} has a result");
            };
            let limits = ["above 10000", "adds more than", "in its text"];
            assert!(limits.iter().any(|limit| reason.contains(limit)), "{formula}: {reason}");
        }
    }

    #[test]
    fn filters_within_the_limits_are_unchanged() {
        let templates = Templates::new(str::to_owned);
        for (formula, shown) in [
            ("'a\nb'|indent(2)", "a\n  b"),
            ("'a\nb'|indent(width=2, first=true)", "  a\n  b"),
            ("[1, 2, 3]|batch(2, 0)", "[[1, 2], [3, 0]]"),
            ("[1, 2, 3]|slice(2)", "[[1, 2], [3]]"),
            ("[1]|tojson", "[1]"),
            ("{'a': 1}|tojson(indent=true)", "{\n  \"a\": 1\n}"),
            ("[1, 'a', 2]|join(', ') ~ [{'a': 1}, {'a': 2}]|join(d='+', attribute='a')", "1, a, 21+2"),
            ("'a.b.c'|replace('.', '::')", "a::b::c"),
            (
                "[6 is divisibleby(3), 7 is divisibleby(3), 7.5 is divisibleby(2.5)]",
                "[True, False, True]",
            ),
            ("[1 is divisibleby(0), 'a' is divisibleby(1)]", "[False, False]"),
            ("'%05.1f of 70000 * %s'|format(1.25, 'a')", "001.2 of 70000 * a"),
        ] {
            let said = templates.parameter(&format!("{{{{ {formula} }}}}"), &BTreeMap::new());
            assert_eq!(said.unwrap(), shown, "{formula}");
        }
        assert!(super::is_divisible(&i128::MIN.into(), &(-1).into()));
    }
}
