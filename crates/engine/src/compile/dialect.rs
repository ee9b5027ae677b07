//! The parser's SQLite dialect, extended with the shift operators that it lacks.

use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use std::any::TypeId;

#[derive(Debug)]
struct SqliteWithShifts;

impl Dialect for SqliteWithShifts {
    fn dialect(&self) -> TypeId {
        TypeId::of::<SQLiteDialect>()
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        SQLiteDialect {}.is_delimited_identifier_start(c)
    }

    fn is_identifier_start(&self, c: char) -> bool {
        SQLiteDialect {}.is_identifier_start(c)
    }

    fn is_identifier_part(&self, c: char) -> bool {
        SQLiteDialect {}.is_identifier_part(c)
    }

    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        SQLiteDialect {}.parse_infix(parser, expr, precedence)
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_in_empty_list(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }
}

/// Parses SQLite statements. The error is the parser's message.
pub fn parse(sql: &str) -> Result<Vec<Statement>, String> {
    let tokens = Tokenizer::new(&SqliteWithShifts, sql).tokenize_with_location();
    let tokens = without_materialized(tokens.map_err(|e| e.to_string())?);
    let mut parser = Parser::new(&SqliteWithShifts).with_tokens_with_locations(tokens);
    parser.parse_statements().map_err(|e| e.to_string())
}

/// Leaves out the words of `AS MATERIALIZED (` and `AS NOT MATERIALIZED (`, which the parser knows for other databases
/// only. They change no answer.
fn without_materialized(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let words: Vec<usize> = (0..tokens.len())
        .filter(|&place| !matches!(tokens[place].token, Token::Whitespace(_)))
        .collect();
    let is = |place: Option<&usize>, keyword: Keyword| {
        place.is_some_and(|&place| match &tokens[place].token {
            Token::Word(word) => word.keyword == keyword && word.quote_style.is_none(),
            _ => false,
        })
    };
    let mut left_out = vec![false; tokens.len()];
    for (nth, &place) in words.iter().enumerate() {
        let before = |count: usize| nth.checked_sub(count).and_then(|nth| words.get(nth));
        let opens = |&next: &usize| tokens[next].token == Token::LParen;
        if !is(Some(&place), Keyword::MATERIALIZED) || !words.get(nth + 1).is_some_and(opens) {
            continue;
        }
        if is(before(1), Keyword::AS) {
            left_out[place] = true;
        } else if is(before(1), Keyword::NOT) && is(before(2), Keyword::AS) {
            (left_out[place], left_out[words[nth - 1]]) = (true, true);
        }
    }
    tokens.into_iter().zip(left_out).filter(|(_, is_out)| !is_out).map(|(token, _)| token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_materialized_is_read_over() {
        let plain = parse("WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS y) SELECT x FROM a, b").unwrap();
        let hinted = "WITH a AS MATERIALIZED (SELECT 1 AS x), b AS /* why */ NOT materialized (SELECT 2 AS y) \
                      SELECT x FROM a, b";
        assert_eq!(parse(hinted).unwrap()[0].to_string(), plain[0].to_string());
        // As a name, it stays.
        for sql in ["SELECT materialized FROM t", "SELECT 1 AS materialized", "SELECT materialized(1)"] {
            assert_eq!(parse(sql).unwrap()[0].to_string(), sql);
        }
        assert!(parse("WITH a AS MATERIALIZED SELECT 1").is_err());
    }
}
