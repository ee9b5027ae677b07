//! Reports in object stores: URLs name them. A report is fetched into the scratch folder to be opened, and removed as
//! soon as it has answered.

use crate::asked::Failure;
use crate::place::Stamp;
use futures::{StreamExt, TryStreamExt};
use nsq::report::sort_by_numbers;
use nsq::{Cancel, Error, Result};
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, ObjectStoreScheme, parse_url_opts};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use url::{Position, Url};

/// Variables of the environment that say how to reach a store.
const SETTINGS: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// One request, with the bytes of a large report. The library takes 30 seconds; what breaks off is continued.
const TIMEOUT: &str = "600s";

/// Ends of the names of reports, and of those that are taken from a folder: other files of JSON lie there too.
const REPORTS: [&str; 5] = [".sqlite", ".nsys-rep", ".qdrep", ".json", ".json.gz"];
const IN_FOLDERS: [&str; 5] = [".sqlite", ".nsys-rep", ".qdrep", ".trace.json", ".trace.json.gz"];

/// An object in a store.
#[derive(Debug)]
pub(crate) struct Object {
    url: PathBuf,
    store: Arc<dyn ObjectStore>,
    path: ObjectPath,
}

/// A report that was fetched. It is removed with this, and so is what lies beside it.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) file: PathBuf,
    url: PathBuf,
    _folder: TempDir,
}

impl Fetched {
    /// What went wrong with the file, told of the URL.
    pub(crate) fn told_of_url(&self, failure: Failure) -> Failure {
        let (file, url) = (self.file.display().to_string(), self.url.display().to_string());
        Failure { message: failure.message.replace(&file, &url), ..failure }
    }
}

/// Reads a URL. Written again, it is as every part of the program writes it.
pub(crate) fn url(path: &Path) -> Result<Url> {
    let no_url =
        |error| refused(path, format!("is no URL: {error}"), "such as s3://bucket/job/rank0.sqlite");
    let url = Url::parse(&path.to_string_lossy()).map_err(no_url)?;
    // Azure writes abfss://CONTAINER@ACCOUNT.
    let is_user = !url.username().is_empty() && !url.scheme().starts_with("abfs");
    let has_credentials = is_user || url.password().is_some();
    if has_credentials || url.query().is_some() || url.fragment().is_some() {
        // The name of a report appears in answers, and a signature must not.
        let plain = format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path());
        let reason =
            "this URL has credentials, a query or a fragment, which are not passed on".to_owned();
        let help = "give the URL of the object alone, and the credentials in the environment";
        return Err(refused(Path::new(&plain), reason, help));
    }
    Ok(url)
}

impl Object {
    pub(crate) fn at(url: Url) -> Result<Self> {
        static KNOWN: LazyLock<Mutex<HashMap<String, Arc<dyn ObjectStore>>>> =
            LazyLock::new(Mutex::default);
        let cannot = |error: object_store::Error| failed(Path::new(url.as_str()), &error);
        let (_, path) = ObjectStoreScheme::parse(&url).map_err(|error| cannot(error.into()))?;
        // In some URLs of `https`, the bucket is the first part of the path.
        let bucket = url.path_segments().and_then(|mut parts| parts.next()).unwrap_or_default();
        let key = format!("{}/{bucket}", &url[..Position::BeforePath]);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let store = match known.get(&key) {
            Some(store) => Arc::clone(store),
            None => {
                let (store, _) = parse_url_opts(&url, settings(&url)).map_err(cannot)?;
                Arc::clone(known.entry(key).or_insert(Arc::from(store)))
            }
        };
        Ok(Self { url: url.as_str().into(), store, path })
    }

    pub(crate) fn url(&self) -> &Path {
        &self.url
    }

    pub(crate) fn stamp(&self, cancel: &Cancel) -> Result<Stamp> {
        let about =
            wait(cancel, self.store.head(&self.path))?.map_err(|error| failed(&self.url, &error))?;
        Ok((about.size, Some(about.last_modified.into())))
    }

    /// Copies the object into a folder of its own in `scratch`, under the name that it has in the store.
    pub(crate) fn fetch(&self, scratch: &Path, cancel: &Cancel) -> Result<Fetched> {
        let folder = tempfile::Builder::new().prefix("fetched-").tempdir_in(scratch);
        let folder = folder.map_err(|error| Error::io(scratch, error))?;
        let name = self.path.filename().filter(|name| !name.contains(std::path::is_separator));
        let file = folder.path().join(name.unwrap_or("report"));
        let copied = wait(cancel, async {
            let cannot = |error| failed(&self.url, &error);
            let full = |error| Error::io(scratch, error);
            let found = self.store.get(&self.path).await.map_err(cannot)?;
            let expected = found.meta.size;
            let mut bytes = found.into_stream();
            let mut out = std::fs::File::create(&file).map_err(full)?;
            let mut copied = 0;
            while let Some(chunk) = bytes.next().await {
                let chunk = chunk.map_err(cannot)?;
                out.write_all(&chunk).map_err(full)?;
                copied += chunk.len() as u64;
            }
            if copied != expected {
                let text = format!("{copied} of {expected} bytes arrived");
                return Err(refused(&self.url, text, "ask again"));
            }
            Ok(())
        });
        copied?.map(|()| Fetched { file, url: self.url.clone(), _folder: folder })
    }
}

