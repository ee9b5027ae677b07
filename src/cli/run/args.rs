//! The options of `nsq run`.

use crate::cli::output::OutputArgs;
use crate::cli::reports::AskArgs;
use nsq_library::catalog::Catalog;
use nsq_report::report::looks_like_path;
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Run queries or a page on one or more reports
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  nsq run report.sqlite --query top_kernels
  nsq run report.sqlite --query top_kernels -p limit=5 --device 0 --time 1s/2s
  nsq run rank0.sqlite rank1.sqlite --query cuda_gpu_kern_sum:base -o kernels.csv
  nsq run report.sqlite --query cuda_api_sum --query nvtx_sum --format json
  nsq run report.sqlite my_question.sql -p least=1ms
  nsq run 'run/rank*.sqlite' -q job -o ranks.html      a page: several tables together

A .sql file is a query with front matter (`nsq new query NAME` writes one), or just a SELECT. There, \
`:least` is the parameter `least`.

Add @VERSION to a query name to require that version. Add NVIDIA's arguments after colons.

`nsq list --pages` lists the pages. A page is asked alone.")]
pub(in crate::cli) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders, or quoted patterns; several
    /// reports add a first column `report`. A .sql file is a query.
    #[arg(required = true, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    /// Query to run: NAME[@VERSION][:ARG…], or the path of a .sql file; may be repeated. Also one page.
    #[arg(short, long = "query", value_name = "QUERY")]
    pub(super) query: Vec<String>,
    /// Set a parameter of the query or page; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    pub(super) param: Vec<String>,
    /// Print one of the layouts of a page instead of its tables.
    #[arg(hide_short_help = true, long, value_name = "NAME", conflicts_with_all = ["format", "columns"])]
    pub(super) layout: Option<String>,
    /// Columns to show, in this order; `nsys`: those of nsys stats, with its names, arithmetic and rounding
    /// [default: all of the query's own]
    #[arg(long, value_name = "A,B,…|nsys", value_delimiter = ',', help_heading = "Output")]
    pub(super) columns: Vec<String>,
    #[command(flatten)]
    pub(super) how: AskArgs,
}

impl Args {
    /// With `.sql` files among the reports as queries. Fails if there is no report or no query.
    pub(super) fn sorted(&self, catalog: &Catalog) -> Result<Self> {
        let is_statement = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sql");
        let (files, reports) = self.reports.iter().cloned().partition::<Vec<PathBuf>, _>(is_statement);
        let mut query = self.query.clone();
        query.extend(files.iter().map(|file| file.display().to_string()));
        let is_name = |path: &&PathBuf| {
            let known = |name: &str| catalog.query(name).is_ok() || catalog.page(name).is_ok();
            !path.exists() && path.to_str().is_some_and(known)
        };
        if let Some(name) = reports.iter().find(is_name) {
            let name = name.display();
            return Err(Error::usage(
                format!("{name} is the name of a query or page, and there is no report of this name"),
                format!("write -q {name}: nsq run REPORT -q {name}"),
            ));
        }
        let is_word = |path: &&PathBuf| !path.exists() && !looks_like_path(path);
        let words = reports.iter().filter(is_word).filter_map(|path| path.to_str());
        for name in query.iter().map(String::as_str).chain(words) {
            let file = format!("{name}.sql");
            if Path::new(&file).is_file() && catalog.query(name).is_err() && catalog.page(name).is_err()
            {
                let help = format!(
                    "a file here has this name: write -q {file}, as in nsq run REPORT -q {file}"
                );
                return Err(Error::usage(format!("unknown query '{name}'"), help));
            }
        }
        if query.is_empty() {
            // A word among the reports is an unknown query.
            if let Some(word) = reports.iter().find(is_word).and_then(|path| path.to_str())
                && let Err(Error::Unknown { name, near, help, .. }) = catalog.query(word)
            {
                return Err(Error::Unknown { what: "query or file", name, near, help });
            }
            return Err(Error::usage(
                "no query is given",
                "name one, such as nsq run REPORT -q gpu_time, or give a .sql file; `nsq list` shows the queries",
            ));
        }
        if reports.is_empty() {
            return Err(Error::usage(
                "no report is given",
                format!("name one: nsq run REPORT -q {}", query[0]),
            ));
        }
        Ok(Self { reports, query, ..self.clone() })
    }

    pub(in crate::cli) fn output(&self) -> &OutputArgs {
        &self.how.output
    }
}
