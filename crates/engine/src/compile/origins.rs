//! Which columns of a user's statement are columns of a relation, under their own or another name.
//!
//! These have the relation's type, unit and meaning. SQLite tells the origin of a column only for tables, and
//! relations are views, so the statement is parsed. A computed column has no origin, and wherever something is in
//! doubt (a name that several sources have, a source that is no relation), nor has the column.

use super::dialect::parse;
use nsq_library::catalog::Catalog;
use nsq_value::table::Column;
use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins, With,
};

/// A column of a statement: the name that SQLite must give it, and the column that it is.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Its name, if it is known.
    pub name: Option<String>,
    /// The column of a relation; `None`: computed, or in doubt.
    pub column: Option<Column>,
}

/// Longest statement to parse, in bytes.
const LONGEST: usize = 64 << 10;
/// Deepest brackets to parse: the parser's time doubles with each bracket within a bracket.
const DEEPEST: usize = 12;

/// The columns of a statement. Empty if they cannot be told.
pub(super) fn origins(sql: &str, catalog: &Catalog) -> Vec<Origin> {
    if sql.len() > LONGEST || depth(sql) > DEEPEST {
        return Vec::new();
    }
    match parse(sql).as_deref() {
        Ok([Statement::Query(query)]) => Names { catalog, with: Vec::new() }.query(query),
        _ => None,
    }
    .unwrap_or_default()
}

fn depth(sql: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for byte in sql.bytes() {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// What the names of tables mean. `None` stands for columns that are not known.
#[derive(Clone)]
struct Names<'a> {
    catalog: &'a Catalog,
    /// The names of `WITH`, the innermost last.
    with: Vec<(String, Option<Vec<Origin>>)>,
}

/// A table of `FROM`.
struct Source {
    name: Option<String>,
    columns: Option<Vec<Origin>>,
}

/// The tables of a `FROM`.
struct Sources {
    all: Vec<Source>,
    /// A name that several tables have is one column.
    merges: bool,
}

impl Names<'_> {
    fn query(&self, query: &Query) -> Option<Vec<Origin>> {
        let mut names = self.clone();
        query.with.iter().for_each(|with| names.add(with));
        names.body(&query.body)
    }

    fn add(&mut self, with: &With) {
        let first = self.with.len();
        // Each may name itself and the others, so none of them is a relation.
        self.with.extend(with.cte_tables.iter().map(|table| (lower(&table.alias.name), None)));
        for (place, table) in with.cte_tables.iter().enumerate() {
            self.with[first + place].1 = renamed(self.query(&table.query), &table.alias);
        }
    }

    fn body(&self, body: &SetExpr) -> Option<Vec<Origin>> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                let (left, right) = (self.body(left)?, self.body(right)?);
                let pairs = left.into_iter().zip(right);
                Some(pairs.map(|(a, b)| Origin { column: agreed(a.column, b.column), ..a }).collect())
            }
            _ => None,
        }
    }

    fn select(&self, select: &Select) -> Option<Vec<Origin>> {
        let mut sources = Sources { all: Vec::new(), merges: false };
        select.from.iter().for_each(|table| self.join(table, &mut sources));
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => columns.push(sources.origin(expr)),
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push(Origin { name: Some(alias.value.clone()), ..sources.origin(expr) });
                }
                SelectItem::Wildcard(_) if !sources.merges => {
                    for source in &sources.all {
                        columns.extend(source.columns.clone()?);
                    }
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    columns.extend(sources.named(single(name)?)?.columns.clone()?);
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    fn join(&self, table: &TableWithJoins, sources: &mut Sources) {
        self.table(&table.relation, sources);
        for Join { relation, join_operator, .. } in &table.joins {
            self.table(relation, sources);
            sources.merges |= !matches!(
                join_operator,
                JoinOperator::Join(JoinConstraint::On(_) | JoinConstraint::None)
                    | JoinOperator::Inner(JoinConstraint::On(_) | JoinConstraint::None)
                    | JoinOperator::Left(JoinConstraint::On(_) | JoinConstraint::None)
                    | JoinOperator::LeftOuter(JoinConstraint::On(_) | JoinConstraint::None)
                    | JoinOperator::CrossJoin(JoinConstraint::On(_) | JoinConstraint::None)
            );
        }
    }

    fn table(&self, table: &TableFactor, sources: &mut Sources) {
        let unknown = |alias: &Option<TableAlias>| Source {
            name: alias.as_ref().map(|alias| lower(&alias.name)),
            columns: None,
        };
        sources.all.push(match table {
            TableFactor::Table { name, alias, args: None, .. } => {
                let plain = single(name).map(lower);
                let columns = plain.as_deref().and_then(|name| self.columns(name));
                let own = Source { name: plain, columns };
                match alias {
                    Some(alias) => {
                        Source { columns: renamed(own.columns, alias), ..unknown(&Some(alias.clone())) }
                    }
                    None => own,
                }
            }
            TableFactor::Derived { subquery, alias, .. } => {
                Source { columns: self.query(subquery), ..unknown(alias) }
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.join(table_with_joins, sources);
            }
            TableFactor::Table { alias, .. } => unknown(alias),
            _ => unknown(&None),
        });
    }

    /// The columns of a name of `WITH`, or of a relation.
    fn columns(&self, name: &str) -> Option<Vec<Origin>> {
        if let Some((_, columns)) = self.with.iter().rev().find(|(known, _)| known == name) {
            return columns.clone();
        }
        let relation =
            self.catalog.relation(name).or_else(|| self.catalog.relation(name.strip_prefix("all_")?))?;
        let columns = relation
            .ok()?
            .header
            .columns
            .iter()
            .map(|spec| Origin { name: Some(spec.name.clone()), column: Some(spec.to_column()) });
        Some(columns.collect())
    }
}

