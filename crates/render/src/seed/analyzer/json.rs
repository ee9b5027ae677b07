//! Fields of a JSON file, with errors that name the line.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use nsq_value::error::{Error, Result, nearest};
use std::path::Path;

pub(super) const SEE_HELP: &str = "see the example config in `nsq classes --help`";

/// The text of a config, to report errors with their line.
pub(super) struct Json<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

impl Json<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|&byte| byte == b'\n').count()
    }

    pub(super) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.file.display(), self.line(at))
    }

    pub(super) fn fault(&self, at: usize, reason: &str, help: &str) -> Error {
        Error::catalog(self.file.display().to_string(), self.line(at), reason, help)
    }

    pub(super) fn text(&self, value: &Value<'_>, name: &str) -> Result<String> {
        match value {
            Value::StringLit(text) => Ok(text.value.clone().into_owned()),
            other => Err(self.fault(other.start(), &format!("'{name}' is not a string"), SEE_HELP)),
        }
    }

    /// The fields of an object. Fails on unknown and duplicate keys.
    pub(super) fn object<'v>(
        &'v self,
        value: &'v Value<'v>,
        what: &'v str,
        known: &[&'static str],
    ) -> Result<Fields<'v>> {
        let Value::Object(object) = value else {
            return Err(self.fault(value.start(), &format!("{what} is not an object"), SEE_HELP));
        };
        for (index, property) in object.properties.iter().enumerate() {
            let name = property.name.as_str();
            if !known.contains(&name) {
                let near = nearest(name, known.iter().copied());
                let help = match near.first() {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("valid keys: {}", known.join(", ")),
                };
                return Err(self.fault(
                    property.start(),
                    &format!("unknown key '{name}' in {what}"),
                    &help,
                ));
            }
            if object.properties[..index].iter().any(|earlier| earlier.name.as_str() == name) {
                return Err(self.fault(
                    property.start(),
                    &format!("duplicate key '{name}'"),
                    "remove all but one",
                ));
            }
        }
        Ok(Fields { json: self, object, what })
    }
}

/// The fields of an object.
pub(super) struct Fields<'v> {
    json: &'v Json<'v>,
    object: &'v Object<'v>,
    what: &'v str,
}

impl<'v> Fields<'v> {
    /// The value of a field; `None` if it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'v Value<'v>> {
        let property = self.object.properties.iter().find(|property| property.name.as_str() == name)?;
        (!matches!(property.value, Value::NullKeyword(_))).then_some(&property.value)
    }

    pub(super) fn required(&self, name: &str) -> Result<&'v Value<'v>> {
        self.get(name).ok_or_else(|| {
            self.json.fault(
                self.object.range.start,
                &format!("missing key '{name}' in {}", self.what),
                SEE_HELP,
            )
        })
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        self.get(name).map(|value| self.json.text(value, name)).transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::BooleanLit(flag)) => Ok(Some(flag.value)),
            Some(other) => Err(self.json.fault(
                other.start(),
                &format!("'{name}' is not a boolean"),
                "write true or false",
            )),
        }
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let int = match value {
            Value::NumberLit(number) => number.value.parse().ok(),
            _ => None,
        };
        match int {
            Some(int) => Ok(Some(int)),
            None => Err(self.json.fault(
                value.start(),
                &format!("'{name}' is not an integer"),
                "write it in digits, without quotes",
            )),
        }
    }

    /// A count of at least 1.
    pub(super) fn count(&self, name: &str) -> Result<Option<i64>> {
        match self.int(name)? {
            Some(count) if count < 1 => Err(self.json.fault(
                self.object.range.start,
                &format!("'{name}' is {count}, but must be at least 1"),
                "times are divided by this number",
            )),
            count => Ok(count),
        }
    }

    pub(super) fn positive(&self, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number: Option<f64> = match value {
            Value::NumberLit(number) => number.value.parse().ok(),
            _ => None,
        };
        match number.filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) => Ok(Some(number)),
            None => Err(self.json.fault(
                value.start(),
                &format!("'{name}' is not a number above 0"),
                "use 1e-6 for nanoseconds, 1e-3 for microseconds",
            )),
        }
    }
}
