//! SQL functions that classify GPU operations by name.

use super::arguments::{flags, text};
use super::names::function_of_name;
use foldhash::{HashMap, HashMapExt};
use nsq_library::catalog::ClassMaps;
use nsq_sweep::classify::{Activity, ClassMap, Pattern, Rule, activity, collective};
use rusqlite::{Connection, Error, Result};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most distinct names whose answers are cached.
const KEPT: usize = 1 << 16;

/// Adds the functions to a connection.
pub(super) fn register(connection: &Connection, maps: &ClassMaps) -> Result<()> {
    let names = Arc::new(Names {
        maps: maps.clone(),
        compiled: OnceLock::new(),
        known: Mutex::new(HashMap::new()),
    });
    type Show = fn(&Answer) -> Option<Arc<str>>;
    let functions: [(&str, Show); 4] = [
        ("op_class", |answer| Some(Arc::clone(&answer.class))),
        ("op_class_rule", |answer| answer.rule.clone()),
        ("op_class_also", |answer| answer.also.clone()),
        ("op_class_others", |answer| answer.others.clone()),
    ];
    for (name, show) in functions {
        let names = Arc::clone(&names);
        connection.create_scalar_function(name, 1, flags(), move |context| {
            Ok(match text(context)? {
                Some(name) => show(&names.answer(&name)?),
                None => None,
            })
        })?;
    }
    connection.create_scalar_function("op_activity", 1, flags(), |context| {
        Ok(text(context)?.map(|name| activity(&name)).map(Activity::as_str))
    })?;
    function_of_name(connection, "collective", |name| collective(name).map(str::to_owned))
}

/// The class that the map gives to a name.
#[derive(Debug, Clone)]
struct Answer {
    class: Arc<str>,
    rule: Option<Arc<str>>,
    also: Option<Arc<str>>,
    others: Option<Arc<str>>,
}

/// Classifies names by the chosen map and caches the answers. The map is compiled on first use.
struct Names {
    maps: ClassMaps,
    compiled: OnceLock<std::result::Result<Arc<ClassMap>, String>>,
    known: Mutex<HashMap<Box<str>, Answer>>,
}

impl Names {
    fn answer(&self, name: &str) -> Result<Answer> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(name) {
            return Ok(answer.clone());
        }
        let compile = || self.maps.compiled().map_err(|error| error.to_string());
        let map = self.compiled.get_or_init(compile).as_ref();
        let map = map.map_err(|reason| Error::UserFunctionError(reason.as_str().into()))?;
        let found = map.classify(name);
        let also: Vec<String> =
            found.also.iter().map(|rule| format!("{} ({})", rule.class, rule.pattern)).collect();
        let says = |rule: &&&Rule| !matches!(&rule.pattern, Pattern::Match(text) if text == ".*");
        let others = found.also.iter().filter(says).map(|rule| rule.class.as_str());
        let others = others.collect::<Vec<_>>();
        let answer = Answer {
            class: found.class.into(),
            rule: found.rule.map(|rule| rule.pattern.to_string().into()),
            also: (!also.is_empty()).then(|| also.join(", ").into()),
            others: (!others.is_empty()).then(|| others.join(", ").into()),
        };
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(name.into(), answer.clone());
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_library::catalog::Catalog;

    fn ask(connection: &Connection, call: &str, name: Option<&str>) -> Option<String> {
        connection.query_row(&format!("SELECT {call}(?1)"), [name], |row| row.get(0)).unwrap()
    }

    #[test]
    fn names_get_classes_and_null_stays_null() {
        let connection = Connection::open_in_memory().unwrap();
        let mut catalog = Catalog::load(crate::tests::library().built_in(), &[]).unwrap();
        catalog.choose_classes("vllm/llama").unwrap();
        register(&connection, catalog.classes()).unwrap();
        let name = Some("void moe::sigmoid_gemm<float>(int)");
        for _ in 0..2 {
            assert_eq!(ask(&connection, "op_class", name).unwrap(), "gemm");
            assert_eq!(ask(&connection, "op_class_rule", name).unwrap(), "gemm|nvjet");
            assert_eq!(ask(&connection, "op_class_also", name).unwrap(), "moe (moe|sigmoid), misc (.*)");
            assert_eq!(ask(&connection, "op_class_others", name).unwrap(), "moe");
        }
        let name = Some("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
        assert_eq!(ask(&connection, "op_activity", name).unwrap(), "communication");
        assert_eq!(ask(&connection, "collective", name).unwrap(), "AllReduce");
        assert_eq!(ask(&connection, "op_activity", Some("[CUDA memset]")).unwrap(), "memory");
        assert_eq!(ask(&connection, "collective", Some("gemm")), None);
        let behind = "SELECT op_class(CAST(x'ff67656d6d' AS TEXT))";
        let class: String = connection.query_row(behind, [], |row| row.get(0)).unwrap();
        assert_eq!(class, "gemm", "text after an invalid UTF-8 byte counts too");
        for call in ["op_class", "op_class_rule", "op_class_also", "op_activity", "collective"] {
            assert_eq!(ask(&connection, call, None), None);
            assert!(connection.query_row(&format!("SELECT {call}(1)"), [], |_| Ok(())).is_err());
        }
    }

    #[test]
    fn a_missing_map_is_an_error_when_a_class_is_asked_for() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, &ClassMaps::default()).unwrap();
        let error = connection.query_row("SELECT op_class('x')", [], |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("unknown class map 'default'"), "{error}");
        assert_eq!(ask(&connection, "op_activity", Some("x")).unwrap(), "compute");
    }
}