impl Sources {
    fn origin(&self, expr: &Expr) -> Origin {
        let (name, found) = match expr {
            Expr::Identifier(name) => (name, self.anywhere(name)),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, name] => (name, self.named(table).and_then(|source| source.column(name))),
                _ => return Origin { name: None, column: None },
            },
            _ => return Origin { name: None, column: None },
        };
        Origin { name: Some(name.value.clone()), column: found.flatten() }
    }

    /// The column of a name without a table. SQLite refuses one that several tables have, unless a join merges
    /// them.
    fn anywhere(&self, name: &Ident) -> Option<Option<Column>> {
        let is_sure = !self.merges || self.all.iter().all(|source| source.columns.is_some());
        let mut found = self.all.iter().filter(|_| is_sure).filter_map(|source| source.column(name));
        let first = found.next()?;
        Some(found.fold(first, agreed))
    }

    /// The table of a name, if only one has it.
    fn named(&self, name: &Ident) -> Option<&Source> {
        let name = lower(name);
        let mut found = self.all.iter().filter(|source| source.name.as_ref() == Some(&name));
        found.next().filter(|_| found.next().is_none())
    }
}

impl Source {
    fn column(&self, name: &Ident) -> Option<Option<Column>> {
        let mut columns = self.columns.iter().flatten();
        let found = columns.find(|column| {
            column.name.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(&name.value))
        });
        found.map(|column| column.column.clone())
    }
}

/// The columns with the names that an alias gives them.
fn renamed(columns: Option<Vec<Origin>>, alias: &TableAlias) -> Option<Vec<Origin>> {
    let mut columns = columns?;
    for (column, given) in columns.iter_mut().zip(&alias.columns) {
        column.name = Some(given.name.value.clone());
    }
    Some(columns)
}

/// What two columns have in common, if they have the same type and unit.
fn agreed(a: Option<Column>, b: Option<Column>) -> Option<Column> {
    let (a, b) = (a?, b?);
    let doc = if a.doc == b.doc { a.doc.clone() } else { String::new() };
    ((a.kind, a.unit) == (b.kind, b.unit)).then_some(Column { doc, ..a })
}

/// A name without a schema.
fn single(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [part] => part.as_ident(),
        _ => None,
    }
}

fn lower(name: &Ident) -> String {
    name.value.to_ascii_lowercase()
}
