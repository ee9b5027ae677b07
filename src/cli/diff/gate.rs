//! The options of `nsq diff` that make it a gate in CI.

use super::table;
use nsq_ask::page::PageAnswer;
use nsq_files::whole_file::{self, tell};
use nsq_value::error::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// The options for CI.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Gate")]
pub(super) struct GateArgs {
    /// Exit 1 if B is slower than A by more than PCT percent and by more than noise.
    #[arg(long = "gate", value_name = "PCT", value_parser = percentage)]
    pub(super) limit: Option<f64>,
    /// Fail on a slower kernel, copy or group of kernels too, whatever the whole is.
    #[arg(hide_short_help = true, long = "gate-parts", requires = "limit")]
    pub(super) parts: bool,
    /// Exit 0 instead of 4 if the runs cannot tell.
    #[arg(hide_short_help = true, long = "gate-allow-inconclusive", requires = "limit")]
    pub(super) allow_inconclusive: bool,
    /// Write the gate as JUnit XML to this file.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "limit")]
    pub(super) junit: Option<PathBuf>,
    /// Print a file that profiles both versions of a program and gates on them, for a CI system, and do nothing else; the
    /// limit is that of --gate, else 5 %. A file of -o must not exist yet.
    #[arg(long = "init-ci", value_enum, value_name = "SYSTEM", conflicts_with_all = ["a", "b", "runs_a", "runs_b"])]
    pub(super) init_ci: Option<System>,
    /// Also tell GitHub Actions: annotations on standard error, the comparison in the step's summary, and its outputs
    /// outcome, verdict, change_pct and noise_pct.
    #[arg(hide_short_help = true, long, requires = "limit")]
    pub(super) github: bool,
}

fn percentage(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    number
        .ok()
        .filter(|pct| pct.is_finite() && *pct >= 0.0)
        .ok_or_else(|| "expected a percentage of 0 or more, such as 5".to_owned())
}

/// A confidence level in percent.
pub(super) fn confidence(text: &str) -> std::result::Result<f64, String> {
    percentage(text)
        .ok()
        .filter(|pct| (50.0..=99.999).contains(pct))
        .ok_or_else(|| "expected a percentage of at least 50 and below 100, such as 99".to_owned())
}

/// A CI system.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum System {
    Github,
    Gitlab,
    Jenkins,
}

impl System {
    /// The file that it runs, with a limit in percent.
    pub(super) fn file(self, limit: f64) -> String {
        let file = match self {
            Self::Github => include_str!("ci/github.yml"),
            Self::Gitlab => include_str!("ci/gitlab.yml"),
            Self::Jenkins => include_str!("ci/Jenkinsfile"),
        };
        file.replace("@LIMIT@", &limit.to_string())
    }
}

/// Writes why nothing was compared to where CI looks for the outcome: no older one may stay there.
///
/// # Errors
///
/// Of a file that cannot be written.
pub(super) fn tell_failure(args: &GateArgs, error: &Error) -> Result<()> {
    if args.limit.is_none() {
        return Ok(());
    }
    let why = error.to_string();
    if let Some(path) = &args.junit {
        let message = why.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"nsq diff\" tests=\"1\" \
             failures=\"0\" errors=\"1\" skipped=\"0\">\n    <testcase classname=\"gate\" name=\"both sides can be \
             compared\">\n      <error message=\"{message}\"/>\n    </testcase>\n  </testsuite>\n</testsuites>\n"
        );
        whole_file::write(path, |out| out.write_all(text.as_bytes()).map_err(Error::Output))?;
    }
    if args.github {
        let line = why.replace('%', "%25").replace('\r', "").replace('\n', "%0A");
        tell(&format!("::error title=nsq: not compared::{line}"));
        append("GITHUB_STEP_SUMMARY", || {
            Ok(format!("nsq could not compare: {}\n", why.replace('\n', " ")))
        })?;
        append("GITHUB_OUTPUT", || Ok("outcome=error\n".to_owned()))?;
    }
    Ok(())
}

/// Reports the gate to GitHub Actions: annotations on standard error, which a step reads too, the comparison in the
/// summary of the step, and the outcome in its outputs.
///
/// # Errors
///
/// Of a template, and of a file that the runner names and that cannot be written.
pub(super) fn tell_github(answer: &PageAnswer<'_>) -> Result<()> {
    tell(answer.layout("github")?.trim_end());
    append("GITHUB_STEP_SUMMARY", || answer.layout("markdown"))?;
    append("GITHUB_OUTPUT", || {
        let verdict = table(answer, "verdict").and_then(|table| table.iter().next());
        let Some(verdict) = verdict else { return Ok("outcome=inconclusive\n".to_owned()) };
        let text = |name: &str| verdict.text(name).unwrap_or_default();
        let number = |name: &str| verdict.real(name).map_or(String::new(), |pct| format!("{pct:.3}"));
        Ok(format!(
            "outcome={}\nverdict={}\nchange_pct={}\nnoise_pct={}\n",
            text("outcome"),
            text("verdict"),
            number("change_pct"),
            number("noise_pct")
        ))
    })
}

/// Adds a text to the file that a variable of the environment names, if it does.
fn append(variable: &str, text: impl FnOnce() -> Result<String>) -> Result<()> {
    let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
    else {
        return Ok(());
    };
    let mut file =
        File::options().append(true).create(true).open(&path).map_err(|e| Error::io(&path, e))?;
    file.write_all(text()?.as_bytes()).map_err(|e| Error::io(&path, e))
}
