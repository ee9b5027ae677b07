//! Compiles the functions of SQLite that are passed on to the host. All of them are linked, before the SQLite of nsq's crates.

use std::{env, error};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=src/host.c");
    let folder = env::var("OUT_DIR")?;
    cc::Build::new()
        .file("src/host.c")
        .include(env::var("DEP_SQLITE3_INCLUDE")?)
        .cargo_metadata(false)
        .compile("nsq_host");
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static:+whole-archive=nsq_host");
    Ok(())
}
