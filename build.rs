//! Prepares `queries/` for embedding: a new file there must rebuild the crate, and the YAML of all files becomes
//! JSON, which is parsed ten times faster when nsq starts. The chapters of the book are for `nsq list` and `nsq show`.

use std::path::{Path, PathBuf};
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=queries");
    println!("cargo::rerun-if-changed=docs/src");
    let folder = Path::new(&env::var("OUT_DIR")?).to_owned();
    fs::write(
        folder.join("chapters.rs"),
        chapters(&Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("docs/src"))?,
    )?;
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
    Ok(fs::write(folder.join("library.rs"), library + "]\n")?)
}

/// The chapters of the book: path, title, the other headings, and the text.
fn chapters(book: &Path) -> Result<String, Box<dyn error::Error>> {
    let mut files = Vec::new();
    if book.is_dir() {
        find(book, &mut files)?;
    }
    files.sort();
    let mut chapters = String::from("&[\n");
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(file)?;
        let mut is_code = false;
        let headings = text.lines().filter(|line| {
            is_code ^= line.starts_with("```");
            !is_code && line.starts_with('#')
        });
        let headings: Vec<&str> = headings.map(|line| line.trim_start_matches('#').trim()).collect();
        let [title, others @ ..] = headings.as_slice() else { continue };
        let name = file.strip_prefix(book)?.with_extension("").to_string_lossy().replace('\\', "/");
        if name != "SUMMARY" {
            let others = others.join(", ");
            chapters += &format!("    [{name:?}, {title:?}, {others:?}, include_str!({file:?})],\n");
        }
    }
    Ok(chapters + "]\n")
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
