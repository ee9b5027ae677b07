//! What the tables of the extension are, and how they are asked.

use crate::offer::{EVERYTHING, Kind, Offer};
use crate::plan::{Argument, Plan};
use crate::rows::{All, LookUps, Stream};
use nsq::catalog::{Catalog, ColumnSpec, Source};
use nsq::compile::Plan as Statement;
use nsq::execute::{Limits, Session, asked_with};
use nsq::normalize::{SCOPE_COLUMNS, SCOPE_RELATION};
use nsq::{Cancel, Column, Error, Type, Value};
use std::sync::Arc;

/// What is done in a session, with a statement over its relation.
type Work<'a> = dyn FnMut(&Session, &mut Statement, &Limits) -> nsq::Result<()> + 'a;

/// What a table is, and its columns.
#[derive(Debug)]
pub(crate) struct Shape {
    offer: Arc<Offer>,
    pub(crate) columns: Vec<Column>,
    /// The parameters of a query, which are hidden columns after the others.
    parameters: Vec<String>,
    /// The places of the columns whose values a relation must be asked with: it has no rows without.
    pub(crate) keys: Vec<usize>,
}

impl Shape {
    pub(crate) fn of(offer: &Arc<Offer>) -> nsq::Result<Self> {
        let catalog = offer.asked.library.catalog();
        let (columns, parameters) = match offer.kind {
            Kind::Query => {
                let header = &catalog.query(&offer.name)?.header;
                let columns = header.columns.iter().map(ColumnSpec::to_column).collect();
                (columns, header.params.iter().map(|parameter| parameter.name.clone()).collect())
            }
            Kind::Relation => (columns_of(catalog, &offer.name)?, Vec::new()),
            Kind::List(list) => (list.columns(), Vec::new()),
        };
        let plain = offer.name.strip_prefix(EVERYTHING).unwrap_or(&offer.name);
        let keys: &[&str] = if offer.kind == Kind::Relation { asked_with(plain) } else { &[] };
        let place = |key: &&str| columns.iter().position(|column: &Column| column.name == *key);
        let keys = keys.iter().filter_map(place).collect();
        Ok(Self { offer: Arc::clone(offer), columns, parameters, keys })
    }

    /// The table for SQLite. A parameter whose name is that of a column has `_param` after it.
    pub(crate) fn declaration(&self) -> String {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let column = |column: &Column| format!("{} {}", quoted(&column.name), affinity(column.kind));
        let parameter = |name: &String| {
            let is_taken = self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
            format!("{} HIDDEN", quoted(&if is_taken { format!("{name}_param") } else { name.clone() }))
        };
        let columns = self.columns.iter().map(column).chain(self.parameters.iter().map(parameter));
        format!("CREATE TABLE x({})", columns.collect::<Vec<_>>().join(", "))
    }

    /// Asks for the rows that meet the plan, or for more. All are asked for where `compared` is false.
    pub(crate) fn ask(&self, plan: &Plan, values: &[Value], compared: bool) -> nsq::Result<Stream> {
        let asked = &self.offer.asked;
        if let Kind::List(list) = self.offer.kind {
            let rows = list.rows(asked.library.catalog())?;
            return Stream::begin(Cancel::default(), move |sink| {
                rows.into_iter().try_for_each(|row| sink.row(&row)).and_then(|()| sink.end())
            });
        }
        if self.offer.kind == Kind::Relation {
            let (arguments, bound) = match compared {
                true => self.compared(plan, values),
                false => Default::default(),
            };
            let (session, cancel) = self.session(plan, &mut arguments.iter())?;
            return Stream::begin(cancel, move |sink| {
                session(&mut |session, statement, limits| {
                    statement.bindings.clone_from(&bound);
                    session.run(statement, limits, sink).map(drop)
                })
            });
        }
        let (report, scope, cancel) = (asked.report()?, asked.scope(), Cancel::default());
        let stopped = cancel.clone();
        let mut given: Vec<(String, String)> = Vec::new();
        for (argument, value) in plan.arguments.iter().zip(values) {
            let Argument::Parameter(place) = argument else { continue };
            // NULL leaves the default, as in `top_kernels(NULL, 'short')`.
            if let (Some(name), Some(text)) = (self.parameters.get(*place), text_of(value)) {
                given.push((name.clone(), text));
            }
        }
        let name = self.offer.name.clone();
        Stream::begin(cancel, move |sink| {
            // SQLite has no place for notes, so the reasons of missing rows would be computed in vain.
            let question = report.query(&name).scope(&scope).cancel(&stopped).without_reasons();
            let given = given.iter();
            let question = given.fold(question, |question, (name, value)| question.param(name, value));
            question.run_into(sink).map(drop)
        })
    }

