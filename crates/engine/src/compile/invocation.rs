//! Parses `NAME[@VERSION][:ARG…]`, the way to name a query on the command line.

use nsq_value::error::{Error, Result};
use nsq_value::table::Value;

/// A query by name, with NVIDIA's colon arguments and `-p` parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invocation {
    /// Name, with `@version` if given, or a path.
    pub query: String,
    /// Arguments after colons, in order.
    pub args: Vec<String>,
    /// `key=value` parameters, in order. The last value of a key wins.
    pub params: Vec<(String, String)>,
    /// Parameters whose values are known, in order. They win over texts.
    pub values: Vec<(String, Value)>,
}

impl Invocation {
    /// Parses `NAME[@VERSION][:ARG…]`. A path (with a slash, or ending in `.sql`) takes no arguments.
    pub fn parse(spelling: &str) -> Self {
        let is_path = spelling.contains(['/', '\\']) || spelling.ends_with(".sql");
        let mut parts = spelling.split(':');
        let (query, args) = if is_path {
            (spelling.to_owned(), Vec::new())
        } else {
            (parts.next().unwrap_or_default().to_owned(), parts.map(str::to_owned).collect())
        };
        Self { query, args, params: Vec::new(), values: Vec::new() }
    }

    /// The path of the query, if it was given as a path.
    pub fn path(&self) -> Option<&std::path::Path> {
        (self.query.contains(['/', '\\']) || self.query.ends_with(".sql"))
            .then(|| std::path::Path::new(&self.query))
    }

    /// Adds `key=value` parameters.
    pub fn with_params(mut self, params: &[String]) -> Result<Self> {
        for param in params {
            let (key, value) = param.split_once('=').ok_or_else(|| {
                Error::usage(
                    format!("invalid parameter '{param}': expected key=value"),
                    "`nsq show QUERY` lists the parameters of a query",
                )
            })?;
            self.params.push((key.trim().to_owned(), value.to_owned()));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_separate_arguments() {
        let invocation = Invocation::parse("cuda_gpu_kern_sum@1:base:rows=-1");
        assert_eq!(invocation.query, "cuda_gpu_kern_sum@1");
        assert_eq!(invocation.args, ["base", "rows=-1"]);
        assert!(invocation.path().is_none());
    }

    #[test]
    fn a_path_may_contain_colons() {
        let invocation = Invocation::parse("C:\\queries\\mine.sql");
        assert!(invocation.path().is_some());
        assert!(invocation.args.is_empty());
    }
}