/// The reports that lie below a URL, at any depth; the URL itself if it names a report.
pub(crate) fn reports_at(given: &Path, cancel: &Cancel) -> Result<Vec<PathBuf>> {
    let url = url(given)?;
    let name = url.path().to_ascii_lowercase();
    if REPORTS.iter().any(|end| name.ends_with(end)) {
        return Ok(vec![url.as_str().into()]);
    }
    let folder = Object::at(url.clone())?;
    let listed = folder.store.list(Some(&folder.path)).try_collect::<Vec<_>>();
    let listed = wait(cancel, listed)?.map_err(|error| match url.scheme() {
        "http" | "https" => {
            let text = format!("the server does not list what it has: {error}");
            refused(given, text, "name each report by its URL")
        }
        _ => failed(given, &error),
    })?;
    let paths: BTreeSet<&str> = listed.iter().map(|object| object.location.as_ref()).collect();
    let is_exported = |path: &str| {
        let stem = path.strip_suffix(".nsys-rep").or_else(|| path.strip_suffix(".qdrep"));
        stem.is_some_and(|stem| paths.contains(format!("{stem}.sqlite").as_str()))
    };
    let mut found = Vec::new();
    for object in &listed {
        let path = object.location.as_ref();
        let Some(rest) = object.location.prefix_match(&folder.path) else { continue };
        if !IN_FOLDERS.iter().any(|end| path.ends_with(end)) || is_exported(path) {
            continue;
        }
        let mut below = url.clone();
        if let Ok(mut parts) = below.path_segments_mut() {
            parts.pop_if_empty().extend(rest);
        }
        found.push(below.as_str().into());
    }
    if found.is_empty() {
        let help =
            "give the URL of .sqlite, .nsys-rep or .qdrep files, or of PyTorch's .json or .json.gz";
        return Err(refused(given, "no report lies there".to_owned(), help));
    }
    sort_by_numbers(&mut found);
    Ok(found)
}

fn settings(url: &Url) -> Vec<(String, String)> {
    let mut settings = vec![("timeout".to_owned(), TIMEOUT.to_owned())];
    if url.scheme() == "http" {
        settings.push(("allow_http".to_owned(), "true".to_owned()));
    }
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let is_ours = |(name, _): &(String, String)| SETTINGS.iter().any(|prefix| name.starts_with(prefix));
    settings.extend(std::env::vars_os().filter_map(text).filter(is_ours));
    settings
}

/// Waits for a store, or until the user cancels. The threads that open reports wait here, and no other.
fn wait<T>(cancel: &Cancel, work: impl Future<Output = T>) -> Result<T> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime,
        None => {
            let built =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let built = built.map_err(Error::Output)?;
            RUNTIME.get_or_init(|| built)
        }
    };
    runtime.block_on(async {
        let cancelled = async {
            while !cancel.is_cancelled() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            done = work => Ok(done),
            () = cancelled => Err(Error::Interrupted),
        }
    })
}

fn failed(url: &Path, error: &object_store::Error) -> Error {
    let (text, help) = match error {
        object_store::Error::NotFound { .. } => {
            ("there is no such report".to_owned(), "check the URL".to_owned())
        }
        error => (
            error.to_string(),
            format!("check the URL, and the variables {}… of the environment", SETTINGS.join("…, ")),
        ),
    };
    refused(url, text, help)
}

fn refused(url: &Path, reason: String, help: impl Into<String>) -> Error {
    Error::Report { path: url.to_owned(), reason, help: help.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_secrets_in_them_are_not_repeated() {
        let read = |text: &str| url(Path::new(text));
        for (text, written) in [
            ("s3://bucket/my job/a.sqlite", "s3://bucket/my%20job/a.sqlite"),
            ("s3://bucket/a/../b.sqlite", "s3://bucket/b.sqlite"),
            ("HTTPS://Host:443/a.sqlite", "https://host/a.sqlite"),
            (
                "abfss://traces@me.dfs.core.windows.net/a.sqlite",
                "abfss://traces@me.dfs.core.windows.net/a.sqlite",
            ),
        ] {
            assert_eq!(read(text).unwrap().as_str(), written);
        }
        for bad in [
            "https://host/a.sqlite?sig=secret",
            "https://me:secret@host/a.sqlite",
            "https://secret@host/a.sqlite",
            "abfss://traces:secret@me.dfs.core.windows.net/a.sqlite",
            "https://host/a.sqlite#secret",
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains("host/a.sqlite") || error.contains("abfss://"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn only_the_settings_of_stores_are_passed_on() {
        let names = |text: &str| -> Vec<String> {
            settings(&Url::parse(text).unwrap()).into_iter().map(|(name, _)| name).collect()
        };
        assert!(names("http://host/a").contains(&"allow_http".to_owned()));
        assert!(!names("https://host/a").contains(&"allow_http".to_owned()));
        assert!(!names("s3://host/a").iter().any(|name| name == "PATH"));
    }
}
