//! The parser's SQLite dialect, extended with the shift operators that it lacks.

use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserError};
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
    Parser::parse_sql(&SqliteWithShifts, sql).map_err(|e| e.to_string())
}
