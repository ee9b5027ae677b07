//! Embeds `queries/`: a new file there must rebuild the crate.

fn main() {
    println!("cargo::rerun-if-changed=queries");
}
