//! Fuzz target: templates of pages and playbooks from strangers. Each has a result, or a reason why not, in
//! bounded time and memory.
#![no_main]

mod grammar;
#[path = "../support.rs"]
mod support;

use grammar::Grammar;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use minijinja::value::Value as Shown;
use nsq::catalog::PageLayout;
use nsq::page::{Templates, Terminal, Trouble, rows, to_json};
use nsq::table::{Column, ResultTable, Value};
use nsq::visible;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a template may compute, with all checks of a fuzzer.
const ALLOWED: Duration = Duration::from_secs(10);

/// What a page gives its templates: rows with odd names and nulls, no rows, and parameters.
fn context() -> BTreeMap<String, Shown> {
    let columns = ["name", "mean_ns", "share"].map(Column::untyped).to_vec();
    let row = |name: &str, mean: i64, share: f64| {
        vec![Value::Text(name.to_owned()), Value::Int(mean), Value::Real(share)]
    };
    let mut table = ResultTable {
        columns,
        rows: vec![row("gemm", 1_500, 12.5), row("a`b\u{1b}<b>", i64::MIN, -0.0)],
    };
    table.rows.push(vec![Value::Null, Value::Int(i64::MAX), Value::Null]);
    table
        .rows
        .extend((0..40).map(|n| row(&format!("void k{n}<float>(int)"), n, f64::from(n as i32) / 3.0)));
    let empty = ResultTable { columns: table.columns.clone(), rows: Vec::new() };
    let params = BTreeMap::from([
        ("list".to_owned(), Shown::from("[\"a\", \"b\"]")),
        ("limit".to_owned(), Shown::from(5)),
    ]);
    BTreeMap::from([
        ("k".to_owned(), rows(&table, Some("name"))),
        ("empty".to_owned(), rows(&empty, Some("name"))),
        ("params".to_owned(), Shown::from(params)),
    ])
}

thread_local! {
    static BENCH: (Templates, BTreeMap<String, Shown>) = (Templates::new(visible), context());
}

/// Panics for a failure without a reason.
fn check<T>(result: Result<T, Trouble>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(Trouble::NoAnswer(reason) | Trouble::Fault(reason)) => {
            assert!(!reason.trim().is_empty(), "a failure without a reason");
            None
        }
    }
}

/// Whether a template repeats a text or a list many times. minijinja limits one such text to 100 MB, but not
/// what is made of many: nothing here could stop that.
fn repeats(source: &str) -> bool {
    let numbers = source.split(|c: char| !c.is_ascii_digit());
    source.contains(" * ") && numbers.into_iter().any(|number| number.len() > 3)
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let Ok(kind) = bytes.arbitrary::<u8>() else { return };
    let source = match kind % 8 {
        // The bytes as they are, for the parser.
        0 => String::from_utf8_lossy(bytes.take_rest()).into_owned(),
        1 | 2 => Grammar::formula(&mut bytes).unwrap_or_default(),
        _ => Grammar::template(&mut bytes).unwrap_or_default(),
    };
    if std::env::var_os("NSQ_FUZZ_SHOW").is_some() {
        println!("{source}");
    }
    if repeats(&source) {
        return;
    }
    BENCH.with(|(templates, context)| {
        let begin = support::computed();
        match kind % 8 {
            1 | 2 => {
                let _ = templates.names_in_expression(&source);
                if let Some(value) = check(templates.value(&source, context)) {
                    let _ = to_json(&value).to_string();
                }
            }
            3 => drop(check(templates.argument(&source, context))),
            4 => drop(check(templates.parameter(&source, context))),
            5 | 6 => {
                let layout = |text: &str| PageLayout {
                    file: "page.jinja".to_owned(),
                    text: text.to_owned(),
                    is_built_in: false,
                };
                let name = if kind % 8 == 5 { "page" } else { "page.html" };
                let layouts = [(name, layout(&source)), ("_part", layout("{{ k.first.name }}{{ x }}"))];
                let assets = [("base.css", layout("p { margin: 0 }"))];
                let layouts = layouts.iter().map(|(name, layout)| (*name, layout));
                let assets = assets.iter().map(|(name, asset)| (*name, asset));
                let all = Shown::from(context.clone());
                let shown = templates.layout(layouts, assets, name, all, Terminal::default());
                let shown = check(shown).unwrap_or_default();
                assert!(
                    !shown.contains('\u{1b}') || source.contains('\u{1b}'),
                    "a control character: {source}"
                );
            }
            _ => {
                let _ = templates.names_in(&source);
                let said = check(templates.sentences(&source, context)).unwrap_or_default();
                assert!(
                    !said.contains('\u{1b}') || source.contains('\u{1b}'),
                    "a control character: {source}"
                );
            }
        }
        let took = support::computed() - begin;
        assert!(took < ALLOWED, "it took {took:?}: {source}");
    });
});
