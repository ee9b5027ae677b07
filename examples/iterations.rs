//! Prints a table of iterations: `cargo run --example iterations REPORT [RANGE]`.

use nsq::{Error, Scope};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), range) = (arguments.next(), arguments.next()) else {
        return Err(Error::usage("no report", "give the path of a report"));
    };
    let report = nsq::open(&path)?;
    // The backward pass counts, although PyTorch launches it from a thread of its own.
    let scope = Scope { attribute: Some(nsq::Attribute::Process), ..Scope::default() };
    let mut question = report.query("iterations").scope(&scope);
    if let Some(range) = range {
        question = question.param("tag", range);
    }
    let iterations = question.run()?;
    println!("{:<24} {:>12} {:>12}", "iteration", "GPU span ms", "GPU busy ms");
    for row in iterations.iter() {
        let ms = |column| row.real(column).map_or("-".to_owned(), |ns| format!("{:.2}", ns / 1e6));
        let name = row.text("range_name").unwrap_or("(no name)");
        println!("{name:<24} {:>12} {:>12}", ms("span_ns"), ms("busy_ns"));
    }
    Ok(())
}
