//! Reads the JSON config of the seed, which names the inputs and the class map. `//` comments and
//! trailing commas are allowed, as in the seed's README.

use super::csv_columns::CsvLayout;
use super::json::{Json, SEE_HELP};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use nsq_value::error::Result;
use std::path::{Path, PathBuf};

/// Parts of kernel names and their classes, in order, in their original spelling.
pub type ClassKeys = Vec<(String, String)>;

/// The content of a config file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The inputs, in order.
    pub inputs: Vec<ConfigInput>,
    /// The class map.
    pub kernel_to_class: ClassKeys,
    /// Notes on the file, for the user.
    pub notes: Vec<String>,
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigInput {
    /// Heading.
    pub title: String,
    /// The source of its tables.
    pub source: Source,
    /// How to divide its sums and read its tables.
    pub args: AnalysisArgs,
}

/// The source of an input's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// CSV tables of `nsys stats --format csv`.
    Csv {
        /// `cuda_gpu_kern_sum`.
        kernel_sum: PathBuf,
        /// `nvtx_gpu_proj_trace`.
        nvtx_proj_trace: Option<PathBuf>,
        /// `cuda_gpu_mem_time_sum`.
        mem_time_sum: Option<PathBuf>,
    },
    /// A report.
    Report {
        /// A `.nsys-rep` or a SQLite export.
        path: PathBuf,
        /// Read the projected NVTX ranges.
        with_nvtx: bool,
        /// Read the memory operations.
        with_mem: bool,
    },
}

/// By what the sums of an input are divided, and the layout of its tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnalysisArgs {
    /// Number of iterations in the capture.
    pub iterations: Option<i64>,
    /// Number of GPUs in the capture.
    pub gpus: Option<i64>,
    /// The NVTX range of one iteration.
    pub tag: Option<String>,
    /// Columns of the CSV tables.
    pub layout: CsvLayout,
}

/// JSON in which comments and trailing commas are allowed.
pub const WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const TOP: [&str; 2] = ["inputs", "kernel_to_class_map"];
const INPUT: [&str; 5] = ["format", "title", "nsys_csv_file_path", "nsys_report", "analysis_args"];
const CSV: [&str; 3] = ["kernel_sum", "nvtx_proj_trace", "mem_time_sum"];
const REPORT: [&str; 3] = ["path", "with_nvtx", "with_mem"];
const ARGS: [&str; 13] = [
    "num_of_iters",
    "num_of_gpus",
    "nvtx_tag_of_iter",
    "with_header",
    "time_scale_to_ms",
    "kernel_total_time_idx",
    "kernel_instance_idx",
    "kernel_name_idx",
    "nvtx_name_idx",
    "nvtx_proj_duration_idx",
    "mem_name_idx",
    "mem_time_idx",
    "mem_count_idx",
];

impl Config {
    /// Parses a config; `file` is its name in messages.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json = Json { file, text };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &WITH_COMMENTS).map_err(|e| {
            json.fault(
                e.range().start,
                &e.kind().to_string(),
                "a config is JSON; comments and trailing commas are allowed",
            )
        })?;
        let root = parsed.value.ok_or_else(|| json.fault(0, "the file is empty", SEE_HELP))?;
        let root = json.object(&root, "the config", &TOP)?;
        let mut config = Self::default();
        let map = root.required("kernel_to_class_map")?;
        config.read_map(&json, map)?;
        let inputs = root.required("inputs")?;
        let Value::Array(inputs) = inputs else {
            return Err(json.fault(inputs.start(), "'inputs' is not a list", SEE_HELP));
        };
        if inputs.elements.is_empty() {
            return Err(json.fault(inputs.start(), "'inputs' is empty", "add at least one input"));
        }
        for input in &inputs.elements {
            config.inputs.push(read_input(&json, input)?);
        }
        Ok(config)
    }

    /// Reads the class map. A duplicate key keeps its first place and takes its last value.
    fn read_map(&mut self, json: &Json<'_>, map: &Value<'_>) -> Result<()> {
        let Value::Object(map) = map else {
            return Err(json.fault(map.start(), "'kernel_to_class_map' is not an object", SEE_HELP));
        };
        if map.properties.len() > MAX_KEYS {
            let count = map.properties.len();
            let reason = format!("'kernel_to_class_map' has {count} keys; the limit is {MAX_KEYS}");
            return Err(json.fault(map.start(), &reason, SEE_HELP));
        }
        for property in &map.properties {
            let key = property.name.as_str();
            let class = json.text(&property.value, key)?;
            match self.kernel_to_class.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => {
                    self.notes.push(format!(
                        "{}: duplicate key '{key}'; the later class '{class}' is used",
                        json.place(property.start())
                    ));
                    *known = class;
                }
                None => self.kernel_to_class.push((key.to_owned(), class)),
            }
        }
        Ok(())
    }
}

/// Most keys of a class map; files of class maps have the same limit.
const MAX_KEYS: usize = 2_000;

