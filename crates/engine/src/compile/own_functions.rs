//! Aggregates of nsq in SQLite's own functions, for scripts that run in any SQLite shell.

use super::relations::pieces;
use std::collections::BTreeSet;

/// The aggregates that a list of their values can replace. Its length is that of the group, and it is sorted once.
pub const OWN_FORMS: [&str; 4] = ["busy_ns", "median", "percentile", "stddev"];

/// Names of the lists below. A column of the statement with such a name would be taken for theirs.
const TAKEN: [&str; 11] =
    ["atom", "fullkey", "id", "json", "key", "list", "parent", "path", "root", "type", "value"];

/// The script without these aggregates; `None` if a call cannot be written so.
///
/// The statement that calls an aggregate gathers its values as JSON. A subquery may name an aggregate of the statement around it, but
/// only outside its FROM, so the list is a row of `json_each` that WHERE selects.
pub fn in_own_functions(script: &str) -> Option<String> {
    // Comments and texts are blank, at the same bytes.
    let blank = |byte: u8| if byte == b'\n' { byte } else { b' ' };
    let code: Vec<u8> = pieces(script)
        .flat_map(|(piece, is_code)| {
            piece.bytes().map(move |byte| if is_code { byte } else { blank(byte) })
        })
        .collect();
    let (selects, with_windows) = selects(&code);
    let mut written = String::with_capacity(2 * script.len());
    let mut at = 0;
    while let Some((start, name)) = next_call(&code, at) {
        let (arguments, mut end) = arguments_at(&code, start + name.len())?;
        let arguments: Vec<&str> = arguments
            .into_iter()
            .map(|(from, to)| script.get(from..to).map(str::trim))
            .collect::<Option<_>>()?;
        let mut filter = "";
        let after = skip_space(&code, end);
        if code[after..].starts_with(b"FILTER") {
            let (_, filtered) = arguments_at(&code, after + "FILTER".len())?;
            filter = script.get(end..filtered)?;
            end = filtered;
        }
        let is_taken = |word: &str| TAKEN.contains(&word) || word == "SELECT";
        // SQLite finds no aggregate of a statement that also has window functions.
        if with_windows.contains(&selects[start]) || words(&code[start..end]).any(is_taken) {
            return None;
        }
        written.push_str(script.get(at..start)?);
        written.push_str(&own_form(name, &arguments, filter)?);
        at = end;
    }
    written.push_str(script.get(at..)?);
    Some(written)
}

fn own_form(name: &str, arguments: &[&str], filter: &str) -> Option<String> {
    let percentile = |percent: &str| {
        format!(
            "SELECT low + (coalesce(high, low) - low) * (rank - place)
    FROM (
      SELECT 1.0 * value AS low, lead(value) OVER (ORDER BY value) AS high,
        row_number() OVER (ORDER BY value) - 1 AS place, {percent} / 100.0 * (count(*) OVER () - 1) AS rank
      FROM json_each(list.value)
      WHERE value IS NOT NULL
    )
    WHERE place = CAST(rank AS INTEGER)"
        )
    };
    let (of_list, value) = match (name, arguments) {
        ("median", [value]) => (percentile("50"), (*value).to_owned()),
        ("percentile", [value, percent]) if percent.parse::<f64>().is_ok() => {
            (percentile(percent), (*value).to_owned())
        }
        ("stddev", [value]) => (
            "SELECT sqrt(sum((value - mean) * (value - mean)) / max(count(*) - 1, 1))
    FROM (SELECT value, avg(value) OVER () AS mean FROM json_each(list.value) WHERE value IS NOT NULL)"
                .to_owned(),
            (*value).to_owned(),
        ),
        ("busy_ns", [start, end]) => (
            "SELECT coalesce(sum(max(0, end_ns - max(start_ns, coalesce(before_ns, start_ns)))), 0)
    FROM (
      SELECT start_ns, end_ns, max(end_ns) OVER (
        ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS before_ns
      FROM (SELECT value ->> 0 AS start_ns, value ->> 1 AS end_ns FROM json_each(list.value))
      WHERE start_ns < end_ns
    )"
            .to_owned(),
            format!("json_array({start}, {end})"),
        ),
        _ => return None,
    };
    Some(format!(
        "(/* {name}({}) */ SELECT max((
    {of_list}
  )) FROM json_each AS list WHERE list.json = json_array(json_group_array({value}){filter}))",
        arguments.join(", ").replace("*/", "")
    ))
}

/// The next call of one of the aggregates, from a byte on.
fn next_call(code: &[u8], from: usize) -> Option<(usize, &'static str)> {
    (from..code.len()).find_map(|at| {
        let is_word = at > 0 && (is_part_of_word(code[at - 1]) || code[at - 1] == b'.');
        let name = OWN_FORMS.into_iter().find(|name| code[at..].starts_with(name.as_bytes()))?;
        let is_call = code.get(skip_space(code, at + name.len())) == Some(&b'(');
        (!is_word && is_call).then_some((at, name))
    })
}

