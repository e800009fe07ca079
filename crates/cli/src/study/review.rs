//! `rhae study exclude|baselines|report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_protocol::{EnvironmentVersion, SittingId};
use rhae_report::{baselines_text, study_results_text};
use rhae_scoring::Method;
use rhae_study::{Command, ReviewCommand};
use rhae_study_service::{
    add_optima, author_reports, exclusion_target, next_baselines, publish_baselines,
    returned_environments, study_results, write_new_file,
};

use super::{Opened, StudyIdArgs, finish, now};
use crate::hosted_games::HostedGamesArgs;
use crate::{listed, output};

/// Exclude a sitting or an attempt from the results, or undo an exclusion.
///
/// An exclusion needs a reason, deletes nothing and never changes pay. Results are always shown with
/// and without exclusions.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study exclude lab-1 --sitting s-7 --by ada --reason \"the fire alarm rang\"
  rhae study exclude lab-1 --sitting s-7 --attempt 3 --by ada --reason \"staff helped\"
  rhae study exclude lab-1 --undo s-7/low-effort-1 --by ada --reason \"the keyboard was broken\"")]
pub(super) struct ExcludeArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Sitting to exclude
    #[arg(long, required_unless_present = "undo", conflicts_with = "undo")]
    sitting: Option<String>,
    /// Exclude only this attempt of the sitting, counted from 1
    #[arg(long, value_name = "N", requires = "sitting")]
    attempt: Option<u32>,
    /// Exclusion to undo
    #[arg(long, value_name = "EXCLUSION")]
    undo: Option<String>,
    /// Who decides
    #[arg(long)]
    by: String,
    #[arg(long, help = "Reason of the decision")]
    reason: String,
    /// What the decision rests on
    #[arg(long, default_value = "")]
    evidence: String,
}

pub(super) async fn exclude(args: &ExcludeArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::study(&args.study).await?;
    let (by, reason) = (args.by.clone(), args.reason.clone());
    let read = opened.service.read(&id, |study| {
        exclusion_target(study.state(), args.sitting.as_deref(), args.undo.as_deref())
    });
    let (sitting, exclusion): (SittingId, _) = read.await??;
    let text = format!("{exclusion}");
    let command = if args.undo.is_some() {
        ReviewCommand::Undo {
            exclusion,
            by,
            reason,
        }
    } else {
        ReviewCommand::Exclude {
            exclusion,
            position: args.attempt,
            by,
            reason,
            evidence: args.evidence.clone(),
        }
    };
    let command = Command::Review(sitting, command);
    let records = opened.service.execute(&id, now(), &command).await?;
    let text = if args.undo.is_some() {
        format!("undone: {text}")
    } else {
        format!("excluded: {text} (undo with --undo {text})")
    };
    finish(opened, &args.study, id, &records, &text).await
}

/// Show the baselines of a study, and publish them.
///
/// A published file names its people, rules and uncertainty, and never changes; a correction is a
/// new revision.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study baselines lab-1
  rhae study baselines lab-1 --publish baselines.json")]
pub(super) struct BaselinesArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Publish the baselines as the next revision, and write them to a new file
    #[arg(long, value_name = "FILE")]
    publish: Option<PathBuf>,
    /// Scoring method of the table
    #[arg(long, default_value = Method::DEFAULT.name(), value_parser = listed::method())]
    method: Method,
}

pub(super) async fn baselines(args: &BaselinesArgs) -> Result<ExitCode> {
    if let Some(file) = &args.publish {
        output::ensure_writable(file)?;
        ensure!(
            !file.exists(),
            "`{}` exists already, and a published file never changes: choose another name",
            file.display()
        );
    }
    let (opened, id) = Opened::study(&args.study).await?;
    let baselines = match &args.publish {
        Some(_) => publish_baselines(&opened.service, &id, now()).await?,
        None => opened.service.read(&id, next_baselines).await??,
    };
    opened.close().await;
    if let Some(file) = &args.publish {
        let text = serde_json::to_string_pretty(&baselines)?;
        write_new_file(file, &format!("{text}\n"))
            .with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.study.database.json {
        output::print_json(&baselines)?;
    } else {
        output::print(&baselines_text(&baselines, args.method.name()))?;
        if let Some(file) = &args.publish {
            let revision = baselines.revision;
            output::print(&format!(
                "published revision {revision}: {}",
                file.display()
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Show the results of a study under both attempt rules, with and without exclusions.
///
/// With `--pages`, write a page for the author of every returned environment, or of those that
/// `--environment` or `--all` name: how far people came, how long it took, where they stopped, and
/// replays.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study report lab-1
  rhae study report lab-1 --environment kq19-v1
  rhae study report lab-1 --all --json
  rhae study report lab-1 --pages returned")]
pub(super) struct ReportArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Add the details of an environment version; may be repeated
    #[arg(long = "environment", value_name = "ID")]
    environments: Vec<String>,
    /// Add the details of all environments
    #[arg(long, conflicts_with = "environments")]
    all: bool,
    /// Write reports for authors as HTML files to this folder
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn report(args: &ReportArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::study(&args.study).await?;
    let named = args.environments.iter();
    let named: Vec<EnvironmentVersion> = named.map(|one| one.as_str().into()).collect();
    let results = opened.service.read(&id, |study| {
        let state = study.state();
        let known = &state.environments;
        if let Some(unknown) = named.iter().find(|one| !known.contains_key(*one)) {
            return Err(rhae_study::Rejection::UnknownEnvironment(unknown.clone()));
        }
        let all: Vec<EnvironmentVersion> = known.keys().cloned().collect();
        Ok(study_results(state, if args.all { &all } else { &named }))
    });
    let mut results = results.await??;
    let games = args.hosted.games()?;
    add_optima(&mut results, &games);
    if let Some(folder) = &args.pages {
        let wanted = results.environments.iter();
        let mut wanted: Vec<EnvironmentVersion> =
            wanted.map(|one| one.coverage.environment.clone()).collect();
        if wanted.is_empty() {
            wanted = returned_environments(&opened.service, &id).await?;
        }
        let store = opened.database.store();
        let service = &opened.service;
        let pages = author_reports(service, store.as_ref(), &games, &id, &wanted).await?;
        write_pages(folder, &pages)?;
    }
    opened.close().await;
    if args.study.database.json {
        output::print_json(&results)?;
    } else {
        output::print(&study_results_text(&results))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for each environment to new files of a folder.
fn write_pages(folder: &Path, pages: &[(EnvironmentVersion, String)]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    for (environment, page) in pages {
        let file = folder.join(format!("{environment}.html"));
        write_new_file(&file, page)
            .with_context(|| format!("cannot write `{}`", file.display()))?;
        eprintln!("wrote {}", file.display());
    }
    if pages.is_empty() {
        eprintln!("no environment was returned: name one with --environment, or all with --all");
    }
    Ok(())
}
