//! Work that rules give to ranges, in the example: its ranges have no shapes.

use super::{number, rows};
use crate::support::{outcome, project};
use std::collections::BTreeMap;
use std::fs;

/// A folder of queries with these rules in `names/work.yml`.
fn folder_with(rules: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("names")).unwrap();
    let text = format!("name: work\ndoc: The model of the test.\nrules:\n{rules}");
    fs::write(folder.path().join("names/work.yml"), text).unwrap();
    folder
}

fn asked(rules: &str, statement: &str) -> Vec<BTreeMap<String, String>> {
    let folder = folder_with(rules);
    let example = project("fixtures/example.sqlite");
    rows(&["sql", example.to_str().unwrap(), statement, "--queries", folder.path().to_str().unwrap()])
}

/// Each rule, and FLOPs, elements read, and elements written, derived by hand.
const RULES: [(&str, [f64; 3]); 7] = [
    // 2 x 8 x 32 x 32 x 16; 8 x (32 x 16 + 16 x 32); 8 x 32 x 32.
    ("{kind: matmul, batch: 8, m: 32, n: 32, k: 16}", [262_144.0, 8_192.0, 8_192.0]),
    // 4 x 2 x 4 x 32 x 32 x 16; queries of 4 heads, keys and values of 2; the queries' size.
    (
        "{kind: attention, batch: 2, heads: 4, queries: 32, head_size: 16, kv_heads: 2}",
        [524_288.0, 8_192.0, 4_096.0],
    ),
    // The half that a causal query sees, three times for a whole training step: 1 + 2.5 passes.
    (
        "{kind: attention, batch: 2, heads: 4, queries: 32, head_size: 16, causal: true, pass: training}",
        [3.5 * 262_144.0, 2.0 * 12_288.0 + 4_096.0, 4_096.0 + 12_288.0],
    ),
    // 2 x 64 tokens x 3 x 128 x 512; tokens and weights; tokens.
    (
        "{kind: ffn, tokens: 64, width: 128, hidden: 512, matrices: 3}",
        [25_165_824.0, 8_192.0 + 196_608.0, 8_192.0],
    ),
    // Weights: 4 x 128 x 128 + 2 x 128 x 512 = 196,608. Attention: 4 x 128 x 64 x 32 / 2.
    (
        "{kind: layer, tokens: 64, context: 32, width: 128, hidden: 512, heads: 8}",
        [2.0 * 64.0 * 196_608.0 + 524_288.0, 8_192.0 + 196_608.0, 8_192.0],
    ),
    // Four such layers and 1,000 words; backward has two products, and 2.5 times the attention.
    (
        "{kind: transformer, layers: 4, tokens: 64, context: 32, width: 128, hidden: 512, heads: 8, vocabulary: 1000, \
         pass: backward}",
        [
            4.0 * 64.0 * (4.0 * 196_608.0 + 128_000.0) + 2.5 * 4.0 * 524_288.0,
            (4.0 * 8_192.0 + 914_432.0) + (4.0 * 8_192.0 + 64_000.0),
            4.0 * 8_192.0 + 914_432.0,
        ],
    ),
    // 6 FLOPs for each parameter and token.
    ("{kind: transformer, parameters: 1.5e9, tokens: 100, pass: training}", [9e11, 3e9, 1.5e9]),
];

#[test]
fn rules_give_ranges_their_work() {
    for (rule, wanted) in RULES {
        let work = asked(&format!("- {{match: '^mlp$', work: {rule}}}"), "SELECT * FROM range_work");
        assert_eq!(work.len(), 1, "{rule}");
        let found =
            ["flop_count", "read_elements", "written_elements"].map(|column| number(&work[0], column));
        assert_eq!(found, wanted, "{rule}");
        assert_eq!(work[0]["data_type"], "", "{rule}");
    }
}

/// A name holds a size; the element type gives bytes; a number of times multiplies.
#[test]
fn rules_read_sizes_from_names() {
    let rule =
        "- {match: '^layer (\\d)$', work: {kind: matmul, m: $1, n: 10, k: 10, count: 3, type: bf16}}";
    let work = asked(rule, "SELECT * FROM operator_work ORDER BY shape");
    // Layer 0 has no rows, so its work is unknown.
    let flops: Vec<&str> = work.iter().map(|row| row["flop_count"].as_str()).collect();
    assert_eq!(flops, ["", "600", "1200", "1800"]);
    let (read, written) = (number(&work[1], "read_bytes"), number(&work[1], "written_bytes"));
    assert_eq!((read, written), (3.0 * 2.0 * (10.0 + 100.0), 3.0 * 2.0 * 10.0));
    assert!(work.iter().all(|row| row["op_name"] == "layer *" && row["source"] == "rule"));
}

/// The work of a range around another one with known work would count twice.
#[test]
fn rules_of_nested_ranges_count_once() {
    let inner = "- {match: '^scores$', work: {kind: matmul, m: 8, n: 8, k: 8}}\n";
    let outer = "- {match: '^(attention|forward|optimizer)$', work: {kind: matmul, m: 9, n: 9, k: 9}}\n";
    let statement = "SELECT op_name, count(*) AS calls, sum(op_count) AS ops FROM op_work WHERE flop_count IS NOT NULL \
                     GROUP BY op_name ORDER BY op_name";
    let calls = |rules: &str| -> Vec<(String, f64)> {
        asked(rules, statement)
            .iter()
            .map(|row| (row["op_name"].clone(), number(row, "calls")))
            .collect()
    };
    assert_eq!(
        calls(&[inner, outer].concat()),
        [("optimizer".to_owned(), 10.0), ("scores".to_owned(), 48.0)]
    );
    // Forward is around attention.
    assert_eq!(calls(outer), [("attention".to_owned(), 48.0), ("optimizer".to_owned(), 10.0)]);
}

#[test]
fn a_rule_without_its_sizes_is_told() {
    let lacking = "- {match: '^loss$', work: {kind: matmul, m: 9, n: 9}}";
    let folder = folder_with(lacking);
    let (queries, example) = (folder.path().to_str().unwrap(), project("fixtures/example.sqlite"));
    let example = example.to_str().unwrap();
    let states = rows(&["run", example, "-q", "work_coverage", "--queries", queries]);
    let told = states.iter().find(|row| row["largest"] == "loss").unwrap();
    assert!(told["remedy"].contains("names/work.yml"), "{told:?}");
    let folder = folder_with("- {match: '^loss$', phase: loss}");
    let queries = folder.path().to_str().unwrap();
    let (code, _, stderr) = outcome(&["run", example, "-q", "work_coverage", "--queries", queries]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("has no `work`"), "{stderr}");
}
