//! `FILE,ENGINE,MODEL,SECONDS`: one profile of the command line.

use nsq_value::error::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The syntax of a profile.
const FORM: &str = "give FILE,ENGINE,MODEL,SECONDS such as run.nsys-rep,vllm,llama,306, or FILE alone";

/// A profile, its class map and its run time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Input {
    /// SQLite export, `.nsys-rep` or PyTorch trace.
    pub(super) path: PathBuf,
    /// Engine and model, which name the class map; `None` for the default map.
    pub(super) engine_model: Option<(String, String)>,
    /// How long the run took without the profiler, as typed; 0 if not given.
    pub(super) seconds: f64,
}

impl Input {
    /// Parses a profile. Only the last three commas split, so a path can contain commas.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if Path::new(text).exists() {
            return Ok(Self { path: PathBuf::from(text), engine_model: None, seconds: 0.0 });
        }
        let mut parts = text.rsplitn(4, ',');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(file), None, ..) => {
                Ok(Self { path: PathBuf::from(file), engine_model: None, seconds: 0.0 })
            }
            (Some(seconds), Some(model), Some(engine), Some(file)) => {
                let (engine, model) = (engine.trim(), model.trim());
                if file.is_empty() || engine.is_empty() || model.is_empty() {
                    return Err(Error::usage(
                        format!("invalid profile `{text}`: the file, the engine or the model is empty"),
                        FORM,
                    ));
                }
                Ok(Self {
                    path: PathBuf::from(file),
                    engine_model: Some((engine.to_owned(), model.to_owned())),
                    seconds: seconds_of(text, seconds)?,
                })
            }
            _ => Err(Error::usage(
                format!("invalid profile `{text}`: no such file, and not FILE,ENGINE,MODEL,SECONDS"),
                FORM,
            )),
        }
    }

    /// The seconds as nanoseconds.
    pub(super) fn elapsed_ns(&self) -> i64 {
        (self.seconds * 1e9).round() as i64
    }

    /// The label of the profile in gputrc2graph, without its index: model, engine and file.
    pub(super) fn label(&self) -> String {
        let file = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let file = file.strip_suffix(".nsys-rep").unwrap_or(&file);
        match &self.engine_model {
            Some((engine, model)) => format!("{model}_{engine}_{file}"),
            None => file.to_owned(),
        }
    }
}

/// Parses seconds that are at least 0 and fit into 64-bit nanoseconds.
fn seconds_of(whole: &str, text: &str) -> Result<f64> {
    let invalid = |why: &str| {
        Error::usage(
            format!("invalid seconds `{text}` in `{whole}`: {why}"),
            "give the run's time in seconds, such as 306 or 12.5; 0 uses the span of the capture",
        )
    };
    let seconds: f64 = text.trim().parse().map_err(|_| invalid("expected a number"))?;
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(invalid("expected a finite number of 0 or more"));
    }
    if seconds > 9e9 {
        return Err(invalid("expected at most 9e9"));
    }
    Ok(seconds)
}

/// The labels of the profiles. If two labels are equal, or with `always_indexed`, every label ends in the
/// index of its input.
pub(super) fn labels(inputs: &[Input], always_indexed: bool) -> Vec<String> {
    let plain: Vec<String> = inputs.iter().map(Input::label).collect();
    if !always_indexed && are_unique(&plain) {
        return plain;
    }
    // The index after the last underscore makes every label unique.
    plain.iter().enumerate().map(|(index, label)| format!("{label}_{index}")).collect()
}

fn are_unique(labels: &[String]) -> bool {
    labels.iter().collect::<BTreeSet<_>>().len() == labels.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_three_commas_split() {
        let input = Input::parse("a,b/run,1.nsys-rep,vllm,llama,12.5").unwrap();
        assert_eq!(input.path, Path::new("a,b/run,1.nsys-rep"));
        assert_eq!(input.engine_model, Some(("vllm".to_owned(), "llama".to_owned())));
        assert_eq!(input.elapsed_ns(), 12_500_000_000);
        assert_eq!(input.label(), "llama_vllm_run,1");
        let alone = Input::parse("dir/run.sqlite").unwrap();
        assert_eq!((alone.label(), alone.seconds), ("run.sqlite".to_owned(), 0.0));
    }

    #[test]
    fn an_invalid_profile_is_a_usage_error_with_help() {
        for text in
            ["a,b", "a,b,c", "f,e,m,", "f,e,m,abc", "f,e,m,-1", "f,e,m,nan", "f,e,m,inf", "f,e,m,1e300"]
        {
            let error = Input::parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{text}: {error}");
            assert!(error.help().is_some_and(|help| !help.is_empty()));
        }
        assert!(Input::parse(",vllm,llama,1").is_err() && Input::parse("f,,llama,1").is_err());
    }

    #[test]
    fn equal_labels_get_an_index() {
        let inputs: Vec<Input> = ["x/a,e,m,1", "b,e,m,1", "y/a,e,m,2"]
            .iter()
            .map(|text| Input::parse(text).unwrap())
            .collect();
        assert_eq!(labels(&inputs[..2], false), ["m_e_a", "m_e_b"]);
        assert_eq!(labels(&inputs, false), ["m_e_a_0", "m_e_b_1", "m_e_a_2"]);
        assert_eq!(labels(&inputs, true), ["m_e_a_0", "m_e_b_1", "m_e_a_2"]);
        let inputs = ["x/a", "y/a", "a_0"].map(|text| Input::parse(text).unwrap());
        assert_eq!(labels(&inputs, false), ["a_0", "a_1", "a_0_2"]);
    }
}
