//! The tables that list what there is: `nsq_list` and `nsq_columns`.

use nsq::catalog::{Catalog, ColumnSpec};
use nsq::{Column, Result, Type, Value};

type Row = Vec<Value>;

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Queries and relations.
    Tables,
    /// Their columns.
    Columns,
}

impl Listed {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tables => "nsq_list",
            Self::Columns => "nsq_columns",
        }
    }

    pub(crate) fn columns(self) -> Vec<Column> {
        let names: &[&str] = match self {
            Self::Tables => &["kind", "name", "parameters", "summary"],
            Self::Columns => &["name", "column", "type", "unit", "doc"],
        };
        names.iter().map(|name| Column { kind: Type::Text, ..Column::untyped(name) }).collect()
    }

    /// The rows, by name. Internal queries and relations are left out, as in `nsq list`.
    pub(crate) fn rows(self, catalog: &Catalog) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for query in catalog.queries()? {
            let header = &query.header;
            if header.internal {
                continue;
            }
            match self {
                Self::Tables => {
                    let parameters: Vec<&str> =
                        header.params.iter().map(|parameter| parameter.name.as_str()).collect();
                    rows.push(texts(["query", &header.name, &parameters.join(", "), &header.summary]));
                }
                Self::Columns => rows.extend(described(&header.name, &header.columns)),
            }
        }
        for relation in catalog.relations()? {
            let header = &relation.header;
            if header.internal {
                continue;
            }
            match self {
                Self::Tables => rows.push(texts(["relation", &header.name, "", &header.summary])),
                Self::Columns => rows.extend(described(&header.name, &header.columns)),
            }
        }
        Ok(rows)
    }
}

fn described<'a>(name: &'a str, columns: &'a [ColumnSpec]) -> impl Iterator<Item = Row> + 'a {
    columns.iter().map(move |column| {
        let unit = column.unit.map_or("", |unit| unit.name());
        texts([name, &column.name, column.kind.name(), unit, &column.doc])
    })
}

/// A row of texts; an empty one is null.
fn texts<const N: usize>(cells: [&str; N]) -> Row {
    let cell = |text: &str| if text.is_empty() { Value::Null } else { Value::Text(text.to_owned()) };
    cells.map(cell).to_vec()
}
