//! How a scan is asked for: what SQLite's planner gives, as a text between [`best_index`] and the cursor.

use rusqlite::Result;
use rusqlite::vtab::{IndexConstraintOp, IndexInfo};
use std::ffi::c_int;
use std::fmt;
use std::str::FromStr;

/// Rows that the planner assumes for a scan, and for the rows with a value.
const SCANNED: i64 = 1_000_000;
const FOUND: i64 = 100;

/// A comparison that the rows must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    const ALL: [(Self, IndexConstraintOp, &'static str); 5] = [
        (Self::Equal, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ, "="),
        (Self::Less, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT, "<"),
        (Self::LessOrEqual, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE, "<="),
        (Self::Greater, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT, ">"),
        (Self::GreaterOrEqual, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE, ">="),
    ];

    fn of(operator: IndexConstraintOp) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == operator).map(|(comparison, ..)| comparison)
    }

    /// The operator in SQL.
    pub(crate) fn sql(self) -> &'static str {
        Self::ALL.into_iter().find(|(known, ..)| *known == self).map_or("=", |(.., sql)| sql)
    }
}

/// What an argument of the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The value of a parameter, by its place.
    Parameter(usize),
    /// What a column is compared with, by its place.
    Compared(usize, Comparison),
}

/// How a scan is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The arguments, in order.
    pub(crate) arguments: Vec<Argument>,
    /// The columns that the statement reads: a bit for each of the first 63, and one for all others.
    pub(crate) used: u64,
    /// Whether other tables give the values that columns are compared with: then the scan is repeated.
    pub(crate) is_joined: bool,
}

impl Plan {
    pub(crate) fn uses(&self, column: usize) -> bool {
        self.used >> column.min(63) & 1 == 1
    }

    /// Whether there is a value for each of these columns.
    pub(crate) fn has(&self, columns: &[usize]) -> bool {
        let is_given =
            |column: &usize| self.arguments.contains(&Argument::Compared(*column, Comparison::Equal));
        columns.iter().all(is_given)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.used, u8::from(self.is_joined))?;
        self.arguments.iter().try_for_each(|argument| match argument {
            Argument::Parameter(place) => write!(f, " :{place}"),
            Argument::Compared(column, comparison) => write!(f, " {}{column}", comparison.sql()),
        })
    }
}

impl FromStr for Plan {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).ok_or(());
        let (used, is_joined) = (number()?, number()? == 1);
        let argument = |word: &str| {
            let digits = word.find(|c: char| c.is_ascii_digit()).ok_or(())?;
            let (operator, place) = word.split_at(digits);
            let place = place.parse().map_err(|_| ())?;
            if operator == ":" {
                return Ok(Argument::Parameter(place));
            }
            let known = Comparison::ALL.into_iter().find(|(.., sql)| *sql == operator).ok_or(())?;
            Ok(Argument::Compared(place, known.0))
        };
        Ok(Self {
            used,
            is_joined,
            arguments: words.map(argument).collect::<std::result::Result<_, ()>>()?,
        })
    }
}

/// Chooses how a table with this many columns, before its parameters, is scanned. `keys` are columns whose values it must be asked
/// with. `false` if these or parameters are not known in this order of the tables.
///
/// SQLite checks each comparison with a column again, so a scan may return more rows.
pub(crate) fn best_index(info: &mut IndexInfo, columns: usize, keys: &[usize]) -> Result<bool> {
    let mut plan = Plan { used: info.col_used(), ..Plan::default() };
    let mut places = Vec::new();
    let mut is_found = false;
    for (place, constraint) in info.constraints().enumerate() {
        let comparison = Comparison::of(constraint.operator());
        let (Some(comparison), Ok(column)) = (comparison, usize::try_from(constraint.column())) else {
            continue;
        };
        if let Some(parameter) = column.checked_sub(columns) {
            if comparison != Comparison::Equal {
                continue;
            }
            if !constraint.is_usable() {
                return Ok(false);
            }
            plan.arguments.push(Argument::Parameter(parameter));
            places.push(place);
        } else if constraint.is_usable() && info.collation(place)? == "BINARY" {
            plan.arguments.push(Argument::Compared(column, comparison));
            places.push(place);
            if comparison == Comparison::Equal {
                is_found = true;
                plan.is_joined |= info.rhs_value(place)?.is_none();
            }
        }
    }
    let is_equal = |column: c_int| {
        info.constraints().any(|constraint| {
            constraint.column() == column
                && Comparison::of(constraint.operator()) == Some(Comparison::Equal)
        })
    };
    if !keys.is_empty() && keys.iter().all(|key| is_equal(*key as c_int)) && !plan.has(keys) {
        return Ok(false);
    }
    for (argv, (place, argument)) in (1..).zip(places.iter().zip(&plan.arguments)) {
        let mut usage = info.constraint_usage(*place);
        usage.set_argv_index(argv);
        usage.set_omit(matches!(argument, Argument::Parameter(_)));
    }
    let rows = if is_found { FOUND } else { SCANNED };
    info.set_estimated_rows(rows);
    info.set_estimated_cost(rows as f64);
    info.set_idx_str(&plan.to_string());
    Ok(true)
}