/// Where each argument begins and ends, and where the call ends.
fn arguments_at(code: &[u8], at: usize) -> Option<(Vec<(usize, usize)>, usize)> {
    let open = skip_space(code, at);
    let (mut depth, mut begin, mut arguments) = (0, open + 1, Vec::new());
    for (place, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 1 => {
                arguments.push((begin, place));
                begin = place + 1;
            }
            _ => {}
        }
        if depth == 0 {
            arguments.push((begin, place));
            return (*byte == b')').then_some((arguments, place + 1));
        }
    }
    None
}

/// The SELECT that each byte is in, by number, and those that have a window function.
fn selects(code: &[u8]) -> (Vec<usize>, BTreeSet<usize>) {
    let (mut open, mut count, mut with_windows) = (vec![0], 0, BTreeSet::new());
    let numbers = (0..code.len())
        .map(|at| {
            let own = open.last().copied().unwrap_or_default();
            match code[at] {
                b'(' => {
                    let inside = &code[skip_space(code, at + 1)..];
                    let is_select = inside.starts_with(b"SELECT") || inside.starts_with(b"WITH");
                    count += usize::from(is_select);
                    open.push(if is_select { count } else { own });
                }
                b')' => _ = open.pop(),
                b';' => {
                    count += 1;
                    open = vec![count];
                }
                b'O' if is_word(code, at, b"OVER") => _ = with_windows.insert(own),
                _ => {}
            }
            own
        })
        .collect();
    (numbers, with_windows)
}

fn is_word(code: &[u8], at: usize, word: &[u8]) -> bool {
    let is_begun = at > 0 && is_part_of_word(code[at - 1]);
    let is_longer = code.get(at + word.len()).is_some_and(|byte| is_part_of_word(*byte));
    code[at..].starts_with(word) && !is_begun && !is_longer
}

fn skip_space(code: &[u8], at: usize) -> usize {
    let space = code.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace());
    at + space.count()
}

fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The words of a part of the code that no name of a table precedes.
fn words(code: &[u8]) -> impl Iterator<Item = &str> {
    let mut at = 0;
    code.split(|byte| !is_part_of_word(*byte)).filter_map(move |word| {
        let begin = at;
        at += word.len() + 1;
        let is_of_table = begin > 0 && code[begin - 1] == b'.';
        str::from_utf8(word).ok().filter(|word| !word.is_empty() && !is_of_table)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// What a statement over four groups returns.
    fn rows(connection: &Connection, sql: &str) -> Vec<(i64, Option<f64>)> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn the_values_are_those_of_the_functions() {
        let connection = Connection::open_in_memory().unwrap();
        crate::execute::register_functions(&connection, &Default::default()).unwrap();
        for call in [
            "median(x)",
            "percentile(x, 90)",
            "percentile( iif(x = 5, NULL, x), 2.5 )",
            "stddev(x)",
            "stddev(t.x) FILTER (WHERE x < 50)",
            "CAST(busy_ns(x, y) AS REAL)",
            "median(DISTINCT x) / 2",
            "median(x) + (SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM t))",
        ] {
            let sql = format!(
                "WITH t(k, x, y) AS (VALUES (1, 5, 6), (1, 100, 7), (1, 5, 9), (1, 8, 10), (2, 3, 10), (2, 4, 7), (2, NULL, 3), \
                 (3, NULL, NULL), (4, 0.5, 1)) SELECT k, {call} FROM t GROUP BY k ORDER BY k -- median(x)"
            );
            let own = in_own_functions(&sql).unwrap();
            assert!(own.contains("json_group_array") && own.ends_with("-- median(x)"), "{own}");
            if call.contains("busy_ns") {
                // Times are integers.
                let whole = |sql: &str| sql.replace("(4, 0.5, 1)", "(4, 0, 1)");
                assert_eq!(rows(&connection, &whole(&own)), rows(&connection, &whole(&sql)), "{call}");
            } else {
                assert_eq!(rows(&connection, &own), rows(&connection, &sql), "{call}");
            }
        }
        let all = "SELECT 0, median(column1) FROM (VALUES (1), (2), (4))";
        assert_eq!(rows(&connection, &in_own_functions(all).unwrap()), [(0, Some(2.0))]);
    }

    #[test]
    fn other_calls_stay() {
        for call in [
            "median(value)",
            "median(x) FILTER (WHERE type = 1)",
            "median(x) OVER (PARTITION BY k)",
            "k, median(x), nullif(sum(sum(x)) OVER (), 0)",
            "percentile(x, k)",
            "median((SELECT x))",
            "median(x",
        ] {
            assert_eq!(in_own_functions(&format!("SELECT {call} FROM t")), None, "{call}");
        }
        for text in ["SELECT 'median(x)', t.median (x), my_median(x) -- stddev(x)", "SELECT \"größe\""]
        {
            assert_eq!(in_own_functions(text).as_deref(), Some(text));
        }
    }
}
