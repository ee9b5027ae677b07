//! The parser's SQLite dialect, extended with the shift operators that it lacks.

use sqlparser::ast::{CteAsMaterialized, Expr, Query, Statement, VisitMut, VisitorMut};
use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

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
    let (tokens, mut hints) = apart(tokens.map_err(|e| e.to_string())?);
    let mut parser = Parser::new(&SqliteWithShifts).with_tokens_with_locations(tokens);
    let mut statements = parser.parse_statements().map_err(|e| e.to_string())?;
    if !hints.0.is_empty() {
        let _ = statements.visit(&mut hints);
    }
    Ok(statements)
}

/// The words of `AS MATERIALIZED (` and `AS NOT MATERIALIZED (`, by where the name of the expression stands.
#[derive(Default)]
struct Hints(BTreeMap<Location, CteAsMaterialized>);

impl VisitorMut for Hints {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            cte.materialized = self.0.get(&cte.alias.name.span.start).copied();
        }
        ControlFlow::Continue(())
    }
}

/// A statement without these words, for an engine that decides itself what it stores. The error is the tokenizer's message.
pub fn without_hints(sql: &str) -> Result<String, String> {
    let tokens = Tokenizer::new(&SqliteWithShifts, sql).tokenize_with_location();
    let (tokens, _) = apart(tokens.map_err(|e| e.to_string())?);
    Ok(tokens.into_iter().map(|word| word.token.to_string()).collect())
}

/// Tells these words from the others: the parser knows them for other databases only.
fn apart(tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, Hints) {
    let words: Vec<usize> = (0..tokens.len())
        .filter(|&place| !matches!(tokens[place].token, Token::Whitespace(_)))
        .collect();
    let is = |nth: Option<usize>, keyword: Keyword| {
        nth.and_then(|nth| words.get(nth)).is_some_and(|&place| match &tokens[place].token {
            Token::Word(word) => word.keyword == keyword && word.quote_style.is_none(),
            _ => false,
        })
    };
    let mut left_out = vec![false; tokens.len()];
    let mut hints = Hints::default();
    for (nth, &place) in words.iter().enumerate() {
        let opens = |&next: &usize| tokens[next].token == Token::LParen;
        if !is(Some(nth), Keyword::MATERIALIZED) || !words.get(nth + 1).is_some_and(opens) {
            continue;
        }
        let is_not = is(nth.checked_sub(1), Keyword::NOT);
        let Some(before) =
            nth.checked_sub(if is_not { 2 } else { 1 }).filter(|&nth| is(Some(nth), Keyword::AS))
        else {
            continue;
        };
        left_out[place] = true;
        if is_not {
            left_out[words[nth - 1]] = true;
        }
        // The name, before the columns in parentheses, if there are any.
        let mut depth = 0;
        let name = words[..before].iter().rev().find(|&&place| {
            match tokens[place].token {
                Token::RParen => depth += 1,
                Token::LParen => depth -= 1,
                _ => return depth == 0,
            }
            false
        });
        if let Some(&name) = name {
            let hint = if is_not {
                CteAsMaterialized::NotMaterialized
            } else {
                CteAsMaterialized::Materialized
            };
            hints.0.insert(tokens[name].span.start, hint);
        }
    }
    let kept = tokens.into_iter().zip(left_out).filter(|(_, is_out)| !is_out).map(|(token, _)| token);
    (kept.collect(), hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_materialized_is_kept() {
        let sql = "WITH a AS MATERIALIZED (SELECT 1 AS x), b (y) AS NOT MATERIALIZED (SELECT (2)), c AS (WITH d (z, w) AS \
                   MATERIALIZED (SELECT 1, 2) SELECT z FROM d) SELECT x FROM a, b, c";
        assert_eq!(parse(sql).unwrap()[0].to_string(), sql);
        let hinted = "WITH b AS /* why */ NOT materialized (SELECT 2 AS y) SELECT y FROM b";
        let printed = "WITH b AS NOT MATERIALIZED (SELECT 2 AS y) SELECT y FROM b";
        assert_eq!(parse(hinted).unwrap()[0].to_string(), printed);
        // As a name, it stays.
        assert_eq!(
            without_hints("WITH b AS NOT MATERIALIZED (SELECT 'AS') SELECT 2").unwrap(),
            "WITH b AS   (SELECT 'AS') SELECT 2"
        );
        for sql in ["SELECT materialized FROM t", "SELECT 1 AS materialized", "SELECT materialized(1)"] {
            assert_eq!(parse(sql).unwrap()[0].to_string(), sql);
        }
        assert!(parse("WITH a AS MATERIALIZED SELECT 1").is_err());
    }
}
