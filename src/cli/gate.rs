//! The options of `nsq diff` that make it a gate of a CI.

use std::path::PathBuf;

/// The options for CI.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Gate")]
pub(super) struct GateArgs {
    /// Exit 1 if something is slower by more than PCT percent and by more than noise.
    #[arg(long = "gate", value_name = "PCT", value_parser = percentage)]
    pub(super) limit: Option<f64>,
    /// Fail on a slower part also if the whole is faster.
    #[arg(long = "gate-parts", requires = "limit")]
    pub(super) parts: bool,
    /// Exit 0 instead of 4 if too little could be compared.
    #[arg(long = "gate-allow-inconclusive", requires = "limit")]
    pub(super) allow_inconclusive: bool,
    /// Write the gate as JUnit XML to this file.
    #[arg(long, value_name = "FILE", requires = "limit")]
    pub(super) junit: Option<PathBuf>,
    /// Also print the gate as annotations of GitHub Actions.
    #[arg(long, requires = "limit")]
    pub(super) github: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    number
        .ok()
        .filter(|pct| pct.is_finite() && *pct >= 0.0)
        .ok_or_else(|| "expected a percentage of 0 or more, such as 5".to_owned())
}

/// A confidence level in percent.
pub(super) fn confidence(text: &str) -> Result<f64, String> {
    percentage(text)
        .ok()
        .filter(|pct| (50.0..=99.999).contains(pct))
        .ok_or_else(|| "expected a percentage of at least 50 and below 100, such as 99".to_owned())
}
