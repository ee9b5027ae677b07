//! A client that wants to read what the roots do not hold, against a real scheduler and a real executor.

use super::client::Cluster;
use super::{executor, scheduler};
use crate::asked::{Ask, Source};
use crate::contributions::Part;
use ballista::prelude::SessionContextExt;
use clap::Parser;
use datafusion::prelude::SessionContext;
use nsq::{Cancel, Library, Scope};
use std::error::Error;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

#[derive(Parser)]
enum Verb {
    Scheduler(scheduler::Args),
    Executor(executor::Args),
}

/// Runs a part of the cluster until the test ends.
fn start(words: &[&str]) {
    let verb = Verb::parse_from(std::iter::once(&"nsq-fleet").chain(words));
    std::thread::spawn(move || match verb {
        Verb::Scheduler(args) => scheduler::run(&args),
        Verb::Executor(args) => executor::run(&args),
    });
}

fn source(side: usize, path: &str) -> Source {
    let side = i64::try_from(side).unwrap_or(0);
    Source { side, name: path.to_owned(), path: path.to_owned(), not_on: None }
}

#[test]
fn a_client_reads_reports_in_the_roots_and_nothing_else() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    let text = |name: &str| folder.join(name).display().to_string();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/example.sqlite");
    for name in ["job", "scratch"] {
        std::fs::create_dir(folder.join(name))?;
    }
    // What lies outside is a report too: if it were opened, it would answer.
    for name in ["job/inside.sqlite", "outside.sqlite"] {
        std::fs::copy(&example, folder.join(name))?;
    }
    std::fs::write(folder.join("job/lines.csv"), "line\nsecret of the root\n")?;
    std::fs::write(folder.join("lines.csv"), "line\nsecret outside\n")?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("outside.sqlite"), folder.join("job/link.sqlite"))?;

    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let address = format!("127.0.0.1:{port}");
    start(&["scheduler", "--port", &port]);
    for _ in 0..200 {
        if std::net::TcpStream::connect(&address).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let (root, scratch) = (text("job"), text("scratch"));
    start(&["executor", "--scheduler", &address, "--root", &root, "--scratch", &scratch, "--jobs", "2"]);

    let (library, cancel) = (nsq::library()?, Cancel::default());
    let cluster =
        Cluster { url: format!("df://{address}"), library: &library, cancel: &cancel, reports: 64 };
    let ask = Ask::new(&library, "top_kernels", &[], &Scope::default())?;
    let bad = [
        text("outside.sqlite"),
        text("job/../outside.sqlite"),
        text("job/link.sqlite"),
        format!("file://{}", text("job/inside.sqlite")),
        format!("file://{}", text("outside.sqlite")),
        "http://127.0.0.1/outside.sqlite".to_owned(),
        "s3://bucket/outside.sqlite".to_owned(),
        "/etc/passwd".to_owned(),
        "job/inside.sqlite".to_owned(),
        "../outside.sqlite".to_owned(),
    ];
    let mut sources = vec![source(0, &text("job/inside.sqlite"))];
    sources.extend(bad.iter().enumerate().map(|(place, path)| source(place + 1, path)));
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let asks = std::slice::from_ref(&ask);
        let (mut answers, _) = cluster.wave(sources, asks).await?;
        answers.sort_by_key(|(place, ..)| *place);
        assert_eq!(answers.len(), bad.len() + 1);
        assert!(
            answers[0].2.as_ref().is_ok_and(|parts| parts[0].as_ref().is_ok_and(|part| part.rows > 0))
        );
        for (place, _, found) in &answers[1..] {
            let failure = found.as_ref().err().ok_or("a report outside of the roots answered")?;
            assert!(failure.message.contains("outside of the folders"), "{place}: {failure}");
        }
        // Rows without a census before.
        let columns = library.columns("top_kernels")?;
        let part = Ok(Part::default());
        for path in &bad {
            let rows = cluster.rows_of(&ask, &columns, &[(source(0, path), &part)]).await;
            let error = rows.err().ok_or("rows from outside of the roots")?;
            assert!(error.to_string().contains("outside of the folders"), "{path}: {error}");
        }
        // Ballista's own plans: tables of files, and files to write.
        for name in ["lines.csv", "job/lines.csv"] {
            let context = SessionContext::remote(&format!("df://{address}")).await?;
            let (csv, copy) = (text(name), text("job/copy.csv"));
            context
                .sql(&format!(
                    "CREATE EXTERNAL TABLE lines (line VARCHAR) STORED AS CSV LOCATION '{csv}'"
                ))
                .await?;
            let rows = context.sql("SELECT * FROM lines").await?.collect().await;
            let error = rows.err().ok_or("rows of a file that is not a report")?.to_string();
            assert!(error.contains("nsq fleet") && !error.contains("secret"), "{error}");
            let written =
                context.sql(&format!("COPY (SELECT 1 AS one) TO '{copy}'")).await?.collect().await;
            assert!(written.is_err(), "a file was written");
            assert!(!Path::new(&copy).exists());
        }
        Ok(())
    })
}