    /// What begins a session of a relation on the thread that calls it, and what stops it.
    fn session(
        &self,
        plan: &Plan,
        arguments: &mut dyn Iterator<Item = &Argument>,
    ) -> nsq::Result<(impl FnOnce(&mut Work<'_>) -> nsq::Result<()> + Send + use<>, Cancel)> {
        let asked = &self.offer.asked;
        let (report, scope, library) = (asked.report()?, asked.scope(), asked.library.clone());
        let limits = Limits::default();
        let (cancel, statement) = (limits.cancel.clone(), self.statement(plan, arguments));
        let session = move |work: &mut Work<'_>| {
            let (open, catalog) = (report.opened(), library.catalog());
            let mut statement = Statement::ad_hoc(&statement, ("statement".to_owned(), 1), catalog);
            let reads = statement.reads.clone();
            let roots = reads.iter().map(String::as_str);
            let (session, _) = open.begin(catalog, &scope.resolve(&open.schema)?, roots, &limits)?;
            work(&session, &mut statement, &limits)
        };
        Ok((session, cancel))
    }

    /// Begins look-ups with the values of the plan, in one session.
    pub(crate) fn look_ups(&self, plan: &Plan) -> nsq::Result<LookUps> {
        let (session, cancel) = self.session(plan, &mut plan.arguments.iter())?;
        LookUps::begin(cancel, move |asked, answers| {
            session(&mut |session, statement, limits| {
                while let Ok(values) = asked.recv() {
                    statement.bindings = (0..).map(value_name).zip(values).collect();
                    let mut rows = All::default();
                    session.run(statement, limits, &mut rows)?;
                    if answers.send(rows.0).is_err() {
                        break;
                    }
                }
                Ok(())
            })
        })
    }

    /// Those comparisons that a statement over the relation makes as SQLite does, and their values.
    fn compared(&self, plan: &Plan, values: &[Value]) -> (Vec<Argument>, Vec<(String, Value)>) {
        let is_same = |(argument, value): &(&Argument, &Value)| {
            let Argument::Compared(place, _) = argument else { return false };
            let kind = self.columns.get(*place).map_or(Type::Any, |column| column.kind);
            // Without affinity, a statement compares values of one type. SQLite compares the others itself.
            match value {
                Value::Int(_) | Value::Real(_) => kind.is_numeric(),
                Value::Text(_) => kind == Type::Text,
                Value::Null => false,
            }
        };
        let same = plan.arguments.iter().zip(values).filter(is_same);
        let (arguments, values): (Vec<_>, Vec<_>) =
            same.map(|(argument, value)| (*argument, value.clone())).unzip();
        (arguments, (0..).map(value_name).zip(values).collect())
    }

    /// The statement for the rows of a relation that meet these comparisons, with the columns that are read.
    fn statement(&self, plan: &Plan, arguments: &mut dyn Iterator<Item = &Argument>) -> String {
        let column = |(place, column): (usize, &Column)| match plan.uses(place) {
            true => format!("\"{}\"", column.name),
            false => "NULL".to_owned(),
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        let condition = |(number, argument): (usize, &Argument)| match argument {
            Argument::Compared(place, comparison) => {
                let column = self.columns.get(*place)?;
                Some(format!("\"{}\" {} :{}", column.name, comparison.sql(), value_name(number)))
            }
            Argument::Parameter(_) => None,
        };
        let conditions: Vec<String> = arguments.enumerate().filter_map(condition).collect();
        let only = if conditions.is_empty() { "" } else { " WHERE " };
        format!(
            "SELECT {} FROM \"{}\"{only}{}",
            columns.join(", "),
            self.offer.name,
            conditions.join(" AND ")
        )
    }
}

/// The name of the value of a comparison, in a statement.
fn value_name(number: usize) -> String {
    format!("value{number}")
}

/// The columns of a relation, or of the view of a raw table.
fn columns_of(catalog: &Catalog, name: &str) -> nsq::Result<Vec<Column>> {
    let known = |name: &str| match catalog.relation(name) {
        Some(relation) => Some(
            relation.map(|relation| relation.header.columns.iter().map(ColumnSpec::to_column).collect()),
        ),
        None => catalog.source(name).map(|source| source.map(Source::view_columns)),
    };
    if name == SCOPE_RELATION {
        return Ok(SCOPE_COLUMNS.map(Column::untyped).to_vec());
    }
    let found = known(name).or_else(|| name.strip_prefix(EVERYTHING).and_then(known));
    found.unwrap_or_else(|| Err(Error::unknown("relation", name, [], "")))
}

fn affinity(kind: Type) -> &'static str {
    match kind {
        Type::Text => "TEXT",
        Type::Real | Type::Percent => "REAL",
        Type::Any => "",
        _ => "INTEGER",
    }
}

/// An argument as a parameter is given on the command line; `None` for null.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Int(int) => Some(int.to_string()),
        Value::Real(real) => Some(real.to_string()),
        Value::Text(text) => Some(text.clone()),
    }
}
