//! The folders that an executor may read. Paths come from strangers.

use crate::asked::{Failure, text_path};
use crate::place::{Place, is_url};
#[cfg(any(feature = "cluster", test))]
use nsq::Error;
use std::path::{Component, Path, PathBuf};

/// Folders, as they were given and without links, and URLs.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    given: Vec<PathBuf>,
    real: Vec<PathBuf>,
}

impl Roots {
    #[cfg(any(feature = "cluster", test))]
    pub(crate) fn new(folders: &[PathBuf]) -> nsq::Result<Self> {
        let (mut given, mut real) = (Vec::new(), Vec::new());
        for folder in folders {
            if is_url(folder) {
                given.push(Place::of(folder.clone())?.path().to_owned());
                continue;
            }
            let canonical = folder.canonicalize().map_err(|error| Error::io(folder, error))?;
            if !canonical.is_dir() {
                return Err(Error::Usage {
                    reason: format!("{} is not a folder", folder.display()),
                    help: "--root takes the folder that the reports are in".to_owned(),
                });
            }
            given.push(std::path::absolute(folder).map_err(|error| Error::io(folder, error))?);
            real.push(canonical);
        }
        Ok(Self { given, real })
    }

    /// The report that the text names, if it lies in a root; a file without links. Of what lies outside, nothing
    /// is said, not even whether it is there.
    pub(crate) fn allow(&self, text: &str) -> Result<Place, Failure> {
        let path = text_path(text);
        let outside = || {
            Failure::new(
                format!("{text} lies outside of the folders that this executor may read"),
                "start the executor with --root FOLDER for the folder of the reports",
            )
        };
        if is_url(&path) {
            return match self.given.iter().any(|root| is_url(root) && is_below(&path, root)) {
                true => Ok(Place::of(path)?),
                false => Err(outside()),
            };
        }
        let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir | Component::CurDir);
        let has_dots = text.split(['/', '\\']).any(|part| part == ".." || part == ".");
        if has_dots || text.contains('\0') || !path.is_absolute() || !path.components().all(is_plain) {
            return Err(outside());
        }
        if !within(&path, &self.given) && !within(&path, &self.real) {
            return Err(outside());
        }
        let real = match path.canonicalize() {
            Ok(real) => real,
            // A link in the root could lead to a missing file outside, so its text is not followed here.
            Err(_) => {
                return Err(Failure::new(
                    format!("{text}: there is no such report"),
                    "check the path on the machine of the executor",
                ));
            }
        };
        if !within(&real, &self.real) {
            return Err(outside());
        }
        if !real.is_file() {
            return Err(Failure::new(format!("{text} is not a file"), "name the report itself"));
        }
        Ok(Place::File(real))
    }

    /// The folders, for those who place work.
    #[cfg(feature = "cluster")]
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.given
    }
}

/// Whether one URL lies below the other. It must be written as the client writes it, so that no part of it means
/// another folder.
fn is_below(url: &Path, root: &Path) -> bool {
    let (Some(text), Some(root)) = (url.to_str(), root.to_str()) else { return false };
    let rest = text.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    let is_plain = rest.is_some_and(|rest| {
        let has_codes =
            ["%2e", "%2f", "%5c"].iter().any(|code| rest.to_ascii_lowercase().contains(code));
        !has_codes
            && !rest.contains(['?', '#', '\\'])
            && rest.split('/').all(|part| !matches!(part, "" | "." | ".."))
    });
    is_plain && Place::of(url.to_owned()).is_ok_and(|place| place.path() == url)
}

fn within(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root) && path != root)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_files_within_the_roots_are_allowed() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let text = |name: &str| at(name).display().to_string();
        std::fs::create_dir_all(at("job/deep"))?;
        std::fs::create_dir_all(at("job-other"))?;
        for file in ["job/a.sqlite", "job/deep/b.sqlite", "job-other/c.sqlite", "secret"] {
            std::fs::write(at(file), "x")?;
        }
        symlink(at("secret"), at("job/link.sqlite"))?;
        symlink(at("job-other"), at("job/other"))?;
        symlink(at("nothing"), at("job/broken.sqlite"))?;
        symlink(at("job/a.sqlite"), at("job/inner.sqlite"))?;
        symlink(at("job"), at("alias"))?;
        let roots = Roots::new(&[at("alias")]).map_err(std::io::Error::other)?;
        for fine in ["job/a.sqlite", "job/deep/b.sqlite", "job/inner.sqlite", "alias/a.sqlite"] {
            assert!(roots.allow(&text(fine)).is_ok(), "{fine}");
        }
        let file_url = format!("file://{}", text("job/a.sqlite"));
        let hidden = format!("{}/%2e%2e/secret", text("job"));
        for bad in [
            text("secret"),
            text("job/../secret"),
            text("job/deep/../../secret"),
            text("job/./a.sqlite"),
            text("job/link.sqlite"),
            text("job/other/c.sqlite"),
            text("job-other/c.sqlite"),
            text("job/broken.sqlite"),
            text("job/deep"),
            text("job"),
            "/etc/passwd".to_owned(),
            "a.sqlite".to_owned(),
            "job/a.sqlite".to_owned(),
            file_url,
            hidden,
            "s3://bucket/a.sqlite".to_owned(),
            "http://localhost/a.sqlite".to_owned(),
            format!("{}\0", text("job/a.sqlite")),
            String::new(),
        ] {
            assert!(roots.allow(&bad).is_err(), "{bad}");
        }
        Ok(())
    }

    #[cfg(feature = "stores")]
    #[test]
    fn only_urls_below_the_roots_are_allowed() {
        let roots = ["s3://bucket/my job", "https://host:8443/data/", "s3://other"].map(PathBuf::from);
        let roots = Roots::new(&roots).unwrap();
        for fine in [
            "s3://bucket/my%2520job/a.sqlite",
            "s3://bucket/my%2520job/deep/b..sqlite",
            "https://host:8443/data/a.sqlite",
            "s3://other/a.sqlite",
        ] {
            assert!(roots.allow(fine).is_ok(), "{fine}");
        }
        for bad in [
            "s3://bucket/my%2520job",
            "s3://bucket/my%2520job/",
            "s3://bucket/my%2520jobs/a.sqlite",
            "s3://bucket/my%2520job/../a.sqlite",
            "s3://bucket/my%2520job/%252e%252e/a.sqlite",
            "s3://bucket/my%2520job/..%252fa.sqlite",
            "s3://bucket/my%2520job/a\\..\\b.sqlite",
            "s3://bucket/my%2520job//a.sqlite",
            "s3://bucket/my job/a.sqlite",
            "s3://BUCKET/my%2520job/a.sqlite",
            "gs://bucket/my%2520job/a.sqlite",
            "https://host/data/a.sqlite",
            "http://host:8443/data/a.sqlite",
            "https://host:8443@evil/data/a.sqlite",
            "https://user@host:8443/data/a.sqlite",
            "https://host:8443/data/a.sqlite?x",
            "https://host:8443/data/a.sqlite#x",
            "https://host:8443/database/a.sqlite",
            "s3://other.evil/a.sqlite",
            "file:///etc/passwd",
            "/etc/passwd",
            "memory:///a.sqlite",
        ] {
            assert!(roots.allow(bad).is_err(), "{bad}");
        }
    }
}
