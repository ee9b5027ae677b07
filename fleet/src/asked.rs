//! What travels between the one who asks and the one who opens the report: the question, the report, and why it
//! failed.

use nsq::{Attribute, Error, Library, Result, Scope};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};

/// A query about one report, with its parameters and its scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) query: String,
    /// Hash of its statement: an executor with another library must not answer.
    statement: String,
    params: Vec<(String, String)>,
    scope: Part,
}

/// A scope that can be written down.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Part {
    time: Option<String>,
    gpus: Vec<i64>,
    devices: Vec<i64>,
    streams: Vec<i64>,
    processes: Vec<i64>,
    threads: Vec<String>,
    nvtx: Vec<String>,
    iterations: Vec<String>,
    exclude: Vec<String>,
    windows: Vec<String>,
    attribute: Option<String>,
    keep_names: bool,
    steady: bool,
}

/// The rules of attribution by name.
const ATTRIBUTES: [(&str, Attribute); 3] =
    [("thread", Attribute::Thread), ("process", Attribute::Process), ("capture", Attribute::Capture)];

/// The rule of this name.
pub(crate) fn attribute(name: &str) -> Option<Attribute> {
    ATTRIBUTES.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

impl Ask {
    pub(crate) fn new(
        library: &Library,
        query: &str,
        params: &[(String, String)],
        scope: &Scope,
    ) -> Result<Self> {
        let rule = |rule| ATTRIBUTES.iter().find(|(_, known)| *known == rule);
        let scope = Part {
            time: scope.time.clone(),
            gpus: scope.gpus.clone(),
            devices: scope.devices.clone(),
            streams: scope.streams.clone(),
            processes: scope.processes.clone(),
            threads: scope.threads.clone(),
            nvtx: scope.nvtx.clone(),
            iterations: scope.iterations.clone(),
            exclude: scope.exclude.clone(),
            windows: scope.windows.clone(),
            attribute: scope.attribute.and_then(rule).map(|(name, _)| (*name).to_owned()),
            keep_names: scope.keep_names,
            steady: scope.steady,
        };
        let statement = fingerprint(library, query)?;
        Ok(Self { query: query.to_owned(), statement, params: params.to_vec(), scope })
    }

    /// Refuses a question that was asked of another library.
    pub(crate) fn must_fit(&self, library: &Library) -> Result<()> {
        if fingerprint(library, &self.query)? == self.statement {
            return Ok(());
        }
        Err(Error::Usage {
            reason: format!("the executor has another {} than the one who asks", self.query),
            help: "use one version of nsq, and the same --queries, everywhere".to_owned(),
        })
    }

    pub(crate) fn params(&self) -> &[(String, String)] {
        &self.params
    }

    pub(crate) fn scope(&self) -> Scope {
        let Part { time, gpus, devices, streams, processes, threads, nvtx, .. } = self.scope.clone();
        let Part { iterations, exclude, windows, attribute: rule, keep_names, steady, .. } =
            self.scope.clone();
        Scope {
            time,
            gpus,
            devices,
            streams,
            processes,
            threads,
            nvtx,
            iterations,
            exclude,
            windows,
            attribute: rule.as_deref().and_then(attribute),
            keep_names,
            steady,
        }
    }
}

fn fingerprint(library: &Library, query: &str) -> Result<String> {
    let hash = Sha256::digest(library.statement(query)?);
    Ok(hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// A report of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Its place among the reports.
    pub(crate) side: i64,
    /// Its name in answers.
    pub(crate) name: String,
    /// Its path, as [`path_text`] writes it.
    pub(crate) path: String,
    /// The executor on which it failed.
    pub(crate) not_on: Option<String>,
}

/// Writes a path as text. Bytes that are no UTF-8 become `%` and two digits.
pub(crate) fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02x}")));
    }
    text
}

/// Reads what [`path_text`] wrote.
pub(crate) fn text_path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        std::ffi::OsString::from_vec(bytes).into()
    }
    #[cfg(not(unix))]
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Why a report did not answer, in a form that travels.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()), code: nsq::error::EXIT_FAILED }
    }

    /// The failure of a report in the text of an error that came from far away.
    #[cfg(any(feature = "cluster", test))]
    pub(crate) fn within(text: &str) -> Option<Self> {
        let (_, after) = text.split_once(MARK)?;
        let (hex, _) = after.split_once(']')?;
        let bytes: Option<Vec<u8>> = hex
            .as_bytes()
            .chunks(2)
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
            .collect();
        serde_json::from_slice(&bytes?).ok()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), help: error.help(), code: error.exit_code() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

/// Begins the failure in an error's text.
const MARK: &str = "nsq-failure[";

// An executor's error reaches the one who asked as the text of `Debug`, within others.
impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_vec(self).map_err(|_| fmt::Error)?;
        write!(out, "{}: {MARK}", self.message)?;
        json.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        out.write_str("]")
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_failures_arrive_as_they_were() {
        for path in ["/job/rank 0.sqlite", "/job/100%41.sqlite", "/job/ü%.sqlite"] {
            assert_eq!(text_path(&path_text(Path::new(path))), Path::new(path));
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let path = Path::new(std::ffi::OsStr::from_bytes(b"/job/\xff\xfe%.sqlite"));
            assert_eq!(text_path(&path_text(path)), path);
        }
        let failure = Failure::new("rank0.sqlite: \"bad\"\nfile", "export it again");
        let far = format!("Task failed: DataFusionError(External({failure:?}))");
        assert_eq!(Failure::within(&far), Some(failure));
        assert_eq!(Failure::within("no space left"), None);
    }
}
