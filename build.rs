//! Prepares `queries/` for embedding: a new file there must rebuild the crate, and the YAML of all files becomes
//! JSON, which is parsed ten times faster when nsq starts.

use std::path::{Path, PathBuf};
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=queries");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("queries");
    let mut files = Vec::new();
    find(&root, &mut files)?;
    let mut rows = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let Some(yaml) = yaml_of(&file, &text) else { continue };
        // `nsq check` tells what is wrong with a file that is not YAML.
        let Ok(document) = serde_yaml::from_str::<serde_yaml::Value>(yaml) else { continue };
        let Ok(json) = serde_json::to_string(&document) else { continue };
        let inside = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        rows.push((inside, yaml.len(), json));
    }
    // As texts, which nsq looks up: paths are in another order.
    rows.sort();
    let rows: String = rows.iter().map(|row| format!("    {row:?},\n")).collect();
    let out = Path::new(&env::var("OUT_DIR")?).join("front_matter.rs");
    Ok(fs::write(out, format!("&[\n{rows}]\n"))?)
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
