//! Prepares `queries/` for embedding: a new file there must rebuild the crate, and the YAML of all files becomes
//! JSON, which is parsed ten times faster when nsq starts.

use std::path::{Path, PathBuf};
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=queries");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("queries");
    let mut files = Vec::new();
    find(&root, &mut files)?;
    files.sort();
    let mut library = String::from("&[\n");
    for file in files {
        // All files of the library are text: skip any other.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        // `nsq check` tells what is wrong with a file that is not YAML.
        let json = yaml_of(&file, &text)
            .and_then(|yaml| serde_yaml::from_str::<serde_yaml::Value>(yaml).ok())
            .and_then(|document| serde_json::to_string(&document).ok());
        let inside = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        library += &format!(
            "    EmbeddedFile {{ path: {inside:?}, text: include_str!({file:?}), json: {json:?} }},\n"
        );
    }
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("library.rs"), library + "]\n")?)
}

fn find(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}

/// The YAML of a file: the front matter of a `.sql` file, all of a `.yml` file.
fn yaml_of<'a>(file: &Path, text: &'a str) -> Option<&'a str> {
    match file.extension()?.to_str()? {
        "yml" => Some(text),
        "sql" => text.strip_prefix("/*---")?.split_once("---*/").map(|(yaml, _)| yaml),
        _ => None,
    }
}
