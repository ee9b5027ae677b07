//! Style sheets and scripts of pages, which layouts take as they are.

use minijinja::value::{Rest, Value};
use minijinja::{Environment, Error as Fault, ErrorKind};
use nsq_render::render::csp_source;
use std::collections::BTreeMap;

/// Name of the function with which a layout takes assets.
pub const ASSET: &str = "asset";

/// Adds the filter that names a script in a page's Content-Security-Policy.
pub(super) fn add_filter(environment: &mut Environment<'static>) {
    environment.add_filter("csp_source", |text: String| Value::from_safe_string(csp_source(&text)));
}

/// Adds the function that takes these assets: the text of one, or of several after each other.
pub(super) fn add(environment: &mut Environment<'static>, assets: BTreeMap<String, String>) {
    environment.add_function(ASSET, move |names: Rest<String>| {
        let text = |name: &String| {
            assets.get(name).map(String::as_str).ok_or_else(|| {
                let known: Vec<&str> = assets.keys().map(String::as_str).collect();
                let reason = format!("no asset '{name}': there are {}", known.join(", "));
                Fault::new(ErrorKind::InvalidOperation, reason)
            })
        };
        names.iter().map(text).collect::<Result<String, Fault>>().map(Value::from_safe_string)
    });
}