fn read_input(json: &Json<'_>, input: &Value<'_>) -> Result<ConfigInput> {
    let fields = json.object(input, "an input", &INPUT)?;
    let title = json.text(fields.required("title")?, "title")?;
    let format = fields.required("format")?;
    let source = match json.text(format, "format")?.to_lowercase().as_str() {
        "csv" => {
            let files =
                json.object(fields.required("nsys_csv_file_path")?, "nsys_csv_file_path", &CSV)?;
            Source::Csv {
                kernel_sum: json.text(files.required("kernel_sum")?, "kernel_sum")?.into(),
                nvtx_proj_trace: files.text("nvtx_proj_trace")?.map(PathBuf::from),
                mem_time_sum: files.text("mem_time_sum")?.map(PathBuf::from),
            }
        }
        "nsys-rep" | "sqlite" => {
            let report = json.object(fields.required("nsys_report")?, "nsys_report", &REPORT)?;
            Source::Report {
                path: json.text(report.required("path")?, "path")?.into(),
                with_nvtx: report.flag("with_nvtx")?.unwrap_or(false),
                with_mem: report.flag("with_mem")?.unwrap_or(false),
            }
        }
        other => {
            return Err(json.fault(
                format.start(),
                &format!("unknown input format '{other}'"),
                "valid formats: csv, nsys-rep, sqlite",
            ));
        }
    };
    let args = match fields.get("analysis_args") {
        Some(args) => read_args(json, args)?,
        None => AnalysisArgs::default(),
    };
    Ok(ConfigInput { title, source, args })
}

fn read_args(json: &Json<'_>, args: &Value<'_>) -> Result<AnalysisArgs> {
    let args = json.object(args, "analysis_args", &ARGS)?;
    let column = |name: &str| args.int(name);
    Ok(AnalysisArgs {
        iterations: args.count("num_of_iters")?,
        gpus: args.count("num_of_gpus")?,
        tag: args.text("nvtx_tag_of_iter")?,
        layout: CsvLayout {
            without_header: args.flag("with_header")? == Some(false),
            time_scale_to_ms: args.positive("time_scale_to_ms")?,
            ignores_units: false,
            kernel_time: column("kernel_total_time_idx")?,
            kernel_calls: column("kernel_instance_idx")?,
            kernel_name: column("kernel_name_idx")?,
            range_name: column("nvtx_name_idx")?,
            range_dur: column("nvtx_proj_duration_idx")?,
            memory_name: column("mem_name_idx")?,
            memory_time: column("mem_time_idx")?,
            memory_calls: column("mem_count_idx")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(Path::new("c.json"), text)
    }

    fn complaint(text: &str) -> String {
        let error = parse(text).unwrap_err();
        format!("{error} / {}", error.help().unwrap_or_default())
    }

    const WHOLE: &str = r#"{
        "inputs": [ // two inputs
            {
                "format": "CSV", "title": "one", /* any case */
                "nsys_csv_file_path": {"kernel_sum": "k.csv", "nvtx_proj_trace": null,},
                "analysis_args": {"num_of_iters": 5, "nvtx_tag_of_iter": "a,b=11#", "kernel_name_idx": -1,
                    "with_header": false, "time_scale_to_ms": 1e-3},
            },
            {"format": "sqlite", "title": "two", "nsys_report": {"path": "r.sqlite", "with_mem": true}},
        ],
        "kernel_to_class_map": {"gemm": "GEMM", "softmax": "A", "gemm": "Gemm"},
    }"#;

    #[test]
    fn comments_and_trailing_commas_are_allowed() {
        let config = parse(WHOLE).unwrap();
        assert_eq!(
            config.kernel_to_class,
            [("gemm".into(), "Gemm".into()), ("softmax".into(), "A".into())]
        );
        assert_eq!(config.notes.len(), 1, "{:?}", config.notes);
        let [one, two] = config.inputs.as_slice() else { panic!() };
        assert_eq!(
            one.source,
            Source::Csv { kernel_sum: "k.csv".into(), nvtx_proj_trace: None, mem_time_sum: None }
        );
        assert_eq!((one.args.iterations, one.args.gpus), (Some(5), None));
        assert_eq!(one.args.tag.as_deref(), Some("a,b=11#"));
        assert_eq!(one.args.layout.kernel_name, Some(-1));
        assert_eq!(one.args.layout.time_scale_to_ms, Some(1e-3));
        assert!(one.args.layout.without_header);
        let report = Source::Report { path: "r.sqlite".into(), with_nvtx: false, with_mem: true };
        assert_eq!((&two.source, &two.args), (&report, &AnalysisArgs::default()));
    }

    #[test]
    fn errors_name_the_line_and_the_nearest_key() {
        let error = complaint(&WHOLE.replace("num_of_iters", "num_of_iter"));
        assert_eq!(
            error,
            "c.json:6: unknown key 'num_of_iter' in analysis_args / did you mean 'num_of_iters'?"
        );
        let error = complaint(&WHOLE.replace("\"sqlite\"", "\"xml\""));
        assert!(error.starts_with("c.json:9: unknown input format 'xml'"), "{error}");
        let error = complaint(&WHOLE.replace(": 5,", ": 0,"));
        assert!(error.contains("'num_of_iters' is 0, but"), "{error}");
        let error = complaint(&WHOLE.replace(": 5,", ": \"5\","));
        assert!(error.contains("'num_of_iters' is not an integer"), "{error}");
    }

    #[test]
    fn hostile_text_is_an_error() {
        let deep = "[".repeat(100_000);
        for text in
            ["", "{", "[]", "null", "{\"inputs\": []}", "{'inputs': 1}", deep.as_str(), "{\"a\": 1e999}"]
        {
            assert!(parse(text).is_err());
        }
        assert!(complaint(r#"{"inputs": [], "kernel_to_class_map": {}}"#).contains("'inputs' is empty"));
        assert!(
            complaint(r#"{"inputs": [1], "kernel_to_class_map": {}}"#)
                .contains("an input is not an object")
        );
        assert!(
            complaint(r#"{"inputs": [{}], "kernel_to_class_map": {"a": 1}}"#)
                .contains("'a' is not a string")
        );
    }
}
